"""Ray: what its daemons say, and what the driver is told when an actor, a worker or a node is lost."""

from __future__ import annotations

import re

from nccl_logscan.events.model import RayEvent, told_by
from nccl_logscan.expressions import deferred
from nccl_logscan.gate import Gate
from nccl_logscan.lines.model import LogLine
from nccl_logscan.position import Origin

# Literals that only Ray writes. Each is enough by itself.
_SAID = (
    "ActorDiedError",
    "ActorUnavailableError",
    "RayActorError",
    "RayTaskError",
    "WorkerCrashedError",
    "NodeDiedError",
    "OwnerDiedError",
    "ObjectLostError",
    "ObjectStoreFullError",
    "RaySystemError",
    "RuntimeEnvSetupError",
    "LocalRayletDiedError",
    "The actor died unexpectedly",
    "The actor is dead because",
    "The actor died because",
    "A worker died or was killed while executing",
    "The worker died unexpectedly while executing",
    "killed due to memory pressure",
    "killed due to the node running low on memory",
    "killed because the node was running low on memory",
    "System memory low at node",
    "exceeds the memory usage threshold",
    "Workers crashed due to other reasons",
    "has been marked dead because",
    "The node with node id",
    "missed too many heartbeats",
    "missing too many heartbeats",
    "raylet has died",
    "Raylet is terminated",
    "raylet exited",
    "Worker exit type:",
    "Worker unexpectedly exits with a connection error",
    "unrecoverable failure. Worker is requested",
    "Failed to connect to GCS",
    "Failed to connect to the GCS",
    "failed to connect to gcs",
    "GCS server",
    "gcs_rpc_client",
    "gcs_client",
    "object store is full",
    "Object store is full",
    "The object store is using",
    "cannot be scheduled right now",
    "insufficient resources to schedule",
    "No available node types can fulfill",
    "Total available GPUs",
    "Local object store memory usage",
    "Some workers of the worker process",
    "OOM killer due to high memory usage",
)
_GATE = Gate(*(deferred(re.escape(words)) for words in _SAID))
_DAEMON = deferred(
    r"^\[?[\d :,.-]{0,32}(?:[EWIFC] \d{1,10} \d{1,10}\] ?)?\((?:raylet|gcs_server|autoscaler[^)]{0,30}"
    r"|core_worker|plasma_store)(?:, ip=[\w.:-]{1,80})?\) "
)
_NODE_ADDRESS = deferred(
    r"(?:\bIP: |node IP |node with IP |node_ip=|-ip |ip_address: |address: )(?P<address>\d{1,3}(?:\.\d{1,3}){3})"
)
_NODE_SPEAKS_OF = (
    "memory pressure",
    "running low on memory",
    "marked dead",
    "System memory low",
    "Memory on the node",
    "node id",
)


def read(line: LogLine) -> RayEvent | None:
    """Return a report of Ray; None for any other line. `origin.address` is the node of which Ray speaks, where said."""
    if not _is_of_a_daemon(line) and _GATE.search(line.text) is None:
        return None
    return RayEvent(
        **told_by(line, origin=_subject(line.text).completed_by(line.origin)),
    )


def _is_of_a_daemon(line: LogLine) -> bool:
    """Whether raylet, GCS or autoscaler wrote the line, by the peeled prefix or by its own header."""
    actor = line.origin.actor
    if actor is not None and actor.startswith(("raylet", "gcs_server", "autoscaler")):
        return bool(line.text)
    return ") " in line.text and _DAEMON.match(line.text) is not None


def _subject(text: str) -> Origin:
    if not any(words in text for words in _NODE_SPEAKS_OF):
        return Origin()
    match = _NODE_ADDRESS.search(text)
    return Origin(address=match["address"]) if match else Origin()
