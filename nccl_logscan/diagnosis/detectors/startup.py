"""A communicator that was begun and never completed, and a benchmark that never printed a row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from nccl_logscan.diagnosis.detectors.detection import Detection, brief_excerpt_of, excerpt_of
from nccl_logscan.diagnosis.excerpts import Excerpt, Site
from nccl_logscan.diagnosis.heed import Heed
from nccl_logscan.diagnosis.sayer import Who, who
from nccl_logscan.diagnosis.scene import Scene
from nccl_logscan.events.model import Event, LogText, NcclChannel, NcclInit, NcclNetwork
from nccl_logscan.expressions import deferred
from nccl_logscan.records import dataclass, field
from nccl_logscan.taxonomy import Role

_LIMIT = 16_384


@dataclass(slots=True)
class _Process:
    """How far one process came."""

    started: NcclInit | None = None
    completed: bool = False
    order: int = 0
    excerpts: list[Excerpt] = field(default_factory=list)


class Startup:
    """Finds processes that chose a network, began a communicator and were never heard of again."""

    names: ClassVar[tuple[str, ...]] = ("init-incomplete",)
    kinds: ClassVar[frozenset[str]] = frozenset({"nccl.init", "nccl.network"})

    def __init__(self) -> None:
        self._processes: dict[Who, _Process] = {}

    def heeds(self, event: Event) -> Heed:  # noqa: ARG002 - all are set-ups
        """See `Heed`: how far a process has come with communicators of each size."""
        return Heed.WORDS

    def feed(self, event: Event, site: Site) -> None:
        """Note how far a process has come."""
        if not isinstance(event, NcclInit | NcclNetwork):
            return
        process = self._processes.get(who(event))
        if process is None:
            if len(self._processes) >= _LIMIT or (
                isinstance(event, NcclInit) and event.phase not in {"start", "complete"}
            ):
                return
            process = self._processes[who(event)] = _Process(order=site.order)
        if isinstance(event, NcclInit):
            if event.phase == "start":
                process.started = process.started or event
            elif event.phase in {"complete", "destroy", "abort"}:
                process.completed = True
        if len(process.excerpts) < 4:
            process.excerpts.append(brief_excerpt_of(event, site))

    def conclude(self, scene: Scene) -> Iterator[Detection]:
        """Yield one detection where no process that spoke got its communicator."""
        stuck = {sayer: process for sayer, process in self._processes.items() if not process.completed}
        completed = any(process.completed for process in self._processes.values())
        if not stuck or completed or scene.endings.stepped or scene.endings.said_end or _told_why(scene):
            return
        world = max((process.started.nranks or 0 for process in stuck.values() if process.started), default=0)
        present = {scene.identity.rank_of(sayer) for sayer in stuck}
        present |= {process.started.rank for process in stuck.values() if process.started}
        missing = scene.identity.absent(rank for rank in present if rank is not None)
        excerpts = [process.excerpts[-1] for process in stuck.values()][:5]
        excerpts += [process.excerpts[0] for process in stuck.values()][:3]
        yield Detection(
            "init-incomplete",
            tuple({excerpt.at: excerpt for excerpt in excerpts}.values()),
            min(process.order for process in stuck.values()),
            max(process.order for process in stuck.values()),
            {"present": str(len(stuck)), "world": str(world or scene.identity.world_size or "?")}
            | ({"ranks": ", ".join(map(str, missing[:8])), "rank": str(missing[0])} if missing else {}),
            missing if 0 < len(missing) <= 8 else (),
            count=len(stuck),
        )


def _told_why(scene: Scene) -> bool:
    """Whether some line says what stopped the set-up, so that silence is no finding."""
    return any(finding.rule.role in {Role.CAUSE, Role.SYMPTOM} for finding in scene.findings)


# The head of nccl-tests' result table, and a row of it.
_HEAD = deferred(r"^# +\(B\) +\(elements\)")
_ROW = deferred(r"^ +\d+ +\d+ +\w+ +\w+ +-?\d")


class Benchmark:
    """Finds nccl-tests runs whose table never got its first row, over peer-to-peer copies through PCIe."""

    names: ClassVar[tuple[str, ...]] = ("benchmark-stalled",)
    kinds: ClassVar[frozenset[str]] = frozenset({"log.text", "nccl.channel"})

    heeded: ClassVar[frozenset[str]] = frozenset({"(elements)"})

    def __init__(self) -> None:
        self._head: tuple[Excerpt, int] | None = None
        self._rows = 0
        self._peer: Excerpt | None = None

    def heeds(self, event: Event) -> Heed:
        """See `Heed`: the table's head and rows; which transports there are."""
        if isinstance(event, NcclChannel):
            return Heed.WORDS
        return Heed.LINE if _HEAD.match(event.message) or _ROW.match(event.message) else Heed.SAYER

    def feed(self, event: Event, site: Site) -> None:
        """Look for the table and its rows."""
        if isinstance(event, NcclChannel):
            if self._peer is None and event.transport and event.transport.startswith("P2P"):
                self._peer = excerpt_of(event, site)
        elif isinstance(event, LogText):
            if event.message.startswith("#") and _HEAD.match(event.message):
                self._head = (excerpt_of(event, site), site.order)
            elif self._head is not None and event.message.startswith(" ") and _ROW.match(event.message):
                self._rows += 1

    def conclude(self, scene: Scene) -> Iterator[Detection]:
        """Yield a detection where the table stayed empty and nothing else failed."""
        if self._head is None or self._rows or self._peer is None or scene.endings.failures:
            return
        excerpt, order = self._head
        yield Detection("benchmark-stalled", (excerpt, self._peer), order, order)
