"""Wires the layers: what the user named in, a ScanResult out.

    bytes → RawLine → LogLine → Event → Finding → Diagnosis → Plan

Nothing keeps the log: every line is read once and folded.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, Protocol, TypeVar

from nccl_logscan.diagnosis.activity import find_activity
from nccl_logscan.diagnosis.attempts import Attempts
from nccl_logscan.diagnosis.clocks import Clocks
from nccl_logscan.diagnosis.detectors import DETECTORS, Detector
from nccl_logscan.diagnosis.detectors.hang import Hang
from nccl_logscan.diagnosis.detectors.transfers import Transfers
from nccl_logscan.diagnosis.diagnose import diagnose, finding_of
from nccl_logscan.diagnosis.endings import Endings
from nccl_logscan.diagnosis.excerpts import Excerpts, Site
from nccl_logscan.diagnosis.figures import Collected
from nccl_logscan.diagnosis.findings import Finding
from nccl_logscan.diagnosis.folding import OpenFinding
from nccl_logscan.diagnosis.gpus import Gpus
from nccl_logscan.diagnosis.hang.dump_sets import DumpSets
from nccl_logscan.diagnosis.heed import REPEATABLE
from nccl_logscan.diagnosis.identity import Identity
from nccl_logscan.diagnosis.job import JobFacts
from nccl_logscan.diagnosis.matcher import Matcher
from nccl_logscan.diagnosis.scene import Scene
from nccl_logscan.diagnosis.spans import RaySlices, find_spans, said_at_stall
from nccl_logscan.diagnosis.timeline import Timeline
from nccl_logscan.diagnosis.training import Progress
from nccl_logscan.diagnosis.unclaimed import Unclaimed, is_sign, is_spoilt_step
from nccl_logscan.diagnosis.verdict import Coverage, Job, ScannedInput, ScanResult
from nccl_logscan.errors import InputError
from nccl_logscan.events import Tokeniser
from nccl_logscan.events.model import Event
from nccl_logscan.lines import Peeler
from nccl_logscan.position import Position
from nccl_logscan.recorder.read import DumpError, read_dump
from nccl_logscan.records import dataclass, field, replace
from nccl_logscan.report.redact import holds_no_secret, redact
from nccl_logscan.rulebook.load import builtin_rulebook
from nccl_logscan.rulebook.rule import Rulebook
from nccl_logscan.skim.choice import Skimming, is_never_large, may_be_large
from nccl_logscan.sources import NO_LINES, Kind, Limits, kind_of, open_sources
from nccl_logscan.sources.beside import configs_beside, given_configs
from nccl_logscan.sources.line_source import LineSource, TextSource, logs_among
from nccl_logscan.sources.raw import RawLine
from nccl_logscan.taxonomy import Category, Level, Role

if TYPE_CHECKING:
    from nccl_logscan.classifier.model import Model
    from nccl_logscan.configs.model import Config
    from nccl_logscan.diagnosis.activity import Activity
    from nccl_logscan.diagnosis.verdict import Diagnosis, JudgedSetting, PlannedStep, UnclaimedGroup
    from nccl_logscan.skim.asking import Askers
    from nccl_logscan.skim.channels import UnreadChannels
    from nccl_logscan.skim.large import Large
    from nccl_logscan.skim.rounds import Round
    from nccl_logscan.skim.told import Key

_MEMO = 4_096
_PROGRESS_LINES = 16_384
_PROBLEMS = 3
_NOTES = 20
_ASIDE = 50
_Input = TypeVar("_Input", bound=LineSource)
_UNKNOWN_KINDS = frozenset({"log.text"})
_HARMLESS = frozenset({Role.BENIGN, Role.CONTEXT})


@dataclass(frozen=True, slots=True)
class Options:
    """How to scan. `progress` is called now and then with the source that is being read.

    `configs` are files that set the job up, in which advice is to point to the line. Those that lie beside a log given
    as a file are looked at as well, unless `looks_beside` is False. `skimming`: how large inputs are read.
    `model`: the classifier's, where it is not the one that is shipped.
    """

    limits: Limits = field(default_factory=Limits)
    progress: Callable[[LineSource], None] | None = None
    configs: tuple[str, ...] = ()
    looks_beside: bool = True
    skimming: Skimming = field(default_factory=Skimming)
    model: Model | None = None


def scan(
    paths: Sequence[str | os.PathLike[str]],
    rulebook: Rulebook | None = None,
    options: Options | None = None,
    stdin: BinaryIO | None = None,
) -> ScanResult:
    """Read logs once, in order, as one job, and say what failed; by the built-in rules where no others are given.

    Raises:
        InputError: an input is missing or unreadable, or no line of any of them is of a known kind.
    """
    options = options or Options()
    logs = [os.fspath(path) for path in paths]
    sources = open_sources(logs, limits=options.limits, stdin=stdin)
    files = files_around(logs, sources, options)
    return scan_sources(sources, rulebook if rulebook is not None else builtin_rulebook(), options, files)


def files_around(logs: Sequence[str], sources: Sequence[LineSource], options: Options) -> Files:
    """Return the configuration files of a job whose logs were given so and are these sources.

    Raises InputError if one that the options name is missing or cannot be read.
    """
    given = given_configs(options.configs, limits=options.limits)
    beside = configs_beside(logs, [*sources, *given], limits=options.limits) if options.looks_beside else []
    return _files(given, sources, beside)


def scan_text(log: str | Mapping[str, str], rulebook: Rulebook, options: Options | None = None) -> ScanResult:
    """Scan a text, or texts by name, as `scan` scans files: of these, JSON may be a flight recorder's dump."""
    if isinstance(log, str):
        return scan_sources([TextSource("log", log)], rulebook, options or Options())
    sources = [TextSource(name, text, _kind_of_text(text, name)) for name, text in log.items()]
    return scan_sources(sources, rulebook, options or Options())


def _kind_of_text(text: str, name: str) -> Kind:
    kind = kind_of(text.encode("utf-8", "surrogatepass"), name) if text.startswith(("{", "[")) else Kind.TEXT
    return kind if kind in NO_LINES else Kind.TEXT


@dataclass(frozen=True, slots=True)
class Files:
    """Configuration files: those that the user named as such, and those that were found: beside a log, or in a folder
    that was given as one. `logs` are named as configuration, but are logs.
    """

    named: Sequence[LineSource] = ()
    found: Sequence[LineSource] = ()
    logs: Sequence[str] = ()


def _files(given: Sequence[LineSource], sources: Sequence[LineSource], beside: Sequence[LineSource]) -> Files:
    logs = {os.path.realpath(source.name) for source in logs_among(sources)}
    named = [file for file in given if os.path.realpath(file.name) not in logs]
    among = {file.name: file for file in (*_configs_among(sources), *beside)}
    paths = {os.path.realpath(file.name) for file in named}
    found = [file for file in among.values() if os.path.realpath(file.name) not in paths]
    return Files(named, found, [file.name for file in given if file not in named])


def scan_sources(
    sources: Sequence[LineSource], rulebook: Rulebook, options: Options, files: Files | None = None
) -> ScanResult:
    """Scan sources in order, as one job. Raises InputError if no line of any of them is of a known kind."""
    started = time.perf_counter()
    rulebook.rearm()
    logs = logs_among(sources)
    run = Run(rulebook, Attempts(source.name for source in logs), options.skimming.of_job(logs), options.model)
    for source in logs:
        run.identity.learn_source(source.name)
        if source.kind in NO_LINES:
            run.read_whole(source)
        else:
            run.read(source, options.progress)
    return run.conclude(sources, files or Files(found=_configs_among(sources)), started)


def _configs_among(sources: Sequence[_Input]) -> Sequence[_Input]:
    logs = logs_among(sources)
    return [source for source in sources if source not in logs]


class _Listener(Protocol):
    """A collector or detector: fed with the events of its kinds, with every event if it names none."""

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds it wants to see."""

    def feed(self, event: Event, site: Site) -> None:
        """Look at an event."""


@dataclass(slots=True)
class _Repeat:
    """A line seen before: its event, where it was counted, and how often it has come again."""

    event: Event
    findings: tuple[OpenFinding, ...]
    watched: bool
    is_sign: bool
    times: int = 0
    last: RawLine | None = None
    last_order: int = 0


@dataclass(slots=True)
class _Seen:
    """What was read of a class of lines: the first and the last, how many, and what is known of a repeated text."""

    first: RawLine
    last: RawLine
    lines: int = 0
    last_order: int = 0
    repeat: _Repeat | None = None
    event: Event | None = None

    def note(self, raw: RawLine, order: int, repeat: _Repeat | None, event: Event | None) -> None:
        self.lines += 1
        self.last = raw
        self.last_order = order
        self.repeat = self.repeat or repeat
        self.event = event or self.event


class Reading:
    """One source while its lines come: all that they leave behind until the next.

    `take` as often as there are lines, of this source and others by turns; then `finish`, once.
    """

    def __init__(self, run: Run, name: str) -> None:
        self._run = run
        self._name = name
        self._peeler = Peeler()
        self._tokeniser = Tokeniser()
        self._excerpts = Excerpts()
        self._repeats: dict[str, _Repeat] = {}
        self._read_to = 0
        """The last line that was read of a round."""
        self._event: Event | None = None
        """The one event of the line that was entered last."""

    def expect_paste(self) -> None:
        """Take the source for one whose lines a paste or a tool may have given a margin; before its first line."""
        self._peeler = Peeler(may_be_pasted=True)

    def take(self, lines: Iterable[RawLine], passed: Callable[[], None] | None = None) -> None:
        """Fold lines into the run; `passed` is called now and then."""
        self._run.turn_to(self._run.attempts.of(self._name))
        for raw in lines:
            self._take(raw)
            if passed is not None and raw.at.line % _PROGRESS_LINES == 0:
                passed()

    @property
    def holds(self) -> bool:
        """Whether lines were taken that only `finish` folds in, if no others follow."""
        return self._peeler.holds or self._tokeniser.holds

    def take_round(self, part: Round) -> int:
        """Fold in a round of a large source; return how many bytes of its lines were no UTF-8 in those not read."""
        self._run.turn_to(self._run.attempts.of(self._name))
        seen: dict[Key, _Seen] = {}
        alone: set[Key] = set()
        tallied: Counter[int] = Counter()
        for raw, is_read, counted, tally in part.lines:
            if not is_read:
                self._excerpts.pass_line(raw.at.line, raw.text)
                continue
            if raw.at.line != self._read_to + 1:
                self._run.matcher.miss(self._name, self._read_to)
            self._read_to = raw.at.line
            repeat = self._take(raw)
            if counted is not None and part.counts[counted] == 1:
                alone.add(counted)  # no line of its class is left to be entered as it was
            elif counted is not None:
                known = seen.get(counted)
                if known is None:
                    known = seen[counted] = _Seen(raw, raw)
                known.note(raw, self._run.order, repeat, self._event)
            else:
                tallied[tally] += 1
        for key, known in seen.items():
            self._run.count_unread(part.groups[key[0]].kind, known, part.counts[key] - known.lines)
        self._run.count_bulk(part, self._name, seen.keys() | alone, tallied)
        return sum(known.first.replaced * (part.counts[key] - known.lines) for key, known in seen.items())

    def _take(self, raw: RawLine) -> _Repeat | None:
        """Fold in a line; return what is known of its text, where a second line of it says nothing new."""
        run, text = self._run, raw.text
        self._excerpts.pass_line(raw.at.line, text)
        if not text:
            return None
        repeat = self._repeats.get(text)
        if repeat is not None:
            run.order += 1
            repeat.times += 1
            repeat.last = raw
            repeat.last_order = run.order
            if repeat.is_sign:
                run.last_sign = run.order
            if repeat.watched:
                run.matcher.witness(replace(repeat.event, at=raw.at))
            return repeat
        events = [event for line in self._peeler.peel(raw) for event in self._tokeniser.read(line)]
        repeat = self._enter(events, raw)
        if repeat is not None and len(self._repeats) < _MEMO:
            self._repeats[text] = repeat
        return repeat

    def finish(self, lines: int, size: int) -> None:
        """Fold in what waited for further lines; the source had so many lines and bytes."""
        run = self._run
        run.turn_to(run.attempts.of(self._name))
        last = RawLine(Position(self._name, lines, size), "")
        rest = [event for line in self._peeler.finish() for event in self._tokeniser.read(line)]
        self._enter([*rest, *self._tokeniser.finish()], last)
        if 0 < self._read_to < lines:
            run.matcher.miss(self._name, self._read_to)
        run.matcher.end(self._name)
        run.endings.close(self._name, run.order)
        run.count_again(self._repeats.values())

    def _enter(self, events: Sequence[Event], raw: RawLine) -> _Repeat | None:
        run, repeat = self._run, None
        self._event = events[0] if len(events) == 1 else None
        for event in events:
            run.order += 1
            run.by_kind[event.kind] += 1
            text = raw.text if event.at == raw.at else self._excerpts.line(event.at.line) or event.message
            findings = run.feed(event, Site(text, self._excerpts, run.order))
            is_sign = findings != () and _is_sign(findings)
            if is_sign:
                run.last_sign = run.order
            if len(events) == 1 and findings is not None and event.kind in REPEATABLE:
                repeat = _Repeat(event, findings, run.matcher.watches(event), is_sign)
        return repeat


def _as_large(source: LineSource, skimming: Skimming) -> Large | None:
    if not may_be_large(source, skimming):
        return None
    from nccl_logscan.skim.large import Large  # noqa: PLC0415 - a small log needs none of it

    return Large.of(source, skimming)


def _is_sign(findings: tuple[OpenFinding, ...] | None) -> bool:
    """Whether an event may be one of a failure, by the findings that it went to."""
    return findings is None or any(finding.rule.role not in _HARMLESS for finding in findings)


class Run:
    """One scan's state. `order` counts events; `last_sign` is that of the last that a rule takes for one of a failure.

    Sources are read to their end with `read`, or by turns with a `Reading` each; then `conclude`, once.
    """

    def __init__(
        self,
        rulebook: Rulebook,
        attempts: Attempts | None = None,
        skimming: Skimming | None = None,
        model: Model | None = None,
    ) -> None:
        self.skimming = skimming or Skimming()
        self.model = model
        self.rulebook = rulebook
        self.attempts = attempts or Attempts()
        self.matcher = Matcher(rulebook, self.attempts.of)
        self.identity = Identity()
        self.gpus = Gpus()
        self.endings = Endings()
        self.clocks = Clocks()
        self.job = JobFacts(self.identity)
        self.unclaimed = Unclaimed(redacted=redact)
        self.signs = Unclaimed(_ASIDE, redact, is_sign)
        self.spoilt_steps = Unclaimed(_ASIDE, redact, is_spoilt_step)
        self.stopgaps = Unclaimed(_ASIDE, redact)
        """What only rules claim that say little."""
        self.timeline = Timeline()
        self.progress = Progress(self.attempts.of)
        self.dumps = DumpSets()
        self.figures = Collected()
        self.ray = RaySlices()
        self.dump_notes: list[str] = []
        self.detectors: tuple[Detector, ...] = ()
        self._detectors: dict[int, tuple[Detector, ...]] = {}
        self.by_kind: Counter[str] = Counter()
        self.order = 0
        self.last_sign = 0
        self.last = self.attempts.last
        self._askers: Askers | None = None
        self._channels: dict[str, UnreadChannels] = {}
        self._listeners: dict[str, tuple[Callable[[Event, Site], None], ...]] = {}
        self.turn_to(self.attempts.last)

    def turn_to(self, attempt: int) -> None:
        """Let the detectors of an attempt listen: what another attempt said is no evidence to them."""
        if attempt not in self._detectors:
            self._detectors[attempt] = tuple(detector() for detector in DETECTORS)
        if self.detectors is not self._detectors[attempt]:
            self.detectors = self._detectors[attempt]
            self._listeners.clear()

    def read(self, source: LineSource, progress: Callable[[LineSource], None] | None) -> None:
        """Read one source to its end; of a large one the lines that tell something (skim/)."""
        reading = Reading(self, source.name)
        large = _as_large(source, self.skimming)
        if large is None:
            if is_never_large(source):
                reading.expect_paste()
            reading.take(source.lines(), None if progress is None else partial(progress, source))
        else:
            self._read_large(source, large, reading, progress)
        reading.finish(source.lines_read, source.bytes_read)
        if progress is not None:
            progress(source)

    def _read_large(
        self, source: LineSource, large: Large, reading: Reading, progress: Callable[[LineSource], None] | None
    ) -> None:
        from nccl_logscan.skim.asking import Askers  # noqa: PLC0415 - a small log needs none of it
        from nccl_logscan.skim.rounds import Round  # noqa: PLC0415 - as above

        if self._askers is None:
            self._askers = Askers(self.matcher, self.listeners)
        for part in large.rounds(self._askers):
            if isinstance(part, Round):
                self.progress.skims(source.name)
                self.figures.skims(source.name)
                large.count(part, reading.take_round(part))
            else:
                reading.expect_paste()
                reading.take(part)
            if progress is not None:
                progress(source)

    def read_whole(self, source: LineSource) -> None:
        """Read one input that has no lines: a flight recorder's dump, or a timeline of Ray."""
        if source.kind == Kind.RAY_TIMELINE:
            self._read_ray_timeline(source)
        else:
            self._read_dump(source)

    def _read_ray_timeline(self, source: LineSource) -> None:
        from nccl_logscan.measured.ray_timeline import read_ray_timeline  # noqa: PLC0415 - few jobs have one

        timeline = read_ray_timeline(source.content())
        if timeline.problem is not None:
            self.dump_notes.append(f"{source.name} {timeline.problem}")
        self.ray.take(timeline)

    def _read_dump(self, source: LineSource) -> None:
        data = source.content()
        try:
            dump = read_dump(data, source.name)
        except DumpError as error:
            self.dump_notes.append(f"{source.name} {error}")
            return
        self.order += 1
        self.by_kind[Kind.FLIGHT_RECORDER] += 1
        self.dump_notes.extend(f"{source.name}: {problem}" for problem in dump.problems[:_PROBLEMS])
        self.job.learn_dump(dump)
        self.dumps.take(dump, self.attempts.of(source.name), self.order)

    def count_unread(self, kind: str, seen: _Seen, times: int) -> None:
        """Enter lines of a class that were not read, as those of it were that were read."""
        if times <= 0:
            return
        if seen.repeat is None:
            self.by_kind[kind] += times
            if seen.event is not None:
                self.matcher.count_unread(seen.event, times)
        else:
            # A class may be of several sayers; its last line was read, so that its own sayer's last word is known.
            self._count_again(replace(seen.repeat, times=times, last_order=seen.last_order), seen.last)

    def count_bulk(self, part: Round, name: str, seen: Collection[Key], tallied: Mapping[int, int]) -> None:
        """Enter lines of which none was read that stands for them: by kind, and channels by what their keys tell."""
        from nccl_logscan.skim.asking import NO_KIND  # noqa: PLC0415 - a small log needs none of it
        from nccl_logscan.skim.channels import UnreadChannels  # noqa: PLC0415 - as above

        for tally, times in part.tally_counts.items():
            kind = part.tallies.get(tally, NO_KIND)
            unread = times - tallied.get(tally, 0)
            if kind != NO_KIND and unread:
                self.by_kind[kind] += unread
        for key, times in part.counts.items():
            kind = part.groups[key[0]].kind
            if kind and times and key not in seen:
                self.by_kind[kind] += times
        channels = self._channels.get(name)
        if channels is None:
            channels = self._channels[name] = UnreadChannels(name)
            for detector in self.detectors:
                if isinstance(detector, Transfers):
                    detector.learn_unread(channels)
        for transport, times in channels.add(part.groups, part.counts, is_whole=not part.overflowed):
            self.job.count_channels(transport, times)

    def count_again(self, repeats: Iterable[_Repeat]) -> None:
        """Enter the lines that came again where their first one was entered."""
        for repeat in repeats:
            if repeat.last is not None:
                self.identity.saw_again(repeat.event, repeat.last, repeat.last_order)
                self._count_again(repeat, repeat.last)

    def _count_again(self, repeat: _Repeat, last: RawLine) -> None:
        self.by_kind[repeat.event.kind] += repeat.times
        if not repeat.findings:
            self._leave(repeat.event, repeat.last_order, repeat.times)
        for finding in repeat.findings:
            finding.count_again(repeat.event, repeat.times, repeat.last_order, last)

    def feed(self, event: Event, site: Site) -> tuple[OpenFinding, ...] | None:
        """Give an event to all who listen. Return its findings, () for none; None if other events decide on them."""
        listeners = self._listeners.get(event.kind)
        if listeners is None:
            listeners = self._listeners[event.kind] = tuple(one.feed for one in self.listeners(event.kind))
        for listen in listeners:
            listen(event, site)
        findings = self.matcher.feed(event, site)
        if findings == ():
            self._leave(event, site.order, line=site.text)
        elif findings and all(map(_says_little, findings)):
            self.stopgaps.feed(event, site.order, line=site.text)
        return findings

    def _leave(self, event: Event, order: int, times: int | None = None, line: str | None = None) -> None:
        """Keep what no rule claimed."""
        self.unclaimed.feed(event, order, times, line)
        self.signs.feed(event, order, times, line)
        self.spoilt_steps.feed(event, order, times, line)

    def _left(self) -> _Left:
        """Return what no rule claimed. A job does not outlive a loss that is no number by coming to its end."""
        went_on = self.endings.went_on_after
        spoilt = self.spoilt_steps.conclude(lambda source, order: self.endings.new_steps_after(source, order) > 0)
        signs = (*self.signs.conclude(went_on), *spoilt)
        return _Left(self.unclaimed.conclude(went_on), signs, self.stopgaps.conclude(went_on))

    def listeners(self, kind: str) -> tuple[_Listener, ...]:
        """Return who wants to see events of a kind, besides the matcher."""
        everyone: tuple[_Listener, ...] = (
            self.identity,
            self.gpus,
            self.endings,
            self.clocks,
            self.job,
            self.timeline,
            self.progress,
            self.figures,
            *self.detectors,
        )
        return tuple(one for one in everyone if not one.kinds or kind in one.kinds)

    def conclude(self, sources: Sequence[LineSource], files: Files, started: float) -> ScanResult:
        """Return what the scan found out; `started` is the performance counter's reading at its start."""
        for event, order in self.matcher.unmet():
            self._leave(event, order)
        self.clocks.align(self.identity.place_of)
        scene = self._scene()
        findings = scene.findings
        figures = self.figures.conclude()
        if not findings and figures is None and self.by_kind.keys() <= _UNKNOWN_KINDS:
            raise _nothing_to_judge(sources)
        torn = any(source.note is not None and (source.lines_read > 0 or source.is_lost) for source in sources)
        diagnosis = diagnose(scene, torn=torn, unexplained=self.unexplained)
        diagnosis, unclaimed, model_digest = _asked(diagnosis, self._left(), self.model)
        job = self.job.conclude(self.gpus)
        configs = _configs_of(files, job)
        failed = diagnosis.category is not Category.NONE
        spans = find_spans(scene.recordings, self.ray, self.identity, failed=failed)
        told = said_at_stall(spans)
        return ScanResult(
            diagnosis=diagnosis,
            findings=findings,
            plan=_plan(diagnosis, job, configs, files),
            timeline=self.timeline.conclude(findings, self.identity, self.clocks),
            standings=self._hang().standings(self.identity, scene.recordings),
            job=job,
            coverage=self._coverage(logs_among(sources), time.perf_counter() - started),
            unclaimed=unclaimed,
            inputs=tuple(_inputs(sources, files, configs)),
            notes=(*_remarks_on(files, sources, configs), *(() if told is None else (told,)), *self._notes(sources)),
            rulebook_digest=self.rulebook.digest,
            rules_used={finding.rule.id: finding.rule for finding in findings},
            judged=_judged(job, configs),
            model_digest=model_digest,
            activity=self._activity(diagnosis),
            training=self.progress.conclude(self.identity),
            spans=spans,
            figures=figures,
        )

    def _activity(self, diagnosis: Diagnosis) -> Activity | None:
        """Return when ranks spoke and when the failure reached them; of a job that did not fail nobody asks it."""
        if diagnosis.category is Category.NONE:
            return None
        deciding = () if diagnosis.finding is None else (diagnosis.finding,)
        failure = (*deciding, *diagnosis.consequences)
        return find_activity(self.identity, self.clocks, failure, self.endings.is_superseded)

    @property
    def unexplained(self) -> bool:
        """Whether errors that no rule knows were the last that some source said of the job's course."""
        return not all(self.endings.went_on_after(*last) for last in self.unclaimed.last.items())

    def _scene(self) -> Scene:
        """What rules and the detectors of the attempts that count found, and all that is known beside."""
        found = self.matcher.close(self.identity, self.clocks)
        matched = tuple(self.gpus.placed(finding, self.identity) for finding in found)
        self._supersede(matched)
        recordings = self.dumps.of(self.last, self.endings.stepped_at)
        scene = Scene(self.identity, self.gpus, self.endings, matched, recordings, self.clocks)
        detected = [
            finding_of(detection, rule)
            for attempt, detectors in sorted(self._detectors.items())
            if attempt >= self.last
            for detector in detectors
            for detection in detector.conclude(scene)
            if (rule := self.rulebook.detected_by(detection.detector)) is not None
        ]
        everything = sorted((*matched, *detected), key=lambda finding: finding.order)
        return replace(scene, findings=tuple(everything))

    def _supersede(self, matched: Sequence[Finding]) -> None:
        """Turn to the last attempt that tells how it went; the attempts before it were started again."""
        faults = (finding for finding in matched if finding.rule.role not in _HARMLESS)
        telling = (*self.endings.telling, *(finding.first.at.source for finding in faults), *self.dumps.waiting())
        self.last = self.attempts.latest_with(telling)
        self.endings.supersede(self.attempts.before(self.last))
        self.recordings = self.dumps.of(self.last, self.endings.stepped_at)
        self.turn_to(self.last)

    def _hang(self) -> Hang:
        """The detector of hangs that listened to the last attempt."""
        return next(detector for detector in self.detectors if isinstance(detector, Hang))

    def _coverage(self, sources: Sequence[LineSource], seconds: float) -> Coverage:
        return Coverage(
            lines=sum(source.lines_read for source in sources),
            bytes=sum(source.bytes_read for source in sources),
            by_kind=dict(sorted(self.by_kind.items())),
            unrecognised_nccl_lines=self.unclaimed.size,
            replaced_bytes=sum(source.replaced for source in sources),
            truncated_lines=sum(source.cut_lines for source in sources),
            seconds=round(seconds, 3),
            peak_rss_bytes=_peak_rss(),
        )

    def _notes(self, sources: Sequence[LineSource]) -> Iterator[str]:
        logs = sum(source.kind != Kind.CONFIG for source in sources)
        for source in sources:
            if source.note is not None:
                yield f"{source.name} {source.note}"
            elif logs and source.kind == Kind.CONFIG:
                yield f"{source.name} is a configuration file and was not taken for a log"
        yield from self.dump_notes[:_NOTES]
        if len(self.dump_notes) > _NOTES:
            yield f"{len(self.dump_notes) - _NOTES} further remarks on dumps are left out"
        yield from islice(self.dumps.left_out(self.last), _NOTES)
        for name in islice(self.dumps.nameless(), _NOTES):
            yield f"{name} is a dump of which neither name nor content tells the rank, and was left out"
        yield from self.identity.contradictions
        if self.timeline.left_out:
            yield f"the timeline leaves out {self.timeline.left_out} further moments"
        if self.unclaimed.dropped:
            yield f"{self.unclaimed.dropped} further warnings of other templates that no rule knows are not listed"
        for rule_id in sorted(self.matcher.overflowed):
            yield f"{rule_id}: more different failures than are kept apart; the rest is counted together"
        for rule_id, expression in self.rulebook.stalled():
            yield f"{rule_id}: an expression took too long on some line and gave no match there: {expression[:80]}"


def _nothing_to_judge(sources: Sequence[LineSource]) -> InputError:
    if not sources:
        return InputError("no input is named", hint="name the log of the job's output")
    names = [source.name for source in sources]
    name = names[0] if len(names) == 1 else f"{len(names)} inputs"
    notes = [f"{source.name} {source.note}" for source in sources if source.note]
    if notes:
        return InputError(notes[0], hint="name a whole text log, or a folder that holds one")
    has, is_ = ("has", "is") if len(names) == 1 else ("have", "are")
    if all(source.bytes_read == 0 for source in sources):
        return InputError(f"{name} {is_} empty", hint="name the log of the job's output")
    return InputError(
        f"{name} {has} no line of NCCL, PyTorch, a launcher or a training framework, so there is nothing to judge",
        hint="set NCCL_DEBUG=WARN (or INFO) for the job and scan its log again",
    )


def _remarks_on(files: Files, sources: Sequence[LineSource], configs: tuple[Config, ...]) -> Iterator[str]:
    """Yield what is odd about files that were given as configuration."""
    inputs = {source.name for source in sources}
    read = {config.name for config in configs}
    yield from (f"{name} is one of the logs: no settings were looked for in it" for name in files.logs)
    for file in files.named:
        if file.note is not None and file.name not in inputs:
            yield f"{file.name} {file.note}"
        elif file.note is None and file.name not in read:
            yield f"{file.name} is of no kind of configuration file that is known: no settings were looked for in it"


# What reads files and advises is imported where there is a file or something to advise on: a healthy log has neither.


def _configs_of(files: Files, job: Job) -> tuple[Config, ...]:
    """Read the configuration files; of those that were only found such are kept as set this job up."""
    named, found = _whole(files.named), _whole(files.found)
    if not named and not found:
        return ()
    from nccl_logscan.catalogue.load import catalogue  # noqa: PLC0415
    from nccl_logscan.remedy.files import read_configs  # noqa: PLC0415
    from nccl_logscan.remedy.found import is_of_another_job, may_set_a_job_up, sets_a_job_up  # noqa: PLC0415

    known = catalogue()
    likely = read_configs({name: data for name, data in found.items() if may_set_a_job_up(data, known)})
    own = (config for config in likely if sets_a_job_up(config, known) and not is_of_another_job(config, job))
    return (*read_configs(named), *own)


def _says_little(finding: OpenFinding) -> bool:
    """Whether a finding is of a symptom, or of a rule that fires where no other does."""
    return finding.rule.role is Role.SYMPTOM or finding.rule.match.fallback


class _Left(NamedTuple):
    """What no rule claims, warnings and other signs of a failure; and what only rules claim that say little."""

    unclaimed: tuple[UnclaimedGroup, ...]
    signs: tuple[UnclaimedGroup, ...]
    stopgaps: tuple[UnclaimedGroup, ...]


def _asked(
    diagnosis: Diagnosis, left: _Left, model: Model | None
) -> tuple[Diagnosis, tuple[UnclaimedGroup, ...], str | None]:
    """Ask the classifier about what no rule claims; return what comes of it, and the model's digest if it was asked."""
    finding = diagnosis.finding
    aside = (*left.signs, *left.stopgaps)
    is_proved = finding is not None and diagnosis.level is Level.ESTABLISHED
    if not left.unclaimed and (is_proved or not aside):
        return diagnosis, left.unclaimed, None
    from nccl_logscan.classifier.model import shipped_model  # noqa: PLC0415
    from nccl_logscan.diagnosis.suggestions import suggested, with_alternatives, with_suggestions  # noqa: PLC0415

    model = model or shipped_model()
    unclaimed, others = with_suggestions(left.unclaimed, model), with_suggestions(aside, model)
    if finding is None:
        diagnosis = suggested(diagnosis, (*unclaimed, *others))
    elif not is_proved:
        diagnosis = with_alternatives(diagnosis, (*unclaimed, *others))
    return diagnosis, unclaimed, model.digest


def _plan(diagnosis: Diagnosis, job: Job, configs: tuple[Config, ...], files: Files) -> tuple[PlannedStep, ...]:
    if diagnosis.finding is None:
        return ()
    from nccl_logscan.remedy.circumstances import Circumstances  # noqa: PLC0415
    from nccl_logscan.remedy.files import syntaxes_of  # noqa: PLC0415
    from nccl_logscan.remedy.plan import make_plan  # noqa: PLC0415

    found = frozenset(source.name for source in files.found)
    around = Circumstances(job, configs, syntaxes_of(configs), may_show=holds_no_secret, found=found)
    return make_plan(diagnosis, around)


def _judged(job: Job, configs: tuple[Config, ...]) -> tuple[JudgedSetting, ...]:
    if not configs and not job.settings:
        return ()
    from nccl_logscan.remedy.files import judged  # noqa: PLC0415

    return judged(job, configs, holds_no_secret)


def _whole(sources: Sequence[LineSource]) -> Mapping[str, bytes]:
    """Return the contents of files; of one that is too long nothing, since a change of it could not be shown."""
    read = [(source, source.content()) for source in sources]
    return {source.name: content for source, content in read if source.note is None}


def _inputs(sources: Sequence[LineSource], files: Files, configs: tuple[Config, ...]) -> Iterator[ScannedInput]:
    lines = {config.name: config.data.count(b"\n") for config in configs}
    shown = [*sources, *files.named, *(source for source in files.found if source.name in lines)]
    for source in {source.name: source for source in shown}.values():
        count = lines.get(source.name, source.lines_read)
        yield ScannedInput(source.name, source.kind, source.bytes_read, count, source.note)


def _peak_rss() -> int:
    """The most memory this program has held, in bytes.

    What getrusage tells (KiB on Linux, bytes on macOS) is on Linux at least as much as who started the program held.
    """
    with suppress(OSError, ValueError, StopIteration), open("/proc/self/status", "rb") as status:  # noqa: PTH123
        return 1024 * int(next(line for line in status if line.startswith(b"VmHWM:")).split()[1])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
