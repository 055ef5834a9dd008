"""NumberWise: the expressions that may match a text, or not, by the numbers in it."""

from __future__ import annotations

from collections.abc import Iterable

from ahocorasick_rs import AhoCorasick, Implementation

from nccl_logscan.digits import asks_for_digits, marked, marks_of
from nccl_logscan.literals import required_sets
from nccl_logscan.rulebook.rule import Pattern


class NumberWise:
    """Of some patterns those that ask for digits, by what each of their matches leaves in the shape of a text."""

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        asking = (pattern.text for pattern in patterns if asks_for_digits(pattern.text))
        self._asking = [
            [frozenset().union(*map(marks_of, texts)) for texts in required_sets(pattern)] for pattern in asking
        ]
        first = [(form, number) for number, asked in enumerate(self._asking) for form in (asked[0] if asked else ())]
        self._always = [number for number, asked in enumerate(self._asking) if not asked]
        self._owners = [number for _, number in first]
        forms = [form for form, _ in first]
        self._automaton = AhoCorasick(forms, implementation=Implementation.ContiguousNFA, store_patterns=False)

    def may_match(self, text: str) -> bool:
        """Return whether one of the patterns that ask for digits may match a text of the shape of `text`."""
        shape = marked(text)
        found = self._automaton.find_matches_as_indexes(shape, overlapping=True)
        numbers = {*self._always, *(self._owners[form] for form, _, _ in found)}
        return any(all(any(form in shape for form in forms) for forms in self._asking[number]) for number in numbers)
