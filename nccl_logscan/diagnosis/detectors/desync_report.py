"""PyTorch's desync report (TORCH_NCCL_DESYNC_DEBUG): whom it names, and whether ranks ran different collectives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from nccl_logscan.diagnosis.detectors.detection import Detection, excerpt_of
from nccl_logscan.diagnosis.excerpts import Excerpt, Site
from nccl_logscan.diagnosis.sayer import Who, who
from nccl_logscan.diagnosis.scene import Scene
from nccl_logscan.events.model import Event, TorchDesync
from nccl_logscan.records import dataclass, field

_LIMIT = 4_096
_REPORTS = 1_024
_NAMING = frozenset({"missing", "never-joined", "mismatch"})


@dataclass(slots=True)
class _Report:
    """One report: the ranks it blames, all that it speaks of, and the collectives that ranks began without ending."""

    blamed: dict[int, None] = field(default_factory=dict)
    told: set[int] = field(default_factory=set)
    started: set[str] = field(default_factory=set)

    def learn(self, event: TorchDesync) -> None:
        if len(self.told) >= _LIMIT:
            return
        self.told.update(event.ranks)
        if event.state in _NAMING:
            self.blamed.update(dict.fromkeys(event.ranks))
        if event.state == "started" and event.collective and len(self.started) < 64:
            self.started.add(event.collective)


class DesyncReport:
    """Reads the reports' lines together. Each process reports on its process groups, by the ranks within these."""

    names: ClassVar[tuple[str, ...]] = ("desync-report-mismatch", "desync-report-late")
    kinds: ClassVar[frozenset[str]] = frozenset({"torch.desync"})

    def __init__(self) -> None:
        self._reports: list[_Report] = []
        self._current: dict[Who, _Report] = {}
        self._excerpts: list[Excerpt] = []
        self._orders: list[int] = []

    def feed(self, event: Event, site: Site) -> None:
        """Note a line of a report."""
        assert isinstance(event, TorchDesync)
        self._orders.append(site.order) if len(self._orders) < _LIMIT else None
        sayer = who(event)
        if (event.state == "timeout" or sayer not in self._current) and len(self._reports) < _REPORTS:
            self._current[sayer] = _Report()
            self._reports.append(self._current[sayer])
        if sayer in self._current:
            self._current[sayer].learn(event)
        if len(self._excerpts) < 6:
            self._excerpts.append(excerpt_of(event, site))

    def conclude(self, scene: Scene) -> Iterator[Detection]:
        """Yield one detection for all reports: they repeat each other. Only those on the whole world name ranks."""
        started = {collective for report in self._reports for collective in report.started}
        blaming = [report for report in self._reports if report.blamed]
        differ = any(len(report.started) > 1 for report in self._reports)
        world = scene.identity.world_size or 0
        whole = [report for report in blaming if len(report.told) >= world]
        if not self._excerpts or not (whole or differ):
            return
        ranks = tuple(dict.fromkeys(rank for report in whole for rank in report.blamed))
        shown = ", ".join(str(rank) for rank in ranks[:8]) or "?"
        yield Detection(
            "desync-report-mismatch" if differ else "desync-report-late",
            tuple(self._excerpts),
            self._orders[0],
            self._orders[-1],
            {"ranks": shown, "collectives": ", ".join(sorted(started))} | ({"rank": shown} if len(ranks) == 1 else {}),
            ranks,
            count=len(self._orders),
        )
