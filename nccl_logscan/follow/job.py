"""The job as far as its logs have been read: signs of failure, and the verdict, now and again or at last."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum

from nccl_logscan.diagnosis.verdict import ScanResult
from nccl_logscan.errors import InputError
from nccl_logscan.follow.tail import Tail
from nccl_logscan.pipeline import Options, Reading, Run, files_around
from nccl_logscan.rulebook.rule import Rulebook
from nccl_logscan.sources import NO_LINES, Kind, RawLine, open_sources
from nccl_logscan.sources.line_source import LineSource, logs_among
from nccl_logscan.sources.source import Source
from nccl_logscan.taxonomy import Category, Severity

_LONGEST_LOOK = 120.0
"""Seconds: dumps are read too, and a file system may have stopped to answer."""


class Outlook(Enum):
    """What a scan of the logs as they are now would say.

    failed: a failure that a rule calls fatal, or of which a launcher told. doubtful: one that a job may survive, that
    no line names but many together show, or that no rule knows. finished: the job says that its work is done. open:
    none of these.
    """

    FAILED = b"f"
    DOUBTFUL = b"d"
    FINISHED = b"e"
    OPEN = b"o"


@dataclass(frozen=True, slots=True)
class Signs:
    """Orders of the last sign of failure, process that failed, new step, word of the end and announced restart.

    They tell whether one comes after another, and no more; 0: there was none. `held`: something was read that counts
    only once it is known that nothing follows: part of a line, a traceback without its exception.
    """

    trouble: int = 0
    exit: int = 0
    step: int = 0
    end: int = 0
    restart: int = 0
    held: bool = False


class Job:
    """One scan that goes on: fold lines of any log as they come, then conclude once.

    `troubled`: the log in which the last sign of failure stood.
    """

    def __init__(self, rulebook: Rulebook, options: Options, paths: Sequence[str]) -> None:
        rulebook.rearm()
        self._run = Run(rulebook, model=options.model)
        self._options = options
        self._paths = paths
        self._readings: dict[str, tuple[Tail, Reading]] = {}
        self._packed: list[Source] = []
        self.troubled = ""
        self._learnt: set[str] = set()
        self._began = time.perf_counter()
        files_around((), (), options)  # a configuration file that is missing is told before the watch, not after it

    def read_packed(self, sources: Sequence[Source]) -> None:
        """Read archives and compressed files, which don't grow."""
        for source in sources:
            self._packed.append(source)
            if source.kind != Kind.CONFIG:
                self._read_whole(source)

    def fold(self, tail: Tail, lines: Sequence[RawLine]) -> None:
        """Fold further lines of a log."""
        before = self._trouble_in(tail)
        self._reading(tail).take(lines)
        if self._trouble_in(tail) > before:
            self.troubled = tail.name

    def _trouble_in(self, tail: Tail) -> int:
        run = self._run
        return max(run.last_sign, run.endings.last_failure, run.unclaimed.last.get(tail.name, 0))

    @property
    def lines(self) -> int:
        """Lines folded."""
        return sum(tail.lines_read for tail, _ in self._readings.values())

    def signs(self, tails: Iterable[Tail]) -> Signs:
        """Return what the lines read so far say of the job's course."""
        run = self._run
        unexplained = max(run.unclaimed.last.values(), default=0)
        endings = run.endings
        trouble = max(run.last_sign, unexplained, endings.last_failure)
        held = any(reading.holds for _, reading in self._readings.values()) or any(tail.holds for tail in tails)
        return Signs(trouble, endings.last_failure, endings.last_step, endings.last_end, endings.restart, held)

    def outlook(self, tails: Sequence[Tail], gives_up: Callable[[], bool] = lambda: False) -> Outlook | None:
        """Say what a scan would say now; None if that can't be told just now, or is given up.

        To conclude ends a scan: lines held back for those behind them are given up as they are. So a copy of this
        process concludes; the copy costs no memory but what the conclusion changes.
        """
        reader, writer = os.pipe()
        try:
            child = os.fork()
        except OSError:  # no process or memory is to be had
            os.close(reader)
            os.close(writer)
            return None
        if child == 0:
            self._say_outlook(tails, writer)
        os.close(writer)
        ends = time.monotonic() + _LONGEST_LOOK
        while not (is_said := bool(select.select([reader], [], [], 0.5)[0])):
            if gives_up() or time.monotonic() > ends:
                os.kill(child, signal.SIGKILL)
                break
        said = os.read(reader, 1) if is_said else b""
        os.close(reader)
        os.waitpid(child, 0)
        if not is_said:
            return None
        # A copy that died has met a defect of ours: the conclusion itself will show it.
        return Outlook(said) if said else Outlook.FAILED

    def _say_outlook(self, tails: Sequence[Tail], writer: int) -> None:
        with suppress(BaseException):
            os.write(writer, self._outlook_by_concluding(tails).value)
        os._exit(0)

    def _outlook_by_concluding(self, tails: Sequence[Tail]) -> Outlook:
        try:
            diagnosis = self.conclude(tails).diagnosis
        except InputError:
            return Outlook.OPEN
        endings, signs = self._run.endings, self.signs(())
        if diagnosis.category == Category.NONE:
            return Outlook.FINISHED if endings.finished and signs.end > signs.step else Outlook.OPEN
        if endings.failed and signs.exit > signs.step:
            return Outlook.FAILED
        cause = diagnosis.finding
        fatal = [one for one in (cause, *diagnosis.consequences) if one and one.rule.severity is Severity.FATAL]
        if any(one.rule.match.detector is None for one in fatal):
            return Outlook.FAILED
        # What no line says and only many together show may be a job that is slow to start.
        return Outlook.DOUBTFUL if fatal or signs.trouble > signs.step else Outlook.OPEN

    def conclude(self, tails: Sequence[Tail], goes_on: Callable[[], bool] = lambda: True) -> ScanResult:
        """Return the verdict over all that was read, and over dumps and other files that are read at the end only.

        `goes_on` is asked before each of those. Raises InputError where there is nothing to judge.
        """
        for tail in tails:
            left = list(tail.finish())
            if left:
                self.fold(tail, left)
        for tail, reading in self._readings.values():
            reading.finish(tail.lines_read, tail.bytes_read)
        logs = [tail for tail in tails if not tail.is_whole]
        for tail in logs:
            self._learn(tail.name)
            if tail.note is None and not tail.bytes_read:
                tail.note = "is empty"
        whole = [source for tail in tails if tail.is_whole and goes_on() for source in _opened(tail, self._options)]
        sources: list[LineSource] = [*logs, *self._packed, *whole]
        read = logs_among(sources)
        for source in whole:
            if source in read and goes_on():
                self._read_whole(source)
        return self._run.conclude(sources, files_around(self._paths, sources, self._options), self._began)

    def _reading(self, tail: Tail) -> Reading:
        known = self._readings.get(tail.name)
        if known is None:
            self._learn(tail.name)
            known = self._readings[tail.name] = tail, Reading(self._run, tail.name)
        return known[1]

    def _learn(self, name: str) -> None:
        if name in self._learnt:
            return
        self._learnt.add(name)
        self._run.attempts.learn(name)
        self._run.identity.learn_source(name)

    def _read_whole(self, source: Source) -> None:
        self._learn(source.name)
        if source.kind in NO_LINES:
            self._run.read_whole(source)
        else:
            self._run.read(source, self._options.progress)


def _opened(tail: Tail, options: Options) -> list[Source]:
    try:
        return open_sources([tail.name], limits=options.limits)
    except InputError:  # deleted since
        return []
