"""Expressions behind the literals that they need: the cheap question before the dear one.

The literals are proved from the expressions, never written beside them: a list kept by hand falls behind the
expression that someone extends, and a line that does not pass it is lost without a sign. `gate.json` holds proofs that
`tools/gates.py` has made, by the expression itself: one that was changed is not found there and is proved anew.
"""

from __future__ import annotations

import json
import re
from _weakref import ref  # `weakref` has it from here, and takes a millisecond to import
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import ClassVar

from ahocorasick_rs import AhoCorasick

from nccl_logscan.expressions import flags_of
from nccl_logscan.literals import Needed, lowers_well, needs_of, required_literals

_MOST = 400
"""An automaton looks for any number of literals in one pass; the bound only keeps it small."""
_FEW = 16
"""So many literals are found sooner one by one than by an automaton, whose call alone costs ten of them."""
SHIPPED = Path(__file__).with_name("gate.json")
"""The proofs that are shipped; without the file all are made when the program starts, which takes 30 ms."""


class Gate:
    """Some expressions, tried only on a text that holds a literal which one of them needs.

    Raises ValueError for an expression of which no literal is proved: it would leave the gate open.
    """

    __slots__ = ("__weakref__", "_expressions", "_find", "_folded", "_keys")

    _made: ClassVar[list[ref[Gate]]] = []

    def __init__(self, *expressions: re.Pattern[str]) -> None:
        self._expressions = expressions
        needed = [_shipped().get(key_of(expression)) or proof_of(expression) for expression in expressions]
        self._folded = any(literals.folded for literals in needed)
        self._keys = tuple(
            (text.lower() if self._folded else text, expression)
            for literals, expression in zip(needed, expressions, strict=True)
            for text in _proved(literals.texts, expression)
        )
        texts = [text for text, _ in self._keys]
        self._find = AhoCorasick(texts, store_patterns=False).find_matches_as_indexes if len(texts) > _FEW else None
        self._made.append(ref(self, self._made.remove))

    @classmethod
    def known(cls) -> tuple[Gate, ...]:
        """Return every gate that is in use, in the order in which they were made."""
        return tuple(gate for made in cls._made if (gate := made()) is not None)

    @property
    def needs(self) -> tuple[tuple[frozenset[str], ...], ...]:
        """Of each expression sets of literals, in lower case, of which each of its matches holds a member of each."""
        best: dict[re.Pattern[str], list[str]] = {}
        for text, expression in self._keys:
            best.setdefault(expression, []).append(text)
        return tuple(needs_of(one.pattern, flags_of(one), texts) for one, texts in best.items())

    @property
    def needed(self) -> Needed:
        """The literals of which every text that is admitted holds one, in order and without repetition."""
        return Needed(tuple(sorted({text for text, _ in self._keys})), self._folded)

    def admits(self, text: str) -> bool:
        """Return whether one of the expressions may match `text`; never wrongly False."""
        looked_at = self._comparable(text)
        if looked_at is None:
            return True
        if self._find is None:
            return any(literal in looked_at for literal, _ in self._keys)
        return bool(self._find(looked_at))

    def search(self, text: str) -> re.Match[str] | None:
        """Return the match of the first expression, in the order given, that is found in `text`; else None."""
        looked_at = self._comparable(text)
        if looked_at is None:
            return _first_match(self._expressions, text)
        keys = self._keys
        if self._find is None:
            for literal, expression in keys:
                if literal in looked_at and (match := expression.search(text)):
                    return match
            return None
        found = self._find(looked_at, overlapping=True)
        return (
            _first_match((keys[number][1] for number in sorted({key for key, _, _ in found})), text) if found else None
        )

    def candidates(self, text: str) -> Collection[re.Pattern[str]]:
        """Return the expressions that may match `text`, in no order; all of them where looking proves nothing."""
        looked_at = self._comparable(text)
        if looked_at is None:
            return self._expressions
        if self._find is None:
            return {expression for literal, expression in self._keys if literal in looked_at}
        found = self._find(looked_at, overlapping=True)
        return {self._keys[key][1] for key, _, _ in found} if found else ()

    def _comparable(self, text: str) -> str | None:
        """Return `text` as the literals are to be looked for in it; None where looking for them would prove nothing."""
        if text.isascii():
            return text.lower() if self._folded else text
        if self._folded and not lowers_well(text):
            return None
        try:
            text.encode()
        except UnicodeEncodeError:
            # Half of a surrogate pair, which no decoded input holds but a caller's string can.
            return None
        return text.lower() if self._folded else text


def key_of(expression: re.Pattern[str]) -> str:
    """Return under what an expression's proof is shipped: all that the proof is made of."""
    return f"{flags_of(expression)} {expression.pattern}"


def proof_of(expression: re.Pattern[str]) -> Needed:
    """Return the literals of which each match of an expression contains one."""
    return required_literals(expression.pattern, flags_of(expression), most=_MOST)


@cache
def _shipped() -> Mapping[str, Needed]:
    try:
        entries = json.loads(SHIPPED.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return {key: Needed(tuple(texts), folded) for key, (texts, folded) in entries.items()}


def _first_match(expressions: Iterable[re.Pattern[str]], text: str) -> re.Match[str] | None:
    for expression in expressions:
        if match := expression.search(text):
            return match
    return None


def _proved(texts: tuple[str, ...], expression: re.Pattern[str]) -> tuple[str, ...]:
    if not texts:
        raise ValueError(f"no literal is in every match of {expression.pattern!r}")
    return texts
