"""The lines around a finding, kept while they pass: an input may be a pipe or compressed and can't be read twice."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from nccl_logscan.position import Instant, Origin, Position, Span

CONTEXT = 3
TEXT_LIMIT = 2_000


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
    """The last lines read and the excerpts that still wait for more; one for each source, bounded."""

    def __init__(self) -> None:
        self._recent: deque[str] = deque(maxlen=CONTEXT + 1)
        self._waiting: list[Excerpt] = []

    def pass_line(self, text: str) -> None:
        """Note the next line of the source."""
        if self._waiting:
            self._feed_waiting(text)
        self._recent.append(text)

    def _feed_waiting(self, text: str) -> None:
        for excerpt in self._waiting:
            excerpt.after.append(text[:TEXT_LIMIT])
        self._waiting = [excerpt for excerpt in self._waiting if len(excerpt.after) < CONTEXT]

    def take(self, at: Position, text: str, origin: Origin, when: Instant | None, highlight: Span | None) -> Excerpt:
        """Return an excerpt of the line that is being read, with the lines before it."""
        before = tuple(line[:TEXT_LIMIT] for line in list(self._recent)[:-1])
        excerpt = Excerpt(at, text[:TEXT_LIMIT], origin, when, highlight, before)
        self._waiting.append(excerpt)
        return excerpt


@dataclass(frozen=True, slots=True)
class Site:
    """Where the scan is while an event passes: the line's own text and the lines around it."""

    text: str
    excerpts: Excerpts
    order: int
