"""Edits of a file's bytes, made together (`rewriting.py` makes them one after the other), and lines put into it."""

from __future__ import annotations

from collections.abc import Iterable

from nccl_logscan.records import dataclass


@dataclass(frozen=True, slots=True)
class Edit:
    """Bytes `start` to `end` of a file become `text`."""

    start: int
    end: int
    text: bytes


def lines_put(data: bytes, at: int, lines: Iterable[bytes], *, closed: bool = False) -> Edit:
    """Return the edit that puts lines at `at`, where a line begins or the file ends, with line ends as the file has.

    A file whose last line has no end has none afterwards, unless it is to be `closed`.
    """
    ending = line_ending(data)
    text = ending.join(lines)
    is_open = at > 0 and data[at - 1 : at] != b"\n"
    closing = b"" if is_open and not closed else ending
    return Edit(at, at, (ending if is_open else b"") + text + closing)


def line_ending(data: bytes) -> bytes:
    """Return what ends the file's lines."""
    return b"\r\n" if b"\r\n" in data else b"\n"


def line_start(data: bytes, offset: int) -> int:
    """Return where the line begins that holds the byte at `offset`."""
    return data.rfind(b"\n", 0, offset) + 1


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
