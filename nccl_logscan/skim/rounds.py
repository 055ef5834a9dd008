"""Rounds: the lines of a large input that are to be read, in their order, and how many lines each class has.

A round is as much of an input as gives some megabytes of lines to read: of most logs all. Threads skim the segments of
a batch side by side; which one skims which changes nothing.
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from nccl_logscan.position import Position
from nccl_logscan.records import dataclass, field, replace
from nccl_logscan.skim.asking import FEW_STEPS, Asker, Group
from nccl_logscan.skim.crew import Batch, Crew, skim_side_by_side, skimmers_of
from nccl_logscan.skim.told import AROUND, Key, Tale, Told
from nccl_logscan.skim.windows import SEGMENT, Window, stream_windows
from nccl_logscan.sources.limits import Limits
from nccl_logscan.sources.raw import RawLine
from nccl_logscan.sources.text import LineCutter

BATCH = 8
"""Segments that are skimmed before anybody looks how much there is to read."""
HELD = 1 << 23
"""Bytes of lines that skimmers hold at most; a round ends where a quarter of that is to be read."""
_SAYERS_OF_STEPS = 64
"""Of more sayers of steps than these only the few first and last steps are read."""


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


class FileRounds:
    """The rounds of a plain file, whoever skims it. Raises OSError while iterated where it cannot be read."""

    def __init__(self, crew: Crew, name: str, limits: Limits, asker: Asker) -> None:
        self._crew = crew
        self._merging = _Merging(name, limits, asker)

    def __iter__(self) -> Iterator[Round]:
        """Yield the rounds in order. Where one ends depends on its lines, not on how many have skimmed them."""
        crew, begun = self._crew, _Begun(self._merging)
        segments = -(-crew.size // SEGMENT)
        for first in range(0, segments, BATCH):
            end = min(segments, first + BATCH)
            crew.skim(range(first, end), begun.batch, HELD - begun.weight)
            if end == segments or begun.is_enough(crew.held, crew.tell):
                yield begun.round(crew.tell(), min(crew.size, end * SEGMENT))
                begun = _Begun(self._merging)


class StreamRounds:
    """The rounds of a stream: of the same bytes the same as those of a file."""

    def __init__(self, blocks: Iterable[bytes], name: str, limits: Limits, asker: Asker, threads: int = 1) -> None:
        self._windows = stream_windows(blocks, name, limits)
        self._merging = _Merging(name, limits, asker)
        self._asker = asker
        self._skimmers = skimmers_of(asker, max(1, threads))
        self._size = 0

    def __iter__(self) -> Iterator[Round]:
        """Yield the rounds in order."""
        begun = _Begun(self._merging)
        for number, windows in groupby(self._windows, lambda window: window.segment // BATCH):
            if number and begun.is_enough(sum(one.held for one in self._skimmers), self._tell):
                yield begun.round(self._tell(), self._size)
                begun = _Begun(self._merging)
            taking = self._taken(windows, threading.Lock())
            skim_side_by_side([(one, taking()) for one in self._skimmers], begun.batch, self._asker)
        yield begun.round(self._tell(), self._size)

    def _taken(self, windows: Iterator[Window], lock: threading.Lock) -> Callable[[], Iterator[Window]]:
        """Return what gives a thread the next window that none has taken, again and again."""

        def take() -> Iterator[Window]:
            while True:
                with lock:
                    window = next(windows, None)
                    if window is None:
                        return
                    self._size = window.base + window.end
                yield window

        return take

    def _tell(self) -> list[Tale]:
        return [one.tell() for one in self._skimmers]


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

    def reduced(self, tales: Sequence[Tale], batch: Batch) -> tuple[Tale, int]:
        """Return one tale in the place of those of a round's first segments: of a class no more lines than are read.

        And how many bytes there are to read, without the last lines of classes, which few skimmers count among those
        that they hold.
        """
        whole = _joined(tales)
        first_lines = self._first_lines(batch)
        of_classes = _chosen(whole.lines, self._groups, first_lines)
        kept: list[Told] = []
        others: list[Told] = []
        for place, line in enumerate(whole.lines):
            is_kept = line.is_read and (place in of_classes or not line.is_of_class)
            (kept if is_kept else others).append(line)
        shown = _around(first_lines[line.segment] + line.line for line in kept if line.is_centre)
        held = {line.offset: len(line.text) for line in kept if not line.is_last}
        kept.extend(line for line in others if first_lines[line.segment] + line.line in shown)
        return replace(whole, lines=kept), sum(held.values())

    def round(self, tales: Sequence[Tale], batch: Batch, size: int) -> Round:
        """Return the round of which these are the tales."""
        first_lines, begun = self._first_lines(batch), self._lines
        self._lines += sum(batch.line_counts.values())
        whole = _joined(tales)
        cutter = LineCutter(self._name, self._limits)
        chosen = self._choose(whole.lines, first_lines, begun)
        giants = {first_lines[segment] + batch.line_counts[segment] - 1: line for segment, line in batch.giants.items()}
        return Round(
            self._in_order(chosen, giants, cutter),
            cutter,
            whole.counts,
            whole.tallies,
            self._groups,
            self._tallies,
            self._lines - begun,
            size,
            whole.overflowed,
        )

    def _first_lines(self, batch: Batch) -> dict[int, int]:
        first_lines, lines = {}, self._lines
        for segment in sorted(batch.line_counts):
            first_lines[segment] = lines + 1
            lines += batch.line_counts[segment]
        return first_lines

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
                    chosen.shown |= _around([number])
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


class _Begun:
    """A round that is being skimmed. `weight`: bytes to read of it, as far as they were counted."""

    def __init__(self, merging: _Merging) -> None:
        self.batch = Batch()
        self.weight = 0
        self._merging = merging
        self._carried = Tale()

    def is_enough(self, held: int, tell: Callable[[], list[Tale]]) -> bool:
        """Whether the round is to end here.

        Each of a crew holds first lines of a class: only without those it is known how much there is to read.
        """
        if self.weight + held > HELD:
            self._carried, self.weight = self._merging.reduced([self._carried, *tell()], self.batch)
        return self.weight > HELD // 4  # with less room than that it would have to be known again and again

    def round(self, tales: Sequence[Tale], size: int) -> Round:
        """Return it, with the tales that were told last."""
        return self._merging.round([self._carried, *tales], self.batch, size)


def _joined(tales: Sequence[Tale]) -> Tale:
    lines: list[Told] = []
    counts: Counter[Key] = Counter()
    tallies: Counter[int] = Counter()
    for tale in tales:
        lines.extend(tale.lines)
        counts.update(tale.counts)
        tallies.update(tale.tallies)
    return Tale(lines, counts, tallies, any(tale.overflowed for tale in tales))


def _around(numbers: Iterable[int]) -> set[int]:
    return {number + way for number in numbers for way in range(-AROUND, AROUND + 1)}


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
            first, last = FEW_STEPS
        chosen.update(place for _, place in of_key[:first])
        if last:
            chosen.update(place for _, place in sorted(lasts.get(key, ()))[-last:])
    return chosen
