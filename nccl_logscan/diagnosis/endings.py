"""How the job went and ended, as far as its log tells: progress, completion, restarts, exits."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from nccl_logscan.diagnosis.excerpts import Site
from nccl_logscan.events.model import (
    ElasticExit,
    Event,
    NcclInit,
    ProcessExit,
    ProcessSignal,
    TrainEnd,
    TrainStep,
)

_SOURCES = 65_536
_FAILURES = 4_096
_STEPS = 64


@dataclass(slots=True)
class _Course:
    """What one source shows of the job's course; `ended`, `failed`, `begun` are orders of the last such line, 0: none.

    `new_steps` are the orders of the latest steps whose number was higher than all before: what other ranks, or a
    buffer that is written late, say again of old steps is no progress.
    """

    highest: int = -1
    new_steps: deque[int] = field(default_factory=lambda: deque(maxlen=_STEPS))
    ended: int = 0
    failed: int = 0
    begun: int = 0

    def step(self, number: int | None, order: int) -> None:
        if number is None or number > self.highest:
            self.highest = self.highest if number is None else number
            self.new_steps.append(order)

    @property
    def ended_well(self) -> bool:
        return self.ended > self.failed


@dataclass(slots=True)
class Endings:
    """Progress and ends by source; every exit that was told."""

    failures: list[Event] = field(default_factory=list)
    aborted: bool = False
    _courses: dict[str, _Course] = field(default_factory=dict)

    kinds: ClassVar[frozenset[str]] = frozenset(
        {"train.step", "train.end", "nccl.init", "elastic.exit", "process.exit", "process.signal"}
    )

    def feed(self, event: Event, site: Site) -> None:
        """Note an event."""
        course = self._courses.get(event.at.source)
        if course is None:
            if len(self._courses) >= _SOURCES:
                return
            course = self._courses[event.at.source] = _Course()
        if isinstance(event, TrainStep):
            course.step(event.step, site.order)
        elif isinstance(event, TrainEnd):
            course.ended = site.order
        elif isinstance(event, NcclInit):
            self._phase(event.phase, course, site.order)
        elif isinstance(event, ElasticExit | ProcessExit | ProcessSignal):
            self._exit(event, course, site.order)

    def _phase(self, phase: str, course: _Course, order: int) -> None:
        if phase == "start":
            course.begun = order
        elif phase == "destroy":
            course.ended = order
        elif phase == "abort":
            self.aborted = True

    def _exit(self, event: ElasticExit | ProcessExit | ProcessSignal, course: _Course, order: int) -> None:
        if isinstance(event, ProcessSignal) or event.exit_code != 0:
            course.failed = order
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

    def new_steps_after(self, source: str, order: int) -> int:
        """Return how many steps, never seen before, a source logged after a point of reading (64 at most)."""
        course = self._courses.get(source)
        return sum(step > order for step in course.new_steps) if course else 0

    def restarted_after(self, source: str, order: int) -> bool:
        """Whether communicators were begun anew after a point of a source."""
        course = self._courses.get(source)
        return course is not None and course.begun > order

    def ended_after(self, source: str, order: int) -> bool:
        """Whether the job ended well after a point of a source.

        A source without signs of life (a file of NCCL's alone, the kernel's log) is judged by the others.
        """
        course = self._courses.get(source)
        if course is not None and (course.ended or course.new_steps):
            return course.ended > order and course.ended_well
        return self.finished and not self.failed

    def first_exits(self, source: str) -> Iterator[ElasticExit]:
        """Yield what torchrun told in a source of workers that ended, where it knows their rank."""
        for event in self.failures:
            if isinstance(event, ElasticExit) and event.at.source == source and event.origin.rank is not None:
                yield event
