"""Dump: what one rank's flight recorder held when it was written out, the same for every version of the format."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from nccl_logscan.records import dataclass, field


class State(StrEnum):
    """How far a call came: enqueued by the program, started on the device, completed there."""

    SCHEDULED = "scheduled"
    STARTED = "started"
    COMPLETED = "completed"


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame of the Python stack that issued a call."""

    function: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Call:
    """One entry: a collective, a point-to-point call, or a coalesced group of them.

    `record` counts a rank's calls in the order in which it issued them, over all groups. `group` is the key of the
    process group in `Dump.groups`. `operation` is without its library (`all_reduce`, `_all_gather_base`, `send`).
    `sequence` is the collective's number within its group, which ranks that agree give to the same call; None for
    point-to-point calls, which have `p2p_sequence` and `peers`: (sender, receiver) as ranks of the group. Sizes are in
    elements. Times are in nanoseconds since 1970 by the host's clock; None: not seen. `frames`: innermost first.
    """

    record: int
    group: str
    operation: str
    state: State
    sequence: int | None = None
    p2p_sequence: int | None = None
    peers: tuple[int, int] | None = None
    input_sizes: tuple[tuple[int, ...], ...] = ()
    input_dtypes: tuple[str, ...] = ()
    output_sizes: tuple[tuple[int, ...], ...] = ()
    output_dtypes: tuple[str, ...] = ()
    created_ns: int | None = None
    started_ns: int | None = None
    completed_ns: int | None = None
    timeout_ms: int | None = None
    retired: bool = False
    frames: tuple[Frame, ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """A process group: `ranks` are its members' global ranks in the order of their group ranks; empty: not said."""

    name: str
    description: str = ""
    ranks: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Status:
    """A rank's progress in one group, as sequence numbers; None: not said, or none yet."""

    last_enqueued: int | None = None
    last_started: int | None = None
    last_completed: int | None = None


@dataclass(frozen=True, slots=True)
class Dump:
    """One rank's recorder. `rank` is the global rank, from the file's name or the content; None: neither tells.

    `version` is the format's; `library` the version of NCCL. `calls` are in order of `record`. `problems` says in
    clauses what could not be read; `whole` is False where the end, or some entry, is among that: what such a dump does
    not hold may have happened.
    """

    source: str
    version: str
    rank: int | None = None
    library: str | None = None
    groups: Mapping[str, Group] = field(default_factory=dict)
    statuses: Mapping[str, Status] = field(default_factory=dict)
    calls: tuple[Call, ...] = ()
    problems: tuple[str, ...] = ()
    whole: bool = True
