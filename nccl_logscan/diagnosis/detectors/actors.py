"""Did the worker that Ray saw die first say why? If its own output holds no word of trouble, it was ended.

Ray's driver is told of one dead worker, with its process and address, and of a worker that aborts in the same words as
of one that was killed: python/ray/exceptions.py, ActorDiedError. What the worker wrote tells the two apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from nccl_logscan.diagnosis.detectors.detection import Detection, captured, excerpt_of
from nccl_logscan.diagnosis.excerpts import Excerpt, Site
from nccl_logscan.diagnosis.heed import Heed
from nccl_logscan.diagnosis.places import pid_in_name
from nccl_logscan.diagnosis.sayer import Who, who
from nccl_logscan.diagnosis.scene import Scene
from nccl_logscan.events.model import Event
from nccl_logscan.expressions import deferred
from nccl_logscan.numbers import whole
from nccl_logscan.records import dataclass

_LIMIT = 65_536
_REPORTS = 256
_FOLLOWING = 12
_DIED = ("ActorDiedError", "RayActorError")
_FIELD = deferred(r"\s{0,8}(pid|ip): {0,4}([0-9A-Fa-f.:]{1,45})\s*$", re.ASCII)
_TROUBLE = frozenset(
    {
        "torch.watchdog-timeout",
        "torch.process-group",
        "torch.heartbeat",
        "process.signal",
        "python.exception",
        "cuda.error",
    }
)
_OF_THE_DRIVER = frozenset({"python.exception", "ray.event"})


@dataclass(slots=True)
class _Report:
    """What the driver was told of a dead worker."""

    excerpt: Excerpt
    order: int
    line: int
    pid: int | None = None
    address: str | None = None


class Actors:
    """Reads Ray's reports of dead workers, and which workers spoke of trouble."""

    names: ClassVar[tuple[str, ...]] = ("ray-worker-ended",)
    kinds: ClassVar[frozenset[str]] = _TROUBLE | _OF_THE_DRIVER | {"log.text", "nccl.warn", "nccl.info", "nccl.network"}

    def __init__(self) -> None:
        self._reports: list[_Report] = []
        self._open: dict[str, _Report] = {}
        self._workers: dict[int, Who] = {}
        self._troubled: set[int] = set()

    def heeds(self, event: Event) -> Heed:
        """See `Heed`: the fields of a report on a dead worker."""
        return Heed.LINE if _FIELD.match(event.message[:80]) else Heed.SAYER

    def feed(self, event: Event, site: Site) -> None:
        """Note a report, a line of one, or a worker's word."""
        if event.kind in _OF_THE_DRIVER and any(name in event.message[:200] for name in _DIED):
            self._report(event, site)
            return
        source = event.at.source
        if event.kind == "log.text":
            report = self._open.get(source)
            if report is not None:
                self._complete(report, event)
            if pid_in_name(source) is None:
                return
        self._worker(event)

    def _report(self, event: Event, site: Site) -> None:
        if len(self._reports) < _REPORTS:
            report = _Report(excerpt_of(event, site), site.order, event.at.line)
            self._reports.append(report)
            self._open[event.at.source] = report

    def _complete(self, report: _Report, event: Event) -> None:
        if event.at.line > report.line + _FOLLOWING:
            del self._open[event.at.source]
        elif found := _FIELD.match(event.message[:80]):
            if found[1] == "pid":
                report.pid = whole(found[2])
            else:
                report.address = found[2]

    def _worker(self, event: Event) -> None:
        pid = event.origin.pid if event.origin.pid is not None else pid_in_name(event.at.source)
        if pid is None or (pid not in self._workers and len(self._workers) >= _LIMIT):
            return
        self._workers.setdefault(pid, who(event))
        if event.kind in _TROUBLE:
            self._troubled.add(pid)

    def conclude(self, scene: Scene) -> Iterator[Detection]:
        """Yield the first reported worker whose own output was read and holds no trouble."""
        for report in self._reports[:1]:
            sayer = self._workers.get(report.pid) if report.pid is not None else None
            if sayer is None or report.pid in self._troubled:
                continue
            rank = scene.identity.rank_of(sayer)
            host = scene.identity.host_of_sayer(sayer)
            yield Detection(
                "ray-worker-ended",
                (report.excerpt,),
                report.order,
                report.order,
                captured(pid=report.pid, at=report.address or host or "an unknown host", host=host, rank=rank),
                () if rank is None else (rank,),
                () if host is None else (host,),
            )
