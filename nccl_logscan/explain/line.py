"""One line of a log, found again by the place that a report prints: what it is read as, and which rules claim it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from nccl_logscan.diagnosis.clocks import Clocks
from nccl_logscan.diagnosis.excerpts import Excerpts, Site
from nccl_logscan.diagnosis.findings import Finding
from nccl_logscan.diagnosis.identity import Identity
from nccl_logscan.diagnosis.matcher import Matcher
from nccl_logscan.errors import InputError
from nccl_logscan.event_table.rows import Row, rows_of_lines
from nccl_logscan.events.model import Event
from nccl_logscan.pipeline import Options, scan_sources
from nccl_logscan.records import dataclass
from nccl_logscan.report.redact import REDACTED, redact, redact_value
from nccl_logscan.rulebook.rule import Rulebook
from nccl_logscan.sources import CUT_MARK, NO_LINES, STDIN, Kind, Limits, RawLine, Source, is_url, open_sources, shown
from nccl_logscan.sources.kind import IS_A
from nccl_logscan.sources.line_source import TextSource

MOST_AROUND = 1_000
_REACH = 5_000
"""Lines to either side that may change what a line is: no table is longer, and rules ask no farther, but for one that
looks for a time-out."""
_CHARACTERS = 1 << 22
"""Of lines to either side: what is looked at of a log of very long lines takes seconds, not minutes."""
_LIMITS = Limits(line_bytes=1 << 14)
"""Twice what rules look at in a message, so that the lines that are held take 80 MB, of the worst of logs 320."""
_SHARED = frozenset(field.name for field in fields(Event))


@dataclass(frozen=True, slots=True)
class Window:
    """A line of an input, `marked`, with lines before and after it: more of them than are shown."""

    before: tuple[RawLine, ...]
    marked: RawLine
    after: tuple[RawLine, ...]
    kind: Kind

    @property
    def lines(self) -> tuple[RawLine, ...]:
        """All of them, in order."""
        return (*self.before, self.marked, *self.after)

    def around(self, most: int) -> tuple[RawLine, ...]:
        """Return the line with at most `most` lines to either side."""
        return (*self.before[len(self.before) - min(most, len(self.before)) :], self.marked, *self.after[:most])


@dataclass(frozen=True, slots=True)
class Reading:
    """What a scan makes of the marked line: its rows, and what the rules find by them.

    `secrets` are values, by the number of their line, whose names in that line say that they are secret.
    """

    rows: tuple[Row, ...]
    findings: tuple[Finding, ...]
    secrets: dict[int, str]

    def clean(self, line: RawLine) -> str:
        """Return a line's text without secrets; of one that was read without its middle, what stands before that."""
        text = line.text.partition(CUT_MARK)[0] if line.cut else line.text
        value = self.secrets.get(line.at.line)
        return redact(text.replace(value, REDACTED) if value else text)


# --- finding the line ----------------------------------------------------------------------------------------


def source_named(name: str, stdin: BinaryIO | None) -> Source:
    """Return the input that a report calls so: a file, a URL, a member of an archive (`logs.tar.gz!rank0.log`).

    Raises InputError where there is none, or where the name is that of several.
    """
    file = _file_of(name)
    sources = open_sources([file], limits=_LIMITS, stdin=stdin)
    called = [source for source in sources if source.name == (shown(name) if is_url(name) else name)]
    if len(called) == 1 or (file == name and len(sources) == 1):
        return (called or sources)[0]
    first = f"name one as a scan does: {sources[0].name}:LINE"
    if file != name:
        raise InputError(f"{file} holds no file {name.removeprefix(file)[1:]}", hint=first)
    raise InputError(f"{name} is {len(sources)} inputs, of which a line is asked of one", hint=first)


def _file_of(name: str) -> str:
    """Return the archive of a member's name, or the name itself where it is a file's or no archive is there."""
    if is_url(name):
        return name.partition("!")[0]
    if name == STDIN or _is_there(name):
        return name
    heads = (name[:at] for at in range(len(name) - 1, 0, -1) if name[at] == "!")
    return next(filter(_is_there, heads), name)


def _is_there(name: str) -> bool:
    try:
        return Path(name).is_file()
    except (OSError, ValueError):
        return False


def window_at(source: Source, number: int) -> Window:
    """Return a line of a source, by its number from 1, with what stands around it.

    Reads no further than that, and holds no more. Raises InputError where there is no such line.
    """
    if source.kind in NO_LINES:
        raise InputError(
            f"{source.name} is {IS_A[source.kind]}, which has no lines", hint="scan it beside the job's logs"
        )
    lines = source.lines()
    before = deque(islice(lines, number - 1), maxlen=_REACH)
    marked = next(lines, None)
    if marked is None:
        raise InputError(_none_such(source, number))
    return Window(tuple(_near(reversed(before)))[::-1], marked, tuple(_near(lines)), source.kind)


def _near(lines: Iterator[RawLine]) -> Iterator[RawLine]:
    """Yield lines, those next to the marked one first, as far as they are looked at."""
    left = _CHARACTERS
    for line in islice(lines, _REACH):
        left -= len(line.text)
        if left < 0:
            return
        yield line


def _none_such(source: Source, number: int) -> str:
    count = source.lines_read
    if source.note is not None and not count:
        return f"{source.name} {source.note}"
    told = f"{source.name} has {count:,} line{'s' if count != 1 else ''} and no line {number:,}"
    return f"{told}; it {source.note}" if source.note is not None else told


# --- what it is read as --------------------------------------------------------------------------------------


def read_line(window: Window, rulebook: Rulebook) -> Reading:
    """Return what a scan of the window makes of the marked line."""
    rows = list(rows_of_lines(window.lines))
    marked = tuple(row for row in rows if row.event.at.line == window.marked.at.line)
    found = (*_claimed(window, rows, rulebook), *_detected(window, rulebook))
    return Reading(marked, found, dict(_secrets(rows)))


def _claimed(window: Window, rows: list[Row], rulebook: Rulebook) -> tuple[Finding, ...]:
    """Return what rules find in the marked line alone; the other lines only decide on what they ask for beside it."""
    rulebook.rearm()
    matcher, excerpts = Matcher(rulebook), Excerpts()
    for order, row in enumerate(rows):
        if not row.event.kind:
            continue
        if row.event.at.line == window.marked.at.line:
            matcher.feed(row.event, Site(window.marked.text, excerpts, order))
        else:
            matcher.witness(row.event)
    matcher.end(window.marked.at.source)
    return matcher.close(Identity(), Clocks())


def _detected(window: Window, rulebook: Rulebook) -> Iterator[Finding]:
    """Yield what detectors, which judge lines together, find in the window by the marked line among others."""
    try:
        findings = scan_sources(
            [_Excerpt(window.marked.at.source, "", window=window.lines)], rulebook, Options()
        ).findings
    except InputError:  # no line of a known kind
        return
    for finding in findings:
        places = {evidence.at for evidence in (*finding.samples, finding.last)}
        if finding.rule.match.detector is not None and window.marked.at in places:
            yield finding


@dataclass(slots=True)
class _Excerpt(TextSource):
    """Lines of an input as a source, each at its own place."""

    window: tuple[RawLine, ...] = ()

    def lines(self) -> Iterator[RawLine]:
        """Yield the lines."""
        for raw in self.window:
            self.lines_read += 1
            self.bytes_read += len(raw.text) + 1
            yield raw


def _secrets(rows: list[Row]) -> Iterator[tuple[int, str]]:
    for row in rows:
        name, value = getattr(row.event, "name", None), getattr(row.event, "value", None)
        if isinstance(name, str) and isinstance(value, str) and redact_value(name, value) == REDACTED:
            yield row.event.at.line, value


def own_fields(event: Event) -> Iterator[tuple[str, str]]:
    """Yield the fields that an event of its kind has, by the names that a rule's `where` has for them, as texts without
    secrets; those of which the line says nothing are left out.
    """
    for name, value in _fields_of(event):
        named = getattr(event, "name", None) if name == "value" else None
        yield name, redact_value(named, str(value)) if isinstance(named, str) else redact(_as_text(value))


def _fields_of(record: Any) -> Iterator[tuple[str, Any]]:
    for field in fields(record):
        value = getattr(record, field.name)
        if field.name in _SHARED or value is None or value == ():
            continue
        if is_dataclass(value):
            yield from ((f"{field.name}.{part}", each) for part, each in _fields_of(value))
        else:
            yield field.name, value


def _as_text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
