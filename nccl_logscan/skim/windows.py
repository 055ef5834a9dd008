"""An input's bytes → windows: segments of fixed places, each with some of the lines before and behind it.

A segment has the lines that start in it. How it is read (ranges of a file, a stream) changes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from nccl_logscan.position import Position
from nccl_logscan.records import dataclass
from nccl_logscan.sources.limits import Limits
from nccl_logscan.sources.raw import RawLine
from nccl_logscan.sources.text import LineCutter

SEGMENT = 1 << 21
BESIDE = 1 << 16
"""Bytes before and behind a segment that are read with it."""
_LONGEST = 1 << 22
"""Bytes behind a segment in which its last line has to end; a longer one is cut apart from the others."""
_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class Window:
    """Where a segment's own lines start in a buffer, as of `Skimmer.skim`; and the giant line it ends in, if any."""

    buffer: bytearray
    start: int
    own_end: int
    end: int
    base: int
    segment: int
    giant: RawLine | None = None


class FileWindows:
    """Reads the windows of a plain file, any of them at any time; one thread's. Raises OSError."""

    def __init__(self, descriptor: int, size: int, name: str, limits: Limits) -> None:
        self._descriptor = descriptor
        self._size = size
        self._name = name
        self._limits = limits
        self._buffer = bytearray(max(1, min(size, SEGMENT + 2 * BESIDE)))

    def read(self, segment: int) -> Window:
        """Return a segment's window; its buffer is the next one's, too."""
        first = segment * SEGMENT
        base = max(0, first - BESIDE)
        buffer = self._buffer
        end = self._fill(buffer, base)
        own_end = min(end, first + SEGMENT - base)
        if own_end < end and buffer.find(b"\n", own_end - 1, end) < 0:
            buffer = self._longer(base, own_end)
            end = len(buffer)
            own_end = min(own_end, end)
        start = _start(buffer, first - base, own_end)
        end = _end(buffer, own_end, end)
        if own_end > start and end < 0:
            giant = max(start, buffer.rfind(b"\n", start, own_end) + 1)
            line = self._giant(base + giant)
            return Window(buffer, start, giant, giant, base, segment, line)
        return Window(buffer, start, own_end, max(end, own_end), base, segment)

    def _fill(self, buffer: bytearray, base: int) -> int:
        """Read as much as fits, up to the size that the file had at first: it may still grow."""
        wanted, got = min(len(buffer), self._size - base), 0
        view = memoryview(buffer)
        while got < wanted:
            read = os.preadv(self._descriptor, [view[got:wanted]], base + got)
            if not read:
                self._size = base + got  # it was cut off meanwhile
                break
            got += read
        return got

    def _longer(self, base: int, own_end: int) -> bytearray:
        """Read on until the segment's last line ends, if it does."""
        pieces = bytearray()
        while len(pieces) < own_end + _LONGEST:
            piece = os.pread(self._descriptor, min(_PIECE, self._size - base - len(pieces)), base + len(pieces))
            begun = len(pieces)
            pieces += piece
            if not piece:
                self._size = base + begun
            if not piece or (len(pieces) > own_end and pieces.find(b"\n", max(begun, own_end - 1)) >= 0):
                break
        return pieces

    def _giant(self, offset: int) -> RawLine:
        cutter = LineCutter(self._name, self._limits)
        for line in _cut(cutter, self._pieces(offset)):
            return line
        return next(cutter.finish(), RawLine(Position(self._name, 0, offset), ""))

    def _pieces(self, offset: int) -> Iterator[bytes]:
        while piece := os.pread(self._descriptor, min(_PIECE, self._size - offset), offset):
            offset += len(piece)
            yield piece


def stream_windows(blocks: Iterable[bytes], name: str, limits: Limits) -> Iterator[Window]:
    """Yield the windows of a stream, in order, each with a buffer of its own; the same as those of a file with these
    bytes.
    """
    iterator = iter(blocks)
    buffer, base, segment, skipped, is_over = bytearray(), 0, 0, 0, False
    while True:
        own_end = (segment + 1) * SEGMENT - base
        while not is_over and (
            len(buffer) < own_end + BESIDE or (len(buffer) < own_end + _LONGEST and buffer.find(b"\n", own_end - 1) < 0)
        ):
            block = next(iterator, None)
            is_over = block is None
            buffer += block or b""
        own_end = min(own_end, len(buffer))
        end = _end(buffer, own_end, len(buffer))
        start = max(skipped, _start(buffer, segment * SEGMENT - base, own_end))
        if own_end > start and end < 0:
            giant = max(start, buffer.rfind(b"\n", start, own_end) + 1)
            line, rest, length = _swallowed(buffer[giant:], iterator, name, limits)
            yield Window(buffer, start, giant, giant, base, segment, line)
            # What stands behind is preceded by a line feed, as all but the first line of an input is.
            base, buffer, skipped = base + giant + length - 1, bytearray(b"\n") + rest, 1
            segment = (base + 1) // SEGMENT
            continue
        yield Window(buffer, start, own_end, max(end, own_end), base, segment)
        if is_over and len(buffer) <= (segment + 1) * SEGMENT - base:
            return
        segment, skipped = segment + 1, 0
        gone = max(0, segment * SEGMENT - BESIDE - base)
        buffer = buffer[gone:]
        base += gone


def _end(buffer: bytearray, own_end: int, end: int) -> int:
    """Return where what is seen of a segment ends: with its last line, if that ends far behind; -1: it is a giant.

    `end`: of what was read, which may be more: that is not to change anything.
    """
    feed = buffer.find(b"\n", max(0, own_end - 1), min(end, own_end + _LONGEST))
    if feed < 0:
        return -1 if end - own_end >= _LONGEST else end
    return max(feed + 1, min(end, own_end + BESIDE))


def _start(buffer: bytearray, place: int, own_end: int) -> int:
    """Return where the first line starts that starts at or behind a place."""
    if place <= 0:
        return 0
    feed = buffer.find(b"\n", place - 1, own_end)
    return own_end if feed < 0 else feed + 1


def _swallowed(begun: bytearray, blocks: Iterator[bytes], name: str, limits: Limits) -> tuple[RawLine, bytearray, int]:
    """Read a giant line to its end; return it, what was read behind it, and its length with its line feed."""
    cutter = LineCutter(name, limits)
    length = 0
    block: bytes | None = bytes(begun)
    while block is not None:
        feed = block.find(b"\n")
        if feed >= 0:
            line = next(cutter.feed(block[: feed + 1]))
            return line, bytearray(block[feed + 1 :]), length + feed + 1
        length += len(block)
        for line in cutter.feed(block):
            return line, bytearray(), length
        block = next(blocks, None)
    return next(cutter.finish()), bytearray(), length


def _cut(cutter: LineCutter, pieces: Iterable[bytes]) -> Iterator[RawLine]:
    for piece in pieces:
        yield from cutter.feed(piece)
