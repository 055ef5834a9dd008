"""Which rules of a kind may speak of a message: those of whose literals it holds one.

Hundreds of rules ask for `log.text`, and nearly all lines of a log are that. Looking for each rule's literals in each
line took two hundred microseconds a line; one pass of an Aho-Corasick automaton over the line takes two.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from ahocorasick_rs import AhoCorasick, Implementation

from nccl_logscan.rulebook.rule import Rule


class RuleIndex:
    """Rules in their order; `candidates` leaves out those that cannot match."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = tuple(rules)
        self._always: list[int] = []
        self._folded: list[int] = []
        self._literals: list[str] = []
        self._owners: list[int] = []
        for number, rule in enumerate(self._rules):
            self._enter(number, rule)

    def _enter(self, number: int, rule: Rule) -> None:
        wordings = rule.match.wordings
        texts = {text.lower() for wording in wordings for text in wording.pattern.literals}
        if not wordings or not all(wording.pattern.literals for wording in wordings):
            self._always.append(number)
            return
        if any(wording.pattern.folded for wording in wordings):
            self._folded.append(number)
        self._literals.extend(texts)
        self._owners.extend([number] * len(texts))

    @cached_property
    def _automaton(self) -> AhoCorasick:
        return AhoCorasick(self._literals, implementation=Implementation.ContiguousNFA, store_patterns=False)

    def candidates(self, message: str) -> list[Rule]:
        """Return every rule that may match the message, in order, and few others."""
        numbers = set(self._always)
        if not message.isascii():
            numbers.update(self._folded)  # letters outside of ASCII fold in ways that lower() does not
        if self._literals:
            owners = self._owners
            found = self._automaton.find_matches_as_indexes(message.lower(), overlapping=True)
            numbers.update(owners[literal] for literal, _, _ in found)
        return [self._rules[number] for number in sorted(numbers)]


_made: dict[tuple[int, ...], RuleIndex] = {}
_KEPT = 256


def index_of(rules: Sequence[Rule]) -> RuleIndex:
    """Return the index of these rules; made once, since proving a rulebook scans thousands of small logs.

    Rules are told apart by identity: an index holds its rules, so that none of their numbers is given to another.
    """
    key = tuple(map(id, rules))
    index = _made.get(key)
    if index is None:
        if len(_made) >= _KEPT:
            _made.clear()
        index = _made[key] = RuleIndex(rules)
    return index
