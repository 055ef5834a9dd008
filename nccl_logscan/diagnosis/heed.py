"""Heed: how much of the lines of a bulk kind one of those who listen to events has to see.

Of a large log not every line is read (skim/): of the kinds below, which are most lines of most logs, only those that
tell somebody something. Who listens says so for an event by a method `heeds`; who has none sees every line.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Protocol, runtime_checkable

from nccl_logscan.events.model import Event

BULK_KINDS = frozenset({"log.text", "train.step", "nccl.info", "nccl.channel", "nccl.init", "python.warning"})
"""Kinds of which a log holds thousands of lines that say nothing new."""
REPEATABLE = frozenset({"nccl.warn", "nccl.trail", "nccl.info", "nccl.channel"})
"""Kinds whose meaning is in their one line alone: to detectors and facts a second line of the same text, prefix and
process included, says nothing new, and to rules only that it came once more."""


class Heed(IntEnum):
    """How much is to be seen of the lines that are like an event but for their numbers."""

    SAYER = 0
    """That who said it has spoken: the first and the last of all lines of that kind and sayer."""
    WORDS = 1
    """These words, once of each sayer; and the last of them."""
    TEXT = 2
    """Each text, numbers and all, once."""
    CHANGES = 3
    """Of steps, each in which a loss scale or a count of skipped steps is not that of the one before; and that one."""
    LINE = 4
    """Every line."""


@runtime_checkable
class HeedingWords(Protocol):
    """Somebody who heeds texts by their words: every text that is more than that its sayer spoke holds one of these."""

    @property
    def heeded(self) -> frozenset[str]:
        """The words, in lower case."""


class Heeding(Protocol):
    """Somebody who listens and says how much of bulk kinds it has to see."""

    def heeds(self, event: Event) -> Heed:
        """Return how much of lines like this one is to be seen; the same for any numbers in it."""


def words_heeded(listeners: Iterable[object]) -> frozenset[str]:
    """Return the words, in lower case, of which every text holds one that somebody of `listeners` heeds for itself."""
    return frozenset().union(*(one.heeded for one in listeners if isinstance(one, HeedingWords)))


def heed_of(listeners: Iterable[object], event: Event) -> Heed:
    """Return how much somebody of `listeners`, who all listen to the event's kind, has to see of lines like it."""
    heeds = (getattr(listener, "heeds", None) for listener in listeners)
    return max((Heed.LINE if heed is None else heed(event) for heed in heeds), default=Heed.SAYER)
