"""Source: one input, its bytes unpacked and cut into lines, or handed over whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from nccl_logscan.records import dataclass
from nccl_logscan.sources.ahead import Blocks, read_ahead
from nccl_logscan.sources.ends import EarlyEnd, raised
from nccl_logscan.sources.kind import NO_LINES, Kind, kind_of
from nccl_logscan.sources.limits import Limits
from nccl_logscan.sources.magics import compression_of, looks_like_tar, looks_like_zip
from nccl_logscan.sources.raw import RawLine
from nccl_logscan.sources.text import LineCutter, as_utf8, is_binary

DEFAULTS = Limits()
SAMPLE = 1 << 16
"""How many bytes of an input tell its kind."""


@dataclass(slots=True)
class _Counted:
    """What readers of blocks found in them."""

    lines: int = 0
    replaced: int = 0
    cut_lines: int = 0


class Source:
    """One input. Its counters hold for the latest `lines()` or `content()`, and are true while that is being read.

    `name`: as the user gave it. `size`: bytes on disk, of an archive's member its share of them; None if not known.
    `path`: a local file that holds byte for byte what `blocks()` gives, so that ranges of it can be read on their own;
    None where the input is packed, remote, a pipe, a member of an archive, UTF-16, or no text. `is_live`: what comes
    is to be given at once, as of a pipe; nothing is read ahead.
    `note`: one clause that follows the name, where the input was skipped or ended early; else None.
    """

    def __init__(
        self,
        name: str,
        blocks: Blocks,
        *,
        limits: Limits,
        size: int | None,
        kind: Kind | None = None,
        path: Path | None = None,
        is_live: bool = False,
    ) -> None:
        self.name = name
        self.size = size
        self.path = path
        self.note: str | None = None
        self.is_lost = False
        self.bytes_read = 0
        self.disk_read = 0
        self._blocks = blocks
        self.limits = limits
        self._kind = kind
        self._is_live = is_live
        self._begun: Iterator[bytes] | None = None
        self._cutter = LineCutter(name, limits)
        self._counted = _Counted()

    @property
    def kind(self) -> Kind:
        """What the input holds. Asking for the kind of standard input waits for its first bytes."""
        if self._kind is None:
            self._begun, head = peeked(self._unpacked())
            self._kind = kind_of(head, self.name)
        return self._kind

    @property
    def lines_read(self) -> int:
        """Lines given so far."""
        return self._cutter.lines + self._counted.lines

    @property
    def replaced(self) -> int:
        """Bytes that were no UTF-8 or were NUL."""
        return self._cutter.replaced + self._counted.replaced

    @property
    def cut_lines(self) -> int:
        """Lines that were longer than the limit."""
        return self._cutter.cut_lines + self._counted.cut_lines

    def lines(self) -> Iterator[RawLine]:
        """Yield the input's lines. Never raises: whatever ends the reading is told in `note`."""
        for block in self.blocks():
            yield from self._cutter.feed(block)
        yield from self._cutter.finish()

    def blocks(self) -> Iterator[bytes]:
        """Yield the input's bytes from its start: unpacked, of UTF-16 the UTF-8 form, about 1 MiB at a time.

        A byte order mark of UTF-8 is among them. Never raises: whatever ends the reading is told in `note`. The lines
        in the blocks are not counted; whoever cuts them says with `count` what they were.
        """
        self.begin()
        try:
            yield from filter(None, as_utf8(self._text()))
        except EarlyEnd as end:
            self.note = str(end)
        except OSError as error:
            self.end_early(error)
        if self.note is None and self.bytes_read == 0:
            self.note = "is empty"

    def end_early(self, error: OSError) -> None:
        """Say in `note` what ended the reading of ranges of the input."""
        self.is_lost = True
        self.note = f"could not be read to its end: {reason_of(error)}"

    def count(self, *, lines: int, replaced: int = 0, cut_lines: int = 0, bytes_read: int = 0) -> None:
        """Add what a reader of `blocks()`, or of ranges of `path`, found; only the latter has bytes to add."""
        self._counted.lines += lines
        self._counted.replaced += replaced
        self._counted.cut_lines += cut_lines
        self.bytes_read += bytes_read
        self.disk_read += bytes_read

    def content(self) -> bytes:
        """Return all bytes of the input, up to `Limits.dump_bytes` of them: what a recorder's dump is read from.

        Of a configuration file up to `Limits.config_bytes`.

        Never raises: what was read is returned, and whatever ended the reading early is told in `note`. A pipe's bytes
        are given once, by this or by `lines()`.
        """
        self.begin()
        most, what, limit = self.limits.dump_bytes, "dump", "dump_bytes"
        if self.kind is Kind.CONFIG:
            most, what, limit = self.limits.config_bytes, "configuration file", "config_bytes"
        pieces: list[bytes] = []
        try:
            for block in self._opened()[0]:
                piece = block[: most - self.bytes_read]
                pieces.append(piece)
                self.bytes_read += len(piece)
                if len(piece) < len(block):
                    raise EarlyEnd(f"is longer than the {most:,} bytes that are read of one {what} ({raised(limit)})")
        except EarlyEnd as end:
            self.note = str(end)
        except OSError as error:
            self.end_early(error)
        if self.note is None and self.bytes_read == 0:
            self.note = "is empty"
        return b"".join(pieces)

    def begin(self) -> None:
        """Set all counters to naught: a reading begins."""
        self.note = None
        self.is_lost = False
        self.bytes_read = self.disk_read = 0
        self._cutter = LineCutter(self.name, self.limits)
        self._counted = _Counted()

    def _opened(self) -> tuple[Iterator[bytes], bytes]:
        """Return the unpacked bytes from the start, those read to learn the kind of a pipe included, and the first."""
        begun, self._begun = self._begun, None
        blocks, head = peeked(begun if begun is not None else self._unpacked())
        if self._kind is None:
            self._kind = kind_of(head, self.name)
        return blocks, head

    def _text(self) -> Iterator[bytes]:
        blocks, head = self._opened()
        if self._kind in NO_LINES:
            self.bytes_read = len(head)
            return
        _refuse_what_is_no_text(head)
        for block in blocks:
            self.bytes_read += len(block)
            yield block

    def _unpacked(self) -> Iterator[bytes]:
        if self._is_live:
            return unpacked(self._blocks(self._count_disk), self.limits)
        return unpacked_ahead(self._blocks, self.limits)(self._count_disk)

    def _count_disk(self, size: int) -> None:
        self.disk_read += size


def _refuse_what_is_no_text(head: bytes) -> None:
    if looks_like_tar(head) or looks_like_zip(head):
        raise EarlyEnd("is an archive where none is opened (in an archive, or in a pipe) and was skipped")
    if compression_of(head):
        raise EarlyEnd("is compressed more than once and was skipped")
    if is_binary(head):
        raise EarlyEnd("is not text and was skipped")


def unpacked_ahead(blocks: Blocks, limits: Limits) -> Blocks:
    """Give the decompressed bytes of a file, as fast as can be: made in threads of their own."""
    return read_ahead(lambda took: unpacked(blocks(took), limits, is_live=False))


def unpacked(blocks: Iterator[bytes], limits: Limits, *, is_live: bool = True) -> Iterator[bytes]:
    """Yield the decompressed bytes of a file, or the bytes themselves where they are not compressed.

    `is_live`: see `decompress`.
    """
    for _ in range(limits.compressions):
        blocks, head = peeked(blocks, 6)
        name = compression_of(head)
        if name is None:
            break
        from nccl_logscan.sources.compressed import decompress  # noqa: PLC0415 - 6 ms that a plain log needs not

        blocks = decompress(name, blocks, limits, is_live=is_live)
    yield from blocks


def peeked(blocks: Iterator[bytes], wanted: int = SAMPLE) -> tuple[Iterator[bytes], bytes]:
    """Return the same blocks again and a copy of their first bytes; an early end comes when the blocks are read."""
    seen: list[bytes] = []
    size = 0
    end: list[Exception] = []
    while size < wanted:
        try:
            block = next(blocks, None)
        except (EarlyEnd, OSError) as error:
            end.append(error)
            break
        if block is None:
            break
        seen.append(block)
        size += len(block)
    return chain(seen, raising(end), blocks), b"".join(seen)[: max(wanted, SAMPLE)]


def raising(errors: Iterable[Exception]) -> Iterator[bytes]:
    """Raise the first of the errors when the bytes are asked for; give none."""
    for error in errors:
        raise error
    yield from ()


def reason_of(error: OSError) -> str:
    """Return what went wrong, in the system's words."""
    return (error.strerror or str(error)).lower()
