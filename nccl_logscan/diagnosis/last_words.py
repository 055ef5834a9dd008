"""LastWords: the last line of each sayer, and in the end of each rank; when each first and last spoke."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from nccl_logscan.diagnosis.sayer import Key, Who
from nccl_logscan.events.model import Event
from nccl_logscan.position import Instant, Position
from nccl_logscan.records import dataclass, replace
from nccl_logscan.sources.raw import RawLine

_TEXT = 400
_LONG = 4_096


class LastSeen(NamedTuple):
    """A rank's last line: its place, its time where one was printed, its text without prefixes (400 characters)."""

    at: Position
    when: Instant | None
    text: str


class Moment(NamedTuple):
    """A line and its time, as the log printed it; None where it printed none."""

    at: Position
    when: Instant | None


class Spoke(NamedTuple):
    """The first and the last line of one sayer: of all lines, and of those with a time (None: none has one)."""

    first: Moment
    last: Moment
    first_timed: Moment | None
    last_timed: Moment | None


@dataclass(slots=True)
class LastWord:
    """The last event of one sayer so far; `order` counts as a finding's.

    `first`, and the first and the last line with a time, are kept where they are not the last event's: lines with and
    without a time may take turns. For a sayer whose lines all have one, nothing is kept for each line.
    """

    event: Event
    order: int
    first: Moment
    first_timed: Moment | None
    last_timed: Moment | None = None

    def note(self, event: Event, order: int) -> None:
        """Take a later event; of a very long one its beginning. An empty line says nothing."""
        length = len(event.message)
        if length:
            if (event.when is None) is not (self.event.when is None):
                self._turn(event)
            self.event = event if length <= _LONG else replace(event, message=event.message[:_TEXT])
            self.order = order

    def _turn(self, event: Event) -> None:
        if event.when is None:
            self.last_timed = Moment(self.event.at, self.event.when)
        elif self.first_timed is None:
            self.first_timed = Moment(event.at, event.when)

    def spoke(self) -> Spoke:
        """Return when the sayer spoke."""
        last = Moment(self.event.at, self.event.when)
        return Spoke(self.first, last, self.first_timed, self.last_timed if last.when is None else last)


class LastWords:
    """Keeps the last line of each sayer; at most `limit` of them."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._words: dict[Key, LastWord] = {}

    def known(self, key: Key) -> LastWord | None:
        """Return the last word of a sayer that has spoken."""
        return self._words.get(key)

    def begin(self, key: Key, event: Event, order: int) -> LastWord:
        """Return the word of a sayer that has not spoken yet; it is kept while there is room."""
        first = Moment(event.at, event.when)
        word = LastWord(event, order, first, None if event.when is None else first)
        if len(self._words) < self._limit:
            self._words[key] = word
        return word

    def saw_again(self, key: Key, event: Event, raw: RawLine, order: int) -> None:
        """Learn that the line of an event came again, word by word, at `raw` for the last time."""
        word = self._words.get(key)
        if word is not None and word.order < order:
            word.note(replace(event, at=raw.at), order)

    def spoke(self) -> Iterator[tuple[Who, Spoke]]:
        """Yield who spoke, and when."""
        return ((Who(*key), word.spoke()) for key, word in self._words.items())

    def by_rank(self, rank_of: Callable[[Who], int | None]) -> dict[int, LastSeen]:
        """Return the last line of each rank.

        Of several sources of one rank, the line with the latest time counts, if all have a time of one clock; else the
        one that was read last.
        """
        latest: dict[int, LastWord] = {}
        for key, word in self._words.items():
            rank = rank_of(Who(*key))
            if rank is not None and (rank not in latest or _is_later(word, latest[rank])):
                latest[rank] = word
        return {
            rank: LastSeen(word.event.at, word.event.when, word.event.message[:_TEXT]) for rank, word in latest.items()
        }


def _is_later(one: LastWord, other: LastWord) -> bool:
    mine, its = one.event.when, other.event.when
    order = mine.order_to(its) if mine is not None and its is not None else None
    return order > 0 if order is not None else one.order > other.order
