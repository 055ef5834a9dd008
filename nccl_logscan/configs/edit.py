"""Edits of a file's bytes: made together, or one after the other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Edit:
    """Bytes `start` to `end` of a file become `text`."""

    start: int
    end: int
    text: bytes


def in_order(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """Return the edits that are made, in the order of the file; of those that overlap, only the first is."""
    made: list[Edit] = []
    at = 0
    for edit in sorted(dict.fromkeys(edits), key=lambda edit: (edit.start, edit.end)):
        if edit.start >= at:
            made.append(edit)
            at = edit.end
    return tuple(made)


def applied(data: bytes, edits: Iterable[Edit]) -> bytes:
    """Return `data` with the edits made; of edits that overlap, all but the first in the file are left out."""
    parts: list[bytes] = []
    at = 0
    for edit in in_order(edits):
        parts += (data[at : edit.start], edit.text)
        at = edit.end
    return b"".join((*parts, data[at:]))


def composed(first: Iterable[Edit], later: Iterable[Edit]) -> tuple[Edit, ...]:
    """Return the edits of a file that do what `first` does and `later` then does to the file so changed."""
    made = in_order(first)
    # From the last one on, so that those before it still are where they say.
    for edit in reversed(in_order(later)):
        made = _followed(made, edit)
    return made


def _followed(first: tuple[Edit, ...], later: Edit) -> tuple[Edit, ...]:
    """Return `first` and then one edit; it swallows those that it meets, but for what they wrote outside of it."""
    before, behind = list[Edit](), list[Edit]()
    start, end = later.start, later.end  # in the file as it was
    head = tail = b""
    shift = 0  # how much further on a byte is after the edits so far
    for edit in first:
        begins = edit.start + shift
        ends = begins + len(edit.text)
        shift += len(edit.text) - (edit.end - edit.start)
        if ends < later.start:
            before.append(edit)
            start = later.start - shift
        elif begins < later.start:
            start, head = edit.start, edit.text[: later.start - begins]
        if begins > later.end:
            behind.append(edit)
        elif ends > later.end:
            end, tail = edit.end, edit.text[later.end - begins :]
        else:
            end = later.end - shift
    # Insertions at one place are one edit: two that are alike would count as one made twice.
    while before and before[-1].end == start:
        head, start = before[-1].text + head, before.pop().start
    while behind and behind[0].start == end:
        tail, end = tail + behind[0].text, behind.pop(0).end
    return (*before, Edit(start, end, head + later.text + tail), *behind)
