"""Ray: a cluster that is found or started, its nodes, and what a person is told where there is none.

Ray is an extra (`nccl-logscan[ray]`) and is imported here alone, when a scan asks for it.
"""

from __future__ import annotations

import os
import socket
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NamedTuple

from nccl_logscan.errors import InputError
from nccl_logscan.sources.cores import cores
from nccl_logscan.sources.natural import natural

_ADDRESS = "RAY_ADDRESS"
# Ray's own settings (python/ray/_private/ray_constants.py, usage_lib.py, experimental/tqdm_ray.py): it is to send
# nothing, and to leave `print` as it is.
_SETTINGS = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0", "RAY_TQDM_PATCH_PRINT": "0"}
_ANSWER_SECONDS = 10


class Node(NamedTuple):
    """A node that is alive: Ray's id of it, and the name that it has in a report."""

    id: str
    name: str


class Cluster(NamedTuple):
    """A cluster that this process is a driver of. `is_own`: it was started for this scan.

    `slots`: tasks that run at the same time.
    """

    ray: Any
    is_own: bool
    slots: int

    def nodes(self) -> list[Node]:
        """Return the nodes that are alive, in the order of their names: host names, where each has its own."""
        alive = [node for node in self.ray.nodes() if node["Alive"]]
        hosts = Counter(node["NodeManagerHostname"] for node in alive)
        names = Counter(node["NodeName"] for node in alive)

        def name(node: dict[str, Any]) -> str:
            host, own = str(node["NodeManagerHostname"]), str(node["NodeName"])
            if hosts[host] == 1:
                return host
            return own if names[own] == 1 else f"{host}-{node['NodeID'][:8]}"

        return sorted((Node(node["NodeID"], name(node)) for node in alive), key=lambda node: natural(node.name))


@contextmanager
def connected(address: str | None, workers: int | None) -> Iterator[Cluster]:
    """Connect to the cluster at an address (else at RAY_ADDRESS's), or start one of so many workers on this machine.

    Raises InputError where Ray is not installed, no cluster answers, or it is one of another Ray or Python.
    """
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    ray = _ray()
    address = address or os.environ.get(_ADDRESS) or None
    if ray.is_initialized():
        yield Cluster(ray, is_own=False, slots=workers or _slots(ray))
        return
    if address is not None:
        _must_answer(address)
    own = workers or cores()
    with _hushed():
        try:
            _begin(ray, address, own)
            yield Cluster(ray, is_own=address is None, slots=workers or (own if address is None else _slots(ray)))
        finally:
            ray.shutdown()


@contextmanager
def _hushed() -> Iterator[None]:
    """Keep what Ray's C++ writes to standard error off it; what Python writes there goes through."""
    was = sys.stderr
    try:
        is_python = was is not None and was.fileno() == 2
        kept = os.dup(2)
    except (OSError, ValueError):  # closed, or none of the system's
        yield
        return
    try:
        if is_python:
            sys.stderr = open(kept, "w", encoding=was.encoding, errors="replace", buffering=1, closefd=False)  # noqa: SIM115
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        os.close(nowhere)
        yield
    finally:
        os.dup2(kept, 2)
        sys.stderr = was
        os.close(kept)


def _must_answer(address: str) -> None:
    """Ray ends the whole process where nothing listens at an address."""
    if address == "auto":
        return
    host, _, port = address.rpartition(":")
    if "://" in address or not host or not port.isdecimal():
        raise InputError(
            f"{address} is no address of a Ray cluster",
            hint="give it as HOST:6379 (ray status shows it) on a machine of the cluster; ray:// is not used",
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), _ANSWER_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise _no_answer(address) from error


def _no_answer(address: str) -> InputError:
    return InputError(
        f"no Ray cluster answers at {address}",
        hint="start one with `ray start --head`, or name another by --ray-address HOST:6379; ray status shows it",
    )


def _ray() -> Any:
    try:
        return import_module("ray")
    except ImportError as error:
        raise InputError(
            f"Ray is not installed: {error}",
            hint="pip install 'nccl-logscan[ray]', of the cluster's own version of Ray",
        ) from error


def _begin(ray: Any, address: str | None, workers: int) -> None:
    quiet = {"log_to_driver": False, "logging_level": "CRITICAL"}
    try:
        if address is None:
            ray.init(address="local", num_cpus=workers, include_dashboard=False, **quiet)
        else:
            ray.init(address=address, **quiet)
    except ConnectionError as error:
        raise _no_answer(address or "this machine") from error
    except (RuntimeError, ValueError, OSError) as error:
        raise _refused(address, " ".join(str(error).split())) from error


def _refused(address: str | None, said: str) -> InputError:
    if "ersion mismatch" in said:
        return InputError(
            f"the Ray cluster at {address} is of another version: {said[:400]}",
            hint="install the cluster's versions of Python and Ray beside nccl-logscan, and scan again",
        )
    if address is None:
        return InputError(f"Ray could not be started here: {said[:400]}", hint="scan without --engine ray")
    return InputError(
        f"the Ray cluster at {address} cannot be used: {said[:400]}",
        hint="check the address with: ray status --address HOST:6379",
    )


def _slots(ray: Any) -> int:
    return max(1, int(ray.cluster_resources().get("CPU", 1)))
