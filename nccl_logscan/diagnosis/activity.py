"""Activity: when each rank spoke first and last and when its trouble began, all on one axis.

Only what every way of reading a log gives is in it: the first and the last line of each process, and its first line of
each finding. A skimmed log's other lines are counted and not read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from nccl_logscan.diagnosis.clocks import Clocks, apart
from nccl_logscan.diagnosis.findings import Finding
from nccl_logscan.diagnosis.identity import Identity
from nccl_logscan.diagnosis.last_words import Moment, Spoke
from nccl_logscan.lines.stamps import NO_YEAR
from nccl_logscan.position import DRIFT, Instant, Position
from nccl_logscan.records import dataclass, field

_FEWEST = 2
_UTC = "UTC"
_SHARE = 0.5
"""Of the ranks that spoke, so many have to have a place on an axis."""


class Mark(NamedTuple):
    """A line on the axis: `place` is in seconds of its clock from some moment, or the line's number in its input.

    `time` is by the axis's clock; None on an axis of lines.
    """

    place: float
    at: Position
    time: datetime | None


@dataclass(frozen=True, slots=True)
class RankCourse:
    """When a rank spoke first and last, and when it first said something of the failure; None: it did not."""

    rank: int
    first: Mark
    last: Mark
    trouble: Mark | None


@dataclass(frozen=True, slots=True)
class Activity:
    """The courses of all ranks that have a place on one axis, by rank; `elsewhere`: how many others spoke.

    The axis is time by `clock`, give or take `uncertainty` seconds, or, where `file` is named, the lines of that input.
    """

    courses: tuple[RankCourse, ...]
    elsewhere: int
    clock: str | None = None
    file: str | None = None
    uncertainty: float = 0.0


@dataclass(slots=True)
class _Told:
    """What is known of a rank: its processes' words, and its lines of the failure."""

    words: list[Spoke] = field(default_factory=list)
    onsets: list[Moment] = field(default_factory=list)


_Placing = Callable[[Moment | None], Mark | None]


def find_activity(
    identity: Identity, clocks: Clocks, failure: Iterable[Finding], is_superseded: Callable[[str], bool]
) -> Activity | None:
    """Return the ranks' activity by time, else by the lines of one input; None where neither places half of them.

    `failure`: the deciding finding and what followed from it. What a superseded attempt's inputs say does not count.
    """
    ranks: dict[int, _Told] = {}
    for rank, source, spoke in identity.spoke():
        if not is_superseded(source):
            ranks.setdefault(rank, _Told()).words.append(spoke)
    if len(ranks) < _FEWEST:
        return None
    for rank, moment in (onset for finding in failure for onset in finding.onsets):
        if rank in ranks and not is_superseded(moment.at.source):
            ranks[rank].onsets.append(moment)
    return _by_time(ranks, clocks) or _by_line(ranks)


# --- By time -----------------------------------------------------------------------------------------------


class _Shown(NamedTuple):
    """A time on the clock that it is shown by. Times with and without a zone are never on one."""

    clock: tuple[str, bool]
    value: datetime
    uncertainty: float


_Showing = Callable[[Instant], _Shown]


def _by_time(ranks: Mapping[int, _Told], clocks: Clocks) -> Activity | None:
    """Return the ranks on the clock to which most are tied; else, where zones are stated, on that of the world."""
    reference = clocks.reference()
    tied = _by_clock(ranks, lambda when: _tied(when, reference, clocks))
    return tied or _by_clock(ranks, _stated)


def _by_clock(ranks: Mapping[int, _Told], showing: _Showing) -> Activity | None:
    known: dict[Instant, _Shown] = {}

    def show(when: Instant) -> _Shown:
        shown = known.get(when)
        if shown is None:
            shown = known[when] = showing(when)
        return shown

    lasts = [[show(when) for when in _times(told)] for told in ranks.values()]
    held = Counter(clock for times in lasts for clock in {time.clock for time in times})
    if not held:
        return None
    chosen = min(held, key=lambda clock: (-held[clock], clock))
    of_chosen = [time.value for times in lasts for time in times if time.clock == chosen]
    start = next((value for value in of_chosen if value.year != NO_YEAR), of_chosen[0])

    def place(moment: Moment | None) -> Mark | None:
        if moment is None or moment.when is None or show(moment.when).clock != chosen:
            return None
        value = show(moment.when).value
        return Mark(apart(value, start), moment.at, value)

    uncertainty = max(time.uncertainty for time in known.values() if time.clock == chosen)
    return _placed(ranks, place, clock=chosen[0], uncertainty=uncertainty)


def _times(told: _Told) -> Iterator[Instant]:
    for spoke in told.words:
        if spoke.last_timed is not None and spoke.last_timed.when is not None:
            yield spoke.last_timed.when


def _tied(when: Instant, reference: str | None, clocks: Clocks) -> _Shown:
    """Return an instant on the clock that most others are tied to, else on its own."""
    told = None if reference is None else clocks.on(reference, when)
    if told is None or reference is None:
        clock = clocks.name_of(when) or when.clock
        return _Shown((clock, when.value.tzinfo is None), when.value, 0.0)
    return _Shown((reference, when.value.tzinfo is None), told[0], told[1])


def _stated(when: Instant) -> _Shown:
    """Return an instant that states its zone in UTC; hosts' clocks drift apart. Of others, on its own clock."""
    if when.value.tzinfo is None:
        return _Shown((when.clock, True), when.value, 0.0)
    return _Shown((_UTC, False), _in_utc(when.value), DRIFT.total_seconds())


def _in_utc(value: datetime) -> datetime:
    try:
        return value.astimezone(UTC)
    except OverflowError:  # the first and the last day of the calendar
        return value


# --- By the lines of one input -----------------------------------------------------------------------------


def _by_line(ranks: Mapping[int, _Told]) -> Activity | None:
    held = Counter(
        source
        for told in ranks.values()
        for source in {spoke.last.at.source for spoke in told.words if _has_line(spoke)}
    )
    if not held:
        return None
    chosen = min(held, key=lambda source: (-held[source], source))

    def place(moment: Moment | None) -> Mark | None:
        if moment is None or moment.at.source != chosen or moment.at.line == 0:
            return None
        return Mark(moment.at.line, moment.at, None)

    return _placed(ranks, place, file=chosen)


def _has_line(spoke: Spoke) -> bool:
    return spoke.last.at.line > 0


# --- Courses -----------------------------------------------------------------------------------------------


def _placed(
    ranks: Mapping[int, _Told],
    place: _Placing,
    *,
    clock: str | None = None,
    file: str | None = None,
    uncertainty: float = 0.0,
) -> Activity | None:
    courses = tuple(_courses(ranks, place, by_line=file is not None))
    places = {mark.place for course in courses for mark in (course.first, course.last)}
    if len(courses) < max(_FEWEST, _SHARE * len(ranks)) or len(places) < _FEWEST:
        return None
    return Activity(courses, len(ranks) - len(courses), clock, file, uncertainty)


def _courses(ranks: Mapping[int, _Told], place: _Placing, *, by_line: bool) -> Iterator[RankCourse]:
    for rank, told in sorted(ranks.items()):
        firsts = _marks((spoke.first if by_line else spoke.first_timed for spoke in told.words), place)
        lasts = _marks((spoke.last if by_line else spoke.last_timed for spoke in told.words), place)
        if firsts and lasts:
            ends = firsts + lasts  # a clock may be set back: then the last line is not the latest
            trouble = min(_marks(told.onsets, place), default=None, key=_place)
            yield RankCourse(rank, min(ends, key=_place), max(ends, key=_place), trouble)


def _marks(moments: Iterable[Moment | None], place: _Placing) -> list[Mark]:
    return [mark for moment in moments if (mark := place(moment)) is not None]


def _place(mark: Mark) -> tuple[float, Position]:
    return mark.place, mark.at
