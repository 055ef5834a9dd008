"""A unified diff of one file as replacements of its lines, as SARIF writes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nccl_logscan.expressions import deferred

_HUNK = deferred(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@.*")
_NO_NEWLINE = "\\ No newline at end of file"


def replacements(diff: str) -> list[dict[str, Any]]:
    """Return what to delete and to insert, from the top; nothing where it is not the diff of one file in UTF-8."""
    lines = diff.removesuffix("\n").split("\n")
    if "\ufffd" in diff or len(lines) < 3 or not lines[0].startswith("--- ") or not lines[1].startswith("+++ "):
        return []
    found: list[dict[str, Any]] = []
    at = 2
    while at < len(lines):
        hunk = _HUNK.fullmatch(lines[at])
        if hunk is None:
            return []
        end = _end_of(lines, at + 1, int(hunk[2] or 1), int(hunk[4] or 1))
        # A hunk that takes no line away names the line that it comes after.
        first = int(hunk[1]) + (hunk[2] == "0")
        found += _changes(lines[at + 1 : end], first)
        at = end
    return found


def _end_of(lines: list[str], at: int, old: int, new: int) -> int:
    """Return where a hunk of so many old and new lines ends."""
    while at < len(lines) and (old or new or lines[at] == _NO_NEWLINE):
        old -= lines[at][:1] in {" ", "-", ""}
        new -= lines[at][:1] in {" ", "+", ""}
        at += 1
    return at


def _changes(body: list[str], line: int) -> Iterator[dict[str, Any]]:
    """Yield a replacement for each run of changed lines; `line` is the hunk's first of the file."""
    removed: list[str] = []
    added: list[str] = []
    for text in [*body, " "]:
        if text == _NO_NEWLINE:
            continue
        if text[:1] == "-":
            removed.append(text[1:])
        elif text[:1] == "+":
            added.append(text[1:])
        else:
            if removed or added:
                yield _replacement(line, removed, added)
            line += len(removed) + 1
            removed, added = [], []


def _replacement(line: int, removed: list[str], added: list[str]) -> dict[str, Any]:
    """Return the change of whole lines, but for the end of the last: a file may end without one."""
    if not removed:
        return _deleting(line, line, 1, "".join(f"{text}\n" for text in added))
    if not added:
        return _deleting(line, line + len(removed), 1, "")
    end = "\r" if removed[-1].endswith("\r") and added[-1].endswith("\r") else ""
    last = len(removed[-1].removesuffix(end).encode("utf-16-le", "replace")) // 2 + 1
    return _deleting(line, line + len(removed) - 1, last, "\n".join(added).removesuffix(end))


def _deleting(first: int, last: int, end_column: int, text: str) -> dict[str, Any]:
    deleted = {"startLine": first, "startColumn": 1, "endLine": last, "endColumn": end_column}
    return {"deletedRegion": deleted, "insertedContent": {"text": text}}
