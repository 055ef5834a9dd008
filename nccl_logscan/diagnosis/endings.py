"""How the job went and ended, as far as its log tells: progress, completion, restarts, exits."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator
from datetime import UTC, timedelta
from typing import ClassVar

from nccl_logscan.diagnosis.excerpts import Site
from nccl_logscan.diagnosis.heed import Heed
from nccl_logscan.diagnosis.places import rank_in_name
from nccl_logscan.events.model import (
    ElasticAgent,
    ElasticExit,
    Event,
    NcclInit,
    ProcessExit,
    ProcessSignal,
    TrainEnd,
    TrainStep,
)
from nccl_logscan.lines import NO_YEAR
from nccl_logscan.records import dataclass, field

_SOURCES = 65_536
_FAILURES = 4_096
_STEPS = 64
_RANKS = 1_024
# torch/distributed/elastic/agent/server/api.py: "[default] Worker group FAILED. 2/3 attempts left; will restart ..."
_RESTARTS = "will restart worker group"
_FARTHEST_EAST = timedelta(hours=14)  # where a time without a zone is the earliest in UTC


@dataclass(slots=True)
class _Course:
    """What one source shows of the job's course; `ended`, `failed`, `begun` are orders of the last such line, 0: none.

    `new_steps` are the orders of the latest steps whose number was higher than all before: what other ranks, or a
    buffer that is written late, say again of old steps is no progress; where one rank's own steps (`latest`) go back to
    the first, the job was begun anew. `told` is who said last that the work was done,
    and when: a communicator's destruction and an exit code of 0 end the source too, but a program that raised an
    exception may leave so as well.
    """

    highest: int = -1
    latest: dict[int | None, int] = field(default_factory=dict)
    new_steps: deque[tuple[int, int | None]] = field(default_factory=lambda: deque(maxlen=_STEPS))
    first_step: tuple[int, int] | None = None
    ended: int = 0
    told: dict[int | None, int] = field(default_factory=dict)
    failed: int = 0
    begun: int = 0

    def step(self, number: int | None, order: int, rank: int | None) -> bool:
        """Note a step; return whether it is new."""
        if number is not None and (rank in self.latest or len(self.latest) < _RANKS):
            if number <= 1 and number < self.latest.get(rank, number):
                self.begun = order
            self.latest[rank] = number
        if number is not None and number <= self.highest:
            return False
        self.highest = self.highest if number is None else number
        self.new_steps.append((order, rank))
        if self.first_step is None and number is not None:
            self.first_step = (order, number)
        return True

    def end(self, order: int, rank: int | None, *, told: bool) -> None:
        self.ended = order
        if told and (rank in self.told or len(self.told) < _SOURCES):
            self.told[rank] = order

    def told_by(self, ranks: Collection[int]) -> int:
        """Return the order of the last word of one of `ranks`, or of nobody in particular, that the work was done."""
        return max((order for rank, order in self.told.items() if _speaks_for(rank, ranks)), default=0)

    @property
    def ended_well(self) -> bool:
        return self.ended > self.failed


@dataclass(slots=True)
class Endings:
    """Progress and ends by source; every exit that was told.

    `stepped_at`: when the last step was made at the earliest, in seconds since 1970; None where no step has a date.
    `last_step`, `last_end`, `last_failure`, `restart`: the orders of the last step that was new, word that the work is
    done, process that failed, and announcement that the job will be started again, over all sources; 0: none.
    """

    failures: list[Event] = field(default_factory=list)
    aborted: bool = False
    stepped_at: float | None = None
    last_step: int = 0
    last_end: int = 0
    last_failure: int = 0
    restart: int = 0
    _courses: dict[str, _Course] = field(default_factory=dict)
    _last_words: dict[str, int] = field(default_factory=dict)
    _superseded: frozenset[str] = frozenset()

    kinds: ClassVar[frozenset[str]] = frozenset(
        {"train.step", "train.end", "nccl.init", "elastic.exit", "elastic.agent", "process.exit", "process.signal"}
    )

    def heeds(self, event: Event) -> Heed:  # noqa: ARG002 - of bulk kinds alike
        """See `Heed`: a step is known by its number; the first and the last of a sayer, and each that begins anew."""
        return Heed.SAYER

    def feed(self, event: Event, site: Site) -> None:
        """Note an event."""
        course = self._courses.get(event.at.source)
        if course is None:
            if len(self._courses) >= _SOURCES:
                return
            course = self._courses[event.at.source] = _Course()
        if isinstance(event, TrainStep):
            if course.step(event.step, site.order, event.origin.rank):
                self.last_step = site.order
            self._learn_time(event)
        elif isinstance(event, TrainEnd):
            rank = event.origin.rank
            rank = rank_in_name(event.at.source) if rank is None else rank
            course.end(site.order, rank, told=not event.by_exit_code)
            self.last_end = site.order
        elif isinstance(event, NcclInit):
            self._phase(event.phase, course, site.order)
        elif isinstance(event, ElasticExit | ProcessExit | ProcessSignal):
            self._exit(event, course, site.order)
        elif isinstance(event, ElasticAgent) and _RESTARTS in event.message:
            self.restart = site.order

    def _learn_time(self, event: TrainStep) -> None:
        when = event.when.value if event.when is not None else None
        if when is None or when.year == NO_YEAR:
            return
        zone = timedelta(0) if when.tzinfo is not None else _FARTHEST_EAST
        utc = when.replace(tzinfo=when.tzinfo or UTC).timestamp() - zone.total_seconds()
        self.stepped_at = utc if self.stepped_at is None else max(utc, self.stepped_at)

    def close(self, source: str, order: int) -> None:
        """Note that a source has been read to its end and what the order of its last line was."""
        if len(self._last_words) < _SOURCES:
            self._last_words[source] = order

    def supersede(self, sources: frozenset[str]) -> None:
        """Take sources for those of attempts after which the job was started again: how they ended counts no more."""
        self._superseded = sources
        for source in sources:
            self._courses.pop(source, None)
        self.failures = [event for event in self.failures if event.at.source not in sources]

    def was_of_an_earlier_attempt(self, source: str, order: int) -> bool:
        """Whether a point of an input of no attempt, as the launcher's own log, is before the end of the last one."""
        course = self._courses.get(source)
        return bool(self._superseded) and course is not None and course.failed > order

    def is_superseded(self, source: str) -> bool:
        """Whether a source is of an attempt after which the job was started again."""
        return source in self._superseded

    @property
    def telling(self) -> tuple[str, ...]:
        """The sources that show how the job went: steps, a communicator's set-up, an end, an exit."""
        return tuple(self._courses)

    def _phase(self, phase: str, course: _Course, order: int) -> None:
        if phase in {"start", "complete"}:
            course.begun = order
        elif phase == "destroy":
            course.end(order, None, told=False)
        elif phase == "abort":
            self.aborted = True

    def _exit(self, event: ElasticExit | ProcessExit | ProcessSignal, course: _Course, order: int) -> None:
        if isinstance(event, ProcessSignal) or event.exit_code != 0:
            course.failed = self.last_failure = order
            if len(self.failures) < _FAILURES:
                self.failures.append(event)

    @property
    def stepped(self) -> bool:
        """Whether training steps were logged."""
        return any(course.new_steps for course in self._courses.values())

    @property
    def said_end(self) -> bool:
        """Whether some source says that its work was done."""
        return any(course.ended for course in self._courses.values())

    @property
    def finished(self) -> bool:
        """Whether the job says that it ended, and no process failed after its source said so."""
        return self.said_end and all(course.ended_well for course in self._courses.values() if course.failed)

    @property
    def failed(self) -> bool:
        """Whether a process failed and its source does not say that the job ended well after it."""
        return any(course.failed and not course.ended_well for course in self._courses.values())

    def _living(self, source: str) -> _Course | None:
        """The course of a source that shows signs of life: steps or an end."""
        course = self._courses.get(source)
        return course if course is not None and (course.ended or course.new_steps) else None

    def new_steps_after(self, source: str, order: int, ranks: Collection[int] = ()) -> int:
        """Return how many steps, never seen before, a source logged after a point of reading (64 at most).

        With `ranks`: by one of them, or by nobody in particular.
        """
        course = self._courses.get(source)
        return sum(step > order and _speaks_for(rank, ranks) for step, rank in course.new_steps) if course else 0

    def stepped_before(self, source: str, order: int) -> bool:
        """Whether a source logged steps before a point of reading."""
        course = self._courses.get(source)
        return course is not None and course.first_step is not None and course.first_step[0] < order

    def begins_after(self, source: str, order: int) -> bool:
        """Whether a source's training begins with its first step only after a point of reading."""
        course = self._courses.get(source)
        if course is None or course.first_step is None:
            return False
        first, number = course.first_step
        return first > order and number <= 1

    def restarted_after(self, source: str, order: int) -> bool:
        """Whether communicators were begun anew after a point of a source."""
        course = self._courses.get(source)
        return course is not None and course.begun > order

    def ended_after(self, source: str, order: int) -> bool:
        """Whether the job ended well after a point of a source.

        A source without signs of life (a file of NCCL's alone, the kernel's log) is judged by the others.
        """
        course = self._living(source)
        if course is not None:
            return course.ended > order and course.ended_well
        return self.finished and not self.failed

    def told_after(self, source: str, order: int, ranks: Collection[int]) -> bool:
        """Whether one of `ranks`, or nobody in particular, said after a point of a source that the work was done.

        What other sources say does not count for the last words of one that shows no sign of life itself.
        """
        course = self._living(source)
        if course is not None:
            return course.told_by(ranks) > order and course.ended_well
        if order >= self._last_words.get(source, order + 1):
            return False
        return self.finished and not self.failed and any(course.told_by(ranks) for course in self._courses.values())

    def went_on_after(self, source: str, order: int) -> bool:
        """Whether a source shows a new step or an end after a point; one without either is judged by the others."""
        if source in self._superseded:
            return True
        course = self._living(source)
        if course is None:
            return self.stepped
        return course.ended > order or self.new_steps_after(source, order) > 0

    def first_exits(self, source: str) -> Iterator[ElasticExit]:
        """Yield what torchrun told in a source of workers that ended, where it knows their rank."""
        for event in self.failures:
            if isinstance(event, ElasticExit) and event.at.source == source and event.origin.rank is not None:
                yield event


def _speaks_for(rank: int | None, ranks: Collection[int]) -> bool:
    return rank is None or not ranks or rank in ranks
