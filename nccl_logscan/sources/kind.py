"""What an input is: a log, or one of the files that lie beside logs. Content decides first, the name second."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import PurePosixPath

from nccl_logscan.expressions import deferred


class Kind(StrEnum):
    """What an input holds.

    text: a log. flight_recorder: a dump of PyTorch's ring of recent collectives (`fr_0`, `nccl_trace_rank_0`), a
    pickle or JSON; it has no lines. ray_timeline: what `ray timeline` writes, JSON; nor has it. torchelastic_error:
    the `error.json` of a torchrun worker. kernel_log: dmesg, or a journal of kernel lines. config: YAML, JSON, shell
    and the like, which say what was asked for and not what happened.
    """

    TEXT = "text"
    FLIGHT_RECORDER = "flight_recorder"
    RAY_TIMELINE = "ray_timeline"
    TORCHELASTIC_ERROR = "torchelastic_error"
    KERNEL_LOG = "kernel_log"
    CONFIG = "config"


IS_A = {Kind.FLIGHT_RECORDER: "a flight recorder's dump", Kind.RAY_TIMELINE: "a timeline of Ray"}
"""What inputs without lines are called."""
NO_LINES = frozenset(IS_A)

# Keys of a flight recorder's dump and of its entries (nccl_logscan/recorder/read.py tells which version has which). Two
# of them make a dump, if one is of those that nothing else has; one may stand in a training script's own pickle.
_ITS_OWN_KEYS = (
    "pg_config",
    "pg_status",
    "comm_lib_version",
    "nccl_comm_state",
    "hccl_comm_state",
    "profiling_name",
    "collective_seq_id",
    "p2p_seq_id",
    "time_created_ns",
    "time_created_us",
    "time_discovered_started_ns",
)
_OTHER_KEYS = ("entries", "nccl_version", "record_id", "process_group", "pg_id", "seq_id", "op_id", "ranks", "desc")
_RECORDER_KEYS = (*_ITS_OWN_KEYS, *_OTHER_KEYS)

_PICKLE = deferred(rb"\x80[\x02-\x05]")
# A key as protocols 2 to 5 write it: SHORT_BINUNICODE or BINUNICODE, its length, its bytes.
_PICKLED = {
    key: (b"\x8c" + bytes([len(key)]) + key.encode(), b"X" + len(key).to_bytes(4, "little") + key.encode())
    for key in _RECORDER_KEYS
}
# A dump's JSON begins with one of its keys, or one that an analyser adds; a list is of entries.
_JSON = deferred(rb'(?:\xef\xbb\xbf)?\s*(?:\{|\[\s*\{)\s*"([a-z_0-9]{1,40})"\s*:')
_FIRST_KEYS = frozenset(
    key.encode() for key in (*_RECORDER_KEYS, "version", "frames", "rank", "host_name", "input_sizes", "duration_ms")
)
_JSON_KEY = deferred(rb'"([a-z_0-9]{2,40})"\s*:')

CONFIG_SUFFIXES = frozenset(
    (
        ".yaml",
        ".yml",
        ".json",
        ".toml",
        ".ini",
        ".cfg",
        ".conf",
        ".env",
        ".sh",
        ".bash",
        ".slurm",
        ".sbatch",
        ".sub",
        ".py",
    )
)
"""How the names of files end that say what was asked for."""
_KERNEL_NAMES = deferred(r"dmesg|kern(?:el)?\.log|syslog|journal-?k", re.IGNORECASE)
_KERNEL_LINE = deferred(
    rb"\[ *\d+\.\d{6}\] |\[[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}\] |<\d+>"
    rb"|[^:]{0,40}:\d\d:\d\d\S* \S+ kernel: "
)
# What a log holds and a configuration does not.
_LOG_LINE = deferred(
    rb"^(?:\S+:\d+:\d+ (?:\[-?\d+\] )?\S.*NCCL |\[rank\d+\]:|\[default\d+\]:"
    rb"|Traceback \(most recent|.{0,40}\d\d:\d\d:\d\d)"
    rb'|^\{"log":|^\{"(?:time|ts|timestamp|level|msg)"',
    re.MULTILINE,
)


# A list of events, of which the first has a time and one that Ray writes a worker or a task (measured/ray_timeline.py).
_EVENT_LIST = deferred(rb'(?:\xef\xbb\xbf)?\s*\[\s*\{[^{}]{0,2000}"(?:ph|ts|cat)"\s*:')
_RAYS_OWN = deferred(rb'"(?:worker|driver|raylet):[0-9a-f]{8,}"|"cat"\s*:\s*"(?:task::|task:execute|worker_idle)')

# What `ncclras -f json` (NCCL 2.28.7 on) prints first: of a communicator's state, and of a peer while it monitors.
_RAS_JSON = deferred(
    rb'\{\s{0,8}"nccl_version"\s?:|\{\s{0,8}"timestamp"\s?: ?"[^"\n]{8,40}",\s{0,8}"group"\s?: ?"(?:LIFE|TRACE)'
)


def kind_of(head: bytes, name: str) -> Kind:
    """Tell what an input is by its first bytes (64 KiB are plenty) and its name."""
    if _is_flight_recorder(head):
        return Kind.FLIGHT_RECORDER
    if _EVENT_LIST.match(head) and _RAYS_OWN.search(head):
        return Kind.RAY_TIMELINE
    plain = head.lstrip()
    path = PurePosixPath(name)
    if (
        plain.startswith(b"{")
        and b'"message"' in plain[:200]
        and (b'"extraInfo"' in plain or path.name == "error.json")
    ):
        return Kind.TORCHELASTIC_ERROR
    lines = [line for line in head[:8192].split(b"\n")[:50] if line.strip()]
    kernel = sum(1 for line in lines if _KERNEL_LINE.match(line))
    if kernel * 2 > len(lines) or (kernel and _KERNEL_NAMES.search(path.name)):
        return Kind.KERNEL_LOG
    if not _RAS_JSON.match(plain) and _is_config(plain, path):
        return Kind.CONFIG
    return Kind.TEXT


def _is_flight_recorder(head: bytes) -> bool:
    if _PICKLE.match(head):
        found = {key for key, pickled in _PICKLED.items() if any(form in head for form in pickled)}
    elif (first := _JSON.match(head)) and first[1] in _FIRST_KEYS:
        found = {key[1].decode() for key in _JSON_KEY.finditer(head)} & set(_RECORDER_KEYS)
    else:
        return False
    return len(found) > 1 and not found.isdisjoint(_ITS_OWN_KEYS)


def _is_config(plain: bytes, path: PurePosixPath) -> bool:
    if plain.startswith(b"#!"):
        return True
    return path.suffix.lower() in CONFIG_SUFFIXES and not _LOG_LINE.search(plain)
