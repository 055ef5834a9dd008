"""Who: the sayer of a line, as its line alone tells it."""

from __future__ import annotations

from nccl_logscan.events.model import Event
from nccl_logscan.position import Origin
from nccl_logscan.records import dataclass

Key = tuple[str, str | None, int | None, int | None, int | None, int | None, int | None]
"""The fields of a Who, in their order: cheaper to make for every line."""


@dataclass(frozen=True, slots=True)
class Who:
    """The sayer of a line, as far as its line says: what a finding keeps, to be resolved at the end of the scan."""

    source: str
    host: str | None
    pid: int | None
    rank: int | None
    local_rank: int | None
    task: int | None
    device: int | None = None


def who(event: Event) -> Who:
    """Return who said `event`."""
    return sayer_of(event.at.source, event.origin)


def sayer_of(source: str, origin: Origin) -> Who:
    """Return who said a line of a source. The device matters only where it may tell ranks of one process apart."""
    return Who(*key_of(source, origin))


def key_of(source: str, origin: Origin) -> Key:
    """Return the fields of `sayer_of`."""
    device = origin.device if origin.pid is not None and origin.rank is None else None
    return source, origin.host, origin.pid, origin.rank, origin.local_rank, origin.task, device
