"""What was measured of a job, by nccl-tests, NCCL's Inspector and dmon, and what NCCL chose: folded, bounded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import ClassVar

from nccl_logscan.diagnosis.excerpts import Site
from nccl_logscan.diagnosis.heed import Heed
from nccl_logscan.events.model import Event
from nccl_logscan.measured import dmon, inspector, nccl_tests, tuning
from nccl_logscan.numbers import median
from nccl_logscan.records import dataclass, field, replace

KEYS = 512
"""Of each kind of figure."""
_SOURCES = 64
_FEWEST_RANKS = 4
_FEWEST_CALLS = 16
_SHARE_OF_OTHERS = 0.5
NCCL_TESTS, INSPECTOR = "nccl-tests", "inspector"


@dataclass(slots=True)
class Spread:
    """Numbers folded: how many, their sum, the lowest and the highest."""

    count: int = 0
    total: float = 0.0
    low: float = float("inf")
    high: float = float("-inf")

    def add(self, number: float) -> None:
        """Take in a number."""
        self.count += 1
        self.total += number
        self.low, self.high = min(self.low, number), max(self.high, number)

    @property
    def mean(self) -> float:
        """The mean; of no numbers 0."""
        return self.total / self.count if self.count else 0.0


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """What a collective of a size reached. `tool`: nccl-tests or inspector.

    `collective`: None where the output does not name it. `ranks`: of the communicator; None: not said. `in_place`: None
    where the tool does not tell runs apart. Times in microseconds, bandwidths in 10^9 bytes a second. `wrong` counts
    values that were not as expected.
    """

    tool: str
    collective: str | None
    size_bytes: int
    ranks: int | None
    in_place: bool | None
    time_us: Spread = field(default_factory=Spread)
    algbw: Spread = field(default_factory=Spread)
    busbw: Spread = field(default_factory=Spread)
    wrong: int = 0


@dataclass(frozen=True, slots=True)
class Communication:
    """How long a process was in collectives, by the Inspector: `seconds`, within the `within` seconds that its lines
    span. Collectives of several communicators may overlap, so that the share is above 1.
    """

    host: str | None
    pid: int | None
    rank: int
    seconds: float
    within: float


@dataclass(frozen=True, slots=True)
class Awaited:
    """A rank for which the others of its communicator wait: its collectives take it `mean_us`, the others `others_us`.

    Who comes last to a collective waits for nobody, so that it takes the late one the least time.
    """

    comm: str
    collective: str
    rank: int
    host: str | None
    mean_us: float
    others_us: float
    calls: int


@dataclass(frozen=True, slots=True)
class GpuFigure:
    """A column of a dmon's table for a GPU, over its samples; `source` is the input that holds the table."""

    source: str
    gpu: int
    column: str
    values: Spread


@dataclass(frozen=True, slots=True)
class Figures:
    """All that was measured, and what NCCL chose. `left_out` counts figures for which there was no room."""

    bandwidths: tuple[Bandwidth, ...]
    communication: tuple[Communication, ...]
    awaited: tuple[Awaited, ...]
    gpus: tuple[GpuFigure, ...]
    choices: tuple[tuning.Choice, ...]
    left_out: int


@dataclass(slots=True)
class _Test:
    """The run of nccl-tests that an input is in."""

    collective: str | None = None
    ranks: int = 0


@dataclass(slots=True)
class _Process:
    """What the Inspector's lines of one process told."""

    rank: int
    busy_us: int = 0
    first_us: int | None = None
    last_us: int | None = None


class Collected:
    """Collects the figures while lines come."""

    kinds: ClassVar[frozenset[str]] = frozenset({"log.text", "nccl.info"})
    heeded: ClassVar[frozenset[str]] = nccl_tests.WORDS | inspector.WORDS | dmon.WORDS

    def __init__(self) -> None:
        self._bandwidths: dict[tuple[str, str | None, int, int | None, bool | None], Bandwidth] = {}
        self._tests: dict[str, _Test] = {}
        self._headings: dict[str, dmon.Heading] = {}
        self._gpus: dict[tuple[str, int, str], GpuFigure] = {}
        self._choices: dict[tuple[str | None, int, str, str], tuning.Choice] = {}
        self._processes: dict[tuple[str | None, int | None, int], _Process] = {}
        self._ranks: dict[tuple[str, str, int], tuple[Spread, str | None]] = {}
        self._skimmed: set[str] = set()
        self._left_out: set[object] = set()

    def heeds(self, event: Event) -> Heed:
        """See `Heed`: every measured line, but for rows of dmon, which have no words; each choice of NCCL once."""
        text = event.message
        if event.kind == "nccl.info":
            return Heed.TEXT if tuning.choice_in(text) is not None else Heed.SAYER
        told = (
            nccl_tests.is_row(text)
            or nccl_tests.collective_in(text) is not None
            or nccl_tests.rank_in(text) is not None
            or inspector.measured_in(text) is not None
        )
        return Heed.LINE if told else Heed.SAYER

    def skims(self, source: str) -> None:
        """Note that not every line of an input will be seen: a mean of the few rows of dmon that are would be none."""
        self._skimmed.add(source)

    def feed(self, event: Event, site: Site) -> None:  # noqa: ARG002 - as all who listen
        """Take in a line that tells a figure."""
        text = event.message
        if event.kind == "nccl.info":
            if " Bytes -> Algo " in text:
                self._choose(text)
        elif text.startswith("#"):
            self._head(event.at.source, text)
        elif text.startswith("{"):
            self._inspect(text)
        elif text[:1] in _BEGINNINGS:
            self._row(event.at.source, text)

    def conclude(self) -> Figures | None:
        """Return what was measured; None where nothing was."""
        if not (self._bandwidths or self._gpus or self._choices):
            return None
        return Figures(
            bandwidths=tuple(one for _, one in sorted(self._bandwidths.items(), key=lambda kept: _order(kept[0]))),
            communication=tuple(self._communication()),
            awaited=tuple(self._awaited()),
            gpus=tuple(one for _, one in sorted(self._gpus.items())),
            choices=tuple(one for _, one in sorted(self._choices.items(), key=lambda kept: _order(kept[0]))),
            left_out=len(self._left_out),
        )

    def _head(self, source: str, text: str) -> None:
        """A line that begins with `#`: the head of a test, of its devices or of a table of dmon."""
        collective, rank = nccl_tests.collective_in(text), nccl_tests.rank_in(text)
        if collective is not None:
            self._test_of(source).collective = collective
        elif rank is not None:
            test = self._test_of(source)
            test.ranks = 1 if rank == 0 else max(test.ranks, rank + 1)
        elif (heading := dmon.heading_in(text)) is not None and len(self._headings) < _SOURCES:
            self._headings[source] = heading

    def _test_of(self, source: str) -> _Test:
        if source not in self._tests and len(self._tests) >= _SOURCES:
            self._leave_out(source)
            return _Test()
        return self._tests.setdefault(source, _Test())

    def _row(self, source: str, text: str) -> None:
        if nccl_tests.is_row(text):
            test = self._test_of(source)
            for row in nccl_tests.rows_in(text):
                key = (NCCL_TESTS, test.collective, row.size_bytes, test.ranks or None, row.in_place)
                self._enter(key, row.time_us, row.algbw, row.busbw, row.wrong or 0)
        elif (heading := self._headings.get(source)) is not None and source not in self._skimmed:
            if (told := dmon.row_in(text, heading)) is not None:
                for column, value in told[1].items():
                    self._add_gpu(source, told[0], column, value)

    def _add_gpu(self, source: str, gpu: int, column: str, value: float) -> None:
        key = (source, gpu, column)
        known = self._gpus.get(key)
        if known is None:
            if len(self._gpus) >= KEYS:
                self._leave_out(key)
                return
            known = self._gpus[key] = GpuFigure(source, gpu, column, Spread())
        known.values.add(value)

    def _enter(
        self,
        key: tuple[str, str | None, int, int | None, bool | None],
        time_us: float,
        algbw: float,
        busbw: float,
        wrong: int,
    ) -> None:
        known = self._bandwidths.get(key)
        if known is None:
            if len(self._bandwidths) >= KEYS:
                self._leave_out(key)
                return
            known = Bandwidth(*key)
        known.time_us.add(time_us)
        known.algbw.add(algbw)
        known.busbw.add(busbw)
        self._bandwidths[key] = replace(known, wrong=known.wrong + wrong) if wrong else known

    def _leave_out(self, key: object) -> None:
        if len(self._left_out) < KEYS:
            self._left_out.add(key)

    def _choose(self, text: str) -> None:
        choice = tuning.choice_in(text)
        if choice is None:
            return
        key = (choice.collective, choice.size_bytes, choice.algorithm, choice.protocol)
        if key in self._choices or len(self._choices) < KEYS:
            self._choices.setdefault(key, choice)
        else:
            self._leave_out(key)

    def _inspect(self, text: str) -> None:
        one = inspector.measured_in(text)
        if one is None:
            return
        key = (INSPECTOR, one.collective, one.size_bytes, one.ranks, None)
        self._enter(key, float(one.time_us), one.algbw, one.busbw, 0)
        process = self._processes.get((one.host, one.pid, one.rank))
        if process is None and len(self._processes) < KEYS:
            process = self._processes[one.host, one.pid, one.rank] = _Process(one.rank)
        if process is not None:
            process.busy_us += one.time_us
            if one.written_us is not None:
                process.first_us = min(one.written_us, process.first_us or one.written_us)
                process.last_us = max(one.written_us, process.last_us or one.written_us)
        place = (one.comm, one.collective, one.rank)
        if place not in self._ranks and len(self._ranks) >= KEYS:
            self._leave_out(place)
            return
        self._ranks.setdefault(place, (Spread(), one.host))[0].add(float(one.time_us))

    def _communication(self) -> Iterator[Communication]:
        """Yield how long each process was in collectives, where its lines span a time."""
        for (host, pid, rank), process in sorted(self._processes.items(), key=lambda kept: _order(kept[0])):
            within = (process.last_us or 0) - (process.first_us or 0)
            if within > 0:
                yield Communication(host, pid, rank, process.busy_us / 1e6, within / 1e6)

    def _awaited(self) -> Iterator[Awaited]:
        """Yield the one rank of a communicator whose collectives take it far less time than they take the others."""
        groups: dict[tuple[str, str], dict[int, tuple[Spread, str | None]]] = defaultdict(dict)
        for (comm, collective, rank), told in self._ranks.items():
            if told[0].count >= _FEWEST_CALLS:
                groups[comm, collective][rank] = told
        for (comm, collective), told_by in sorted(groups.items()):
            if len(told_by) < _FEWEST_RANKS:
                continue
            others = median(spread.mean for spread, _ in told_by.values())
            quick = [rank for rank, (spread, _) in told_by.items() if spread.mean < _SHARE_OF_OTHERS * others]
            if len(quick) == 1:
                spread, host = told_by[quick[0]]
                yield Awaited(comm, collective, quick[0], host, spread.mean, others, spread.count)


_BEGINNINGS = frozenset(" 0123456789G")


def _order(key: tuple[object, ...]) -> tuple[tuple[bool, object], ...]:
    """Return what a key is sorted by: None comes first."""
    return tuple((part is not None, part if part is not None else 0) for part in key)
