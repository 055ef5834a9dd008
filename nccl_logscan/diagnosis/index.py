"""Which rules of a kind may speak of a message: those of whose literals it holds one.

Hundreds of rules ask for `log.text`, and nearly all lines of a log are that. Looking for each rule's literals in each
line took two hundred microseconds a line; one pass of an Aho-Corasick automaton over the line takes two.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from ahocorasick_rs import AhoCorasick, Implementation

from nccl_logscan.rulebook.rule import Asking


class RuleIndex:
    """Rules in their order; `candidates` leaves out those that cannot match, which are not even made."""

    def __init__(self, asking: Sequence[Asking]) -> None:
        self._rules = tuple(one.rule for one in asking)
        self._always = [number for number, one in enumerate(asking) if not one.literals]
        self._folded = [number for number, one in enumerate(asking) if one.folded]
        self._literals = [literal for one in asking for literal in one.literals]
        self._owners = [number for number, one in enumerate(asking) for _ in one.literals]

    @cached_property
    def _automaton(self) -> AhoCorasick:
        return AhoCorasick(self._literals, implementation=Implementation.ContiguousNFA, store_patterns=False)

    def candidates(self, message: str) -> list[str]:
        """Return the ids of every rule that may match the message, in order, and few others."""
        numbers = set(self._always)
        if not message.isascii():
            numbers.update(self._folded)  # letters outside of ASCII fold in ways that lower() does not
        if self._literals:
            owners = self._owners
            found = self._automaton.find_matches_as_indexes(message.lower(), overlapping=True)
            numbers.update(owners[literal] for literal, _, _ in found)
        return [self._rules[number] for number in sorted(numbers)]


_made: dict[tuple[int, ...], tuple[Sequence[Asking], RuleIndex]] = {}
_KEPT = 256


def index_of(asking: Sequence[Asking]) -> RuleIndex:
    """Return the index of these rules; made once, since proving a rulebook scans thousands of small logs.

    Rules are told apart by identity: what they ask is kept, so that none of the numbers is given to another.
    """
    key = tuple(map(id, asking))
    known = _made.get(key)
    if known is None:
        if len(_made) >= _KEPT:
            _made.clear()
        known = _made[key] = (asking, RuleIndex(asking))
    return known[1]
