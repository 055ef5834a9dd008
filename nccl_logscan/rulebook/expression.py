"""What is wrong with an expression of a rule, and at which character.

An expression must be one for Python's `re` as well as for the `regex` package that searches it: the proofs about it
(required literals, dangerous repeats) are made on `re`'s parse.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from re import _constants as codes  # type: ignore[attr-defined] # typeshed has it not; it is in 3.11 to 3.14
from typing import Any

import regex

from nccl_logscan.expressions import deferred
from nccl_logscan.literals import parse
from nccl_logscan.records import dataclass

_MANY = 16
"""A repeat that may go on at least this often counts as unbounded."""

_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT)
_LOOSE_BRACE = deferred(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|(?P<counted>\{\d*,?\d*\})|(?P<loose>\{)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong; `offset` is the character it stands at, from 0, or None for the whole expression."""

    message: str
    offset: int | None = None


def fault_of(pattern: str) -> Fault | None:
    """Return why `pattern` cannot be used as an expression, or None if it can."""
    try:
        parsed = parse(pattern)
        regex.compile(pattern)
    except re.error as error:
        return Fault(f"is not a regular expression: {error.msg}", error.pos)
    except regex.error as error:
        return Fault(f"is not a regular expression: {error}")
    except (FutureWarning, DeprecationWarning) as warning:
        return Fault(f"is read in two ways: {warning}; put a backslash before the character")
    except (RecursionError, OverflowError):
        return Fault("is too large")
    return _emptiness(parsed) or _loose_brace(pattern)


def _emptiness(parsed: Any) -> Fault | None:
    if parsed.getwidth()[0] == 0:
        return Fault("matches the empty text, and so every line")
    return None


def _loose_brace(pattern: str) -> Fault | None:
    for found in _LOOSE_BRACE.finditer(pattern):
        if found["loose"]:
            message = r"holds a { that counts nothing; write \{ (regex reads {e<=1} as a fuzzy match)"
            return Fault(message, found.start())
    return None


def danger_of(pattern: str) -> str | None:
    r"""Return why an expression that `fault_of` passed can take long, or None if that cannot be shown.

    Shown for a repeat around a repeat of which the inner one alone can fill the outer one's turn, as in `(?:a+)+` or
    `(?:\w+\s*)*`: n characters can then be cut into turns in 2^n ways.
    """
    parsed = parse(pattern)
    if parsed and _is_anything(*parsed[0]):
        return "begins with .* or .+, which a search does not need and which makes it look at a line n times over"
    return _danger(parsed)


def _is_anything(code: Any, argument: Any) -> bool:
    return code in _REPEATS and argument[1] >= _MANY and len(argument[2]) == 1 and argument[2][0][0] is codes.ANY


def _danger(sequence: Iterable[tuple[Any, Any]]) -> str | None:
    for code, argument in sequence:
        if code in _REPEATS and argument[1] >= _MANY and _filled_by_a_repeat(argument[2]):
            return "repeats a part that is itself a repeat; such an expression can take exponential time"
        for inner in _parts(code, argument):
            found = _danger(inner)
            if found:
                return found
    return None


def _filled_by_a_repeat(sequence: Any) -> bool:
    """Return whether one unbounded repeat can match a whole turn of `sequence` on its own."""
    needed = [(code, argument) for code, argument in sequence if not _may_be_empty(code, argument)]
    if len(needed) > 1:
        return False
    candidates = needed or list(sequence)
    return any(_is_unbounded(code, argument) for code, argument in candidates)


def _is_unbounded(code: Any, argument: Any) -> bool:
    if code in _REPEATS:
        return bool(argument[1] >= _MANY) or _filled_by_a_repeat(argument[2])
    if code is codes.SUBPATTERN:
        return _filled_by_a_repeat(argument[3])
    if code is codes.BRANCH:
        return any(_filled_by_a_repeat(branch) for branch in argument[1])
    return False


def _may_be_empty(code: Any, argument: Any) -> bool:
    if code in {codes.AT, codes.ASSERT, codes.ASSERT_NOT}:
        return True
    inner = _parts(code, argument)
    if code in {codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT} and argument[0] == 0:
        return True
    if not inner:
        return False
    empty = [all(_may_be_empty(*part) for part in sequence) for sequence in inner]
    return any(empty) if code is codes.BRANCH else all(empty)


def _parts(code: Any, argument: Any) -> list[Any]:
    """Return the sequences inside a node."""
    if code is codes.BRANCH:
        return list(argument[1])
    if code is codes.GROUPREF_EXISTS:
        return [part for part in argument[1:] if part is not None]
    place = _INNER.get(code)
    if place is None:
        return []
    return [argument if place < 0 else argument[place]]


_INNER = {
    codes.SUBPATTERN: 3,
    codes.MAX_REPEAT: 2,
    codes.MIN_REPEAT: 2,
    codes.POSSESSIVE_REPEAT: 2,
    codes.ASSERT: 1,
    codes.ASSERT_NOT: 1,
    codes.ATOMIC_GROUP: -1,
}
"""Where a node's argument holds the sequence inside it; -1: the argument is the sequence."""
