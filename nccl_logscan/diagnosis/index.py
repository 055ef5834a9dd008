"""Which rules of a kind may speak of a message: found by pieces of the literals that their expressions need.

Hundreds of rules ask for `log.text`, and nearly all lines of a log are that. Looking for each rule's literals in each
line took two hundred microseconds a line; cutting the line into pieces and looking these up takes ten.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from nccl_logscan.rulebook.rule import Rule

_PIECE = 5


class RuleIndex:
    """Rules in their order; `candidates` leaves out those that cannot match."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = tuple(rules)
        literals = [_literals(rule) for rule in self._rules]
        spread = Counter(piece for own in literals for piece in {piece for text in own for piece in _pieces(text)})
        self._always: set[int] = set()
        self._by_piece: dict[str, list[int]] = {}
        for number, own in enumerate(literals):
            chosen = {_rarest(text, spread) for text in own}
            if not own or None in chosen:
                self._always.add(number)
                continue
            for piece in chosen:
                self._by_piece.setdefault(str(piece), []).append(number)

    def candidates(self, message: str) -> Iterable[Rule]:
        """Return every rule that may match the message, in order, and few others."""
        if not message.isascii():
            return self._rules  # lower() may change the letters of a piece
        numbers = set(self._always)
        for piece in self._by_piece.keys() & set(_pieces(message.lower())):
            numbers.update(self._by_piece[piece])
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


def _literals(rule: Rule) -> tuple[str, ...]:
    """Return, in lower case, literals of which every match of the rule holds one; () where none is proved."""
    wordings = rule.match.wordings
    if not wordings or not all(wording.pattern.literals for wording in wordings):
        return ()
    return tuple(text.lower() for wording in wordings for text in wording.pattern.literals)


def _pieces(text: str) -> Iterator[str]:
    return (text[start : start + _PIECE] for start in range(len(text) - _PIECE + 1))


def _rarest(text: str, spread: Counter[str]) -> str | None:
    """Return the piece of a literal that the fewest rules share; None if it has no whole one that is ASCII."""
    pieces = [piece for piece in _pieces(text) if piece.isascii()]
    return min(pieces, key=lambda piece: (spread[piece], piece), default=None)
