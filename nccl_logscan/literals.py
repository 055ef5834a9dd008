"""The literals of which every match of an expression must contain at least one, proved from the parsed expression.

Who reads a log looks for the literals first (`in` is some fifty times faster than a search) and tries the expression
only where one is found; so a literal that is not required would hide failures. What cannot be proved gives none.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from functools import lru_cache
from re import _constants as codes  # type: ignore[attr-defined] # typeshed has neither; both are in 3.11 to 3.14
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

_COPIES = 4
"""How many copies of a repeated part are written out: longer literals find nothing more."""
_ALTERNATIVES = 24
"""How many literals are looked for one by one at most: with more of them the expression itself is as cheap."""
_FOLDING_GROUP = re.compile(r"\(\?[a-zA-Z]*i")

_Piece = str | frozenset[str] | None


class Needed(NamedTuple):
    """`texts`: a match contains one of them (none: nothing is proved). `folded`: compare in lower case."""

    texts: tuple[str, ...] = ()
    folded: bool = False


@lru_cache(maxsize=4_096)
def parse(pattern: str, flags: int = 0) -> Any:
    """Return `re`'s parse of an expression: a sequence of (code, argument), not to be changed.

    Raises re.error, RecursionError, OverflowError, and as errors the warnings of what is read in two ways.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return parser.parse(pattern, flags)


def required_literals(pattern: str, flags: int = 0, *, most: int = _ALTERNATIVES) -> Needed:
    """Return the most telling literals, `most` at most, of which each match of `pattern` contains one."""
    try:
        parsed = parse(pattern, flags)
    except (re.error, RecursionError, OverflowError, FutureWarning, DeprecationWarning):
        return Needed()
    folded = bool(parsed.state.flags & re.IGNORECASE) or _FOLDING_GROUP.search(pattern) is not None
    texts = _best(_pieces(parsed, most))
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


def _pieces(sequence: Iterable[tuple[Any, Any]], most: int) -> Iterator[_Piece]:
    for code, argument in sequence:
        if code is codes.LITERAL:
            yield chr(argument)
        elif code in {codes.AT, codes.ASSERT, codes.ASSERT_NOT}:
            continue  # of no width: what stands before and after still touch
        elif code is codes.SUBPATTERN:
            yield from _pieces(argument[3], most)
        elif code is codes.ATOMIC_GROUP:
            yield from _pieces(argument, most)
        elif code is codes.BRANCH:
            yield _one_of(argument[1], most)
        elif code in {codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT}:
            yield from _repeated(argument, most)
        else:
            yield None


def _one_of(alternatives: Iterable[Any], most: int) -> frozenset[str] | None:
    """What a match of one of the alternatives contains: a literal of that alternative; None if one has none."""
    needed = [_best(_pieces(alternative, most)) for alternative in alternatives]
    together = frozenset().union(*needed)
    return together if all(needed) and len(together) <= most else None


def _repeated(argument: tuple[int, Any, Any], most: int) -> Iterator[_Piece]:
    least, limit, inner = argument
    once = list(_pieces(inner, most))
    for _ in range(min(least, _COPIES)):
        yield from once
    if least != limit or least > _COPIES:
        yield None
