"""Rounds: the lines of a large input that are to be read, in their order, and how many lines each class has.

A round is as much of an input as gives some tens of megabytes of lines to read: of most logs all. Threads skim the
segments of a batch side by side; which one skims which changes nothing.
"""

from __future__ import annotations

import os
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from nccl_logscan.position import Position
from nccl_logscan.records import dataclass, field
from nccl_logscan.skim.asking import Asker, Group
from nccl_logscan.skim.kernel import KernelSkimmer, library
from nccl_logscan.skim.plain import PlainSkimmer
from nccl_logscan.skim.told import AROUND, Key, Skimmer, Told
from nccl_logscan.skim.windows import SEGMENT, FileWindows, Window, stream_windows
from nccl_logscan.sources.limits import Limits
from nccl_logscan.sources.raw import RawLine
from nccl_logscan.sources.text import LineCutter

BATCH = 8
"""Segments that are skimmed before anybody looks how much there is to read."""
HELD = 1 << 24
"""Bytes of lines to read that end a round."""
_SAYERS_OF_STEPS = 64
_FEW_STEPS = (2, 6)
"""Of more sayers of steps than the above, so many first and last steps are read of each."""


class Passing(NamedTuple):
    """A line of a round: to be read, or only standing around one that is. `counted`: the class it was counted in;
    `tally`: what it was counted in, if in no class; 0: nothing.
    """

    raw: RawLine
    is_read: bool
    counted: Key | None
    tally: int


@dataclass(frozen=True, slots=True)
class Round:
    """Lines in their order; how many lines the classes and tallies have, those in `lines` among them.

    `groups` and `tallies` say what they are of. `cutter` counts what was odd about the lines that have passed. `size`:
    bytes from the start of the input to the end of the round; `line_count`: lines of the round. `overflowed`: lines of
    some classes were only counted.
    """

    lines: Iterable[Passing]
    cutter: LineCutter
    counts: Mapping[Key, int]
    tally_counts: Mapping[int, int]
    groups: Mapping[int, Group]
    tallies: Mapping[int, str]
    line_count: int
    size: int
    overflowed: bool


@dataclass(slots=True)
class _Batch:
    """What is known of the segments of a round."""

    line_counts: dict[int, int] = field(default_factory=dict)
    giants: dict[int, RawLine] = field(default_factory=dict)
    failures: list[BaseException] = field(default_factory=list)

    def note(self, window: Window, lines: int) -> None:
        """Take in a segment that was skimmed."""
        self.line_counts[window.segment] = lines + (window.giant is not None)
        if window.giant is not None:
            self.giants[window.segment] = window.giant


def skimmers_of(asker: Asker, count: int) -> list[Skimmer]:
    """Return so many skimmers, the fastest there are, that know what the asker has answered before."""
    while len(asker.skimmers) < count:
        skimming: Skimmer = KernelSkimmer() if library() is not None else PlainSkimmer()
        skimming.learn_needs(asker.needs)
        asker.skimmers.append(skimming)
    return asker.skimmers[:count]


class FileRounds:
    """The rounds of a plain file. Raises OSError while iterated where it cannot be read."""

    def __init__(self, path: str | os.PathLike[str], name: str, limits: Limits, asker: Asker, threads: int) -> None:
        self._path = path
        self._merging = _Merging(name, limits, asker)
        self._name = name
        self._limits = limits
        self._asker = asker
        self._threads = max(1, threads)

    def __iter__(self) -> Iterator[Round]:
        """Yield the rounds in order."""
        descriptor = os.open(self._path, os.O_RDONLY)
        try:
            size = os.fstat(descriptor).st_size
            segments = -(-size // SEGMENT)
            workers = [
                (skimming, FileWindows(descriptor, size, self._name, self._limits))
                for skimming in skimmers_of(self._asker, min(self._threads, segments))
            ]
            batch = _Batch()
            for first in range(0, segments, BATCH):
                end = min(segments, first + BATCH)
                self._skim(workers, iter(range(first, end)), batch)
                if end == segments or sum(skimming.held for skimming, _ in workers) > HELD:
                    yield self._merging.round([skimming for skimming, _ in workers], batch, min(size, end * SEGMENT))
                    batch = _Batch()
        except BaseException:
            self._asker.skimmers.clear()  # they hold lines of this file
            raise
        finally:
            os.close(descriptor)

    def _skim(self, workers: list[tuple[Skimmer, FileWindows]], segments: Iterator[int], batch: _Batch) -> None:
        def work(skimming: Skimmer, windows: FileWindows) -> None:
            try:
                for segment in segments:  # one iterator for all: each takes the next
                    window = windows.read(segment)
                    batch.note(window, _skimmed(skimming, window, self._asker))
            except BaseException as error:  # noqa: BLE001 - raised again by whoever waits
                batch.failures.append(error)

        threads = [threading.Thread(target=work, args=worker) for worker in workers[1:]]
        for thread in threads:
            thread.start()
        work(*workers[0])
        for thread in threads:
            thread.join()
        if batch.failures:
            raise batch.failures[0]


class StreamRounds:
    """The rounds of a stream: of the same bytes the same as those of a file."""

    def __init__(self, blocks: Iterable[bytes], name: str, limits: Limits, asker: Asker) -> None:
        self._windows = stream_windows(blocks, name, limits)
        self._merging = _Merging(name, limits, asker)
        self._asker = asker

    def __iter__(self) -> Iterator[Round]:
        """Yield the rounds in order."""
        [skimming], batch, size = skimmers_of(self._asker, 1), _Batch(), 0
        done = 0
        for window in self._windows:
            if window.segment // BATCH > done // BATCH and skimming.held > HELD:
                yield self._merging.round([skimming], batch, size)
                batch = _Batch()
            done = window.segment
            batch.note(window, _skimmed(skimming, window, self._asker))
            size = window.base + window.end
        yield self._merging.round([skimming], batch, size)


def _skimmed(skimming: Skimmer, window: Window, ask: Asker) -> int:
    return skimming.skim(
        window.buffer,
        window.start,
        window.own_end,
        window.end,
        base=window.base,
        segment=window.segment,
        ask=ask,
    )


@dataclass(slots=True)
class _Chosen:
    """Lines of a round by their numbers: to be read, and others; `shown`: of the latter those around one that is read.

    `passed`: the numbers of the last lines of the round before that were given.
    """

    read: dict[int, Told] = field(default_factory=dict)
    around: dict[int, Told] = field(default_factory=dict)
    shown: set[int] = field(default_factory=set)
    passed: set[int] = field(default_factory=set)

    def split(self, last: int) -> tuple[_Chosen, _Chosen]:
        """Return the lines up to a number, and those behind."""
        behind = _Chosen(
            {number: line for number, line in self.read.items() if number > last},
            {number: line for number, line in self.around.items() if number > last},
        )
        for number in behind.read:
            del self.read[number]
        for number in behind.around:
            del self.around[number]
        return self, behind


class _Merging:
    """Puts together what skimmers tell of an input; counts its lines from round to round."""

    def __init__(self, name: str, limits: Limits, asker: Asker) -> None:
        self._name = name
        self._limits = limits
        self._groups = asker.groups
        self._tallies = asker.tallies
        self._lines = 0
        self._chosen = _Chosen()

    def round(self, skimmers: Iterable[Skimmer], batch: _Batch, size: int) -> Round:
        """Return the round that skimmers have skimmed."""
        first_lines = {}
        begun = self._lines
        for segment in sorted(batch.line_counts):
            first_lines[segment] = self._lines + 1
            self._lines += batch.line_counts[segment]
        told: list[Told] = []
        counts: Counter[Key] = Counter()
        tally_counts: Counter[int] = Counter()
        overflowed = False
        for skimming in skimmers:
            tale = skimming.tell()
            told.extend(tale.lines)
            counts.update(tale.counts)
            tally_counts.update(tale.tallies)
            overflowed = overflowed or tale.overflowed
        cutter = LineCutter(self._name, self._limits)
        chosen = self._choose(told, first_lines, begun)
        giants = {first_lines[segment] + batch.line_counts[segment] - 1: line for segment, line in batch.giants.items()}
        return Round(
            self._in_order(chosen, giants, cutter),
            cutter,
            counts,
            tally_counts,
            self._groups,
            self._tallies,
            self._lines - begun,
            size,
            overflowed,
        )

    def _choose(self, told: list[Told], first_lines: Mapping[int, int], begun: int) -> _Chosen:
        """Choose the lines of a round; those that lie behind it and belong to its last ones are the next round's."""
        chosen, self._chosen = self._chosen.split(self._lines)
        of_classes = _chosen(told, self._groups, first_lines)
        for place, line in enumerate(told):
            number = first_lines[line.segment] + line.line
            goes_to = chosen if number <= self._lines else self._chosen
            if line.is_read and (place in of_classes or not line.is_of_class):
                goes_to.read[number] = _better(line, goes_to.read.get(number))
                if line.is_centre:
                    chosen.shown.update(range(number - AROUND, number + AROUND + 1))
            elif number > begun or number not in chosen.passed:
                goes_to.around[number] = line
        self._chosen.shown = {number for number in chosen.shown if number > self._lines}
        chosen.shown -= self._chosen.shown
        latest = range(self._lines - AROUND + 1, self._lines + 1)
        self._chosen.passed = {number for number in latest if number in chosen.read or number in chosen.shown}
        return chosen

    def _in_order(self, chosen: _Chosen, giants: Mapping[int, RawLine], cutter: LineCutter) -> Iterator[Passing]:
        read, around = chosen.read, chosen.around
        for number in sorted({*read, *chosen.shown.intersection(around), *giants}):
            giant = giants.get(number)
            if giant is not None:
                cutter.replaced += giant.replaced
                cutter.cut_lines += giant.cut > 0
                yield Passing(giant._replace(at=Position(self._name, number, giant.at.offset)), True, None, 0)
                continue
            line = read.get(number)
            shown = line or around[number]
            raw = cutter.line_at(Position(self._name, number, shown.offset), shown.text)
            yield Passing(raw, True, line.counted, line.tally) if line else Passing(raw, False, None, 0)


def _better(line: Told, known: Told | None) -> Told:
    """Return of two lines that are the same one that which says what it was counted in."""
    return line if known is None or (known.counted is None and not known.tally) else known


def _chosen(told: list[Told], groups: Mapping[int, Group], first_lines: Mapping[int, int]) -> set[int]:
    """Return the places in `told` of the lines that are the first and last of their classes among all skimmers'."""
    firsts: dict[Key, list[tuple[int, int]]] = defaultdict(list)
    lasts: dict[Key, list[tuple[int, int]]] = defaultdict(list)
    of_groups: dict[Key, tuple[int, int]] = {}
    for place, line in enumerate(told):
        key = line.chosen
        if key is None:
            continue
        numbered = (first_lines[line.segment] + line.line, place)
        if line.is_first_of_group:
            of_groups[key] = min(numbered, of_groups.get(key, numbered))
        else:
            (firsts if line.is_first else lasts)[key].append(numbered)
    chosen = {place for _, place in of_groups.values()}
    steps = sorted(min(of_key)[0] for key, of_key in firsts.items() if groups[key[0]].kind == "train.step")
    last_sayer = steps[_SAYERS_OF_STEPS] if len(steps) > _SAYERS_OF_STEPS else None
    for key, of_key in firsts.items():
        group = groups[key[0]]
        first, last = group.firsts, group.lasts
        of_key.sort()
        if group.kind == "train.step" and last_sayer is not None and of_key[0][0] >= last_sayer:
            first, last = _FEW_STEPS
        chosen.update(place for _, place in of_key[:first])
        if last:
            chosen.update(place for _, place in sorted(lasts.get(key, ()))[-last:])
    return chosen
