"""What lines of a shape are: asked once a shape, answered by reading one of them as the scan reads lines.

The answer depends on the line alone, and on what the first lines of its source taught of weak prefixes: whoever asks
it, and after whatever other lines, gets the same. So segments can be skimmed at the same time and in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from itertools import count
from typing import NamedTuple

from nccl_logscan.diagnosis.heed import BULK_KINDS, REPEATABLE, Heed, heed_of, words_heeded
from nccl_logscan.diagnosis.matcher import Matcher
from nccl_logscan.diagnosis.routes import hop_of
from nccl_logscan.diagnosis.sayer import key_of
from nccl_logscan.digits import RUN
from nccl_logscan.events import Tokeniser
from nccl_logscan.events.model import Event, NcclChannel, NcclInit, TrainStep
from nccl_logscan.events.words import Needs, needs_of_dialects
from nccl_logscan.lines import Peeler
from nccl_logscan.lines.model import LogLine
from nccl_logscan.position import NOBODY, Origin, Position
from nccl_logscan.records import replace
from nccl_logscan.skim.told import ALL_RUNS, Answer, Skimmer
from nccl_logscan.sources.raw import RawLine

NO_KIND = ""
"""The kind of lines that give no event: blank ones, frames of C++ stacks."""

_PROBED = 24
_MEMO = 16_384
_SPARE = "spare"
_ASKERS = 64
_READ_OF_WATCHED = (64, 16)
_READ_OF_WATCHING = (32, 8)
FEW_STEPS = (2, 6)
"""First and last steps of a sayer that are read."""
_STEPS_THAT_SKIP = (2, 18)
"""The same where each step says how many were skipped since the one before: what matters are runs of up to `_LONG_RUN`
that are alike (detectors/precision.py), and the line before them."""
_PREFIXED = frozenset("0123456789abcdefABCDEF")
_OTHER_DIGITS = (str.maketrans("0123456789", "0" * 10), str.maketrans("0123456789", "1" * 10))
_NEXT_DIGIT = str.maketrans("0123456789", "1234567890")
_DIGIT_BEFORE = str.maketrans("0123456789", "9012345678")
_KEEP = Answer(around=True)


class Group(NamedTuple):
    """What the classes of a group have in common.

    The kind of their events; how many first and last lines of each are read, and whether the first of the group; a line
    of one, with the runs that are keyed and those of them that a channel's transport holds.
    """

    kind: str
    firsts: int = 1
    lasts: int = 1
    has_first: bool = False
    text: str = ""
    keyed: int = 0
    of_transport: int = 0


class Names(NamedTuple):
    """What numbers stand for: of a group kind and shape, and what its classes have in common; of a tally the kind."""

    groups: Sequence[tuple[int, tuple[str, bytes], Group]]
    tallies: Sequence[tuple[int, str]]


class _Reading(NamedTuple):
    """A line, read by itself: its event, if it gives one, and how many lines that follow may belong to it (`reach`).

    Where it is not `is_whole`, it is torn, or a part of a line. `line` is None where it is a part of one.
    `is_doubtful`: it may begin with a prefix that the first lines of the source did not have: lines around it decide.
    """

    line: LogLine | None
    event: Event | None
    reach: int
    is_whole: bool
    is_doubtful: bool

    @property
    def said(self) -> str:
        """What was said, prefixes and header removed."""
        return self.event.message if self.event is not None else self.line.text if self.line is not None else ""

    @property
    def origin(self) -> Origin:
        """Who said it."""
        return self.event.origin if self.event is not None else self.line.origin if self.line is not None else NOBODY


class _Runs(NamedTuple):
    """The runs outside of a line's message, as bits: those that tell who said it, and those that tell anything else
    than the time and the thread. `prefix`: the shape of what stands before the message.
    """

    prefix: str
    outside: int
    of_sayer: int
    of_origin: int


class Asker:
    """Answers for sources that begin alike: `peeler` has peeled the first lines of one.

    `listening` gives those who listen to a kind of event; `needs` is what a line
    needs to be more than text without meaning; `groups` are the groups given out, `tallies` the kinds.
    """

    def __init__(
        self,
        peeler: Peeler,
        matcher: Matcher,
        listening: Callable[[str], Iterable[object]],
        needs: Collection[Needs],
    ) -> None:
        self.needs = needs
        self.skimmers: list[Skimmer] = []
        """Those that have asked: they know the answers."""
        self._at = Position("", 1, 0)
        self._peeler = peeler
        self._tokeniser = Tokeniser()
        self._matcher = matcher
        self._listening = listening
        self._numbers = count(1)
        self._group_numbers: dict[tuple[str, bytes], int] = {}
        self._tally_numbers: dict[str, int] = {}
        self._known: dict[bytes, Answer] = {}
        self._of_prefix: dict[tuple[str, str, str], _Runs] = {}
        self.groups: dict[int, Group] = {}
        self.tallies: dict[int, str] = {}

    def __call__(self, line: bytes, shape: bytes) -> Answer:
        """Answer a skimmer. A shape is worth remembering when it is asked for again: prose has a new one every line."""
        known = self._known.get(shape)
        if known is not None:
            return known
        if len(self._known) >= _MEMO:
            self._known.clear()
        answer = self._known[shape] = self._answer(line.removesuffix(b"\r").decode("utf-8", "replace"), shape)
        return replace(answer, once=True)

    def names(self) -> Names:
        """Return what the numbers in answers stand for, so that another process can understand a tale."""
        groups = [(number, what, self.groups[number]) for what, number in self._group_numbers.items()]
        return Names(groups, [(number, kind) for kind, number in self._tally_numbers.items()])

    def adopted(self, names: Names) -> tuple[dict[int, int], dict[int, int]]:
        """Return our numbers for those of another process: of groups, and of tallies."""
        groups = {number: self._group(what, group) for number, what, group in names.groups}
        return groups, {number: self._tally(kind) for number, kind in names.tallies}

    def _answer(self, text: str, shape: bytes) -> Answer:
        reading = self._read(text)
        event = reading.event
        if reading.is_doubtful:
            return replace(_KEEP, window=reading.reach)
        if not reading.is_whole or reading.reach:
            return self._kept(text, reading)
        if event is None:
            return Answer(folds=True, tally=self._tally(NO_KIND), plain=True)
        answer = self._of_event(text, shape, reading, event)
        return replace(answer, awaits=self._matcher.awaits(event), awaited=self._matcher.asks_for_any(event.kind))

    def _of_event(self, text: str, shape: bytes, reading: _Reading, event: Event) -> Answer:
        if event.kind not in BULK_KINDS:
            return self._of_other_kind(text, shape, reading, event)
        if self._matcher.speaks_of(event):
            return self._spoken_of(text, shape, reading, event)
        heed = heed_of(self._listening(event.kind), event)
        if heed is Heed.LINE or not self._is_for_any_digits(text, event):
            return _KEEP
        return self._each_text(text, shape, reading) if heed is Heed.TEXT else self._bulk(text, shape, reading, heed)

    def _spoken_of(self, text: str, shape: bytes, reading: _Reading, event: Event) -> Answer:
        """Some rule may take the line. Where its numbers change nothing of that, each sayer is read and counted."""
        if self._matcher.asks_beside(event):
            return self._each_text(text, shape, reading) if event.kind in REPEATABLE else _KEEP
        runs, said = self._runs(text, reading), self._matcher.says(event)
        heed = heed_of(self._listening(event.kind), event)
        is_asked_for = self._matcher.watches(event) and not self._matcher.asks_for_any(event.kind)
        if runs is None or heed > Heed.WORDS or is_asked_for or self._matcher.awaits(event):
            return self._each_text(text, shape, reading) if event.kind in REPEATABLE else _KEEP
        span = _span(text, event.message)
        if self._probed(text, span, lambda other: other is None or self._matcher.says(other) != said):
            return self._each_text(text, shape, reading) if event.kind in REPEATABLE else _KEEP
        group = Group(event.kind, firsts=1, lasts=1)
        return self._said_by(runs, replace(self._in_group(shape, group, runs.of_sayer), around=True))

    def _kept(self, text: str, reading: _Reading) -> Answer:
        """A line that others may belong to: of the same sayer, where it is known who that is."""
        runs = self._runs(text, reading) if reading.line is not None and reading.reach else None
        if runs is None:
            return replace(_KEEP, window=reading.reach)
        return replace(self._said_by(runs, _KEEP), window=reading.reach)

    def _of_other_kind(self, text: str, shape: bytes, reading: _Reading, event: Event) -> Answer:
        if event.kind in REPEATABLE:
            return self._each_text(text, shape, reading)
        is_plain = event.kind.startswith("nccl.") and not self._matcher.speaks_of(event)
        return Answer(around=not is_plain, boundary=event.kind == "torch.watchdog-timeout")

    def _each_text(self, text: str, shape: bytes, reading: _Reading) -> Answer:
        """Each text is read, and its repeats, which differ in nothing but the time and the thread, are counted.

        Where other lines decide with it what it means, more of them are read. Of those that a rule asks for yet more
        than of those that it asks about: a line that was torn makes one of the two fewer, and the last that are read of
        both shall still stand beside each other.
        """
        runs = self._runs(text, reading)
        if runs is None or reading.event is None:
            return _KEEP
        keyed = ALL_RUNS & ~(runs.outside & ~runs.of_origin)
        if self._matcher.watches(reading.event):
            firsts, lasts = _READ_OF_WATCHED
        elif self._matcher.asks_beside(reading.event):
            firsts, lasts = _READ_OF_WATCHING
        else:
            firsts, lasts = 1, 1
        group = Group(reading.event.kind, firsts, lasts)
        return replace(self._in_group(shape, group, keyed), around=True)

    def _bulk(self, text: str, shape: bytes, reading: _Reading, heed: Heed) -> Answer:
        runs, event = self._runs(text, reading), reading.event
        if runs is None or event is None:
            return _KEEP
        if isinstance(event, TrainStep):
            return self._said_by(runs, self._steps(text, runs, event, heed))
        if isinstance(event, NcclChannel):
            return self._said_by(runs, self._channels(text, shape, runs, event))
        if isinstance(event, NcclInit):
            return self._set_ups(text, shape, runs, event)
        if heed is Heed.WORDS:
            group = Group(event.kind, firsts=1, lasts=0)
            return self._said_by(runs, self._in_group(shape, group, runs.of_sayer))
        start = _span(text, event.message)[0]
        has_prefix = event.kind == "log.text" and (start == 0 or text[start - 1] not in _PREFIXED)
        inert = Answer(folds=True, tally=self._tally(event.kind), plain=True)
        if has_prefix:
            inert = replace(inert, prefix=len(RUN.sub("", text[:start]).encode("utf-8", "replace")))
        return self._said_by(runs, inert)

    def _steps(self, text: str, runs: _Runs, event: TrainStep, heed: Heed) -> Answer:
        skips = event.skipped_lately is not None
        group = Group(event.kind, *(_STEPS_THAT_SKIP if skips else FEW_STEPS))
        steps = replace(
            self._in_group(b"skips" if skips else b"", group, runs.of_sayer),
            watched=self._run_of_step(text, event),
            plain=True,
        )
        if heed is not Heed.CHANGES:
            return steps
        changing = self._probed(text, (0, len(text)), lambda other: _scales(other) != _scales(event))
        return replace(steps, changing=changing & ~runs.outside, plain=False)

    def _set_ups(self, text: str, shape: bytes, runs: _Runs, event: NcclInit) -> Answer:
        """Of communicators of one size in which a process is the same rank, those that come up first and last."""
        differs = self._probed(text, _span(text, event.message), lambda other: _nameless(other) != _nameless(event))
        group = Group(event.kind, firsts=1, lasts=1)
        return self._in_group(shape, group, runs.of_sayer | differs)

    def _channels(self, text: str, shape: bytes, runs: _Runs, event: NcclChannel) -> Answer:
        span = _span(text, event.message)
        of_transport = self._probed(text, span, lambda other: _transport(other) != event.transport)
        keyed = of_transport
        if _hop(event) is not None:
            keyed |= runs.of_sayer | self._probed(text, span, lambda other: _hop(other) != _hop(event))
        group = Group(event.kind, 0, 0, has_first=True, text=text, keyed=keyed, of_transport=of_transport)
        channels = replace(self._in_group(shape, group, keyed), group_first=True)
        if keyed == of_transport:
            return channels
        spare = group._replace(keyed=of_transport)
        return replace(channels, spare=self._group((_SPARE, shape), spare), spare_keyed=of_transport)

    def _said_by(self, runs: _Runs, answer: Answer) -> Answer:
        """Let lines be entered among those of their sayer, too."""
        sayer = self._group(("sayer", runs.prefix.encode("utf-8", "replace")), Group(""))
        return replace(answer, sayer=sayer, of_sayer=runs.of_sayer)

    def _in_group(self, shape: bytes, group: Group, keyed: int) -> Answer:
        return Answer(
            folds=True,
            tally=self._tally(group.kind),
            group=self._group((group.kind, shape), group),
            keyed=keyed,
            firsts=group.firsts,
            lasts=group.lasts,
        )

    def _group(self, what: tuple[str, bytes], group: Group) -> int:
        number = self._group_numbers.get(what)
        if number is None:
            number = self._group_numbers.setdefault(what, next(self._numbers))
            self.groups[number] = group
        return number

    def _tally(self, kind: str) -> int:
        number = self._tally_numbers.get(kind)
        if number is None:
            number = self._tally_numbers.setdefault(kind, next(self._numbers))
            self.tallies[number] = kind
        return number

    # --- reading ------------------------------------------------------------------------------------------

    def _read(self, text: str) -> _Reading:
        peeler, tokeniser = self._peeler.twin(), self._tokeniser.twin()
        lines = peeler.peel(RawLine(self._at, text))
        in_parts, is_doubtful = peeler.waits_for_parts, peeler.is_in_doubt
        lines = lines or peeler.finish()
        events = [event for line in lines for event in tokeniser.read(line)]
        is_whole = not in_parts and len(lines) == 1 and len(events) <= 1
        line = lines[0] if len(lines) == 1 else None
        return _Reading(line, events[0] if len(events) == 1 else None, tokeniser.reach, is_whole, is_doubtful)

    def _is_for_any_digits(self, text: str, event: Event) -> bool:
        """Whether a line is of the same kind with other digits in its message: dialects may ask for some."""
        start, end = _span(text, event.message)
        others = {text[:start] + text[start:end].translate(digits) + text[end:] for digits in _OTHER_DIGITS} - {text}
        return all(self._kind(other) == event.kind for other in others)

    def _kind(self, text: str) -> str | None:
        reading = self._read(text)
        return reading.event.kind if reading.event is not None and not reading.reach else None

    # --- which runs tell what -----------------------------------------------------------------------------

    def _runs(self, text: str, reading: _Reading) -> _Runs | None:
        """Return what the runs outside of the message tell; None where they are too many to try each."""
        start, end = _span(text, reading.said)
        kind = reading.event.kind if reading.event is not None else NO_KIND
        key = (kind, RUN.sub("0", text[:start]), RUN.sub("0", text[end:]))
        known = self._of_prefix.get(key)
        if known is None:
            known = self._runs_outside(text, reading, start, end)
            if known is not None and len(self._of_prefix) < _MEMO:
                self._of_prefix[key] = known
        return known

    def _runs_outside(self, text: str, reading: _Reading, start: int, end: int) -> _Runs | None:
        outside = [run for run in enumerate(RUN.finditer(text)) if run[1].start() < start or run[1].end() > end]
        if len(outside) > _PROBED or any(number >= 63 for number, _ in outside):
            return None
        of_sayer = of_origin = 0
        for number, run in outside:
            others = [self._read(other) for other in _with_other_digits(text, run.span())]
            if not any(_is_said_by_the_same(other, reading) for other in others):
                of_sayer |= 1 << number
            if not any(_says_the_same(other.event, reading.event) for other in others):
                of_origin |= 1 << number
        prefix = RUN.sub("", text[:start])
        return _Runs(prefix, sum(1 << number for number, _ in outside), of_sayer, of_origin)

    def _probed(self, text: str, span: tuple[int, int], differs: Callable[[Event | None], bool]) -> int:
        """Return the runs within a span that change what a line tells; those beyond the first few are taken to."""
        found = 0
        for number, run in enumerate(RUN.finditer(text)):
            if span[0] <= run.start() and run.end() <= span[1]:
                others = _with_other_digits(text, run.span()) if number < 63 else []
                if not others or any(differs(self._read(other).event) for other in others):
                    found |= 1 << min(number, 63)
        return found

    def _run_of_step(self, text: str, event: TrainStep) -> int:
        """Return the number of the run that is the step; -1 where none is known."""
        for number, run in enumerate(RUN.finditer(text)):
            if run.group().lstrip("0") == str(event.step).lstrip("0"):
                others = (self._read(other).event for other in _with_other_digits(text, run.span()))
                if any(isinstance(other, TrainStep) and other.step != event.step for other in others):
                    return number
        return -1


class Askers:
    """The askers of a scan: one for each way in which sources begin; `listening` gives who listens to a kind."""

    def __init__(self, matcher: Matcher, listening: Callable[[str], Iterable[object]]) -> None:
        self._matcher = matcher
        self._listening = listening
        self._by_belief: dict[Hashable, Asker] = {}
        self._needs: frozenset[Needs] | None = None

    def of(self, peeler: Peeler) -> Asker:
        """Return the asker for a source of which a peeler has peeled the first lines."""
        asker = self._by_belief.get(peeler.believes)
        if asker is None:
            asker = Asker(peeler.twin(), self._matcher, self._listening, self._all_needs())
            if len(self._by_belief) < _ASKERS:
                self._by_belief[peeler.believes] = asker
        return asker

    def _all_needs(self) -> frozenset[Needs]:
        if self._needs is None:
            heeded = ((frozenset({word}),) for word in words_heeded(self._listening("log.text")))
            self._needs = frozenset({*needs_of_dialects(), *self._matcher.needs_for("log.text"), *heeded})
        return self._needs


def _span(text: str, message: str) -> tuple[int, int]:
    """Return where a message stands in its line; the end of the line where it does not stand there as it is."""
    start = text.rfind(message) if message else -1
    return (start, start + len(message)) if start >= 0 else (len(text), len(text))


def _with_other_digits(text: str, span: tuple[int, int]) -> list[str]:
    """Return a text with another last decimal digit in a run, one above and one below: a date may allow but one."""
    start, end = span
    at = max(place for place in range(start, end) if text[place].isdecimal())
    return [text[:at] + text[at].translate(digits) + text[at + 1 :] for digits in (_NEXT_DIGIT, _DIGIT_BEFORE)]


def _is_said_by_the_same(one: _Reading, other: _Reading) -> bool:
    return one.is_whole and key_of("", one.origin) == key_of("", other.origin)


def _says_the_same(one: Event | None, other: Event | None) -> bool:
    """Whether two lines tell the same but for the time and the thread."""
    return one is not None and other is not None and _timeless(one) == _timeless(other)


def _timeless(event: Event) -> Event:
    return replace(event, when=None, origin=replace(event.origin, tid=None))


def _transport(event: Event | None) -> str | None:
    return event.transport if isinstance(event, NcclChannel) else None


def _hop(event: Event | None) -> tuple[str, ...] | None:
    hop = hop_of(event.message) if isinstance(event, NcclChannel) else None
    return None if hop is None else hop.groups()


def _nameless(event: Event | None) -> Event | None:
    """A communicator's set-up without what tells it from others of its size."""
    if not isinstance(event, NcclInit):
        return None
    return replace(event, message="", comm=None, comm_id=None, when=None, origin=replace(event.origin, tid=None))


def _scales(event: Event | None) -> object:
    """What of a step is not to change unseen."""
    if not isinstance(event, TrainStep):
        return None
    return event.loss_scale, event.skipped, event.skipped_lately, event.nan_iterations
