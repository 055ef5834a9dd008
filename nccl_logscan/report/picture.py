"""The timeline as a picture: ranks from top to bottom, time from left to right; every coordinate in CSS pixels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from nccl_logscan.lines import NO_YEAR
from nccl_logscan.records import dataclass
from nccl_logscan.report.view import ReportView, place_of

LANES = 24
_WIDTH = 960
_LEFT, _RIGHT, _TOP, _BOTTOM = 116, 24, 16, 36
_LANE = 22
_LETTER = 6.6
_TITLE = 200
_NEAR = 4
"""By how much a reader with scripts zooms in until other ticks are shown."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment in the picture. `what`: cause, followed, finding or course."""

    x: float
    y: float
    what: str
    title: str


@dataclass(frozen=True, slots=True)
class Lane:
    """A row: one rank, or a range of ranks where there are too many."""

    label: str
    y: float
    culprit: bool


@dataclass(frozen=True, slots=True)
class Tick:
    """A labelled place on the axis. `zoom`: 1, or where only a picture drawn so many times as wide has room for it."""

    x: float
    label: str
    anchor: str
    zoom: int = 1


@dataclass(frozen=True, slots=True)
class Picture:
    """All that the SVG shows. `axis` says in a sentence what left to right means.

    `near`: drawn so many times as wide it has other ticks.
    """

    width: int
    height: int
    left: int
    lanes: tuple[Lane, ...]
    marks: tuple[Mark, ...]
    ticks: tuple[Tick, ...]
    cause_x: float | None
    axis: str
    near: int = _NEAR


def draw_timeline(view: ReportView) -> Picture | None:
    """Return the picture of a report's timeline; None where fewer than two moments are known.

    Moments go from left to right by time if one clock stamped at least two of them and no other clock any; otherwise
    by their order in the log, since times of two clocks are not compared.
    """
    moments = view["timeline"]
    if len(moments) < 2:
        return None
    lane_of, lanes = _lanes([moment["rank"] for moment in moments], view["verdict"]["culprit"]["rank"])
    times = _one_clock(moments)
    steps = _steps(times) if times else [1.0] * (len(moments) - 1)
    places = _places(steps)
    followed = {finding["rule"] for finding in view["cascade"]}
    known = {finding["rule"] for finding in view["findings"]}
    marks = tuple(
        Mark(
            x, lanes[lane_of[moment["rank"]]].y, _what(moment, view["verdict"]["rule"], followed, known), _title(moment)
        )
        for moment, x in zip(moments, places, strict=True)
    )
    axis = (
        f"By the clock of {moments[0]['clock'] or 'the log'}; long pauses are drawn shorter than they were."
        if times
        else "In the order of the log: the moments have no time of one clock by which to place them."
    )
    return Picture(
        width=_WIDTH,
        height=_TOP + len(lanes) * _LANE + _BOTTOM,
        left=_LEFT,
        lanes=tuple(lanes),
        marks=tuple(sorted(marks, key=lambda mark: _LAYERS.index(mark.what))),
        ticks=(*_ticks(places, times), *_ticks(places, times, _NEAR)),
        cause_x=next((mark.x for mark in marks if mark.what == "cause"), None),
        axis=axis,
    )


_LAYERS = ("course", "finding", "followed", "cause")


def _what(moment: dict[str, Any], deciding: str | None, followed: set[str], known: set[str]) -> str:
    if moment["kind"] == deciding:
        return "cause"
    if moment["kind"] in followed:
        return "followed"
    return "finding" if moment["kind"] in known else "course"


def _lanes(ranks: Sequence[int | None], culprit: int | None) -> tuple[dict[int | None, int], list[Lane]]:
    """Return each rank's lane and the lanes; the culprit always has one of its own."""
    known = sorted({rank for rank in ranks if rank is not None})
    others = [rank for rank in known if rank != culprit]
    size = max(1, math.ceil(len(others) / LANES))
    groups = [others[at : at + size] for at in range(0, len(others), size)]
    groups += [[culprit]] if culprit in known and culprit is not None else []
    groups.sort()
    lane_of: dict[int | None, int] = {rank: at for at, group in enumerate(groups) for rank in group}
    labels = [f"rank {group[0]}" if len(group) == 1 else f"ranks {group[0]}-{group[-1]}" for group in groups]
    if None in ranks:
        lane_of[None] = len(groups)
        labels.append("not said")
    mine = lane_of.get(culprit) if culprit is not None else None
    return lane_of, [Lane(label, _TOP + (at + 0.5) * _LANE, at == mine) for at, label in enumerate(labels)]


def _one_clock(moments: Sequence[dict[str, Any]]) -> list[datetime] | None:
    """Return a time for each moment, in reading order, if one clock gave them all.

    A moment without a time has that of the last one before it that had one.
    """
    stamped = [moment for moment in moments if moment["time"] is not None]
    times = [datetime.fromisoformat(moment["time"]) for moment in stamped]
    if len(stamped) * 2 < len(moments) or len({moment["clock"] for moment in stamped}) != 1:
        return None
    if len({time.tzinfo is None for time in times}) != 1 or len(set(times)) < 2 or times != sorted(times):
        return None
    filled, last = [], times[0]
    for moment in moments:
        last = datetime.fromisoformat(moment["time"]) if moment["time"] is not None else last
        filled.append(last)
    return filled


def _steps(times: Sequence[datetime]) -> list[float]:
    """Return the widths between moments: a pause of an hour is wider than one of a second, but not 3,600 times."""
    gaps = [(after - before).total_seconds() for before, after in pairwise(times)]
    return [math.log1p(gap) + (0.3 if gap else 0) for gap in gaps]


def _places(steps: Sequence[float]) -> list[float]:
    room = _WIDTH - _LEFT - _RIGHT - 16
    total = sum(steps) or 1.0
    places, at = [], 0.0
    for step in [*steps, 0.0]:
        places.append(round(_LEFT + 8 + room * at / total, 1))
        at += step
    return places


def _ticks(places: Sequence[float], times: Sequence[datetime] | None, zoom: int = 1) -> list[Tick]:
    """Return labels for the first moment, the last, and as many between as do not touch where it is drawn so wide."""
    labels = [time_label(time, times[0]) for time in times] if times else [f"{at}." for at in range(1, len(places) + 1)]
    last, letter = len(places) - 1, _LETTER / zoom
    free_until = places[last] - letter * len(labels[last])
    ticks = [Tick(places[0], labels[0], "start", zoom)]
    taken = places[0] + letter * len(labels[0])
    for place, label in zip(places[1:last], labels[1:last], strict=True):
        half = letter * len(label) / 2
        if taken + letter < place - half and place + half + letter < free_until:
            ticks.append(Tick(place, label, "middle", zoom))
            taken = place + half
    return [*ticks, Tick(places[last], labels[last], "end", zoom)] if taken < free_until else ticks


def time_label(time: datetime, start: datetime) -> str:
    """Return a time of day, and how long after the start that is."""
    since = time - start
    if since < timedelta(seconds=1):
        return time.strftime("%H:%M:%S")
    minutes, seconds = divmod(round(since.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    passed = f"{hours} h {minutes:02} min" if hours else f"{minutes} min {seconds:02} s" if minutes else f"{seconds} s"
    return f"{time:%H:%M:%S} (+{passed})"


def _title(moment: dict[str, Any]) -> str:
    who = f"rank {moment['rank']}" if moment["rank"] is not None else moment["host"] or ""
    time = (moment["time"] or "").removeprefix(f"{NO_YEAR}-")
    parts = (time, who, moment["kind"], moment["text"][:_TITLE], place_of(moment))
    return " · ".join(part for part in parts if part)
