"""The course of training as a picture: loss, loss scale and gradient norm one below the other; CSS pixels."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from nccl_logscan.records import dataclass
from nccl_logscan.report.picture import Tick
from nccl_logscan.report.view import ReportView
from nccl_logscan.report.wording import counted

_WIDTH = 960
_LEFT, _RIGHT, _TOP, _BOTTOM = 128, 24, 10, 44
_LANE, _PANEL, _GAP = 22, 120, 34
_TICKS = 5
_APART = 8
"""Pixels between two signs of a lane; what is nearer is one."""
_WIDE = 1_000
"""From this ratio of the highest to the lowest number on, an axis has logarithms."""
_BEHIND = 1 / 8
"""Of the steps' width, for what comes behind the last of them."""
_ROOM = 1 / 24
"""Of a logarithmic axis, below the lowest number and above the highest."""
_GREATEST = 1e300
_ALIKE = 1e-9
"""Numbers that differ by no more than this share of them are one to an axis."""
_DOTTED = 80
_ROWS = 30, 70
_NUMBERS = (("loss", "Loss"), ("loss_scale", "Loss scale"), ("grad_norm", "Gradient norm"))
_LABELS = dict(_NUMBERS)

Point = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Sign:
    """A place at which steps were skipped, or had numbers that are none."""

    x: float
    title: str


@dataclass(frozen=True, slots=True)
class Lane:
    """Signs of one shape: `skip` or `not-finite`."""

    shape: str
    label: str
    y: float
    signs: tuple[Sign, ...]


@dataclass(frozen=True, slots=True)
class Mark:
    """A labelled number of an axis from bottom to top."""

    y: float
    label: str


@dataclass(frozen=True, slots=True)
class Dot:
    """A point that is shown as one."""

    x: float
    y: float
    title: str


@dataclass(frozen=True, slots=True)
class Panel:
    """The course of one number. `line` is the path of the last attempt, `earlier` that of those before it.

    `scale`: which logarithms its axis has; empty where it is even.
    """

    label: str
    scale: str
    top: float
    bottom: float
    marks: tuple[Mark, ...]
    earlier: str
    line: str
    dots: tuple[Dot, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """A point in words."""

    place: str
    step: str
    numbers: tuple[str, ...]
    what: str


@dataclass(frozen=True, slots=True)
class Curves:
    """All that the SVG and its table show. `said` are the sentences that say the same."""

    width: int
    height: float
    left: int
    right: int
    lanes: tuple[Lane, ...]
    panels: tuple[Panel, ...]
    ticks: tuple[Tick, ...]
    axis: str
    is_choice: bool
    has_earlier: bool
    said: tuple[str, ...]
    columns: tuple[str, ...]
    title: str
    rows: tuple[Row, ...]
    left_out: int


@dataclass(frozen=True, slots=True)
class _Placed:
    """A point and its place from left to right: a step, or a line."""

    place: float
    point: Point


_Part = tuple[Mapping[str, Any], list[_Placed]]


def draw_training(view: ReportView) -> Curves | None:
    """Return the picture of the training's course; None where there are not two points of any number."""
    training = view["training"]
    if training is None:
        return None
    by_step = _is_by_step(_stepped(training))
    place, shown_parts = (_by_step, _stepped(training)) if by_step else (_by_line, _of_last_file(training))
    parts = [(part, list(place(part["points"]))) for part in shown_parts]
    names = [name for name, _ in _NUMBERS if _is_drawn(name, parts)]
    places = [placed.place for _, points in parts for placed in points]
    if not names or not places or min(places) == max(places):
        return None
    x = _axis(places)
    lanes = tuple(_lanes(parts, x))
    top = _TOP + len(lanes) * _LANE + (_GAP if lanes else _GAP - 8)
    panels = tuple(_panel(name, parts, x, top + number * (_PANEL + _GAP)) for number, name in enumerate(names))
    rows = [_row(part, placed.point, names) for part, points in parts for placed in points]
    columns = tuple(label for name, label in _NUMBERS if name in names)
    axis = "step" if by_step else "line of the log"
    first, last = _ROWS
    shown = rows if len(rows) <= first + last else rows[:first] + rows[-last:]
    return Curves(
        width=_WIDTH,
        height=panels[-1].bottom + _BOTTOM,
        left=_LEFT,
        right=_WIDTH - _RIGHT,
        lanes=lanes,
        panels=panels,
        ticks=tuple(_ticks(parts, x, by_step=by_step)),
        axis=axis,
        is_choice=any(part["is_choice"] for part, _ in parts),
        has_earlier=any(panel.earlier for panel in panels),
        said=tuple(_said(training, parts)),
        columns=columns,
        title=f"{_listed(columns)} by {axis}",
        rows=tuple(shown),
        left_out=len(rows) - len(shown),
    )


# --- From left to right ------------------------------------------------------------------------------------


def _stepped(training: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the parts that have steps, not overflows alone."""
    return [part for part in training["parts"] if any(not point["overflow"] for point in part["points"])]


def _is_by_step(parts: Sequence[Mapping[str, Any]]) -> bool:
    """Whether steps are the axis: all have numbers, and within no input they begin anew."""
    files = {part["file"] for part in parts}
    return bool(parts) and len(files) == len(parts) and all(_rises(part["points"]) for part in parts)


def _rises(points: Sequence[Point]) -> bool:
    steps = [point["step"] for point in points if not point["overflow"]]
    return None not in steps and steps == sorted(steps)


def _of_last_file(training: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the parts of the last input that has two points: lines of several inputs are on no one axis."""
    points = Counter(part["file"] for part in training["parts"] for _ in part["points"])
    parts = [part for part in training["parts"] if points[part["file"]] > 1]
    return [part for part in parts if part["file"] == parts[-1]["file"]]


def _by_line(points: Iterable[Point]) -> Iterator[_Placed]:
    return (_Placed(point["line"], point) for point in points)


def _by_step(points: Sequence[Point]) -> Iterator[_Placed]:
    """Place points by their steps; overflows of which no step is told by their lines between those of steps, and those
    behind the last step one after the other on a stretch of their own.
    """
    known = [(point["line"], point["step"]) for point in points if point["step"] is not None]
    lines, (last_line, last) = [line for line, _ in known], known[-1]
    behind = sum(point["line"] > last_line for point in points)
    room = max(1, last - known[0][1]) * _BEHIND
    passed = 0
    for point in points:
        if point["step"] is not None:
            yield _Placed(point["step"], point)
        elif point["line"] > last_line:
            passed += 1
            yield _Placed(last + room * passed / behind, point)
        else:
            yield _Placed(_between(known, bisect_left(lines, point["line"]), point["line"]), point)


def _between(known: Sequence[tuple[int, int]], at: int, line: int) -> float:
    """Return the step at a line, before the known one at `at`."""
    line_after, after = known[at]
    line_before, before = known[at - 1] if at else known[0]
    return before + (after - before) * (line - line_before) / max(1, line_after - line_before)


def _axis(places: Sequence[float]) -> Callable[[float], float]:
    low, high = min(places), max(places)
    share = (_WIDTH - _LEFT - _RIGHT - 16) / (high - low)
    return lambda place: round(_LEFT + 8 + (place - low) * share, 1)


def _ticks(parts: Sequence[_Part], x: Callable[[float], float], *, by_step: bool) -> Iterator[Tick]:
    placed = [one for _, points in parts for one in points]
    places = [one.place for one in placed if not by_step or one.point["step"] is not None]
    for value in _round_numbers(min(places), max(places), _TICKS + 2, least=1.0):
        yield Tick(x(value), f"{value:,.0f}", "middle")


# --- Signs -------------------------------------------------------------------------------------------------


def _lanes(parts: Sequence[_Part], x: Callable[[float], float]) -> Iterator[Lane]:
    lanes = (
        ("skip", "skipped, overflow", lambda point: point["overflow"] or point["skipped"] > 0),
        ("not-finite", "NaN, infinite", _is_not_finite),
    )
    y = _TOP + _LANE / 2
    for shape, label, is_shown in lanes:
        points = sorted(
            (placed for _, points in parts for placed in points if is_shown(placed.point)),
            key=lambda placed: placed.place,
        )
        if points:
            yield Lane(shape, label, y, tuple(_signs(points, x)))
            y += _LANE


def _signs(points: Sequence[_Placed], x: Callable[[float], float]) -> Iterator[Sign]:
    near: list[_Placed] = []
    for placed in points:
        if near and x(placed.place) - x(near[0].place) >= _APART:
            yield _sign(near, x)
            near = []
        near.append(placed)
    yield _sign(near, x)


def _sign(near: Sequence[_Placed], x: Callable[[float], float]) -> Sign:
    title, more = _title(near[0].point), len(near) - 1
    if more:
        title = f"{title}; and {more} more up to line {near[-1].point['line']:,}"
    return Sign(x(near[0].place), title)


def _is_not_finite(point: Point) -> bool:
    return any(isinstance(point[name], str) for name, _ in _NUMBERS)


# --- From bottom to top ------------------------------------------------------------------------------------


def _is_drawn(name: str, parts: Sequence[_Part]) -> bool:
    return len(_finite(name, parts)) > 1


def _finite(name: str, parts: Sequence[_Part]) -> list[float]:
    told = (placed.point[name] for _, points in parts for placed in points)
    return [_drawable(value) for value in told if isinstance(value, int | float)]


def _drawable(value: float) -> float:
    """Return a number, or the nearest of those of which axes can be made."""
    nearest = min(max(value, -_GREATEST), _GREATEST)
    return max(nearest, 1 / _GREATEST) if nearest > 0 else nearest


def _panel(name: str, parts: Sequence[_Part], x: Callable[[float], float], top: float) -> Panel:
    values, bottom = _finite(name, parts), top + _PANEL
    positive = [value for value in values if value > 0]
    base = 2.0 if name == "loss_scale" else 10.0
    wide = positive and len(positive) == len(values) and max(values) / min(values) >= _WIDE
    is_log = bool(positive) and (name == "loss_scale" or bool(wide))
    if is_log:
        low, high = math.log(min(positive), base), math.log(max(positive), base)
    else:
        low, high = min(values), max(values)
    room = (high - low) * _ROOM
    numbers = _round_numbers(low - room, high + room, _TICKS, least=1.0) if is_log else []
    if len(numbers) > 1:
        low, high = low - room, high + room
    else:
        numbers = _round_numbers(low, high, _TICKS, least=1.0 if is_log else 0.0, outward=True)
        low, high = numbers[0], numbers[-1]
    told = [base**number if is_log else number for number in numbers]

    def y(value: float) -> float:
        near = _drawable(value)
        place = low if is_log and near <= 0 else math.log(near, base) if is_log else near
        return round(bottom - (place - low) / (high - low) * _PANEL, 1)

    *earlier, last = [(part["attempt"], _path(name, points, x, y)) for part, points in parts]
    latest = last[0]
    few = sum(len(points) for _, points in parts) <= _DOTTED
    return Panel(
        label=_LABELS[name],
        scale=f"log {base:g}" if is_log else "",
        top=top,
        bottom=bottom,
        marks=tuple(Mark(y(number), _label(number)) for number in told),
        earlier="".join(path for attempt, path in earlier if attempt != latest),
        line="".join(path for attempt, path in (*earlier, last) if attempt == latest),
        dots=tuple(_dots(name, parts, x, y, few=few)),
    )


def _path(name: str, points: Sequence[_Placed], x: Callable[[float], float], y: Callable[[float], float]) -> str:
    """Return the line through a part's points; it is parted where a number is none. A scale goes in stairs."""
    path: list[str] = []
    begun = False
    for placed in points:
        value = placed.point[name]
        if value is None:
            continue
        if isinstance(value, str):
            begun = False
            continue
        at = (x(placed.place), y(value))
        stairs = f"H{at[0]}V{at[1]}" if name == "loss_scale" else f"L{at[0]} {at[1]}"
        path.append(stairs if begun else f"M{at[0]} {at[1]}")
        begun = True
    return "".join(path)


def _dots(
    name: str, parts: Sequence[_Part], x: Callable[[float], float], y: Callable[[float], float], *, few: bool
) -> Iterator[Dot]:
    """Yield points to be shown as such: all of a few, and of many those that no line leads to."""
    for _, points in parts:
        told = [placed for placed in points if placed.point[name] is not None]
        for number, placed in enumerate(told):
            value = placed.point[name]
            if isinstance(value, str):
                continue
            beside = [told[other].point[name] for other in (number - 1, number + 1) if 0 <= other < len(told)]
            if few or all(isinstance(other, str) for other in beside):
                yield Dot(x(placed.place), y(value), _title(placed.point))


def _round_numbers(low: float, high: float, most: int, *, least: float, outward: bool = False) -> list[float]:
    """Return round numbers at even steps of 1, 2 or 5 between two numbers, or from below the one to above the other.

    `least`: the smallest step. Outward there are at least two.
    """
    span = high - low
    if span <= _ALIKE * max(abs(low), abs(high)):
        span = abs(high) or 1.0
    power = 10.0 ** math.floor(math.log10(span / most))
    step = max(least, next(power * factor for factor in (1, 2, 5, 10) if span / (power * factor) <= most))
    if outward:
        first, last = math.floor(low / step), math.ceil(high / step)
        last = max(last, first + 1)
    else:
        first, last = math.ceil(low / step), math.floor(high / step)
    return [number * step for number in range(first, last + 1)]


# --- In words ----------------------------------------------------------------------------------------------


def _listed(names: Sequence[str]) -> str:
    """Return names as the beginning of a sentence."""
    first, *others = names
    *more, last = [first, *map(str.lower, others)]
    return f"{', '.join(more)} and {last}" if more else last


def _label(value: float | str | None) -> str:
    """Return a number as the page writes it."""
    if value is None:
        return "-"
    if isinstance(value, str):
        return {"nan": "NaN", "inf": "infinite", "-inf": "-infinite"}[value]
    if value and not 1e-3 <= abs(value) < 1e9:
        return f"{value:.3g}".replace("e+", "e")
    return f"{value:,.6g}" if abs(value) < 1_000 else f"{value:,.0f}"


def _title(point: Point) -> str:
    step = f"step {point['step']:,}" if point["step"] is not None else ""
    numbers = (name for name, _ in _NUMBERS if point[name] is not None and not isinstance(point[name], str))
    told = (f"{_LABELS[name].lower()} {_label(point[name])}" for name in numbers)
    return " · ".join(part for part in (step, *told, _what(point), f"line {point['line']:,}") if part)


def _what(point: Point) -> str:
    """Return in words what was odd about a step."""
    said = []
    if point["overflow"]:
        said.append("overflow")
    if point["skipped"]:
        said.append(f"{counted(point['skipped'], 'step')} skipped")
    said.extend(f"{label.lower()} {_label(point[name])}" for name, label in _NUMBERS if isinstance(point[name], str))
    return ", ".join(said)


def _row(part: Mapping[str, Any], point: Point, names: Sequence[str]) -> Row:
    step = f"{point['step']:,}" if point["step"] is not None else "-"
    return Row(f"{part['file']}:{point['line']}", step, tuple(_label(point[name]) for name in names), _what(point))


def _said(training: Mapping[str, Any], parts: Sequence[_Part]) -> Iterator[str]:
    """Yield a sentence for each part, and one for what was skipped."""
    several = len({part["attempt"] for part, _ in parts}) > 1
    for part, points in parts:
        who = f"attempt {part['attempt']}, " if several else ""
        who += "of the steps that were read, " if part["is_choice"] else ""
        by = "" if part["rank"] is None else f" as rank {part['rank']} prints it"
        said = [text for name, label in _NUMBERS if (text := _course(name, label.lower(), points))]
        sentence = f"{who}{_reach(points)}{by}: {'; '.join(said) or 'no numbers'}."
        yield sentence[0].upper() + sentence[1:]
    overflows, skipped = training["overflows"], training["skipped"]
    if overflows:
        yield "1 overflow was told." if overflows == 1 else f"{overflows:,} overflows were told."
    if skipped is not None:
        yield "1 step was skipped." if skipped == 1 else f"{skipped:,} steps were skipped."


def _reach(points: Sequence[_Placed]) -> str:
    steps = [placed.point["step"] for placed in points if placed.point["step"] is not None]
    if steps and steps == sorted(steps):
        return f"from step {steps[0]:,} to step {steps[-1]:,}"
    return f"from line {points[0].point['line']:,} to line {points[-1].point['line']:,}"


def _course(name: str, label: str, points: Sequence[_Placed]) -> str:
    told = [placed.point[name] for placed in points if placed.point[name] is not None]
    if not told:
        return ""
    said = f"{label} from {_label(told[0])} to {_label(told[-1])}"
    numbers = [value for value in told if isinstance(value, int | float)]
    if not numbers:
        return said
    ends = {told[0], told[-1]}
    extremes = [("lowest", min(numbers)), ("highest", max(numbers))]
    more = [f"{word} {_label(value)}" for word, value in extremes if value not in ends]
    return ", ".join([said, *more])
