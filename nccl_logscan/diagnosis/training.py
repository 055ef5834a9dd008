"""The course of training: losses, loss scales and gradient norms by step, of one sayer of each attempt. Bounded.

Of an input that is skimmed only those steps are taken that every way of reading it gives: the first and last few of a
sayer, those at which a loss scale or a count of skipped steps changed, and those that hold a number that is none.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import itemgetter
from typing import ClassVar, NamedTuple, TypeVar

from nccl_logscan.diagnosis.excerpts import Site
from nccl_logscan.diagnosis.heed import Heed
from nccl_logscan.diagnosis.identity import Identity
from nccl_logscan.diagnosis.sayer import Key, Who, key_of
from nccl_logscan.events.model import Event, LossScale, TrainStep
from nccl_logscan.position import Position
from nccl_logscan.records import dataclass, field

FIRSTS, LASTS = 2, 6
"""Steps of a sayer that are read in any case (skim/asking.py)."""
POINTS = 640
"""Of all parts together."""
_BUCKETS = 32
_WHOLE = 4
"""Points of a bucket that are all kept."""
_CROWDED = 32
_LEFT = 8
"""Points of a bucket that are left at most: the first and last marked, and three numbers' lowest and highest."""
_FEWEST = 2
_SAYERS = 4
_SOURCES = 4
_ATTEMPTS = 8
_Name = TypeVar("_Name")
_Kept = TypeVar("_Kept")


class Point(NamedTuple):
    """A step as a line printed it, or an overflow; None: the line does not say it. Numbers may be NaN or infinite.

    `skipped`: steps skipped since the line before, by the log's own count. `overflow`: the line tells of an overflow;
    `loss_scale` is then the scale after it.
    """

    at: Position
    step: int | None
    loss: float | None
    loss_scale: float | None
    grad_norm: float | None
    skipped: int = 0
    overflow: bool = False

    @property
    def is_marked(self) -> bool:
        """Whether the step was skipped, overflowed, or has a number that is none."""
        return self.overflow or self.skipped > 0 or not _is_finite(self.loss) or not _is_finite(self.grad_norm)


@dataclass(frozen=True, slots=True)
class TrainingPart:
    """Points in the order of their lines, whose steps only rise. `attempt` counts from 0; `is_choice`: see above."""

    attempt: int
    rank: int | None
    points: tuple[Point, ...]
    is_choice: bool


@dataclass(frozen=True, slots=True)
class Training:
    """What the log says of the training's course. `overflows` and `skipped` are of the sayers that are shown.

    `skipped`: None where the log counts no skipped steps, or not all of its counts were read.
    """

    parts: tuple[TrainingPart, ...]
    overflows: int
    skipped: int | None


class Progress:
    """Collects the points while lines come. `attempt_of` gives an input's attempt."""

    kinds: ClassVar[frozenset[str]] = frozenset({"train.step", "scaler.overflow"})

    def __init__(self, attempt_of: Callable[[str], int]) -> None:
        self._attempt_of = attempt_of
        self._attempts: dict[int, dict[str, dict[Key, _Course]]] = {}
        self._skimmed: set[str] = set()

    def heeds(self, event: Event) -> Heed:
        """See `Heed`: first and last steps, changes of scales and of counts, and every number that is none."""
        assert isinstance(event, TrainStep)
        if not (_is_finite(event.loss) and _is_finite(event.grad_norm)):
            return Heed.LINE
        return Heed.SAYER if all(count is None for count in _counts(event)) else Heed.CHANGES

    def skims(self, source: str) -> None:
        """Note that not every step of a source will be seen."""
        self._skimmed.add(source)

    def feed(self, event: Event, site: Site) -> None:
        """Take in a step or an overflow."""
        course = self._course(event)
        if course is None:
            return
        if isinstance(event, TrainStep):
            course.step(event, site.order)
        elif isinstance(event, LossScale):
            course.overflow(event, site.order)

    def _course(self, event: Event) -> _Course | None:
        source = event.at.source
        attempt = self._attempt_of(source)
        if attempt not in self._attempts and len(self._attempts) == _ATTEMPTS and attempt > min(self._attempts):
            del self._attempts[min(self._attempts)]
        sources = _kept(self._attempts, attempt, dict[str, dict[Key, _Course]], _ATTEMPTS)
        sayers = None if sources is None else _kept(sources, source, dict[Key, _Course], _SOURCES)
        return None if sayers is None else _kept(sayers, key_of(source, event.origin), _Course, _SAYERS)

    def conclude(self, identity: Identity) -> Training | None:
        """Return the course; None where there are not two points of it."""
        told = [_telling(sources) for _, sources in sorted(self._attempts.items())]
        parts = tuple(part for telling in told for part in self._parts(telling, identity, POINTS // len(told)))
        if sum(len(part.points) for part in parts) < _FEWEST:
            return None
        skips = [telling.course.skips(is_choice=telling.source in self._skimmed) for telling in told]
        known = [skipped for skipped in skips if skipped is not None]
        overflows = sum(telling.scaler.overflow_count for telling in told)
        return Training(parts, overflows, sum(known) if len(known) == len(skips) else None)

    def _parts(self, telling: _Telling, identity: Identity, limit: int) -> Iterator[TrainingPart]:
        is_choice = telling.source in self._skimmed
        points = {**telling.course.points(is_choice=is_choice), **telling.scaler.overflows.points()}
        rank, attempt = identity.rank_of(Who(*telling.sayer)), self._attempt_of(telling.source)
        for run in _rising(_thinned(points, limit)):
            yield TrainingPart(attempt, rank, tuple(run), is_choice)


class _Thin:
    """Points by their order, of a growing stretch of them but a few: the first and the last that is marked, and those
    with the lowest and highest numbers.
    """

    def __init__(self, most: int = 2 * _BUCKETS) -> None:
        self._most = most
        self._size = 1
        self._buckets: list[dict[int, Point]] = []
        self._in_last = 0

    def add(self, order: int, point: Point) -> None:
        """Take in a point behind all others."""
        if not self._buckets or self._in_last == self._size:
            if len(self._buckets) == self._most:
                pairs = zip(self._buckets[::2], self._buckets[1::2], strict=True)
                self._buckets = [_telling_ones({**one, **other}) for one, other in pairs]
                self._size *= 2
            self._buckets.append({})
            self._in_last = 0
        self._in_last += 1
        last = self._buckets[-1]
        last[order] = point
        if len(last) > _CROWDED:
            self._buckets[-1] = _telling_ones(last)

    def points(self) -> dict[int, Point]:
        """Return what is left, in order."""
        return {order: point for bucket in self._buckets for order, point in _telling_ones(bucket).items()}


def _telling_ones(points: Mapping[int, Point]) -> dict[int, Point]:
    if len(points) <= _WHOLE:
        return dict(points)
    marked = [order for order, point in points.items() if point.is_marked]
    orders = {*marked[:1], *marked[-1:]}
    for number in ("loss", "loss_scale", "grad_norm"):
        told = {order: value for order, point in points.items() if _is_told(value := getattr(point, number))}
        if told:
            orders |= {min(told, key=told.__getitem__), max(told, key=told.__getitem__)}
    return {order: point for order, point in points.items() if order in orders}


def _thinned(points: Mapping[int, Point], limit: int) -> list[Point]:
    """Return at most `limit` points in their order, the first and the last among them."""
    ordered = sorted(points.items(), key=itemgetter(0))
    if len(ordered) <= limit:
        return [point for _, point in ordered]
    thin = _Thin(2 * max(1, limit // (4 * _LEFT)))
    for order, point in ordered[1:-1]:
        thin.add(order, point)
    return [ordered[0][1], *thin.points().values(), ordered[-1][1]]


@dataclass(slots=True)
class _Course:
    """What one sayer says: its points by order, of steps and of overflows."""

    first: Point | None = None
    last: Point | None = None
    last_order: int = 0
    skipped: int | None = None
    lately: int | None = None
    overflow_count: int = 0
    marked_order: int = 0
    counts: tuple[float | None, ...] = ()
    firsts: dict[int, Point] = field(default_factory=dict)
    lasts: deque[tuple[int, Point]] = field(default_factory=lambda: deque(maxlen=LASTS))
    whole: _Thin = field(default_factory=_Thin)
    marked: _Thin = field(default_factory=_Thin)
    overflows: _Thin = field(default_factory=_Thin)

    def step(self, event: TrainStep, order: int) -> None:
        """Take in a step."""
        point = Point(
            event.at, event.step, event.loss, event.loss_scale, event.grad_norm, self._skips(event), overflow=False
        )
        counts = _counts(event)
        changed = self.last is not None and counts != self.counts
        if changed and self.last is not None and self.last_order != self.marked_order:
            self.marked.add(self.last_order, self.last)
        if changed or point.is_marked:
            self.marked.add(order, point)
            self.marked_order = order
        if len(self.firsts) < FIRSTS:
            self.firsts[order] = point
        self.lasts.append((order, point))
        self.whole.add(order, point)
        self.first = self.first or point
        self.last, self.last_order, self.counts = point, order, counts

    def _skips(self, event: TrainStep) -> int:
        before, self.skipped = self.skipped, event.skipped if event.skipped is not None else self.skipped
        if event.skipped_lately is not None:
            self.lately = (self.lately or 0) + event.skipped_lately
            return event.skipped_lately
        return 0 if event.skipped is None or before is None else max(0, event.skipped - before)

    def overflow(self, event: LossScale, order: int) -> None:
        """Take in an overflow."""
        scale = event.scale_before if event.scale_after is None else event.scale_after
        self.overflow_count += event.repeated
        self.overflows.add(order, Point(event.at, event.step, None, scale, None, overflow=True))

    def points(self, *, is_choice: bool) -> dict[int, Point]:
        """Return the steps."""
        kept = self.marked.points() if is_choice else self.whole.points()
        return {**self.firsts, **kept, **dict(self.lasts)}

    def skips(self, *, is_choice: bool) -> int | None:
        """Return how many steps were skipped in all, as far as the log counts them and its counts were read."""
        return self.lately if self.skipped is None and not is_choice else self.skipped

    @property
    def reach(self) -> tuple[bool, int]:
        """By how many steps the last is behind the first; where they have no numbers, by how many lines."""
        first, last = self.first, self.last
        if first is None or last is None:
            return False, 0
        if first.step is None or last.step is None:
            return True, last.at.line - first.at.line
        return True, abs(last.step - first.step)


class _Telling(NamedTuple):
    """Whose course is shown of an attempt; `scaler` is the course of who told of overflows in the same input."""

    source: str
    sayer: Key
    course: _Course
    scaler: _Course


def _telling(sources: Mapping[str, Mapping[Key, _Course]]) -> _Telling:
    """Return who says most of an attempt; of several who say as much the first."""
    everyone = [(source, sayer) for source, sayers in sources.items() for sayer in sayers]
    source, sayer = max(everyone, key=lambda one: sources[one[0]][one[1]].reach)
    course = sources[source][sayer]
    scalers = (course, *sources[source].values())
    return _Telling(source, sayer, course, next((one for one in scalers if one.overflow_count), course))


def _rising(points: Iterable[Point]) -> Iterator[list[Point]]:
    """Yield the points in runs: one ends where the steps go back. A step that is told twice is one point."""
    run: list[Point] = []
    latest: Point | None = None
    for point in points:
        if point.step is not None and not point.overflow:
            if latest is not None and latest.step is not None and point.step < latest.step:
                yield run
                run = []
            elif latest is not None and point.step == latest.step and run and run[-1] is latest:
                run[-1] = latest = _joined(latest, point)
                continue
            latest = point
        run.append(point)
    if run:
        yield run


def _joined(one: Point, other: Point) -> Point:
    """Return a step that is told twice: what the first line says, and what the second says beyond it."""
    return one._replace(
        loss=other.loss if one.loss is None else one.loss,
        loss_scale=other.loss_scale if one.loss_scale is None else one.loss_scale,
        grad_norm=other.grad_norm if one.grad_norm is None else one.grad_norm,
        skipped=one.skipped + other.skipped,
    )


def _kept(known: dict[_Name, _Kept], name: _Name, make: Callable[[], _Kept], most: int) -> _Kept | None:
    """Return what is known by a name, made where it is new; None where there is no room for it."""
    found = known.get(name)
    if found is None and len(known) < most:
        found = known[name] = make()
    return found


def _counts(event: TrainStep) -> tuple[float | None, ...]:
    return event.loss_scale, event.skipped, event.skipped_lately, event.nan_iterations


def _is_told(number: float | None) -> bool:
    return number is not None and math.isfinite(number)


def _is_finite(number: float | None) -> bool:
    return number is None or math.isfinite(number)
