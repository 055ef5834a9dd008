"""The activity of the ranks as the view has it: lanes of ranks, and for each the steps of how many still spoke.

Bounded whatever the job's size: LANES groups of ranks, the few that are told apart, BINS steps of the axis.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from itertools import accumulate, pairwise
from operator import itemgetter
from typing import Any

from nccl_logscan.diagnosis.activity import Activity, Mark, RankCourse
from nccl_logscan.diagnosis.verdict import Culprit
from nccl_logscan.lines.stamps import NO_YEAR
from nccl_logscan.records import dataclass

LANES = 32
BINS = 96
EARLY = 4
"""How many ranks are told apart at most because they fell silent before all others."""
_PAUSE = 3
"""By how many bins at least."""
_PAUSES = 24
_LEAST_WIDTH = 0.01
"""Of a stretch of the axis, where that of a second is 0.7."""


@dataclass(frozen=True, slots=True)
class _Axis:
    """Breaks of the axis, and where each stands in the picture, from 0 to 1: between them it is even."""

    breaks: tuple[float, ...]
    shares: tuple[float, ...]

    def bin_of(self, place: float) -> int:
        """Return the bin of a place."""
        at = min(max(bisect_right(self.breaks, place) - 1, 0), len(self.breaks) - 2)
        low, high = self.breaks[at], self.breaks[at + 1]
        first, last = self.shares[at], self.shares[at + 1]
        share = first + (last - first) * (place - low) / (high - low)
        return min(max(int(share * BINS), 0), BINS - 1)

    def place_at(self, edge: int) -> float:
        """Return the place where a bin begins; of BINS where the last one ends."""
        share = edge / BINS
        at = min(max(bisect_right(self.shares, share) - 1, 0), len(self.shares) - 2)
        first, last = self.shares[at], self.shares[at + 1]
        low, high = self.breaks[at], self.breaks[at + 1]
        return low + (high - low) * (share - first) / (last - first)


def activity_of(activity: Activity | None, culprit: Culprit, silent: Collection[int]) -> dict[str, Any] | None:
    """Return the view's `activity`. `silent`: ranks that wrote nothing; a culprit among them gets an empty lane."""
    if activity is None:
        return None
    courses = activity.courses
    axis = _axis(courses)
    lanes = [_lane(group, axis, culprit.rank) for group in _groups(courses, axis, culprit.rank)]
    if culprit.rank is not None and culprit.rank in silent:
        lanes.append(_empty_lane(culprit.rank))
    return {
        "clock": activity.clock,
        "file": activity.file,
        "uncertainty": round(activity.uncertainty, 3),
        "edges": _edges(courses, axis, by_line=activity.file is not None),
        "lanes": sorted(lanes, key=itemgetter("first_rank")),
        "rank_count": len(courses),
        "elsewhere": activity.elsewhere,
    }


def _axis(courses: Sequence[RankCourse]) -> _Axis:
    """Return an axis on which long pauses are short: the longest between two marks, and what is between these.

    Each stretch is as wide as the logarithm of its length, so that a second in which all fails is seen after a day in
    which nothing did.
    """
    places = sorted({mark.place for course in courses for mark in _marks(course)})
    widest = sorted(range(1, len(places)), key=lambda at: (places[at - 1] - places[at], at))[:_PAUSES]
    ends = {0, len(places) - 1, *widest, *(at - 1 for at in widest)}
    breaks = tuple(places[at] for at in sorted(ends))
    widths = [math.log1p(after - before) + _LEAST_WIDTH for before, after in pairwise(breaks)]
    total = sum(widths)
    return _Axis(breaks, (0.0, *(passed / total for passed in accumulate(widths[:-1])), 1.0))


def _marks(course: RankCourse) -> list[Mark]:
    return [mark for mark in (course.first, course.trouble, course.last) if mark is not None]


def _edges(courses: Sequence[RankCourse], axis: _Axis, *, by_line: bool) -> list[str | int]:
    """Return where each bin begins and the last one ends: times as the clock shows them, or lines."""
    if by_line:
        return [round(axis.place_at(edge)) for edge in range(BINS + 1)]
    timed = [(mark.place, mark.time) for course in courses for mark in _marks(course) if mark.time is not None]
    from_place, from_time = next((mark for mark in timed if mark[1].year != NO_YEAR), timed[0])
    return [_shifted(from_time, axis.place_at(edge) - from_place) for edge in range(BINS + 1)]


def _shifted(time: datetime, seconds: float) -> str:
    try:
        shifted = time + timedelta(seconds=seconds)
    except OverflowError:  # a log may print the last second that a calendar has
        shifted = time
    return shifted.isoformat(timespec="milliseconds")


# --- Lanes -------------------------------------------------------------------------------------------------


def _groups(courses: Sequence[RankCourse], axis: _Axis, culprit: int | None) -> list[Sequence[RankCourse]]:
    """Return the courses in groups of neighbours; the culprit and those that fell silent early have their own."""
    apart = {culprit, *_fell_silent_early(courses, axis)}
    rest = [course for course in courses if course.rank not in apart]
    size = max(1, math.ceil(len(rest) / LANES))
    groups = [rest[at : at + size] for at in range(0, len(rest), size)]
    return [*groups, *([course] for course in courses if course.rank in apart)]


def _fell_silent_early(courses: Sequence[RankCourse], axis: _Axis) -> set[int]:
    """Return the few ranks that fell silent before all others, with a pause between; none where there is no such."""
    ends = sorted((axis.bin_of(course.last.place), course.rank) for course in courses)
    for count in range(min(EARLY, len(ends) - 1), 0, -1):
        if ends[count][0] - ends[count - 1][0] >= _PAUSE:
            return {rank for _, rank in ends[:count]}
    return set()


def _lane(courses: Sequence[RankCourse], axis: _Axis, culprit: int | None) -> dict[str, Any]:
    lasts = sorted(courses, key=lambda course: course.last.place)
    troubles = [(course.rank, course.trouble) for course in courses if course.trouble is not None]
    return {
        "first_rank": courses[0].rank,
        "last_rank": courses[-1].rank,
        "rank_count": len(courses),
        "culprit": courses[0].rank == culprit,
        "speaking": _speaking(courses, axis),
        "troubled": sorted(map(list, Counter(axis.bin_of(mark.place) for _, mark in troubles).items())),
        "spoke_first": _moment(*min(((course.rank, course.first) for course in courses), key=_place)),
        "trouble_began": _moment(*min(troubles, key=_place)) if troubles else None,
        "silent_first": _moment(lasts[0].rank, lasts[0].last),
        "silent_last": _moment(lasts[-1].rank, lasts[-1].last),
    }


def _empty_lane(rank: int) -> dict[str, Any]:
    moments = dict.fromkeys(("spoke_first", "trouble_began", "silent_first", "silent_last"))
    return {
        "first_rank": rank,
        "last_rank": rank,
        "rank_count": 1,
        "culprit": True,
        "speaking": [],
        "troubled": [],
        **moments,
    }


def _speaking(courses: Sequence[RankCourse], axis: _Axis) -> list[list[int]]:
    """Return the bins from which on another number of ranks has spoken and will speak again, with that number."""
    changes: Counter[int] = Counter()
    for course in courses:
        changes[axis.bin_of(course.first.place)] += 1
        changes[axis.bin_of(course.last.place) + 1] -= 1
    steps = sorted(at for at, change in changes.items() if change and at < BINS)
    return [[at, count] for at, count in zip(steps, accumulate(changes[at] for at in steps), strict=True)]


def _place(marked: tuple[int, Mark]) -> float:
    return marked[1].place


def _moment(rank: int, mark: Mark) -> dict[str, Any]:
    time = None if mark.time is None else mark.time.isoformat()
    return {"rank": rank, "time": time, "file": mark.at.source, "line": mark.at.line}
