"""What a skim asks and tells: the answer to "what are lines of this shape", and the lines and classes it hands out."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple, Protocol

from nccl_logscan.events.words import Needs
from nccl_logscan.records import dataclass, field

LONGEST = 8_192
"""Bytes of the longest part of a line that has a shape; a line with a longer one, or with a NUL, is read."""
AROUND = 3
"""Lines before and after one that is read with its surroundings."""
MOST_CLASSES = 3 << 16
MOST_UNREAD = 1 << 15
"""Classes with which no more of those are begun of which no line is read."""
MOST_SHAPES = 1 << 16
KEY = 1_024
ALL_RUNS = (1 << 64) - 1
NO_PREFIX = -1


@dataclass(frozen=True, slots=True)
class Answer:
    """What becomes of the lines of one shape. Runs are told by bits: bit n is run n, bit 63 all from the 64th on.

    Unless `folds`, each of them is read. Where it does, a line is counted in a class, and read if it is among the first
    `firsts` or the last `lasts` of it: lines of one `group` whose `keyed` runs are equal are one; without a group it is
    counted in `tally`. It is read as well if a run of `changing` is not that of the line before in its class, which is
    then read, too; if the run `watched` is 0 or 1; if `group_first`, and no line of the group came before.

    A class of which no line is read and for which there is no room is counted by `spare` and `spare_keyed` instead.

    `sayer` and `of_sayer` are group and runs of the class of who said it, across shapes, of which the first and the
    last line are read; and the last before the first `boundary` line of each segment.

    `around`: the lines before and after one that is read go with it. `window`: so many lines behind a line that is
    read by itself are to be read if they are of its sayer. After a line that `awaits`, and at a segment's start, the
    next one that is `awaited` is read. `once`: the answer is for this line alone, and the next of its shape asks again.
    `plain`: where a progress bar wrote a line over and over, such a part tells nothing but who wrote it.

    `prefix`: lines that hold not what they need (see `Skimmer`), begin as this shape does up to that byte and whose
    shapes are not known are text without meaning of the same tally and sayer.
    """

    folds: bool = False
    tally: int = 0
    group: int = 0
    keyed: int = 0
    changing: int = 0
    firsts: int = 0
    lasts: int = 0
    spare: int = 0
    spare_keyed: int = 0
    sayer: int = 0
    of_sayer: int = 0
    window: int = 0
    watched: int = -1
    prefix: int = NO_PREFIX
    around: bool = False
    boundary: bool = False
    once: bool = False
    awaits: bool = False
    awaited: bool = False
    group_first: bool = False
    plain: bool = False


Ask = Callable[[bytes, bytes], Answer]
"""Asks about a part of a line: its bytes and its shape."""

Key = tuple[int, bytes]
"""A class: its group, and its keyed runs; with no runs, and as a first of its group, the group."""


class Told(NamedTuple):
    """A line that is handed out. `line` counts from 0 within `segment`; of one around another it may lie outside of it.

    `is_read`: otherwise it only stands around one. `is_first`, `is_last`: of the class `chosen`; `is_first_of_group`:
    of the group of `chosen`. `is_centre`: the lines around it are handed out, too. `counted` is the class, or `tally`
    what, it was counted in.
    """

    segment: int
    line: int
    offset: int
    text: bytes
    is_read: bool
    is_first: bool = False
    is_last: bool = False
    is_first_of_group: bool = False
    is_centre: bool = False
    chosen: Key | None = None
    counted: Key | None = None
    tally: int = 0

    @property
    def is_of_class(self) -> bool:
        """Whether it was handed out for being among the first or last of its class, or the first of a group."""
        return self.is_first or self.is_last or self.is_first_of_group


@dataclass(slots=True)
class Tale:
    """What a skimmer tells: lines in no order, some of them more than once; how many lines each class and tally has.

    `overflowed`: there were more classes than are kept apart; lines of the others are in tallies.
    """

    lines: list[Told] = field(default_factory=list)
    counts: dict[Key, int] = field(default_factory=dict)
    tallies: dict[int, int] = field(default_factory=dict)
    overflowed: bool = False


class Skimmer(Protocol):
    """Skims segments one after the other; one thread's."""

    def learn_needs(self, needs: Collection[Needs]) -> None:
        """Learn what a line needs to have a meaning: of each set of one of `needs` a word, in lower case."""

    def skim(self, buffer: bytearray, start: int, own_end: int, end: int, *, base: int, segment: int, ask: Ask) -> int:
        """Skim the lines that start in `buffer[start:own_end]`; return how many these are.

        The bytes from 0 to `start` and from `own_end` to `end` are lines of the segments before and behind; the first
        byte of the buffer stands at `base` in the input. Raises MemoryError.
        """

    @property
    def held(self) -> int:
        """About how many bytes of lines were handed out since `tell` was called."""

    def tell(self) -> Tale:
        """Return what was handed out since the last call, and forget it. Answers are not forgotten."""
