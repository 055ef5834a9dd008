"""The unified diff that `git apply` takes.

It is made from the edits themselves: no two texts are compared, so that it costs no more however alike a file's lines
are, and it shows no line but those that an edit touches and those around them.
"""

from __future__ import annotations

import os
import posixpath
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from pathlib import PurePath

from nccl_logscan.configs.edit import Edit, applied, in_order
from nccl_logscan.records import dataclass

_NO_NEWLINE = b"\\ No newline at end of file\n"


@dataclass(frozen=True, slots=True)
class _Change:
    """Lines `first` to `end` (from 0, exclusive) of a file become `new`."""

    first: int
    end: int
    new: tuple[bytes, ...]

    @property
    def growth(self) -> int:
        """How many lines more there are after it."""
        return len(self.new) - (self.end - self.first)


def diff_of_edits(name: str, data: bytes, edits: Iterable[Edit], context: int = 3) -> bytes:
    """Return what `applied` does to `data` as `git apply` takes it, with so many lines of context; b"" for nothing.

    Every byte of the lines is kept, whatever it is. `git apply` refuses a hunk in the midst of a file without context.
    """
    lines = _lines(data)
    hunks = b"".join(_hunks(lines, _changes(lines, edits), context))
    if not hunks:
        return b""
    return b"--- %b\n+++ %b\n%b" % (_quoted_path("a/", name), _quoted_path("b/", name), hunks)


def _lines(data: bytes) -> list[bytes]:
    """Split at line feeds alone: a lone carriage return is no end of a line to git."""
    parts = data.split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


# --- which lines change ----------------------------------------------------------------------------------------


def _changes(lines: list[bytes], edits: Iterable[Edit]) -> Iterator[_Change]:
    """Yield the changed lines; edits that share a line are one change."""
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    group: list[Edit] = []
    first = end = -1
    for edit in in_order(edits):
        begins = min(bisect_right(starts, edit.start) - 1, len(lines))
        if group and begins >= end:
            yield from _changes_of(lines, starts[first], first, end, group)
            group = []
        if not group:
            first = end = begins
        group.append(edit)
        end = max(end, min(bisect_right(starts, edit.end), len(lines)))
    if group:
        yield from _changes_of(lines, starts[first], first, end, group)


def _changes_of(lines: list[bytes], begin: int, first: int, end: int, group: list[Edit]) -> Iterator[_Change]:
    """Yield what edits do to the lines `first` to `end`, which begin at byte `begin`; lines that they keep are none."""
    moved = [Edit(edit.start - begin, edit.end - begin, edit.text) for edit in group]
    new = _lines(applied(b"".join(lines[first:end]), moved))
    inserted = tuple(_insertions(lines, first, end, new))
    if inserted:
        yield from inserted
        return
    same = 0
    while first + same < end and same < len(new) and lines[first + same] == new[same]:
        same += 1
    first, until = first + same, len(new)
    while first < end and until > same and lines[end - 1] == new[until - 1]:
        end, until = end - 1, until - 1
    if first < end or same < until:
        yield _Change(first, end, tuple(new[same:until]))


def _insertions(lines: list[bytes], first: int, end: int, new: list[bytes]) -> Iterator[_Change]:
    """Yield the new lines between the old ones; nothing where an old one is changed or gone.

    One edit may insert in places far apart, and holds what lies between as it was.
    """
    found, put = list[_Change](), list[bytes]()
    for line in new:
        if first < end and line == lines[first]:
            if put:
                found.append(_Change(first, first, tuple(put)))
            put, first = [], first + 1
        else:
            put.append(line)
    if first == end:
        yield from found
        if put:
            yield _Change(end, end, tuple(put))


# --- hunks -----------------------------------------------------------------------------------------------------


def _hunks(lines: list[bytes], changes: Iterable[_Change], context: int) -> Iterator[bytes]:
    shift = 0
    group: list[_Change] = []
    for change in changes:
        if group and change.first - group[-1].end > 2 * context:
            yield _hunk(lines, group, context, shift)
            shift += sum(each.growth for each in group)
            group = []
        group.append(change)
    if group:
        yield _hunk(lines, group, context, shift)


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
    growth = sum(each.growth for each in group)
    before, after = _range(first, last - first), _range(first + shift, last - first + growth)
    return b"@@ -%b +%b @@\n" % (before, after) + b"".join(parts)


def _range(first: int, count: int) -> bytes:
    # An empty range is told by the line before it.
    return b"%d,%d" % (first + 1 if count else first, count)


def _written(mark: bytes, line: bytes) -> bytes:
    return mark + line if line.endswith(b"\n") else mark + line + b"\n" + _NO_NEWLINE


# --- the file's name -------------------------------------------------------------------------------------------


def _quoted_path(side: str, name: str) -> bytes:
    """Return a file's name as it stands in the head of a diff, `a/` or `b/` before it."""
    # git takes no `./`, `//` or `..` within a path.
    path = f"{side}{posixpath.normpath(name).lstrip('/')}".encode("utf-8", "surrogateescape")
    # `##[`, which a CI runner obeys in whatever it prints, is quoted as well.
    if b"##" not in path and not any(byte < 0x20 or byte in b'"\\' or byte > 0x7E for byte in path):
        # A tab ends a name that holds a space.
        return path + (b"\t" if b" " in path else b"")
    return b'"' + b"".join(_quoted(byte) for byte in path) + b'"'


def _quoted(byte: int) -> bytes:
    if byte in b'"\\':
        return b"\\" + bytes([byte])
    return bytes([byte]) if 0x20 <= byte <= 0x7E and byte != ord("#") else b"\\%03o" % byte


def path_for_git(name: str) -> str:
    """Return a file's path from here, which `git apply` wants without `./`, `..` and links in it; the name as it is of
    a file that lies elsewhere, or is none.
    """
    try:
        path = os.path.relpath(os.path.realpath(name), os.path.realpath(os.curdir))
    except (OSError, ValueError):
        return name
    return name if PurePath(path).parts[:1] == (os.pardir,) else path
