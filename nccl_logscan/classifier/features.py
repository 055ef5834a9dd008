"""A message to terms: what it is made of, for training and for scoring alike."""

from __future__ import annotations

from collections.abc import Collection, Container
from itertools import pairwise

from nccl_logscan.expressions import deferred

_WORD = deferred(r"<[a-z]{1,5}>|[A-Za-z][A-Za-z_]{0,39}")
_PART = deferred(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_LONGEST = 300
_MOST_WORDS = 40
_STEM = 5
_KNOWN_SHARE = 0.5
# Words that tell nothing of a cause, and stand in messages of all of them.
_EMPTY = frozenset(
    ("a", "an", "and", "at", "by", "for", "in", "is", "it", "of", "on", "or", "the", "to", "was", "with")
)


def terms(template: str, kind: str = "") -> list[str]:
    """Return the distinct terms of a masked message (events/mask.py) and of its event's kind, in order.

    Its words, what these are made of (`ibv_modify_qp`, `OutOfMemory`), how they begin, and its pairs of words. Numbers,
    addresses and the like are the masks that stand for them; empty words are passed over.
    """
    words: list[str] = []
    found: dict[str, None] = {}
    for written in _WORD.findall(template[:_LONGEST]):
        word = written.lower()
        if word in _EMPTY or len(words) == _MOST_WORDS:
            continue
        words.append(word)
        found[word] = None
        found[f"^{word[:_STEM]}"] = None
        if "_" in word or not written[1:].islower():
            parts = _PART.findall(written)
            if len(parts) > 1:
                found.update((f"_{part.lower()}", None) for part in parts)
    found.update((f"{first} {second}", None) for first, second in pairwise(words))
    if kind:
        found[f"kind {kind}"] = None
    return list(found)


def is_word(term: str) -> bool:
    """Whether a term is a word or a pair of words that a person would show as a reason."""
    return term[0].isalpha() and not term.startswith("kind ")


def is_familiar(found: Collection[str], known: Container[str]) -> bool:
    """Whether enough of the words among a message's terms are known for a model to have a say."""
    words = [term for term in found if is_word(term) and " " not in term]
    return bool(words) and sum(word in known for word in words) >= _KNOWN_SHARE * len(words)
