"""Taking an entry out of a mapping or a sequence, so that the rest of the file stays as it is."""

from __future__ import annotations

import re

from nccl_logscan.configs.edit import Edit, applied, line_start
from nccl_logscan.configs.mappings.edits import Parser, Spot, entry_of, size_of
from nccl_logscan.configs.mappings.tree import Mapping, Sequence, shape
from nccl_logscan.expressions import deferred

_REST = deferred(rb"[ \t]*(?:(?:#|//)[^\n]*)?\r?(?:\n|\Z)")
_COMMENT = deferred(rb"[ \t]*(?:#|//)[^\r\n]*")
_OPENING = deferred(rb"[ \t]*")


def entries_removed(data: bytes, parse: Parser, spot: Spot, last: int) -> Edit | None:
    """Return the edit that takes the entries from the spot to number `last` out, if the file then says just that."""
    parent = spot.parent
    if size_of(parent) == last - spot.number + 1:
        edit = emptied(data, parent)
    elif parent.flow:
        edit = out_of_flow(data, parent, spot.number, last)
    else:
        edit = out_of_block(data, parent, spot.number, last)
    if edit is None:
        return None
    return edit if shape(parse(applied(data, [edit])).documents) == _meant(data, parse, spot, last) else None


def _meant(data: bytes, parse: Parser, spot: Spot, last: int) -> list[tuple[object, ...]]:
    """Return the shape of the file without the entries."""
    parent = spot.parent
    held: list[object] = list(parent.pairs if isinstance(parent, Mapping) else parent.items)
    kept = held[: spot.number] + held[last + 1 :]
    documents = parse(data).documents
    _put(parent, kept)
    try:
        return shape(documents)
    finally:
        _put(parent, held)


def _put(parent: Mapping | Sequence, entries: list[object]) -> None:
    target: list[object] = parent.pairs if isinstance(parent, Mapping) else parent.items  # type: ignore[assignment]
    target[:] = entries


def begin_of(data: bytes, parent: Mapping | Sequence, number: int) -> int | None:
    """Return where an entry begins, a block sequence's dash with it."""
    start = entry_of(parent, number)[0]
    if parent.flow or isinstance(parent, Mapping):
        return start
    before = data[:start].rstrip(b" \t\r\n")
    return len(before) - 1 if before.endswith(b"-") else None


def out_of_block(data: bytes, parent: Mapping | Sequence, first: int, last: int) -> Edit | None:
    """Return the edit that takes entries with lines of their own out."""
    begin, end = begin_of(data, parent, first), entry_of(parent, last)[1]
    rest = _REST.match(data, end)
    if begin is None or rest is None:
        return None
    line = line_start(data, begin)
    if not data[line:begin].strip(b" \t"):
        return Edit(line, rest.end(), b"")
    if last + 1 >= size_of(parent):
        return None
    following = begin_of(data, parent, last + 1)
    if following is None or data[rest.end() : following].strip():
        return None
    # "- name: X" holds the first key: the next one moves up behind the dash.
    return Edit(begin, following, b"")


def out_of_flow(data: bytes, parent: Mapping | Sequence, first: int, last: int) -> Edit | None:
    """Return the edit that takes entries out of brackets, with the comma that goes with them."""
    begin, end = entry_of(parent, first)[0], entry_of(parent, last)[1]
    comma = re.compile(rb"[ \t]*,").match(data, end)
    line = line_start(data, begin)
    if comma:
        rest = _REST.match(data, comma.end())
        if rest and b"\n" in rest[0] and not data[line:begin].strip(b" \t"):
            return Edit(line, rest.end(), b"")
        if last + 1 < size_of(parent):
            following = entry_of(parent, last + 1)[0]
            return None if data[comma.end() : following].strip() else Edit(begin, following, b"")
        end = comma.end()
    if first == 0:
        return None
    before = entry_of(parent, first - 1)[1]
    at = data.find(b",", before, begin)
    if at < 0:
        return None
    own = _COMMENT.match(data, end)
    # A comment on the line before stays there; only the comma goes.
    return Edit(at, own.end() if own else end, data[at + 1 : begin].rstrip())


def emptied(data: bytes, parent: Mapping | Sequence) -> Edit | None:
    """Return the edit that leaves {} or [] where the only entries were."""
    size = size_of(parent)
    if parent.flow:
        opening = data.find(b"{" if isinstance(parent, Mapping) else b"[", parent.start, parent.end)
        inside = data[opening + 1 : entry_of(parent, 0)[0]] + data[entry_of(parent, size - 1)[1] : parent.end - 1]
        is_clear = opening >= 0 and not inside.strip(b" \t\r\n,")
        return Edit(opening + 1, parent.end - 1, b"") if is_clear else None
    begin, end = begin_of(data, parent, 0), entry_of(parent, size - 1)[1]
    if begin is None:
        return None
    empty = b"{}" if isinstance(parent, Mapping) else b"[]"
    own = _COMMENT.match(data, end)
    end = own.end() if own else end
    before = len(data[:begin].rstrip(b" \t\r\n"))
    if data[before - 1 : before] == b":":
        return Edit(before, end, b" " + empty)
    return Edit(begin, end, empty)
