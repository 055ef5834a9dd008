"""Edits of a file's bytes, and the unified diff that `git apply` takes."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from dataclasses import dataclass

NO_NEWLINE = b"\\ No newline at end of file\n"
CONTEXTS = (3, 2, 1)
"""How many unchanged lines a diff may have around a change, the usual number first. `git apply` takes no hunk without
any, and one beside a secret is to show as few as it can.
"""


@dataclass(frozen=True, slots=True)
class Edit:
    """Bytes `start` to `end` of a file become `text`."""

    start: int
    end: int
    text: bytes


def applied(data: bytes, edits: Iterable[Edit]) -> bytes:
    """Return `data` with the edits made; of edits that overlap, all but the first in the file are left out."""
    parts: list[bytes] = []
    at = 0
    for edit in sorted(dict.fromkeys(edits), key=lambda edit: (edit.start, edit.end)):
        if edit.start < at:
            continue
        parts += (data[at : edit.start], edit.text)
        at = edit.end
    return b"".join((*parts, data[at:]))


def unified_diff(name: str, before: bytes, after: bytes, context: int = 3) -> bytes:
    """Return the change as `git apply` takes it, b"" for none; every byte of the lines is kept, whatever it is."""
    lines = difflib.diff_bytes(
        difflib.unified_diff,
        _lines(before),
        _lines(after),
        quoted_path("a/", name),
        quoted_path("b/", name),
        n=context,
        lineterm=b"\n",
    )
    return b"".join(line if line.endswith(b"\n") else line + b"\n" + NO_NEWLINE for line in lines)


def shown_diff(diff_with: Callable[[int], bytes], may_show: Callable[[bytes], bool]) -> bytes | None:
    """Return the diff with as many unchanged lines around its changes as may be shown; None where it may not be at all.

    `diff_with` gives the diff with that many of them.
    """
    return next((diff for context in CONTEXTS if may_show(diff := diff_with(context))), None)


def _lines(data: bytes) -> list[bytes]:
    """Split at line feeds alone: a lone carriage return is no end of a line to git."""
    parts = data.split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def quoted_path(side: str, name: str) -> bytes:
    """Return a file's name as it stands in the head of a diff, `a/` or `b/` before it."""
    path = f"{side}{name.removeprefix('/')}".encode("utf-8", "surrogateescape")
    if not any(byte < 0x20 or byte in b'"\\' or byte > 0x7E for byte in path):
        # A tab ends a name that holds a space.
        return path + (b"\t" if b" " in path else b"")
    return b'"' + b"".join(_quoted(byte) for byte in path) + b'"'


def _quoted(byte: int) -> bytes:
    if byte in b'"\\':
        return b"\\" + bytes([byte])
    return bytes([byte]) if 0x20 <= byte <= 0x7E else b"\\%03o" % byte
