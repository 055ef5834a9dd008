"""Warnings that no rule knew, grouped by template: shown, never dropped; bounded."""

from __future__ import annotations

from collections.abc import Callable

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
    """`shown`: the template without secrets; `last_of`: the source of the last line, and its order there."""

    shown: str
    count: int
    first: Position
    sample: str
    kind: str
    line: str | None
    last_of: tuple[str, int]


class Unclaimed:
    """Groups at most `limit` templates; what comes after is counted in `dropped`.

    `last` is the order of each source's last such line. `redacted` takes secrets out of a message: of a masked one they
    could not be told any more.
    """

    def __init__(self, limit: int = 200, redacted: Callable[[str], str] = str) -> None:
        self._limit = limit
        self._redacted = redacted
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
            group.last_of = (event.at.source, order)
        elif len(self._groups) < self._limit:
            self._groups[key] = _Group(
                template(self._redacted(event.message)),
                count,
                event.at,
                event.message[:_SAMPLE],
                event.kind,
                line and line[:TEXT_LIMIT],
                (event.at.source, order),
            )
        else:
            self.dropped += count

    def conclude(self, went_on_after: Callable[[str, int], bool] | None = None) -> tuple[UnclaimedGroup, ...]:
        """Return the groups, largest first; `went_on_after` tells whether a source's job went on after a point."""
        ordered = sorted(self._groups.values(), key=lambda group: -group.count)
        return tuple(
            UnclaimedGroup(
                group.shown,
                group.count,
                group.first,
                group.sample,
                group.kind,
                group.line,
                outlived=went_on_after is not None and went_on_after(*group.last_of),
            )
            for group in ordered
        )

    @property
    def size(self) -> int:
        """How many lines there were."""
        return sum(group.count for group in self._groups.values()) + self.dropped


def _is_warning(event: Event) -> bool:
    if isinstance(event, TorchProcessGroup | TorchC10 | TorchStore | JaxEvent):
        return event.severity in {"E", "F"}
    return isinstance(event, NcclWarn | NcclAttn | CudaError | PythonException)
