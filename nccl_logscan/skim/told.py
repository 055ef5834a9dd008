"""What a skim asks and tells: the answer to "what are lines of this shape", and the lines and classes it hands out."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from nccl_logscan.records import dataclass

LONGEST = 8_192
"""Bytes of the longest line that has a shape; a longer one is read, and so is one with a NUL or a carriage return."""
AROUND = 3
"""Lines before and after one that is read with its surroundings."""
MOST_CLASSES = 1 << 17
MOST_SHAPES = 1 << 16
KEY = 1_024


@dataclass(frozen=True, slots=True)
class Answer:
    """What becomes of the lines of one shape.

    Unless `folds`, each of them is read. Where it does, lines of one `group` whose `keyed` runs are equal (bit n: run
    n; bit 63: all from the 64th on) are a class, of which the first `firsts` and the last `lasts` lines are read and
    the others counted; besides these every line is read in which the run `watched` is 0 or 1 (-1: none is watched).

    `around`: the lines before and after one that is read go with it. `window`: so many lines after one of these are
    read as well. After a line that `awaits`, and at a segment's start, the next one that is `awaited` is read. `speaks`: at the first `boundary` line of a segment the last line of the class is read. `once`: the
    answer is for this line alone, and the next one of its shape asks again.
    """

    folds: bool = False
    group: int = 0
    keyed: int = 0
    firsts: int = 0
    lasts: int = 0
    window: int = 0
    watched: int = -1
    around: bool = False
    boundary: bool = False
    speaks: bool = False
    awaits: bool = False
    awaited: bool = False
    once: bool = False


Ask = Callable[[bytes, bytes], Answer]
"""Asks about a line: its bytes and its shape."""

Key = tuple[int, bytes]
"""A class: its group, and its keyed runs."""


class Told(NamedTuple):
    """A line that is handed out. `line` counts from 0 within `segment`; of one around another it may lie outside of it.

    `is_read`: otherwise it only stands around one. `is_first`, `is_last`: of its class. `is_centre`: the lines around
    it are handed out, too.
    """

    segment: int
    line: int
    offset: int
    text: bytes
    is_read: bool
    is_first: bool
    is_last: bool
    is_centre: bool
    key: Key | None


class Skimmer(Protocol):
    """Skims segments one after the other; one thread's."""

    @property
    def held(self) -> int:
        """About how many bytes of lines were handed out since `tell` was called."""

    def skim(self, buffer: bytearray, start: int, own_end: int, end: int, *, base: int, segment: int, ask: Ask) -> int:
        """Skim the lines that start in `buffer[start:own_end]`; return how many these are.

        The bytes from 0 to `start` and from `own_end` to `end` are lines of the segments before and behind; the first
        byte of the buffer stands at `base` in the input. Raises MemoryError.
        """

    def tell(self) -> tuple[list[Told], dict[Key, int]]:
        """Return the lines handed out since the last call, in no order, and how many lines each class has; forget both.

        A line may come more than once. Answers are not forgotten.
        """
