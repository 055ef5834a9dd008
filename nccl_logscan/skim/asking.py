"""What lines of a shape are: asked once a shape, answered by reading one of them as the scan reads lines.

The answer depends on the line alone, and on what the first lines of its source taught of weak prefixes: whoever asks
it, and after whatever other lines, gets the same. So segments can be skimmed at the same time and in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import count
from typing import NamedTuple

from nccl_logscan.diagnosis.heed import BULK_KINDS, Heed, heed_of
from nccl_logscan.diagnosis.matcher import Matcher
from nccl_logscan.diagnosis.routes import hop_of
from nccl_logscan.diagnosis.sayer import key_of
from nccl_logscan.digits import RUN
from nccl_logscan.events import Tokeniser
from nccl_logscan.events.model import Event, NcclChannel, TrainStep
from nccl_logscan.lines import Peeler
from nccl_logscan.position import Position
from nccl_logscan.records import replace
from nccl_logscan.skim.told import Answer
from nccl_logscan.sources.raw import RawLine

NO_KIND = ""
"""The kind of lines that give no event: blank ones, frames of C++ stacks."""
REPEATABLE = frozenset({"nccl.warn", "nccl.trail", "nccl.info", "nccl.channel"})
"""Kinds whose meaning is in their one line alone: to detectors and facts a second line of the same text, prefix and
process included, says nothing new, and to rules only that it came once more."""

_ALL = (1 << 64) - 1
_PROBED = 24
_MEMO = 16_384
_FIRST_STEPS = 4
_LAST_STEPS = 24
_OTHER_DIGITS = (str.maketrans("0123456789", "0" * 10), str.maketrans("0123456789", "1" * 10))
_NEXT_DIGIT = str.maketrans("0123456789", "1234567890")
_KEEP = Answer(around=True)


class Group(NamedTuple):
    """What the classes of a group have in common: the kind of their events, and how many lines of each are read."""

    kind: str
    firsts: int
    lasts: int


class _Reading(NamedTuple):
    """A line, read by itself: its event, if it gives one, and how many lines that follow may belong to it (`reach`).

    Where it is not `is_whole`, it is torn, or a part of a line.
    """

    event: Event | None
    reach: int
    is_whole: bool


class _Runs(NamedTuple):
    """The runs outside of a line's message, as bits: those that tell who said it, and those that tell anything else
    than the time.
    """

    outside: int
    of_sayer: int
    of_origin: int


class Asker:
    """Answers for one source. `peeler` has peeled the source's first lines.

    `listening` gives those who listen to a kind of event; `groups` are the kinds of the groups given out.
    """

    def __init__(
        self, name: str, peeler: Peeler, matcher: Matcher, listening: Callable[[str], Iterable[object]]
    ) -> None:
        self._at = Position(name, 1, 0)
        self._peeler = peeler
        self._matcher = matcher
        self._listening = listening
        self._numbers = count(1)
        self._groups: dict[tuple[str, bytes], int] = {}
        self._known: dict[bytes, Answer] = {}
        self._of_prefix: dict[tuple[str, str, str], _Runs] = {}
        self.groups: dict[int, Group] = {}

    def __call__(self, line: bytes, shape: bytes) -> Answer:
        """Answer a skimmer. A shape is worth remembering when it is asked for again: prose has a new one every line."""
        known = self._known.get(shape)
        if known is not None:
            return known
        if len(self._known) >= _MEMO:
            self._known.clear()
        answer = self._known[shape] = self._answer(line.removesuffix(b"\r").decode("utf-8", "replace"), shape)
        return replace(answer, once=True)

    def _answer(self, text: str, shape: bytes) -> Answer:
        reading = self._read(text)
        event = reading.event
        if reading.reach or not reading.is_whole:
            return replace(_KEEP, window=reading.reach)
        if event is None:
            return self._folded(NO_KIND, b"", 0)
        answer = self._of_event(text, shape, event)
        return replace(answer, awaits=self._matcher.awaits(event), awaited=self._matcher.asks_for_any(event.kind))

    def _of_event(self, text: str, shape: bytes, event: Event) -> Answer:
        if event.kind not in BULK_KINDS:
            return self._of_other_kind(text, shape, event)
        if self._matcher.speaks_of(event):
            return self._each_text(text, shape, event) if event.kind in REPEATABLE else _KEEP
        heed = heed_of(self._listening(event.kind), event)
        if heed is Heed.LINE or not self._is_for_any_digits(text, event):
            return _KEEP
        return self._each_text(text, shape, event) if heed is Heed.TEXT else self._bulk(text, shape, event, heed)

    def _of_other_kind(self, text: str, shape: bytes, event: Event) -> Answer:
        if event.kind in REPEATABLE:
            return self._each_text(text, shape, event)
        is_plain = event.kind.startswith("nccl.") and not self._matcher.speaks_of(event)
        return Answer(around=not is_plain, boundary=event.kind == "torch.watchdog-timeout")

    def _each_text(self, text: str, shape: bytes, event: Event) -> Answer:
        """Each text is read, and its repeats, which differ in nothing but the time, are counted."""
        runs = self._runs(text, event)
        if runs is None:
            return _KEEP
        keyed = _ALL & ~(runs.outside & ~runs.of_origin)
        return replace(self._folded(event.kind, shape, keyed, firsts=2, lasts=1), around=True)

    def _bulk(self, text: str, shape: bytes, event: Event, heed: Heed) -> Answer:
        runs = self._runs(text, event)
        if runs is None:
            return _KEEP
        if isinstance(event, TrainStep):
            steps = self._folded(event.kind, shape, runs.of_sayer, firsts=_FIRST_STEPS, lasts=_LAST_STEPS)
            return replace(steps, watched=self._run_of_step(text, event), speaks=True)
        span, keyed = _span(text, event.message), runs.of_sayer
        if isinstance(event, NcclChannel):
            keyed |= self._probed(text, span, lambda other: _told(other) != _told(event))
        prefix = RUN.sub("", text[: span[0]]).encode("utf-8", "replace")
        what = shape if heed is Heed.WORDS else prefix
        return replace(self._folded(event.kind, what, keyed, firsts=1, lasts=1), speaks=True)

    def _folded(self, kind: str, what: bytes, keyed: int, *, firsts: int = 0, lasts: int = 0) -> Answer:
        number = self._groups.get((kind, what))
        if number is None:
            number = self._groups.setdefault((kind, what), next(self._numbers))
            self.groups[number] = Group(kind, firsts, lasts)
        return Answer(folds=True, group=number, keyed=keyed, firsts=firsts, lasts=lasts)

    # --- reading ------------------------------------------------------------------------------------------

    def _read(self, text: str) -> _Reading:
        peeler, tokeniser = self._peeler.twin(), Tokeniser()
        lines = peeler.peel(RawLine(self._at, text))
        in_parts = peeler.waits_for_parts
        lines = lines or peeler.finish()
        events = [event for line in lines for event in tokeniser.read(line)]
        is_whole = not in_parts and len(lines) == 1 and len(events) <= 1
        return _Reading(events[0] if events else None, tokeniser.reach, is_whole)

    def _is_for_any_digits(self, text: str, event: Event) -> bool:
        """Whether a line is of the same kind with other digits in its message: dialects may ask for some."""
        start, end = _span(text, event.message)
        others = (text[:start] + text[start:end].translate(digits) + text[end:] for digits in _OTHER_DIGITS)
        return all(self._kind(other) == event.kind for other in others if other != text)

    def _kind(self, text: str) -> str | None:
        reading = self._read(text)
        return reading.event.kind if reading.event is not None and not reading.reach else None

    # --- which runs tell what -----------------------------------------------------------------------------

    def _runs(self, text: str, event: Event) -> _Runs | None:
        """Return what the runs outside of the message tell; None where they are too many to try each."""
        start, end = _span(text, event.message)
        key = (event.kind, RUN.sub("0", text[:start]), RUN.sub("0", text[end:]))
        known = self._of_prefix.get(key)
        if known is None:
            known = self._runs_outside(text, event, start, end)
            if known is not None and len(self._of_prefix) < _MEMO:
                self._of_prefix[key] = known
        return known

    def _runs_outside(self, text: str, event: Event, start: int, end: int) -> _Runs | None:
        outside = [run for run in enumerate(RUN.finditer(text)) if run[1].start() < start or run[1].end() > end]
        if len(outside) > _PROBED or any(number >= 63 for number, _ in outside):
            return None
        of_sayer = of_origin = 0
        for number, run in outside:
            other = self._read(_with_other_digit(text, run.span())).event
            if other is None or key_of("", other.origin) != key_of("", event.origin) or other.kind != event.kind:
                of_sayer |= 1 << number
            if other is None or not _says_the_same(other, event):
                of_origin |= 1 << number
        return _Runs(sum(1 << number for number, _ in outside), of_sayer, of_origin)

    def _probed(self, text: str, span: tuple[int, int], differs: Callable[[Event | None], bool]) -> int:
        """Return the runs within a span that change what a line tells; those beyond the first few are taken to."""
        found = 0
        for number, run in enumerate(RUN.finditer(text)):
            if span[0] <= run.start() and run.end() <= span[1]:
                tried = number < _PROBED
                if not tried or differs(self._read(_with_other_digit(text, run.span())).event):
                    found |= 1 << min(number, 63)
        return found

    def _run_of_step(self, text: str, event: TrainStep) -> int:
        """Return the number of the run that is the step; -1 where none is known."""
        for number, run in enumerate(RUN.finditer(text)):
            if run.group().lstrip("0") == str(event.step).lstrip("0"):
                other = self._read(_with_other_digit(text, run.span())).event
                if isinstance(other, TrainStep) and other.step != event.step:
                    return number
        return -1


def _span(text: str, message: str) -> tuple[int, int]:
    """Return where a message stands in its line; the end of the line where it does not stand there as it is."""
    start = text.rfind(message) if message else -1
    return (start, start + len(message)) if start >= 0 else (len(text), len(text))


def _with_other_digit(text: str, span: tuple[int, int]) -> str:
    """Change the last decimal digit of a run."""
    start, end = span
    at = max(place for place in range(start, end) if text[place].isdecimal())
    return text[:at] + text[at].translate(_NEXT_DIGIT) + text[at + 1 :]


def _says_the_same(one: Event, other: Event) -> bool:
    """Whether two lines tell the same but for the time and the thread."""
    return _timeless(one) == _timeless(other)


def _timeless(event: Event) -> Event:
    return replace(event, when=None, origin=replace(event.origin, tid=None))


def _told(event: Event | None) -> object:
    """What a channel's line tells beside who said it."""
    if not isinstance(event, NcclChannel):
        return None
    hop = hop_of(event)
    return event.transport, hop and hop.groups()
