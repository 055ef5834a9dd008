"""The remark about a setting, marked where the setting, or its value, is written."""

from __future__ import annotations

from nccl_logscan.configs.edit import Edit
from nccl_logscan.lint.made import Made, name_span
from nccl_logscan.lint.model import Check, Remark, Severity
from nccl_logscan.position import Span

_NEAR = 2000
"""So far into a line columns are told of its bytes alone."""


def remark(  # noqa: PLR0917 - in the order of the sentence
    made: Made,
    check: Check,
    severity: Severity,
    problem: str,
    advice: str,
    source: str,
    *,
    fix: tuple[Edit, ...] = (),
    tells: str | None = None,
    marks_value: bool = False,
) -> Remark:
    """Return a remark about a setting, marked at its name, or at its value."""
    placed = made.placed
    column, end_column = _columns(made, marks_value=marks_value)
    return Remark(
        check, severity, placed.name, placed.value, placed.at, column, end_column, problem, advice, source, fix, tells
    )


def _columns(made: Made, *, marks_value: bool) -> tuple[int, int]:
    placed, config = made.placed, made.config
    if config is None:
        return placed.column, placed.column + len(placed.name)
    span = name_span(made) or placed.span
    wanted = placed.value_span if marks_value and placed.value_span else span
    if columns := _columns_in_line(config.data, placed.at.offset, wanted):
        return columns
    lines = config.lines
    line = placed.at.line
    if marks_value and placed.value_span and lines.line_of(placed.value_span.start) == line:
        span = placed.value_span
    start = span.start if lines.line_of(span.start) == line else placed.span.start
    if lines.line_of(start) != line:
        return placed.column, placed.column + 1
    column = lines.column_of(start)
    if lines.line_of(max(start, span.end - 1)) != line:
        return column, column + 1
    return column, max(column + 1, lines.column_of(span.end))


def _columns_in_line(data: bytes, begin: int, span: Span) -> tuple[int, int] | None:
    """Return a span's columns where it lies near the beginning of its line: told without the file's other lines."""
    if not begin <= span.start < span.end <= begin + _NEAR:
        return None
    line = data[begin : span.end]
    if b"\n" in line:
        return None
    before, inside = line[: span.start - begin], line[span.start - begin :]
    if line.isascii():
        return len(before) + 1, len(line) + 1
    column = len(before.decode("utf-8", "replace")) + 1
    return column, column + len(inside.decode("utf-8", "replace"))
