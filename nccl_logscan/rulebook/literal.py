"""The literals of which every match of an expression must contain at least one, proved from the parsed expression.

The matcher looks for the literals first (`in` is some fifty times faster than a search) and tries the expression only
where one is found; so a literal that is not required would hide failures. What cannot be proved gives none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from re import _constants as codes  # type: ignore[attr-defined] # typeshed has it not; it is in 3.11 to 3.14
from typing import Any, NamedTuple

from nccl_logscan.rulebook.expression import parse

_COPIES = 4
"""How many copies of a repeated part are written out: longer literals find nothing more."""
_ALTERNATIVES = 24
"""How many literals are looked for at most: with more of them the expression itself is as cheap."""

_Piece = str | frozenset[str] | None


class Needed(NamedTuple):
    """`texts`: a match contains one of them (none: nothing is proved). `folded`: compare in lower case."""

    texts: tuple[str, ...] = ()
    folded: bool = False


def required_literals(pattern: str) -> Needed:
    """Return the most telling literals of which each match of `pattern` contains one."""
    try:
        parsed = parse(pattern)
    except (re.error, RecursionError, OverflowError, FutureWarning, DeprecationWarning):
        return Needed()
    folded = bool(parsed.state.flags & re.IGNORECASE) or "(?i" in pattern
    texts = _best(_pieces(parsed))
    if folded and not all(text.isascii() for text in texts):
        return Needed()
    lowered = {text.lower() for text in texts} if folded else texts
    return Needed(tuple(sorted(lowered)), folded)


def _best(pieces: Iterable[_Piece]) -> frozenset[str]:
    """Of all sets of which one member is required, the one whose shortest member is longest."""
    return max(_sets(pieces), key=_worth, default=frozenset())


def _worth(texts: frozenset[str]) -> tuple[int, int]:
    return (min(map(len, texts), default=0), -len(texts))


def _sets(pieces: Iterable[_Piece]) -> Iterator[frozenset[str]]:
    """Join neighbouring characters into texts; a set stands for itself; None is a gap of unknown text."""
    run: list[str] = []
    for piece in pieces:
        if isinstance(piece, str):
            run.append(piece)
            continue
        if run:
            yield frozenset({"".join(run)})
            run = []
        if isinstance(piece, frozenset):
            yield piece
    if run:
        yield frozenset({"".join(run)})


def _pieces(sequence: Iterable[tuple[Any, Any]]) -> Iterator[_Piece]:
    for code, argument in sequence:
        if code is codes.LITERAL:
            yield chr(argument)
        elif code in {codes.AT, codes.ASSERT, codes.ASSERT_NOT}:
            continue  # of no width: what stands before and after still touch
        elif code is codes.SUBPATTERN:
            yield from _pieces(argument[3])
        elif code is codes.ATOMIC_GROUP:
            yield from _pieces(argument)
        elif code is codes.BRANCH:
            yield _one_of(argument[1])
        elif code in {codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT}:
            yield from _repeated(argument)
        else:
            yield None


def _one_of(alternatives: Iterable[Any]) -> frozenset[str] | None:
    """What a match of one of the alternatives contains: a literal of that alternative; None if one has none."""
    needed = [_best(_pieces(alternative)) for alternative in alternatives]
    together = frozenset().union(*needed)
    return together if all(needed) and len(together) <= _ALTERNATIVES else None


def _repeated(argument: tuple[int, Any, Any]) -> Iterator[_Piece]:
    least, most, inner = argument
    once = list(_pieces(inner))
    for _ in range(min(least, _COPIES)):
        yield from once
    if least != most or least > _COPIES:
        yield None
