"""Plain values of any kind → numbers and texts, and the clauses that say what could not be read.

A dump's JSON form writes as texts some numbers that its pickle holds as numbers (`pg_status`), and one that was
rewritten by a script may hold anything, so each value is asked for what it is needed as.
"""

from __future__ import annotations

from nccl_logscan.recorder.plain_pickle import Plain

LARGEST_WORLD = 1 << 20
"""More ranks than any job has: a larger number is no rank, and to count up to it would cost time and memory."""

_DIGITS_LIMIT = 20
_LONGEST_TEXT = 4096


class Malformed(Exception):  # noqa: N818 - a part of a dump that is left out, not a mistake of ours
    """A part cannot be read; the text says why, as a clause that follows the part's name."""


class Problems:
    """Clauses that say what of a dump could not be read: the first ones, and how many more there were."""

    def __init__(self, limit: int = 12) -> None:
        self._limit = limit
        self._clauses: dict[str, None] = {}
        self._further = 0

    def add(self, clause: str) -> None:
        """Take note of a clause; the same one twice counts once."""
        if clause in self._clauses:
            return
        if len(self._clauses) < self._limit:
            self._clauses[clause] = None
        else:
            self._further += 1

    def clauses(self) -> tuple[str, ...]:
        """Return what was noted, in order."""
        if not self._further:
            return tuple(self._clauses)
        return *self._clauses, f"{self._further} further parts could not be read"


def whole(value: Plain) -> int | None:
    """Return a number that is whole, or a text that is one; None for anything else."""
    if type(value) is int:
        return value
    if type(value) is float:
        return int(value) if value.is_integer() else None
    if type(value) is str and len(value) <= _DIGITS_LIMIT and value.isascii():
        try:
            return int(value)
        except ValueError:
            return None
    return None


def count(value: Plain) -> int | None:
    """Return a whole number from 0 on that 63 bits hold; None for anything else."""
    number = whole(value)
    return number if number is not None and 0 <= number < 1 << 63 else None


def some(value: Plain) -> int | None:
    """Return a whole number from 1 on; None for anything else. JSON dumps write 0 for a time that was not seen."""
    return count(value) or None


def text(value: Plain) -> str | None:
    """Return a text, at most 4096 characters of it, that can be printed as UTF-8; None for what is none."""
    if type(value) is int or type(value) is float:
        return str(value)
    if type(value) is not str:
        return None
    if value.isascii() and len(value) <= _LONGEST_TEXT:
        return value
    # JSON's escapes can spell half of a character, which no output could encode.
    return value[:_LONGEST_TEXT].encode("utf-8", "replace").decode("utf-8", "replace")
