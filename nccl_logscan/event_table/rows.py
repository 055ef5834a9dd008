"""Lines → rows: one for each event, and one for each line that tells nothing by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from nccl_logscan.events import Tokeniser
from nccl_logscan.events.model import Event, told_by
from nccl_logscan.lines import LogLine, Peeler
from nccl_logscan.sources import RawLine
from nccl_logscan.sources.line_source import LineSource

_PROGRESS_LINES = 16_384


class Row(NamedTuple):
    """An event, and what the prefixes of its line said beside. An event of kind "" stands for a line without one."""

    event: Event
    level: str | None = None
    prefixes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Choice:
    """Which rows are wanted: those of the kinds and of the global ranks named; an empty set asks for all."""

    kinds: frozenset[str] = frozenset()
    ranks: frozenset[int] = frozenset()

    def admits(self, event: Event) -> bool:
        """Tell whether an event's row is wanted."""
        return (not self.kinds or event.kind in self.kinds) and (not self.ranks or event.origin.rank in self.ranks)


def rows_of(
    source: LineSource, choice: Choice | None = None, progress: Callable[[LineSource], None] | None = None
) -> Iterator[Row]:
    """Yield the rows of a source, in the order of its lines.

    A blank line gives none; a line of a table or a line that two ranks wrote into may give several. What the end of a
    source tells (a traceback that is cut off) comes last, though its line lies before. Never raises.
    """
    every = rows_of_lines(source.lines() if progress is None else _told(source, progress))
    return every if choice is None or choice == Choice() else (row for row in every if choice.admits(row.event))


def rows_of_lines(lines: Iterable[RawLine]) -> Iterator[Row]:
    """Yield the rows of lines that follow each other in one source; see `rows_of`."""
    peeler, tokeniser = Peeler(), Tokeniser()
    for raw in lines:
        if raw.text:
            for line in peeler.peel(raw):
                yield from _rows_of_line(tokeniser.read(line), line)
    for line in peeler.finish():
        yield from _rows_of_line(tokeniser.read(line), line)
    yield from map(Row, tokeniser.finish())


def _told(source: LineSource, progress: Callable[[LineSource], None]) -> Iterator[RawLine]:
    for raw in source.lines():
        yield raw
        if raw.at.line % _PROGRESS_LINES == 0:
            progress(source)


def _rows_of_line(events: tuple[Event, ...], line: LogLine) -> Iterator[Row]:
    if not events and line.text and not line.text.isspace():
        yield Row(Event(**told_by(line)), line.level, line.prefixes)
    for event in events:
        yield Row(event, line.level, line.prefixes)
