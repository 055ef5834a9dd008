"""Where something was read, who said it and when: the small types every layer shares."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from nccl_logscan.records import dataclass, replace

DRIFT = timedelta(seconds=5)
"""By how much the clocks of two hosts may differ although both state a zone."""


class Position(NamedTuple):
    """A line of an input; line 0 stands for an input without lines (a flight recorder's dump) as a whole.

    `line` counts from 1 by line feeds alone; `offset` is that of the line's first byte in the
    decoded (decompressed) stream, from 0. A named tuple, since every line of a log makes one: half a
    frozen dataclass's cost.
    """

    source: str
    line: int
    offset: int

    def __str__(self) -> str:
        return f"{self.source}:{self.line}" if self.line else self.source


@dataclass(frozen=True, slots=True)
class Span:
    """Columns of a text, half open, from 0."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Instant:
    """A time as a log printed it.

    `value` has a zone only if the log printed one. `clock` names whose clock it is (a host, a
    source, a collector), so that two clocks are never compared by accident.
    """

    value: datetime
    clock: str

    def order_to(self, other: Instant) -> int | None:
        """Return -1 if this is before `other`, 1 if after it; None if they are equal or two clocks may disagree on it.

        Two clocks are only compared where both logs print a zone, and then by more than hosts drift apart.
        """
        if self.value == other.value or (self.value.tzinfo is None) != (other.value.tzinfo is None):
            return None
        if self.clock != other.clock and (self.value.tzinfo is None or abs(self.value - other.value) < DRIFT):
            return None
        return -1 if self.value < other.value else 1


@dataclass(frozen=True, slots=True)
class Origin:
    """Who wrote a line, as far as its prefixes and its own header say. None: not said.

    `rank` is a global rank only. `local_rank` counts within a node, `task` is the launcher's number
    (Slurm task, MPI rank), which is the rank only where one task runs per GPU. `device` is the CUDA
    device index inside the process.
    """

    host: str | None = None
    rank: int | None = None
    local_rank: int | None = None
    task: int | None = None
    pid: int | None = None
    tid: int | None = None
    device: int | None = None
    pod: str | None = None
    actor: str | None = None
    address: str | None = None

    def completed_by(self, other: Origin) -> Origin:
        """Return this origin with every unknown taken from `other`."""
        missing = {
            name: getattr(other, name)
            for name in self.__slots__
            if getattr(self, name) is None and getattr(other, name) is not None
        }
        return replace(self, **missing) if missing else self


NOBODY = Origin()
