"""What an input is: a log, or one of the files that lie beside logs. Content decides first, the name second."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import PurePosixPath


class Kind(StrEnum):
    """What an input holds.

    text: a log. flight_recorder: a dump of PyTorch's ring of recent collectives (`fr_0`, `nccl_trace_rank_0`), a pickle
    or JSON; it has no lines. torchelastic_error: the `error.json` of a torchrun worker. kernel_log: dmesg, or a
    journal of kernel lines. config: YAML, JSON, shell and the like, which say what was asked for and not what happened.
    """

    TEXT = "text"
    FLIGHT_RECORDER = "flight_recorder"
    TORCHELASTIC_ERROR = "torchelastic_error"
    KERNEL_LOG = "kernel_log"
    CONFIG = "config"


# Keys of the dump, in PyTorch 2.3 and later: `entries` from the first, `pg_config` and `pg_status` from 2.4 on.
_RECORDER_KEYS = (b"pg_config", b"pg_status", b"comm_lib_version", b"collective_seq_id")

_CONFIG_SUFFIXES = frozenset(
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
_KERNEL_NAMES = re.compile(r"dmesg|kern(?:el)?\.log|syslog|journal-?k", re.IGNORECASE)
_KERNEL_LINE = re.compile(
    rb"\[ *\d+\.\d{6}\] |\[[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}\] |<\d+>"
    rb"|[^:]{0,40}:\d\d:\d\d\S* \S+ kernel: "
)
# What a log holds and a configuration does not.
_LOG_LINE = re.compile(
    rb"^(?:\S+:\d+:\d+ (?:\[-?\d+\] )?\S.*NCCL |\[rank\d+\]:|\[default\d+\]:"
    rb"|Traceback \(most recent|.{0,40}\d\d:\d\d:\d\d)"
    rb'|^\{"log":|^\{"(?:time|ts|timestamp|level|msg)"',
    re.MULTILINE,
)


# What `ncclras -f json` (NCCL 2.28.7 on) prints first: of a communicator's state, and of a peer while it monitors.
_RAS_JSON = re.compile(
    rb'\{\s{0,8}"nccl_version"\s?:|\{\s{0,8}"timestamp"\s?: ?"[^"\n]{8,40}",\s{0,8}"group"\s?: ?"(?:LIFE|TRACE)'
)


def kind_of(head: bytes, name: str) -> Kind:
    """Tell what an input is by its first bytes (64 KiB are plenty) and its name."""
    if _is_flight_recorder(head):
        return Kind.FLIGHT_RECORDER
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
    if not (head[:1] == b"\x80" and head[1:2] in b"\x02\x03\x04\x05") and head.lstrip()[:1] != b"{":
        return False
    return b"entries" in head and any(key in head for key in _RECORDER_KEYS)


def _is_config(plain: bytes, path: PurePosixPath) -> bool:
    if plain.startswith(b"#!"):
        return True
    return path.suffix.lower() in _CONFIG_SUFFIXES and not _LOG_LINE.search(plain)
