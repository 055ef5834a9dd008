"""Which expressions tell one number from another: on lines that differ in their numbers alone these may disagree.

A run is a maximal sequence of hexadecimal digits that holds a decimal one; the shape of a text is the text without its
runs (skim/told.py). What holds for one line of a shape holds for all of them, unless an expression asks for a digit.
"""

from __future__ import annotations

import re
from functools import lru_cache
from re import _constants as codes  # type: ignore[attr-defined] # typeshed has it not; it is in 3.11 to 3.14
from typing import Any

from nccl_logscan.literals import parse

RUN = re.compile(r"[a-fA-F]*[0-9][0-9a-fA-F]*")
"""A run of a decoded text."""
_EDGES = "abcdef"
_MARK = "\0"
_DIGIT = re.compile(r"[0-9]")
_COUNTED = re.compile(r"\{[0-9]*,?[0-9]*\}|(?<!\[)0-9(?=\])|\[0-9\]|\[0-9(?=[a-zA-Z])")
"""What holds digits and asks for none: how often something is repeated, and sets of all of them."""
_ALL = frozenset("0123456789")
_CATEGORIES = {
    codes.CATEGORY_DIGIT: _ALL,
    codes.CATEGORY_WORD: _ALL,
    codes.CATEGORY_NOT_SPACE: _ALL,
}


@lru_cache(maxsize=4_096)
def asks_for_digits(pattern: str, flags: int = 0) -> bool:
    """Return whether some part of an expression takes one decimal digit and not another. An unreadable one does."""
    if not _DIGIT.search(_COUNTED.sub("", pattern)):
        return False
    try:
        return _asks(parse(pattern, flags))
    except (re.error, RecursionError, OverflowError, FutureWarning, DeprecationWarning):
        return True


def _asks(node: Any) -> bool:
    """Look into a node of `re`'s parse, whatever its kind: sequences, pairs of a code and its argument, values."""
    if isinstance(node, tuple) and len(node) == 2 and node[0] in {codes.LITERAL, codes.NOT_LITERAL}:
        return chr(node[1]) in _ALL
    if isinstance(node, tuple) and len(node) == 2 and node[0] is codes.IN:
        return 0 < len(_digits_in(node[1])) < len(_ALL)
    if isinstance(node, list | tuple) or hasattr(node, "data"):
        return any(_asks(part) for part in (node.data if hasattr(node, "data") else node))
    return False


def _digits_in(items: list[tuple[Any, Any]]) -> frozenset[str]:
    """Return the decimal digits that a set takes, `[^...]` looked at as `[...]`: it tells digits apart as that does."""
    taken: set[str] = set()
    for code, argument in items:
        if code is codes.LITERAL:
            taken |= _ALL & {chr(argument)}
        elif code is codes.RANGE:
            taken |= {digit for digit in _ALL if argument[0] <= ord(digit) <= argument[1]}
        elif code is codes.CATEGORY:
            taken |= _CATEGORIES.get(argument, frozenset())
    return frozenset(taken)


def marked(text: str) -> str:
    """Return a text in lower case with a mark for each of its runs: the same for all texts of a shape."""
    return RUN.sub(_MARK, text).lower()


@lru_cache(maxsize=65_536)
def marks_of(literal: str) -> frozenset[str]:
    """Return the forms of which the marked text of every text with a literal (in lower case) holds one.

    At the literal's ends a text may go on with a digit, so that hexadecimal letters there are part of a run.
    """
    form = RUN.sub(_MARK, literal)
    ahead, behind = form.lstrip(_EDGES), form.rstrip(_EDGES)
    forms = {form}
    if ahead != form:
        forms.add(_MARK + ahead)
    if behind != form:
        forms.add(behind + _MARK)
    if form not in {ahead, behind}:
        forms.add(_MARK + ahead.rstrip(_EDGES) + _MARK)
    return frozenset(forms)
