"""Heed: how much of the lines of a bulk kind one of those who listen to events has to see.

Of a large log not every line is read (skim/): of the kinds below, which are most lines of most logs, only those that
tell somebody something. Who listens says so for an event by a method `heeds`; who has none sees every line.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Protocol, runtime_checkable

from nccl_logscan.events.model import Event

BULK_KINDS = frozenset({"log.text", "train.step", "nccl.info", "nccl.channel"})
"""Kinds of which a log holds thousands of lines that say nothing new."""


class Heed(IntEnum):
    """How much is to be seen of the lines that are like an event but for their numbers."""

    SAYER = 0
    """That who said it has spoken: the first and the last of all lines of that kind and sayer."""
    WORDS = 1
    """These words, once of each sayer; and the last of them."""
    TEXT = 2
    """Each text, numbers and all, once."""
    LINE = 3
    """Every line."""


@runtime_checkable
class Heeding(Protocol):
    """Somebody who listens and says how much of bulk kinds it has to see."""

    def heeds(self, event: Event) -> Heed:
        """Return how much of lines like this one is to be seen; the same for any numbers in it."""


def heed_of(listeners: Iterable[object], event: Event) -> Heed:
    """Return how much somebody of `listeners`, who all listen to the event's kind, has to see of lines like it."""
    return max(
        (listener.heeds(event) if isinstance(listener, Heeding) else Heed.LINE for listener in listeners),
        default=Heed.SAYER,
    )
