"""A message to terms: what it is made of, for training and for scoring alike."""

from __future__ import annotations

from collections.abc import Collection, Container
from itertools import pairwise

from nccl_logscan.expressions import deferred

_WORD = deferred(r"<[a-z]{1,5}>|[A-Za-z][A-Za-z_]{0,39}")
_PART = deferred(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_LONGEST = 300
_MOST_WORDS = 40
_STEMS = (3, 5, 7)
_MOST_NAMES = 3
_ANY_PATH = frozenset(("", "..", "src", "usr", "lib", "site-packages", "dist-packages"))
_KNOWN_SHARE = 0.5
# Words that tell nothing of a cause, and stand in messages of all of them.
_EMPTY = frozenset(
    ("a", "an", "and", "at", "by", "for", "in", "is", "it", "of", "on", "or", "the", "to", "was", "with")
)


def terms(template: str, kind: str = "", file: str = "") -> list[str]:
    """Return the distinct terms, in order, of a masked message (events/mask.py), its event's kind and its source file.

    Its words, what these are made of (`ibv_modify_qp`, `OutOfMemory`), how they begin, and its pairs of words. Numbers,
    addresses and the like are the masks that stand for them; empty words are passed over. Of the file the last names
    of its path (`transport/net_ib.cc`).
    """
    words: list[str] = []
    found: dict[str, None] = {}
    for written in _WORD.findall(template[:_LONGEST]):
        word = written.lower()
        if word in _EMPTY or len(words) == _MOST_WORDS:
            continue
        words.append(word)
        found[word] = None
        found.update((f"^{word[:length]}", None) for length in _STEMS)
        if "_" in word or not written[1:].islower():
            parts = _PART.findall(written)
            if len(parts) > 1:
                found.update((part.lower(), None) for part in parts)
    found.update((f"{first} {second}", None) for first, second in pairwise(words))
    if kind:
        found[f"kind:{kind}"] = None
    if file:
        names = [name for name in file.lower().split("/") if name not in _ANY_PATH]
        found.update((f"file:{name.partition('.')[0]}", None) for name in names[-_MOST_NAMES:])
    return list(found)


def is_word(term: str) -> bool:
    """Whether a term is a word or a pair of words that a person would show as a reason."""
    return term[0].isalpha() and ":" not in term


def is_familiar(found: Collection[str], known: Container[str]) -> bool:
    """Whether enough of the words among a message's terms are known for a model to have a say."""
    words = [term for term in found if is_word(term) and " " not in term]
    return bool(words) and sum(word in known for word in words) >= _KNOWN_SHARE * len(words)
