"""Tail: one log while it grows, as a LineSource whose lines come in batches."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence

from nccl_logscan.follow.growth import Growth
from nccl_logscan.sources import NO_LINES, Kind, Limits, RawLine, kind_of
from nccl_logscan.sources.magics import compression_of, looks_like_tar, looks_like_zip
from nccl_logscan.sources.text import LineCutter, is_binary

BLOCK = 1 << 18
"""Bytes read of a log before another's turn comes."""

_TELLING = 512
"""Bytes after which an input's kind is certain; a tar archive's first header is so long."""
_TELLING_LINE = 64
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_WHOLE = NO_LINES | {Kind.CONFIG, Kind.TORCHELASTIC_ERROR}


class Tail:
    """One log. `grew` tells whether the latest `take` met further bytes, be they a whole line or not.

    `is_whole`: no log that grows, but a dump, a configuration file, or UTF-16: it is to be read at the end, in one go.
    A line counts from the first that was read, over all files that had the name in turn.
    """

    kind: str = Kind.TEXT

    def __init__(self, name: str, growth: Growth, limits: Limits) -> None:
        self.name = name
        self.growth = growth
        self.bytes_read = 0
        self.note: str | None = None
        self.is_lost = False
        self.is_whole = False
        self.grew = False
        self._cutter = LineCutter(name, limits)
        self._head: bytes | None = b""

    @property
    def lines_read(self) -> int:
        """Lines given."""
        return self._cutter.lines

    @property
    def replaced(self) -> int:
        """Bytes that were no UTF-8 or were NUL."""
        return self._cutter.replaced

    @property
    def cut_lines(self) -> int:
        """Lines that were too long and lost their middle."""
        return self._cutter.cut_lines

    @property
    def is_text(self) -> bool:
        """Whether it has turned out to be a log."""
        return self._head is None and not self.is_whole and self.note is None

    def take(self) -> Sequence[RawLine]:
        """Return the lines that the next bytes complete, BLOCK of bytes at most; `grew` is False where none came."""
        self.grew = False
        if self.is_whole or (self.note is not None and self.growth.is_file):
            return ()
        block = self.growth.read(BLOCK)
        if self.note is not None:
            return ()  # a pipe that nobody reads would hold up who writes
        self.grew = bool(block)
        if self._head is not None:
            self._head += block
            if not (block and _tells(self._head)):
                return ()
            block = self._head
            self.settle()
            if not self.is_text:
                return ()
        self.bytes_read += len(block)
        return list(self._cutter.feed(block))

    @property
    def holds(self) -> bool:
        """Whether bytes came that are no whole line yet, or too few to tell what they are of."""
        return bool(self._head) or self._cutter.is_open

    def finish(self) -> Iterator[RawLine]:
        """Yield what is left at the end of the watch."""
        if self._head:
            block = self._head
            self.settle()
            if self.is_text:
                self.bytes_read += len(block)
                yield from self._cutter.feed(block)
        yield from self._cutter.finish()

    def lines(self) -> Iterator[RawLine]:
        """Yield nothing: the lines were given as they came."""
        yield from ()

    def content(self) -> bytes:
        """Return nothing: what is read as a whole is opened anew."""
        return b""

    def settle(self) -> None:
        """Take it for what it looks like by its first bytes."""
        head, self._head = self._head or b"", None
        if looks_like_tar(head) or looks_like_zip(head) or compression_of(head):
            self.note = "is compressed or an archive: of these only those are read that are there when a watch begins"
            return
        kind = kind_of(head, self.name)
        if self.growth.is_file and (head[:2] in _UTF16 or kind in _WHOLE):
            self.is_whole = True
        elif is_binary(head):
            self.note = "is not text and was skipped"
        else:
            self.kind = kind


def _tells(head: bytes) -> bool:
    """Whether a head is long enough to tell the kind: a dump is written in one go, a log's first line may not be."""
    return len(head) >= _TELLING or (len(head) >= _TELLING_LINE and head[:1] not in b"{[\x80" and b"\n" in head)
