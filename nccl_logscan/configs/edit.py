"""Edits of a file's bytes, made together; `rewriting.py` makes them one after the other."""

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
