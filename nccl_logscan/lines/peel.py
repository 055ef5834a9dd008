"""RawLine → LogLine: strips prefixes until none fits, and remembers what each said."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from nccl_logscan.expressions import deferred
from nccl_logscan.lines.beliefs import RANK_TAG, Beliefs
from nccl_logscan.lines.containers import Unpacked, Unpacker
from nccl_logscan.lines.margin import LINES, Margin, margin_of, may_begin
from nccl_logscan.lines.model import LogLine
from nccl_logscan.lines.prefixes import Peeled, prefixes_for
from nccl_logscan.lines.stamps import NO_YEAR
from nccl_logscan.lines.tear import NCCL_HEAD, may_be_torn, torn
from nccl_logscan.position import NOBODY, Instant, Origin, Position
from nccl_logscan.sources.raw import RawLine

_ROUNDS = 8
_HELD = 64
"""How many lines are held back at most to see whether a doubtful prefix recurs."""

_ANSI = deferred(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-Z\\^-~])?")
# The same colours where a web page or `cat -v` ate or wrote out the escape character.
_BARE_COLOUR = deferred(r"(?:\^\[)?\[(?:\d{1,2};)*\d{1,2}m")

_BREAK = deferred(r"[\r\n]")
_PAIRS = 4096
_PLAIN = 256
"""How many lines without any prefix are known by heart: a storm repeats a few lines millions of times."""


_PROGRESS = deferred(r"\d+%\||(?:it|s|B)/(?:s|it)")
_REPEATED = deferred(r" \[repeated (\d{1,9})x across cluster\](?: \(Ray deduplicates[^\n]*\))?\s*$")

_TAGGED = frozenset("([")


class _Said(NamedTuple):
    """What the prefixes taken off so far said; the fields of a LogLine behind its text, in their order."""

    origin: Origin = NOBODY
    when: Instant | None = None
    level: str | None = None
    repeated: int = 1
    prefixes: tuple[str, ...] = ()


_NOTHING = _Said()

_Record = tuple[Position, str, _Said]
"""A line as its container held it: where it stands, its text, what the container said."""


class Peeler:
    """Peels the lines of one source, in their order.

    `peel` gives the lines that a RawLine held: mostly one; more where a line was torn or holds carriage returns; none
    while a container's line has parts to come, or while a doubtful prefix waits for the lines behind it (64 at most).
    `finish` gives those still held. Nothing raises, whatever the text.

    Of a source that `may_be_pasted` the first lines tell whether all have a margin, which is then taken off as well.
    """

    def __init__(self, *, may_be_pasted: bool = False) -> None:
        self._beginning: list[RawLine] | None = [] if may_be_pasted else None
        self._margin: Margin | None = None
        self._beliefs = Beliefs()
        self._unpacker = Unpacker()
        self._held: list[_Record] = []
        self._plain: set[str] = set()
        self._merged: dict[tuple[int, int], tuple[Origin, Origin, Origin]] = {}
        self._year = NO_YEAR
        self._begins_torn = False

    @property
    def waits_for_parts(self) -> bool:
        """Whether a container's line has parts to come."""
        return self._unpacker.is_waiting

    @property
    def is_in_doubt(self) -> bool:
        """Whether lines are held back since they may begin with a prefix, which those behind them will tell."""
        return bool(self._held)

    @property
    def believes(self) -> Hashable:
        """What tells this peeler from others that take other prefixes off a line."""
        return self._beliefs.summary()

    def twin(self) -> Peeler:
        """Return a peeler that takes the same prefixes off a line and holds no line."""
        twin = Peeler()
        twin._beliefs = self._beliefs.copy()
        twin._year = self._year
        return twin

    def peel(self, raw: RawLine) -> tuple[LogLine, ...]:
        """Return the lines that are ready once `raw` was seen."""
        if self._beginning is not None:
            return self._begin(raw)
        if self._margin is not None:
            raw = raw._replace(text=self._margin.off(raw.text))
        text = raw.text.rstrip()
        if text in self._plain and not self._held:
            return (LogLine(raw.at, text),)
        if text[:2] == '{"':
            return self._unpack(raw)
        if "\x1b" in text or "[0m" in text or "[39m" in text:
            text = without_colours(text).rstrip()
        if text[:1] == " ":
            text = _unindented(text)
        if not self._held and self._is_plain_nccl(text):
            if len(self._plain) < _PLAIN and text is raw.text:
                self._plain.add(text)
            return (LogLine(raw.at, text),)
        if " std" in text[20:48]:
            return self._unpack(raw)
        return self._hold_or_split((raw.at, text, _NOTHING))

    def _begin(self, raw: RawLine) -> tuple[LogLine, ...]:
        """Hold the first lines back for as long as they may have a margin."""
        assert self._beginning is not None
        self._beginning.append(raw)
        if len(self._beginning) < LINES and (may_begin(self._beginning[0].text) or not self._beginning[0].text):
            return ()
        return self._begun()

    def _begun(self) -> tuple[LogLine, ...]:
        beginning, self._beginning = self._beginning or [], None
        self._margin = margin_of([raw.text for raw in beginning])
        return tuple(line for raw in beginning for line in self.peel(raw))

    def _unpack(self, raw: RawLine) -> tuple[LogLine, ...]:
        unpacked = self._unpacker.unpack(raw.at, raw.text)
        return () if unpacked is None else self._hold_or_split(_record_of(unpacked))

    @property
    def holds(self) -> bool:
        """Whether lines are held back to see whether a doubtful prefix recurs."""
        return bool(self._held or self._beginning)

    def finish(self) -> tuple[LogLine, ...]:
        """Return the lines still held at the end of the source."""
        lines = list(self._begun()) if self._beginning else []
        for unpacked in self._unpacker.finish():
            lines.extend(self._hold_or_split(_record_of(unpacked)))
        while self._held:
            lines.extend(self._release())
        return tuple(lines)

    def _is_plain_nccl(self, text: str) -> bool:
        """Tell a whole line of NCCL's and nothing else: most lines of most logs, so that this is quick."""
        head = NCCL_HEAD.match(text)
        return head is not None and head[1] in self._beliefs.hosts and "\r" not in text and not may_be_torn(text)

    # --- doubtful prefixes: hold lines back, then peel them again ---

    def _hold_or_split(self, record: _Record) -> tuple[LogLine, ...]:
        lines = self._split(*record)
        if not self._held and not self._beliefs.undecided:
            return lines
        self._held.append(record)
        return () if len(self._held) < _HELD else self._release()

    def _release(self) -> tuple[LogLine, ...]:
        held, self._held = self._held, []
        self._beliefs.decide(len(held))
        lines: list[LogLine] = []
        for record in held:
            lines.extend(self._hold_or_split(record))
        return tuple(lines)

    # --- one record → its lines ---

    def _split(self, at: Position, text: str, said: _Said) -> tuple[LogLine, ...]:
        self._begins_torn = False
        rest, own = self._strip(text, said, at)
        if not self._begins_torn and "\r" not in rest and "\n" not in rest and not may_be_torn(rest):
            return (LogLine(at, rest, *own),)
        pieces = [piece for segment in _segments(rest) for piece in torn(segment, self._beliefs.hosts)]
        lines: list[LogLine] = []
        if rest.startswith(pieces[0]):
            lines.append(LogLine(at, pieces.pop(0).rstrip(), *own))
        for piece in pieces:
            inner, inner_said = self._strip(piece, own, at)
            lines.append(LogLine(at, inner.rstrip(), *inner_said))
        return tuple(lines)

    def _strip(self, text: str, outer: _Said, at: Position) -> tuple[str, _Said]:
        """Take off every prefix of `text`. What they say goes before what `outer` said; the rest is kept from it."""
        origin, when, level, repeated, names = outer
        stamp: Peeled | None = None
        is_levelled = False
        for _ in range(_ROUNDS):
            peeled = (self._beliefs.logger(text) if is_levelled else None) or self._next(text) if text else None
            if peeled is None or not peeled.end:
                break
            text = text[peeled.end :]
            names += (peeled.name,)
            level = peeled.level or level
            is_levelled = peeled.level is not None and peeled.name == "python-logging"
            if peeled.origin is not NOBODY:
                origin = self._merge(peeled.origin, origin)
            if peeled.when is not None:
                stamp = peeled
        if names is outer.prefixes:
            return text, outer
        if stamp is not None and stamp.when is not None:
            when = self._instant(stamp, stamp.when, origin, at)
        if "x across cluster]" in text and (match := _REPEATED.search(text)):
            # Ray prints the first line by itself; a line marked so stands for N more of its kind.
            text, repeated = text[: match.start()].rstrip(), int(match[1])
        return text, _Said(origin, when, level, repeated, names)

    def _next(self, text: str) -> Peeled | None:
        first = text[0]
        if first == "[" and (tag := RANK_TAG.match(text)):
            return self._beliefs.rank_tag(tag, text)
        if first not in "({<#" and " NCCL " in text and (head := NCCL_HEAD.match(text)):
            self._begins_torn = not self._beliefs.learn_host(head[1])
            return None
        for prefix in prefixes_for(text[:2]):
            if peeled := prefix(text):
                return peeled
        return self._beliefs.peel(text)

    def _merge(self, inner: Origin, outer: Origin) -> Origin:
        """Return `inner.completed_by(outer)`, remembered: the same few pairs come millions of times."""
        if outer is NOBODY:
            return inner
        key = (id(inner), id(outer))
        known = self._merged.get(key)
        if known is None:
            if len(self._merged) >= _PAIRS:
                self._merged.clear()
            # The pair is kept with its result, so that neither id can come to mean another object.
            known = self._merged[key] = (inner, outer, inner.completed_by(outer))
        return known[2]

    def _instant(self, stamp: Peeled, value: datetime, origin: Origin, at: Position) -> Instant:
        if value.year == NO_YEAR:
            value = _in_year(value, self._year)
        else:
            self._year = value.year
        place = origin.host or origin.pod or origin.address or at.source
        return Instant(value, f"{stamp.name} of {place}" if stamp.is_collectors else place)


def _unindented(text: str) -> str:
    """A line that somebody's editor or template indented as a whole begins with a launcher's tag all the same."""
    bare = text.lstrip(" ")
    if bare[:1] in _TAGGED and any(prefix(bare) for prefix in prefixes_for(bare[:2])):
        return bare
    return text


def _record_of(unpacked: Unpacked) -> _Record:
    at, text = unpacked.at, without_colours(unpacked.text).rstrip()
    if unpacked.name is None:
        return at, text, _NOTHING
    when = Instant(unpacked.when, f"{unpacked.name} of {at.source}") if unpacked.when is not None else None
    return at, text, _Said(when=when, level=unpacked.level, prefixes=(unpacked.name,))


def _in_year(value: datetime, year: int) -> datetime:
    try:
        return value.replace(year=year)
    except ValueError:  # 29 February
        return value


def without_colours(text: str) -> str:
    """Return a text without ANSI sequences, also those whose escape character a web page lost."""
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    return _BARE_COLOUR.sub("", text) if "[0m" in text or "[39m" in text else text


def _segments(text: str) -> list[str]:
    """Cut at carriage returns; of a progress bar's rewrites the last remains, all else is kept."""
    kept: list[str] = []
    for part in _BREAK.split(text):
        if not part or part.isspace():
            continue
        if kept and _is_progress(kept[-1]) and _is_progress(part):
            kept[-1] = part
        else:
            kept.append(part)
    return kept or [""]


def _is_progress(text: str) -> bool:
    """Tell a bar that is nothing but a bar: `3%|▎   | 1/30 [00:01<00:34, 1.2s/it]`."""
    return text.rstrip().endswith(("]", "it/s", "s/it", "B/s")) and _PROGRESS.search(text) is not None


def peel_lines(raws: Iterable[RawLine]) -> Iterator[LogLine]:
    """Yield the lines of one source."""
    peeler = Peeler()
    for raw in raws:
        yield from peeler.peel(raw)
    yield from peeler.finish()
