"""Warnings that no rule knew, grouped by template: shown, never dropped; bounded."""

from __future__ import annotations

from nccl_logscan.diagnosis.excerpts import TEXT_LIMIT
from nccl_logscan.diagnosis.verdict import UnclaimedGroup
from nccl_logscan.events.mask import template
from nccl_logscan.events.model import (
    CudaError,
    Event,
    JaxEvent,
    NcclAttn,
    NcclWarn,
    PythonException,
    TorchC10,
    TorchProcessGroup,
    TorchStore,
)
from nccl_logscan.position import Position
from nccl_logscan.records import dataclass

_SAMPLE = 500
_SOURCES = 65_536


@dataclass(slots=True)
class _Group:
    count: int
    first: Position
    sample: str
    kind: str
    line: str | None


class Unclaimed:
    """Groups at most `limit` templates; what comes after is counted in `dropped`.

    `last` is the order of each source's last such line.
    """

    def __init__(self, limit: int = 200) -> None:
        self._limit = limit
        self._groups: dict[str, _Group] = {}
        self.dropped = 0
        self.last: dict[str, int] = {}

    def feed(self, event: Event, order: int, times: int | None = None, line: str | None = None) -> None:
        """Take in an event that no rule claimed, `times` over, last at `order`; only warnings and errors are kept.

        `line` is its line as it stood in the log, where that is still known.
        """
        if not _is_warning(event):
            return
        count = event.repeated * (1 if times is None else times)
        if event.at.source in self.last or len(self.last) < _SOURCES:
            self.last[event.at.source] = order
        key = template(event.message)
        group = self._groups.get(key)
        if group is not None:
            group.count += count
        elif len(self._groups) < self._limit:
            self._groups[key] = _Group(count, event.at, event.message[:_SAMPLE], event.kind, line and line[:TEXT_LIMIT])
        else:
            self.dropped += count

    def conclude(self) -> tuple[UnclaimedGroup, ...]:
        """Return the groups, largest first."""
        ordered = sorted(self._groups.items(), key=lambda item: -item[1].count)
        return tuple(
            UnclaimedGroup(key, group.count, group.first, group.sample, group.kind, group.line)
            for key, group in ordered
        )


def _is_warning(event: Event) -> bool:
    if isinstance(event, TorchProcessGroup | TorchC10 | TorchStore | JaxEvent):
        return event.severity in {"E", "F"}
    return isinstance(event, NcclWarn | NcclAttn | CudaError | PythonException)
