"""What no rule knew, by template and bounded: warnings, which are shown, and signs, of which a model is asked."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite

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
    TrainStep,
    file_of,
)
from nccl_logscan.position import Position
from nccl_logscan.records import dataclass

_SIGNS = frozenset(
    (
        "elastic.exit",
        "horovod.event",
        "kernel.event",
        "kernel.oom",
        "kernel.xid",
        "kubernetes.event",
        "mpi.event",
        "nccl.diag",
        "nccl.last-error",
        "process.exit",
        "process.signal",
        "ray.event",
        "scaler.overflow",
        "slurm.event",
        "torch.heartbeat",
        "torch.mismatch",
        "torch.monitored-barrier",
        "torch.watchdog-timeout",
    )
)
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
    file: str
    line: str | None
    last_of: tuple[str, int]


class Unclaimed:
    """Groups at most `limit` templates; what comes after is counted in `dropped`.

    `last` is the order of each source's last such line. `redacted` takes secrets out of a message: of a masked one they
    could not be told any more. `keeps` says which events are kept.
    """

    def __init__(
        self, limit: int = 200, redacted: Callable[[str], str] = str, keeps: Callable[[Event], bool] | None = None
    ) -> None:
        self._limit = limit
        self._redacted = redacted
        self._keeps = keeps or is_warning
        self._groups: dict[str, _Group] = {}
        self.dropped = 0
        self.last: dict[str, int] = {}

    def feed(self, event: Event, order: int, times: int | None = None, line: str | None = None) -> None:
        """Take in an event that no rule claimed, `times` over, last at `order`, if it is one of those that are kept.

        `line` is its line as it stood in the log, where that is still known.
        """
        if not self._keeps(event):
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
                file_of(event),
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
                group.file,
                outlived=went_on_after is not None and went_on_after(*group.last_of),
            )
            for group in ordered
        )

    @property
    def size(self) -> int:
        """How many lines there were."""
        return sum(group.count for group in self._groups.values()) + self.dropped


def is_warning(event: Event) -> bool:
    """Whether an event is a warning or an error of the job's programs."""
    if isinstance(event, TorchProcessGroup | TorchC10 | TorchStore | JaxEvent):
        return event.severity in {"E", "F"}
    return isinstance(event, NcclWarn | NcclAttn | CudaError | PythonException)


def is_sign(event: Event) -> bool:
    """Whether an event that is no such warning may tell of a failure: of a kernel, a scheduler, a launcher."""
    return event.kind in _SIGNS


def is_spoilt_step(event: Event) -> bool:
    """Whether an event is a step whose loss is no number."""
    return isinstance(event, TrainStep) and event.loss is not None and not isfinite(event.loss)
