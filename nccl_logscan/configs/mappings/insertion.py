"""Where and how a new entry is written into a mapping or sequence."""

from __future__ import annotations

from nccl_logscan.configs.edit import Edit, line_ending, line_start, lines_put
from nccl_logscan.configs.mappings.edits import entry_of, size_of
from nccl_logscan.configs.mappings.removal import begin_of
from nccl_logscan.configs.mappings.tree import Mapping, Sequence
from nccl_logscan.expressions import deferred

_REST = deferred(rb"[ \t]*(?:#[^\n]*)?(?:\n|\Z)")
_COMMA = deferred(rb"[ \t]*,")


def appended(data: bytes, parent: Mapping | Sequence, lines: list[bytes]) -> Edit | None:
    """Return the edit that writes an entry, of one or more lines, behind the last one."""
    if parent.flow:
        return _into_flow(data, parent, b" ".join(lines))
    return inserted_after(data, parent, size_of(parent) - 1, lines)


def inserted_after(data: bytes, parent: Mapping | Sequence, number: int, lines: list[bytes]) -> Edit | None:
    """Return the edit that writes an entry behind that of a number in a block, with its indentation."""
    first = begin_of(data, parent, 0) if size_of(parent) else None
    if first is None:
        return None
    indent = b" " * (first - line_start(data, first))
    rest = _REST.match(data, entry_of(parent, number)[1])
    return lines_put(data, rest.end(), [indent + line for line in lines]) if rest else None


def _into_flow(data: bytes, parent: Mapping | Sequence, entry: bytes) -> Edit | None:
    if not size_of(parent):
        opening = data.find(b"{" if isinstance(parent, Mapping) else b"[", parent.start, parent.end)
        is_clear = opening >= 0 and not data[opening + 1 : parent.end - 1].strip()
        return Edit(opening + 1, parent.end - 1, entry) if is_clear else None
    begin, end = entry_of(parent, size_of(parent) - 1)
    line = line_start(data, begin)
    joint = b" " if data[line:begin].strip(b" \t") else line_ending(data) + data[line:begin]
    comma = _COMMA.match(data, end)
    if comma:
        return Edit(comma.end(), comma.end(), joint + entry + b",")
    return Edit(end, end, b"," + joint + entry)
