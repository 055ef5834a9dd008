"""Several clocks, aligned by events that more than one of them saw.

Whatever a process prints after a barrier comes later than whatever another printed before it entered the same barrier.
So each such pair of lines bounds by how much the one clock can be ahead of the other, without any guess:

    ahead(i over j)  <=  end on i - begin on j          for every barrier that both saw

Barriers are: the set-up of a communicator (no rank says `Init COMPLETE` before all have said `Init START`, since the
bootstrap gathers from all of them; init.cc), c10d's store-based barrier, a synchronous training step (who prints the
loss of step n has seen all ranks print step n - 2), and the dump signal (no rank gets it before the rank that sent it
has timed out). Lines whose stamp a collector gave are no witnesses: they come late, by as much as a buffer held them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from functools import lru_cache
from typing import ClassVar, NamedTuple, TypeVar

from nccl_logscan.diagnosis.excerpts import Site
from nccl_logscan.diagnosis.heed import Heed
from nccl_logscan.events.model import Event, LogText, NcclInit, TorchDumpSignal, TorchWatchdogTimeout, TrainStep
from nccl_logscan.expressions import deferred
from nccl_logscan.lines.stamps import NO_YEAR
from nccl_logscan.position import DRIFT, Instant
from nccl_logscan.records import dataclass, field

_Said = TypeVar("_Said")
_Key = tuple[str, str]

_CLOCKS = 16_384
_BARRIERS = 16
_STEPS = 16
_APART = 2
_HALF_A_YEAR = 183 * 86_400.0
_LEAP_YEAR = timedelta(days=366)
# What is no barrier by its nature, or may be another one of the same name, is believed only where the clocks it gives
# are about right.
_SKEW = 300.0
_MIDDLEMEN = 64
_SUFFIXES = (":c10", ":torchrun")
_BARRIER = deferred(r"(Added|Completed store-based barrier for) key: ?(store_based_barrier_key:\d{1,9})\b")


class Bounds(NamedTuple):
    """By how many seconds one clock is ahead of another: from `low` to `high`, which may be infinite."""

    low: float = -math.inf
    high: float = math.inf

    @property
    def is_finite(self) -> bool:
        """Whether both ends are known."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    def within(self, other: Bounds) -> Bounds | None:
        """Return what both allow; None if they contradict each other."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        return Bounds(low, high) if low <= high else None


_ANY = Bounds()
_STATED = Bounds(-DRIFT.total_seconds(), DRIFT.total_seconds())


@dataclass(slots=True)
class _Passed:
    """When a clock's processes passed a barrier: the latest `begin` before it and the earliest `end` after it."""

    begin: datetime | None = None
    end: datetime | None = None


@dataclass(slots=True)
class _Seen:
    """What the events of one clock bound it by. `first` and `last`: steps, with their earliest and latest time."""

    barriers: dict[_Key, _Passed] = field(default_factory=dict)
    first: dict[int, tuple[datetime, datetime]] = field(default_factory=dict)
    last: dict[int, tuple[datetime, datetime]] = field(default_factory=dict)
    highest: int = -1
    has_gone_back: bool = False

    def passed(self, key: _Key) -> _Passed | None:
        known = self.barriers.get(key)
        if known is None and len(self.barriers) < _BARRIERS:
            known = self.barriers[key] = _Passed()
        return known

    def step(self, number: int, value: datetime) -> None:
        """Note a step. A number far below the highest is a restart or a new epoch: then equal numbers are not one."""
        if number < self.highest - _APART:
            self.has_gone_back = True
        self.highest = max(self.highest, number)
        kept = self.first if number in self.first or len(self.first) < _STEPS else self.last
        known = kept.get(number)
        if known is None:
            kept[number] = (value, value)
            if len(kept) > _STEPS:
                del kept[next(iter(kept))]
        else:
            early, late = known
            kept[number] = (min(early, value, key=_seconds), max(late, value, key=_seconds))

    @property
    def steps(self) -> dict[int, tuple[datetime, datetime]]:
        return {} if self.has_gone_back else self.first | self.last

    def merged(self, other: _Seen) -> _Seen:
        """Return what two names of one clock saw together."""
        both = _Seen(dict(self.barriers), dict(self.first), dict(self.last), self.highest)
        both.has_gone_back = self.has_gone_back or other.has_gone_back
        for key, passed in other.barriers.items():
            known = both.barriers.get(key, _Passed())
            both.barriers[key] = _Passed(_extreme(max, known.begin, passed.begin), _extreme(min, known.end, passed.end))
        for mine, its in ((both.first, other.first), (both.last, other.last)):
            for number, (early, late) in its.items():
                known_early, known_late = mine.get(number, (early, late))
                mine[number] = (min(known_early, early, key=_seconds), max(known_late, late, key=_seconds))
        return both


class Clocks:
    """Learns, event by event, how far clocks are apart; answers once `align` was called at the end of the scan.

    Without any event it orders times as they stand: of one clock, and of two that state a zone as far as hosts drift
    apart at most. Bounded: per clock a few barriers and steps.
    """

    kinds: ClassVar[frozenset[str]] = frozenset(
        {"nccl.init", "train.step", "torch.dump-signal", "torch.watchdog-timeout", "log.text"}
    )

    def __init__(self) -> None:
        self._raw: dict[str, _Seen] = {}
        self._names: dict[str, str | None] = {}
        self._seen: dict[str, _Seen] = {}
        self._passed_by: dict[_Key, dict[str, None]] = {}
        self._bounds: dict[tuple[str, str], Bounds] = {}
        self._place_of: Callable[[str], str | None] = str

    def heeds(self, event: Event) -> Heed:
        """See `Heed`: of text the store's barriers with their times, of steps those that come first and last."""
        return Heed.LINE if isinstance(event, LogText) and _BARRIER.search(event.message) else Heed.SAYER

    def feed(self, event: Event, site: Site) -> None:  # noqa: ARG002 - listens as the others do
        """Learn from an event."""
        if isinstance(event, LogText) and "store" not in event.message:
            return
        when = event.when
        if when is None or _is_collectors(when.clock):
            return
        seen = self._raw.get(when.clock)
        if seen is None:
            if len(self._raw) >= _CLOCKS:
                return
            seen = self._raw[when.clock] = _Seen()
        if isinstance(event, TrainStep):
            if event.step is not None and event.loss is not None:
                seen.step(event.step, when.value)
        else:
            _learn_barrier(event, when.value, seen)

    def align(self, place_of: Callable[[str], str | None]) -> None:
        """Take what was learnt together. `place_of` gives the host of a source that holds the lines of one host; the
        name itself of what is no source; None where several hosts write, so that its times are of no one clock.
        """
        self._names.clear()
        self._seen.clear()
        self._bounds.clear()
        for raw in self._raw:
            self._names[raw] = _place(raw, place_of)
        self._place_of = place_of
        self._passed_by.clear()
        for raw, seen in self._raw.items():
            name = self._names[raw]
            if name is not None:
                known = self._seen.get(name)
                self._seen[name] = seen if known is None else known.merged(seen)
        for name, seen in self._seen.items():
            for key in seen.barriers:
                self._passed_by.setdefault(key, {})[name] = None

    def name_of(self, when: Instant) -> str | None:
        """Return whose clock an instant is by: a host's name, as far as known; None where it is of no one clock."""
        clock = when.clock
        if clock not in self._names:
            if len(self._names) >= _CLOCKS:
                return _place(clock, self._place_of)
            self._names[clock] = _place(clock, self._place_of)
        return self._names[clock]

    def order(self, one: Instant, other: Instant) -> int | None:
        """Return -1 if `one` is before `other`, 1 if after it; None where that cannot be known."""
        mine, its = self.name_of(one), self.name_of(other)
        if one.clock == other.clock and (mine is None or _is_collectors(one.clock)):
            return one.order_to(other)
        bounds = _ANY if mine is None or its is None else self._between(one, other, mine, its)
        difference = apart(one.value, other.value)
        if difference + width(one.value) - bounds.low <= 0:
            return -1
        return 1 if difference - width(other.value) - bounds.high >= 0 else None

    def _between(self, one: Instant, other: Instant, mine: str, its: str) -> Bounds:
        zones = (one.value.tzinfo is not None) + (other.value.tzinfo is not None)
        if mine == its and zones != 1:
            return Bounds(0.0, 0.0)
        if zones == 1:
            return _ANY
        stated = _STATED if zones else _ANY
        if _is_collectors(one.clock) or _is_collectors(other.clock):
            return stated
        known = self.ahead(mine, its)
        return known.within(stated) or known

    def ahead(self, one: str, other: str) -> Bounds:
        """Return by how much the clock `one` is ahead of `other`; unbounded where no event was seen by both."""
        key = (one, other)
        known = self._bounds.get(key)
        if known is None:
            known = self._direct(one, other)
            if not known.is_finite:
                known = known.within(self._by_way_of_another(one, other)) or _ANY
            self._bounds[key] = known
            self._bounds[(other, one)] = Bounds(-known.high, -known.low)
        return known

    def _direct(self, one: str, other: str) -> Bounds:
        mine, its = self._seen.get(one), self._seen.get(other)
        if mine is None or its is None:
            return _ANY
        sure = _ANY
        for key in mine.barriers.keys() & its.barriers.keys():
            bounds = _by_barrier(mine.barriers[key], its.barriers[key])
            if bounds.low <= bounds.high and (key[0] == "communicator" or _is_usual(bounds)):
                sure = sure.within(bounds) or _ANY
        likely = Bounds(-_by_steps(its.steps, mine.steps), _by_steps(mine.steps, its.steps))
        if likely.low > likely.high or not _is_usual(likely):
            return sure
        return sure.within(likely) or sure

    def _by_way_of_another(self, one: str, other: str) -> Bounds:
        found = _ANY
        for _, middle in zip(range(_MIDDLEMEN), self._middlemen(one, other), strict=False):
            first, second = self._direct(one, middle), self._direct(middle, other)
            found = found.within(Bounds(first.low + second.low, first.high + second.high)) or _ANY
        return found

    def _middlemen(self, one: str, other: str) -> Iterator[str]:
        mine, its = self._seen.get(one), self._seen.get(other)
        if mine is None or its is None:
            return
        met: set[str] = set()
        for key in mine.barriers:
            for own in its.barriers:
                fewer, more = sorted((self._passed_by[key], self._passed_by[own]), key=len)
                for name in fewer:
                    if name in more and name not in met and name not in {one, other}:
                        met.add(name)
                        yield name

    def by_time(self, timed: Iterable[tuple[Instant, _Said]]) -> list[tuple[Instant, _Said]] | None:
        """Return what was said at times in the order of these; None if that order cannot be known."""
        left = list(timed)
        ordered: list[tuple[Instant, _Said]] = []
        while left:
            first = self.first(left)
            if first is None:
                return None
            ordered.append(left.pop(first))
        return ordered

    def first(self, timed: list[tuple[Instant, _Said]]) -> int | None:
        """Return the index of the one that is before all others; None if no one is known to be."""
        for index, (when, _) in enumerate(timed):
            others = (other for place, (other, _) in enumerate(timed) if place != index)
            if all(self.order(when, other) == -1 for other in others):
                return index
        return None

    def statement(self, one: Instant, other: Instant) -> str | None:
        """Return a sentence on how far the clocks of two instants are apart; None for one clock or nothing known."""
        mine, its = self.name_of(one), self.name_of(other)
        if mine is None or its is None or mine == its:
            return None
        bounds = self.ahead(mine, its)
        if not bounds.is_finite:
            return None
        middle, uncertain = abs(bounds.low + bounds.high) / 2, (bounds.high - bounds.low) / 2
        first, second = sorted((mine, its))
        return f"The clocks of {first} and {second} differ by {middle:.1f} s ± {math.ceil(uncertain * 10) / 10:.1f} s."

    def reference(self) -> str | None:
        """Return the clock that most others can be aligned to, the first of several; None where none can."""
        best, most = None, 0
        names = list(self._seen)
        for name in names[:_MIDDLEMEN]:
            aligned = sum(self.ahead(name, other).is_finite for other in names if other != name)
            if aligned > most:
                best, most = name, aligned
        return best

    def on(self, reference: str, when: Instant) -> tuple[datetime, float] | None:
        """Return an instant as the clock `reference` would show it, and its uncertainty in seconds; None if unknown."""
        name = self.name_of(when)
        if name is None or _is_collectors(when.clock):
            return None
        bounds = Bounds(0.0, 0.0) if name == reference else self.ahead(name, reference)
        if not bounds.is_finite:
            return None
        try:
            value = when.value - timedelta(seconds=(bounds.low + bounds.high) / 2)
        except OverflowError:
            return None
        return value, (bounds.high - bounds.low) / 2 + width(when.value)


def _learn_barrier(event: Event, value: datetime, seen: _Seen) -> None:
    if isinstance(event, NcclInit):
        if event.comm_id is not None and event.phase in {"start", "complete"}:
            _pass(seen, ("communicator", event.comm_id), value, is_end=event.phase == "complete")
    elif isinstance(event, TorchWatchdogTimeout):
        if event.origin.rank is not None and (passed := seen.passed(("dump", str(event.origin.rank)))):
            passed.begin = passed.begin or value
    elif isinstance(event, TorchDumpSignal):
        if event.initiator is not None and not event.local and event.initiator != event.origin.rank:
            _pass(seen, ("dump", str(event.initiator)), value, is_end=True)
    elif found := _BARRIER.search(event.message):
        _pass(seen, ("store", found[2]), value, is_end=found[1] != "Added")


def _pass(seen: _Seen, key: _Key, value: datetime, *, is_end: bool) -> None:
    passed = seen.passed(key)
    if passed is None:
        return
    if is_end:
        passed.end = _extreme(min, passed.end, value)
    else:
        passed.begin = _extreme(max, passed.begin, value)


def _extreme(choose: Callable[..., datetime], one: datetime | None, other: datetime | None) -> datetime | None:
    if one is None or other is None:
        return one or other
    return choose(one, other, key=_seconds)


def _by_barrier(mine: _Passed, its: _Passed) -> Bounds:
    high = apart(mine.end, its.begin) + width(mine.end) if mine.end and its.begin else math.inf
    low = apart(mine.begin, its.end) - width(its.end) if mine.begin and its.end else -math.inf
    return Bounds(low, high)


def _by_steps(mine: dict[int, tuple[datetime, datetime]], its: dict[int, tuple[datetime, datetime]]) -> float:
    """Return by how much the clock of `mine` can be ahead at most."""
    high = math.inf
    for number, (early, _) in mine.items():
        before = max((other for other in its if other <= number - _APART), default=None)
        if before is not None:
            high = min(high, apart(early, its[before][1]) + width(early))
    return high


def _is_usual(bounds: Bounds) -> bool:
    return bounds.low < _SKEW and bounds.high > -_SKEW


def _is_collectors(clock: str) -> bool:
    return " of " in clock


def _place(clock: str, place_of: Callable[[str], str | None]) -> str | None:
    for suffix in _SUFFIXES:
        clock = clock.removesuffix(suffix)
    return place_of(clock)


def width(value: datetime) -> float:
    """Return to how many seconds a stamp is exact: its last digit that is not naught may be its last digit."""
    if value.microsecond == 0:
        return 1.0
    return 0.001 if value.microsecond % 1000 == 0 else 0.000001


@lru_cache(65536)
def _seconds(value: datetime) -> float:
    zone = value.utcoffset()
    naive = value.replace(tzinfo=None)
    return (naive - datetime(NO_YEAR, 1, 1)).total_seconds() - (zone.total_seconds() if zone else 0.0)


def apart(one: datetime, other: datetime) -> float:
    """Return by how many seconds `one` is after `other`. A year that is not printed is the other's, or next to it."""
    if (one.year == NO_YEAR) is (other.year == NO_YEAR):
        seconds = _seconds(one) - _seconds(other)
        if one.year == NO_YEAR and abs(seconds) > _HALF_A_YEAR:
            seconds -= math.copysign(_LEAP_YEAR.total_seconds(), seconds)
        return seconds
    if one.year != NO_YEAR:
        return -apart(other, one)
    years = (_in_year(one, other.year + shift) for shift in (-1, 0, 1))
    return min((_seconds(value) - _seconds(other) for value in years), key=abs)


def _in_year(value: datetime, year: int) -> datetime:
    try:
        return value.replace(year=year)
    except ValueError:  # 29 February, or no year of the calendar
        return value
