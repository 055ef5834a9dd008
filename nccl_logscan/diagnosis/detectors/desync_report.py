"""PyTorch's desync report (TORCH_NCCL_DESYNC_DEBUG): whom it names, and whether ranks ran different collectives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from nccl_logscan.diagnosis.detectors.detection import Detection, Scene, excerpt_of
from nccl_logscan.diagnosis.excerpts import Excerpt, Site
from nccl_logscan.events.model import Event, TorchDesync

_LIMIT = 4_096
_NAMING = frozenset({"missing", "never-joined", "mismatch"})


class DesyncReport:
    """Reads the report's lines together."""

    names: ClassVar[tuple[str, ...]] = ("desync-report-mismatch", "desync-report-late")
    kinds: ClassVar[frozenset[str]] = frozenset({"torch.desync"})

    def __init__(self) -> None:
        self._named: dict[int, None] = {}
        self._started: dict[int | None, set[str]] = {}
        self._excerpts: list[Excerpt] = []
        self._orders: list[int] = []

    def feed(self, event: Event, site: Site) -> None:
        """Note a line of the report."""
        assert isinstance(event, TorchDesync)
        self._orders.append(site.order) if len(self._orders) < _LIMIT else None
        if event.state in _NAMING and len(self._named) < _LIMIT:
            self._named.update(dict.fromkeys(event.ranks))
        if event.state in {"started", "finished"} and event.collective and len(self._started) < _LIMIT:
            kind = self._started.setdefault(None if event.state == "started" else -1, set())
            kind.add(event.collective) if len(kind) < 64 else None
        if len(self._excerpts) < 6:
            self._excerpts.append(excerpt_of(event, site))

    def conclude(self, scene: Scene) -> Iterator[Detection]:  # noqa: ARG002 - the report says all it needs
        """Yield one detection for all reports: they repeat each other."""
        started = self._started.get(None, set())
        if not self._excerpts or not (self._named or len(started) > 1):
            return
        ranks = tuple(self._named)
        shown = ", ".join(str(rank) for rank in ranks[:8]) or "?"
        yield Detection(
            "desync-report-mismatch" if len(started) > 1 else "desync-report-late",
            tuple(self._excerpts),
            self._orders[0],
            self._orders[-1],
            {"ranks": shown, "collectives": ", ".join(sorted(started))} | ({"rank": shown} if len(ranks) == 1 else {}),
            ranks,
            count=len(self._orders),
        )
