"""NumberWise: the expressions that may match a text, or not, by the numbers in it."""

from __future__ import annotations

from collections.abc import Iterable

from ahocorasick_rs import AhoCorasick, Implementation

from nccl_logscan.digits import RUN, asks_for_digits, left_of
from nccl_logscan.rulebook.rule import Pattern

_SHORTEST = 3
"""Characters of a literal without its numbers that are worth looking for."""


class NumberWise:
    """Of some patterns those that ask for digits, found by what their literals leave in the shape of a text."""

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        self._anywhere: list[Pattern] = []
        self._pieces: list[str] = []
        self._owners: list[Pattern] = []
        for pattern in patterns:
            pieces = [left_of(literal).lower() for literal in pattern.literals]
            if not pieces or min(map(len, pieces)) < _SHORTEST:
                self._anywhere.append(pattern)
            else:
                self._pieces.extend(pieces)
                self._owners.extend([pattern] * len(pieces))
        self._automaton = AhoCorasick(self._pieces, implementation=Implementation.ContiguousNFA, store_patterns=False)

    def may_match(self, text: str) -> bool:
        """Return whether one of the patterns that ask for digits may match a text of the shape of `text`."""
        shape = RUN.sub("", text).lower()
        found = self._automaton.find_matches_as_indexes(shape, overlapping=True)
        candidates = [*self._anywhere, *(self._owners[number] for number in {number for number, _, _ in found})]
        return any(asks_for_digits(pattern.text) for pattern in candidates)
