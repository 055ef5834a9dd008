"""Which rules of a kind may speak of a message: those of whose literals it holds one.

Hundreds of rules ask for `log.text`, and nearly all lines of a log are that. Looking for each rule's literals in each
line took two hundred microseconds a line; one pass of an Aho-Corasick automaton over the line takes two. To make one
takes as long as to look through a few lines without it, and of most kinds a small log has no more.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cached_property

from ahocorasick_rs import AhoCorasick, Implementation

from nccl_logscan.literals import lowers_well
from nccl_logscan.rulebook.rule import Asking, Beside

_FEW = 8
"""Messages that are looked through before an automaton is made."""


class RuleIndex:
    """Rules in their order; leaves out those that cannot match, which are not even made.

    `asking` ask for events of a kind; of those in `beside` the conditions do.
    """

    def __init__(self, asking: Sequence[Asking], beside: Sequence[tuple[str, Beside]] = ()) -> None:
        self._rules = (*(one.rule for one in asking), *(rule for rule, _ in beside))
        self._own = len(asking)
        sought: list[tuple[tuple[str, ...], bool]] = [(one.literals, one.folded) for one in asking]
        sought += [(near.literals, near.folded) for _, near in beside]
        self._always = frozenset(number for number, (literals, _) in enumerate(sought) if not literals)
        self._folded = [number for number, (_, folded) in enumerate(sought) if folded]
        self._literals = [literal for literals, _ in sought for literal in literals]
        self._owners = [number for number, (literals, _) in enumerate(sought) for _ in literals]
        self._looks = 0

    @cached_property
    def _find(self) -> Callable[..., list[tuple[int, int, int]]]:
        made = AhoCorasick(self._literals, implementation=Implementation.ContiguousNFA, store_patterns=False)
        return made.find_matches_as_indexes

    @cached_property
    def _constant(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What `look` gives for a message without any literal."""
        return self._named(self._always)

    def look(self, message: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the ids of every rule that may match the message, in order, and few others; and of every rule that
        may ask for such an event beside its own.
        """
        numbers = self._owners_in(message.lower())
        is_plain = lowers_well(message)
        if not numbers and is_plain:
            return self._constant
        numbers |= self._always
        if not is_plain:
            numbers.update(self._folded)
        return self._named(numbers)

    def _owners_in(self, lowered: str) -> set[int]:
        """Return the numbers of the rules of which a literal stands in a text."""
        if self._looks < _FEW:
            self._looks += 1
            return {owner for literal, owner in zip(self._literals, self._owners, strict=True) if literal in lowered}
        owners = self._owners
        found = self._find(lowered, overlapping=True) if self._literals else ()
        return {owners[literal] for literal, _, _ in found}

    def candidates(self, message: str) -> list[str]:
        """Return the first of what `look` returns."""
        return list(self.look(message)[0])

    def _named(self, numbers: Collection[int]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        rules, own = self._rules, self._own
        ordered = sorted(numbers)
        return (
            tuple(rules[number] for number in ordered if number < own),
            tuple(dict.fromkeys(rules[number] for number in ordered if number >= own)),
        )


_made: dict[tuple[int, ...], tuple[object, RuleIndex]] = {}
_KEPT = 256


def index_of(asking: Sequence[Asking], beside: Sequence[tuple[str, Beside]] = ()) -> RuleIndex:
    """Return the index of these rules; made once, since proving a rulebook scans thousands of small logs.

    Rules are told apart by identity: what they ask is kept, so that none of the numbers is given to another.
    """
    key = (*map(id, asking), -1, *(id(near) for _, near in beside))
    known = _made.get(key)
    if known is None:
        if len(_made) >= _KEPT:
            _made.clear()
        known = _made[key] = ((asking, beside), RuleIndex(asking, beside))
    return known[1]
