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
_NO_PROSE = 3
"""How many further characters of prose a digit or mark is worth, in a text of _TELLING characters and more."""
_TELLING = 4
_PROSE = re.compile(r"[A-Za-z ,.:]*")
_RARE = 12
_SHORTEST = 3
_FOLDED_TO_ASCII = frozenset("\u0130\u0131\u017f\u212a")
_FOLDING_GROUP = re.compile(r"\(\?[a-zA-Z]*i")


class _OneOf(NamedTuple):
    """What one of several alternatives contains, and how each of them begins; empty: one begins with no literal."""

    texts: frozenset[str]
    begins: frozenset[str]


_Piece = str | frozenset[str] | _OneOf | None


def lowers_well(text: str) -> bool:
    """Return whether `lower()` makes of a text's letters what ignoring the case takes them for.

    Outside of ASCII there are four letters that `re.IGNORECASE` takes for i, s and k (documented with that flag); so
    does `regex`, which folds a character to one character unless it is told to fold fully.
    """
    return text.isascii() or _FOLDED_TO_ASCII.isdisjoint(text)


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


def required_sets(pattern: str, flags: int = 0) -> tuple[frozenset[str], ...]:
    """Return all sets of literals that are found of which each match of `pattern` contains a member, in lower case."""
    try:
        parsed = parse(pattern, flags)
    except (re.error, RecursionError, OverflowError, FutureWarning, DeprecationWarning):
        return ()
    sets = (frozenset(text.lower() for text in texts) for texts in _sets(_pieces(parsed, _ALTERNATIVES)))
    return tuple(texts for texts in sets if texts and all(text.isascii() for text in texts))


def needs_of(pattern: str, flags: int, best: Iterable[str]) -> tuple[frozenset[str], ...]:
    """Return sets of literals, in lower case, of which each match of `pattern` contains a member of each.

    `best` is the best of them, and all there is where it is rare; the others are looked for where prose may hold it.
    """
    lowered = frozenset(text.lower() for text in best)
    if all(len(text) >= _RARE or not _PROSE.fullmatch(text) for text in lowered):
        return (lowered,)
    others = (texts for texts in required_sets(pattern, flags) if min(map(len, texts)) >= _SHORTEST)
    return tuple(dict.fromkeys((lowered, *others)))


def _best(pieces: Iterable[_Piece]) -> frozenset[str]:
    """Of all sets of which one member is required, the one whose shortest member is longest."""
    return max(_sets(pieces), key=_worth, default=frozenset())


def _worth(texts: frozenset[str]) -> tuple[int, int]:
    """How seldom other lines hold one of the texts: long ones are rare, and so is what is no word of prose."""
    return (min(map(_rarity, texts), default=0), -len(texts))


def _rarity(text: str) -> int:
    is_prose = len(text) < _TELLING or _PROSE.fullmatch(text) is not None
    return len(text) + (0 if is_prose else _NO_PROSE)


def _sets(pieces: Iterable[_Piece]) -> Iterator[frozenset[str]]:
    """Join neighbouring characters into texts; a set stands for itself; None is a gap of unknown text."""
    run: list[str] = []
    for piece in pieces:
        if isinstance(piece, str):
            run.append(piece)
            continue
        if run:
            before = "".join(run)
            yield frozenset({before})
            if isinstance(piece, _OneOf) and piece.begins:
                yield frozenset(before + begin for begin in piece.begins)
            run = []
        if isinstance(piece, frozenset):
            yield piece
        elif isinstance(piece, _OneOf):
            yield piece.texts
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


def _one_of(alternatives: Iterable[Any], most: int) -> _OneOf | None:
    """What a match of one of the alternatives contains: a literal of that alternative; None if one has none."""
    pieces = [list(_pieces(alternative, most)) for alternative in alternatives]
    needed = [_best(own) for own in pieces]
    together = frozenset().union(*needed)
    if not all(needed) or len(together) > most:
        return None
    begins = ["".join(_beginning(own)) for own in pieces]
    return _OneOf(together, frozenset(begins) if all(begins) and len(set(begins)) <= most else frozenset())


def _beginning(pieces: Iterable[_Piece]) -> Iterator[str]:
    for piece in pieces:
        if not isinstance(piece, str):
            return
        yield piece


def _repeated(argument: tuple[int, Any, Any], most: int) -> Iterator[_Piece]:
    least, limit, inner = argument
    once = list(_pieces(inner, most))
    for _ in range(min(least, _COPIES)):
        yield from once
    if least != limit or least > _COPIES:
        yield None
