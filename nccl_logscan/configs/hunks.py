"""The unified diff of edits, made from the edits themselves, so that it costs no more however alike the lines are."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nccl_logscan.configs.edit import NO_NEWLINE, Edit, applied, quoted_path


@dataclass(frozen=True, slots=True)
class _Change:
    """Lines `first` to `end` (from 0, exclusive) of a file become `new`."""

    first: int
    end: int
    new: tuple[bytes, ...]


def diff_of_edits(name: str, data: bytes, edits: Iterable[Edit], context: int = 3) -> bytes:
    """Return what `applied` does to `data` as `git apply` takes it; b"" where that is nothing."""
    lines = _lines(data)
    changes = [change for change in _changes(lines, edits) if change.first < change.end or change.new]
    hunks = b"".join(_hunks(lines, changes, context))
    if not hunks:
        return b""
    return b"--- %b\n+++ %b\n%b" % (quoted_path("a/", name), quoted_path("b/", name), hunks)


def _changes(lines: list[bytes], edits: Iterable[Edit]) -> Iterator[_Change]:
    """Yield the changed lines; edits that share a line are one change."""
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    group: list[Edit] = []
    first = end = -1
    for edit in sorted(dict.fromkeys(edits), key=lambda edit: (edit.start, edit.end)):
        begins = min(bisect_right(starts, edit.start) - 1, len(lines))
        if group and begins >= end:
            yield _change(lines, starts[first], first, end, group)
            group = []
        if not group:
            first = end = begins
        group.append(edit)
        end = max(end, min(bisect_right(starts, edit.end), len(lines)))
    if group:
        yield _change(lines, starts[first], first, end, group)


def _change(lines: list[bytes], begin: int, first: int, end: int, group: list[Edit]) -> _Change:
    moved = [Edit(edit.start - begin, edit.end - begin, edit.text) for edit in group]
    new = _lines(applied(b"".join(lines[first:end]), moved))
    while first < end and new and lines[first] == new[0]:
        first, new = first + 1, new[1:]
    while first < end and new and lines[end - 1] == new[-1]:
        end, new = end - 1, new[:-1]
    return _Change(first, end, tuple(new))


def _hunks(lines: list[bytes], changes: list[_Change], context: int) -> Iterator[bytes]:
    shift = 0
    group: list[_Change] = []
    for change in changes:
        if group and change.first - group[-1].end > 2 * context:
            yield _hunk(lines, group, context, shift)
            shift += _growth(group)
            group = []
        group.append(change)
    if group:
        yield _hunk(lines, group, context, shift)


def _growth(group: list[_Change]) -> int:
    return sum(len(change.new) - (change.end - change.first) for change in group)


def _hunk(lines: list[bytes], group: list[_Change], context: int, shift: int) -> bytes:
    first, last = max(0, group[0].first - context), min(len(lines), group[-1].end + context)
    parts: list[bytes] = []
    at = first
    for change in group:
        parts += (_written(b" ", line) for line in lines[at : change.first])
        parts += (_written(b"-", line) for line in lines[change.first : change.end])
        parts += (_written(b"+", line) for line in change.new)
        at = change.end
    parts += (_written(b" ", line) for line in lines[at:last])
    before, after = _range(first, last - first), _range(first + shift, last - first + _growth(group))
    return b"@@ -%b +%b @@\n" % (before, after) + b"".join(parts)


def _range(first: int, count: int) -> bytes:
    # An empty range is told by the line before it.
    return b"%d,%d" % (first + 1 if count else first, count)


def _written(mark: bytes, line: bytes) -> bytes:
    return mark + line if line.endswith(b"\n") else mark + line + b"\n" + NO_NEWLINE


def _lines(data: bytes) -> list[bytes]:
    """Split at line feeds alone: a lone carriage return is no end of a line to git."""
    parts = data.split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])
