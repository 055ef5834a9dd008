"""A literal that every match of an expression must contain, proved from the parsed expression.

The matcher looks for the literal first (`in` is some fifty times faster than a search) and tries the expression only
where it is found; so a literal that is not required would hide failures. What cannot be proved gives "".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from re import _constants as codes  # type: ignore[attr-defined] # typeshed has it not; it is in 3.11 to 3.14
from typing import Any

from nccl_logscan.rulebook.expression import parse

_COPIES = 4
"""How many copies of a repeated part are written out: longer literals find nothing more."""


def required_literal(pattern: str) -> str:
    """Return the longest text that is part of every match of `pattern`; "" if none can be proved."""
    try:
        parsed = parse(pattern)
    except (re.error, RecursionError, OverflowError, FutureWarning, DeprecationWarning):
        return ""
    ignore_case = bool(parsed.state.flags & re.IGNORECASE)
    return max(_runs(_pieces(parsed, ignore_case=ignore_case)), key=len, default="")


def _runs(pieces: Iterable[str | None]) -> Iterator[str]:
    """Join neighbouring characters; None is a gap of unknown text."""
    run: list[str] = []
    for piece in pieces:
        if piece is not None:
            run.append(piece)
        elif run:
            yield "".join(run)
            run = []
    yield "".join(run)


def _pieces(sequence: Iterable[tuple[Any, Any]], *, ignore_case: bool) -> Iterator[str | None]:
    for code, argument in sequence:
        if code is codes.LITERAL:
            yield None if ignore_case else chr(argument)
        elif code in {codes.AT, codes.ASSERT, codes.ASSERT_NOT}:
            continue  # of no width: what stands before and after still touch
        elif code is codes.SUBPATTERN:
            _, add, remove, inner = argument
            ignored = (ignore_case or bool(add & re.IGNORECASE)) and not remove & re.IGNORECASE
            yield from _pieces(inner, ignore_case=ignored)
        elif code is codes.ATOMIC_GROUP:
            yield from _pieces(argument, ignore_case=ignore_case)
        elif code in {codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT}:
            yield from _repeated(argument, ignore_case=ignore_case)
        else:
            yield None


def _repeated(argument: tuple[int, Any, Any], *, ignore_case: bool) -> Iterator[str | None]:
    least, most, inner = argument
    once = list(_pieces(inner, ignore_case=ignore_case))
    for _ in range(min(least, _COPIES)):
        yield from once
    if least != most or least > _COPIES:
        yield None
