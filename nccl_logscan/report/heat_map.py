"""The activity of the ranks as a picture: lanes of ranks from top to bottom, time from left to right; CSS pixels."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any

from nccl_logscan.records import dataclass
from nccl_logscan.report.picture import Tick, time_label
from nccl_logscan.report.view import ReportView, place_of
from nccl_logscan.report.wording import moment_said

LEVELS = 5
_WIDTH = 960
_LEFT, _RIGHT, _TOP, _BOTTOM = 128, 24, 12, 36
_LANE = 20
_FULL = 14
_LEAST = 8
_TICKS = 4


@dataclass(frozen=True, slots=True)
class Row:
    """A lane. `silent_from`: from where on none of its ranks spoke any more; None where none ever did."""

    label: str
    y: float
    culprit: bool
    silent_from: float | None
    title: str


@dataclass(frozen=True, slots=True)
class HeatMap:
    """All that the SVG shows. `levels` are the paths of cells by the share of ranks that speak, the least first;
    `trouble` that of the cells in which ranks first showed the failure. `axis` says what left to right means.
    """

    width: int
    height: int
    left: int
    right: int
    rows: tuple[Row, ...]
    levels: tuple[str, ...]
    trouble: str
    trouble_x: float | None
    ticks: tuple[Tick, ...]
    axis: str


def draw_activity(view: ReportView) -> HeatMap | None:
    """Return the picture of when ranks spoke, fell silent and showed the failure; None where the view has none."""
    activity = view["activity"]
    if activity is None:
        return None
    bins = len(activity["edges"]) - 1
    step = (_WIDTH - _LEFT - _RIGHT) / bins
    levels: list[list[str]] = [[] for _ in range(LEVELS)]
    trouble, first_trouble, rows = [], bins, []
    for number, lane in enumerate(activity["lanes"]):
        y = _TOP + (number + 0.5) * _LANE
        for start, end, level in _stretches(lane, bins):
            levels[level - 1].append(_cell(start, end, y, _FULL * level / LEVELS, step))
        for at, count in lane["troubled"]:
            share = count / lane["rank_count"]
            trouble.append(_cell(at, at + 1, y, _LEAST + (_LANE - 2 - _LEAST) * share, step))
            first_trouble = min(first_trouble, at)
        rows.append(Row(_label(lane), y, lane["culprit"], _silent_from(lane["speaking"], step, bins), _title(lane)))
    return HeatMap(
        width=_WIDTH,
        height=_TOP + len(rows) * _LANE + _BOTTOM,
        left=_LEFT,
        right=_WIDTH - _RIGHT,
        rows=tuple(rows),
        levels=tuple("".join(cells) for cells in levels),
        trouble="".join(trouble),
        trouble_x=round(_LEFT + step * first_trouble, 1) if trouble else None,
        ticks=tuple(_ticks(activity["edges"], step)),
        axis=_axis(activity),
    )


def _stretches(lane: Mapping[str, Any], bins: int) -> Iterator[tuple[int, int, int]]:
    """Yield from which bin to which what share of a lane's ranks speaks, as a level; where none does, nothing."""
    levels = [(at, math.ceil(LEVELS * count / lane["rank_count"])) for at, count in lane["speaking"]]
    changes = [change for change, before in zip(levels, [(0, 0), *levels], strict=False) if change[1] != before[1]]
    for (start, level), (end, _) in pairwise([*changes, (bins, 0)]):
        if level:
            yield start, end, level


def _silent_from(steps: Sequence[Sequence[int]], step: float, bins: int) -> float | None:
    """Return from where on none of a lane's ranks spoke; None where none ever did."""
    if not steps:
        return None
    at, count = steps[-1]
    return round(_LEFT + step * (bins if count else at), 1)


def _cell(start: int, end: int, y: float, height: float, step: float) -> str:
    """Return a rectangle about a lane's middle as a path."""
    width, height = round(step * (end - start), 1), round(height, 1)
    return f"M{round(_LEFT + step * start, 1)} {round(y - height / 2, 1)}h{width}v{height}h-{width}z"


def _label(lane: Mapping[str, Any]) -> str:
    if lane["rank_count"] == 1:
        return f"rank {lane['first_rank']}"
    return f"ranks {lane['first_rank']}-{lane['last_rank']}"


def _title(lane: Mapping[str, Any]) -> str:
    """Return in words what a lane shows."""
    if lane["silent_last"] is None:
        return f"{_label(lane)}: wrote no line"
    several = lane["rank_count"] > 1
    said = [
        ("first line", lane["spoke_first"]),
        ("trouble began", lane["trouble_began"]),
        ("first to fall silent", lane["silent_first"] if several else None),
        ("last line", lane["silent_last"]),
    ]
    shown = (f"{what} {_moment(moment, several=several)}" for what, moment in said if moment is not None)
    return f"{_label(lane)}: {'; '.join(shown)}"


def _moment(moment: Mapping[str, Any], *, several: bool) -> str:
    when = moment_said(moment["time"]) if moment["time"] is not None else place_of(moment)
    return f"{when} (rank {moment['rank']})" if several else when


def _ticks(edges: Sequence[str | int], step: float) -> Iterator[Tick]:
    """Yield labels of the first edge, the last, and a few between."""
    bins = len(edges) - 1
    for number in range(_TICKS + 1):
        at = bins * number // _TICKS
        anchor = "start" if number == 0 else "end" if number == _TICKS else "middle"
        since = edges[0] if number == _TICKS else edges[at]
        yield Tick(round(_LEFT + step * at, 1), _tick(edges[at], since), anchor)


def _tick(edge: str | int, since: str | int) -> str:
    if isinstance(edge, int) or isinstance(since, int):
        return f"line {edge:,}"
    return time_label(datetime.fromisoformat(edge), datetime.fromisoformat(since))


def _axis(activity: Mapping[str, Any]) -> str:
    """Return in sentences what left to right means."""
    if activity["file"] is not None:
        said = f"By the lines of {activity['file']}; long stretches are drawn shorter than they are."
    else:
        about = f", give or take {activity['uncertainty']:g} s" if activity["uncertainty"] else ""
        said = f"By the clock of {activity['clock'] or 'the log'}{about}; long pauses are drawn shorter than they were."
    if not activity["elsewhere"]:
        return said
    few = "1 rank has" if activity["elsewhere"] == 1 else f"{activity['elsewhere']:,} ranks have"
    return f"{said} {few} no line with a time that can be compared, and no lane."
