"""The lines around a finding, kept while they pass: an input may be a pipe or compressed and can't be read twice."""

from __future__ import annotations

from collections import deque

from nccl_logscan.position import Instant, Origin, Position, Span
from nccl_logscan.records import dataclass, field

CONTEXT = 3
TEXT_LIMIT = 2_000
_KEPT = 80


@dataclass(slots=True)
class Excerpt:
    """A line that a finding keeps, still waiting for the lines after it."""

    at: Position
    text: str
    origin: Origin
    when: Instant | None
    highlight: Span | None
    before: tuple[str, ...]
    after: list[str] = field(default_factory=list)


class Excerpts:
    """The last lines of a source and the excerpts that still wait for more; bounded. Lines may be left out.

    An event may come a while after its line, since doubtful prefixes and tracebacks hold lines back: as many lines are
    kept as the layers below hold.
    """

    def __init__(self) -> None:
        self._recent: deque[tuple[int, str]] = deque(maxlen=_KEPT)
        self._waiting: list[Excerpt] = []

    def pass_line(self, number: int, text: str) -> None:
        """Note the next line of the source."""
        if self._waiting:
            self._feed_waiting(number, text)
        self._recent.append((number, text))

    def _feed_waiting(self, number: int, text: str) -> None:
        for excerpt in self._waiting:
            if number <= excerpt.at.line + CONTEXT:
                excerpt.after.append(text[:TEXT_LIMIT])
        self._waiting = [excerpt for excerpt in self._waiting if number < excerpt.at.line + CONTEXT]

    def line(self, number: int) -> str | None:
        """Return the text of one of the last lines; None if it has passed too long ago, or was left out."""
        if not self._recent:
            return None
        place = number - self._recent[0][0]
        if 0 <= place < len(self._recent) and self._recent[place][0] == number:
            return self._recent[place][1]
        return next((text for other, text in self._recent if other == number), None)

    def take(self, at: Position, text: str, origin: Origin, when: Instant | None, highlight: Span | None) -> Excerpt:
        """Return an excerpt of a line, with the lines around it as far as they are still there."""
        before = self._around(at.line - CONTEXT, at.line)
        after = self._around(at.line + 1, at.line + 1 + CONTEXT)
        excerpt = Excerpt(at, text[:TEXT_LIMIT], origin, when, highlight, tuple(before), after)
        if len(after) < CONTEXT:
            self._waiting.append(excerpt)
        return excerpt

    def _around(self, first: int, end: int) -> list[str]:
        lines = (self.line(number) for number in range(first, end))
        return [line[:TEXT_LIMIT] for line in lines if line is not None]


@dataclass(frozen=True, slots=True)
class Site:
    """Where the scan is while an event passes: the line's own text and the lines around it."""

    text: str
    excerpts: Excerpts
    order: int
