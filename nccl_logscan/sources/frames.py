"""Compressed bytes → frames that can be unpacked apart from one another, found without unpacking anything.

bgzip writes gzip members that state their length; zstd's frames and xz's blocks can be walked by their headers. A plain
gzip member says nothing of where it ends, so it is no frame here, however many follow one another.
"""

from __future__ import annotations

from collections.abc import Callable

from nccl_logscan.records import dataclass
from nccl_logscan.sources.cores import cores
from nccl_logscan.sources.ends import EarlyEnd, damaged, torn
from nccl_logscan.sources.feed import Feed
from nccl_logscan.sources.magics import MAGICS, is_skippable_zstd
from nccl_logscan.sources.zstd import HEADER, block_of

FRAME_LIMIT = 1 << 25
"""The most bytes, unpacked, of a frame that is unpacked as a whole; a longer one is streamed."""


@dataclass(frozen=True, slots=True)
class Frame:
    """Compressed bytes that stand alone, an xz block with its stream's header; they give at most `size` bytes."""

    packed: bytes
    size: int


_FEW_CORES = 2

Cutter = Callable[[Feed], Frame | None]
"""Takes the frame at the feed's front; None, with nothing taken, where what follows is to be streamed."""


def cutter_of(name: str) -> Cutter | None:
    """Return what cuts frames out of one input of this compression; None where none can be found, or none is worth it.

    zstd and gzip are unpacked at a gigabyte a second, about as fast as the scan beside reads: where there are but two
    cores, that all is spread over two threads only costs (half as much again). xz is ten times as slow.
    """
    if name == "xz":
        return XzBlocks()
    if cores() <= _FEW_CORES:
        return None
    return {"gzip": _bgzip_member, "zstd": _zstd_frame}.get(name)


# --- gzip, as bgzip writes it -----------------------------------------------------------------------------

# The SAM specification, 4.1: the extra field BC of 2 bytes holds the member's length less 1; a member gives at most
# 64 KiB. bgzip and htslib write it as the only field.
_BGZIP = MAGICS["gzip"] + b"\x08\x04"
_BGZIP_FIELD = b"\x06\x00BC\x02\x00"
_BGZIP_LEAST = 28
_BGZIP_MOST = 1 << 16


def _bgzip_member(feed: Feed) -> Frame | None:
    head = feed.look(18)
    if len(head) < 18 or not head.startswith(_BGZIP) or head[10:16] != _BGZIP_FIELD:
        return None
    length = int.from_bytes(head[16:], "little") + 1
    if length < _BGZIP_LEAST:
        return None
    size = int.from_bytes(feed.look(4, length - 4), "little")
    if len(feed.look(1, length - 1)) < 1 or size > _BGZIP_MOST:
        return None
    return Frame(feed.take(length), size)


# --- zstd -------------------------------------------------------------------------------------------------


def _zstd_frame(feed: Feed) -> Frame | None:
    head = feed.look(HEADER)
    if is_skippable_zstd(head):
        return _skippable(feed, head)
    from zstandard import (  # noqa: PLC0415 - 11 ms, for those who have a zstd file
        CONTENTSIZE_UNKNOWN,
        ZstdError,
        frame_header_size,
        get_frame_parameters,
    )

    try:
        at, parameters = frame_header_size(head), get_frame_parameters(head)
    except ZstdError:
        return None
    is_told = parameters.content_size != CONTENTSIZE_UNKNOWN
    size = parameters.content_size if is_told else 0
    is_last = False
    # A frame that is much longer than its content is not what an encoder writes.
    while not is_last and size <= FRAME_LIMIT and (at <= 2 * size + 64 or not is_told):
        header = feed.look(3, at)
        if len(header) < 3:
            return None
        block = block_of(header)
        at += 3 + block.length
        is_last = block.is_last
        size += 0 if is_told else block.most
    at += 4 if parameters.has_checksum else 0
    if not is_last or size > FRAME_LIMIT or not feed.look(1, at - 1):
        return None
    return Frame(feed.take(at), size)


def _skippable(feed: Feed, head: bytes) -> Frame | None:
    length = 8 + int.from_bytes(head[4:8], "little")
    if len(head) < 8 or length > FRAME_LIMIT or not feed.look(1, length - 1):
        return None
    return Frame(feed.take(length), 0)


# --- xz ---------------------------------------------------------------------------------------------------

# The .xz file format 1.2.1: 2.1.1 stream header, 3.1 block header, 4 index.
_XZ_HEADER = 12
_XZ_FOOTER = 12
_XZ_CHECKS = {0: 0, 1: 4, 4: 8, 10: 32}
_XZ_HAS_BOTH_SIZES = 0xC0


class XzBlocks:
    """Cuts an xz stream into blocks, where they state their sizes as `xz -T` and pixz have them do."""

    def __init__(self) -> None:
        self._header = b""
        self._blocks = 0

    def __call__(self, feed: Feed) -> Frame | None:
        """Take the next block, and what stands before it; see Cutter."""
        if self._header and feed.look(1) == b"\0":
            self._pass_index(feed)
        at = 0 if self._header else _XZ_HEADER
        header = self._header or feed.look(_XZ_HEADER)
        block = _xz_block(feed, at, header)
        if block is None and self._header:
            return self._odd(feed)
        if block is None:
            return None
        self._header = header
        self._blocks += 1
        feed.skip(at)
        length, size = block
        return Frame(header + feed.take(length), size)

    def _odd(self, feed: Feed) -> Frame:
        """Return the rest of an input that ends in a block; no other kind of block may follow the first."""
        if feed.look(1, FRAME_LIMIT):
            raise EarlyEnd("has xz blocks of a kind that is not read behind others; what came before them was read")
        return Frame(self._header + feed.take(FRAME_LIMIT), FRAME_LIMIT)

    def _pass_index(self, feed: Feed) -> None:
        """Take a stream's index and footer: of each block two numbers, which the blocks have said already."""
        count, at = _xz_number(feed, 1)
        if count != self._blocks:
            raise damaged("xz", f"its index tells of {count} blocks where {self._blocks} stand")
        for _ in range(2 * count):
            _, at = _xz_number(feed, at)
        if not feed.skip(at + -at % 4 + 4 + _XZ_FOOTER):
            raise torn("xz")
        self._header, self._blocks = b"", 0


def _xz_block(feed: Feed, at: int, header: bytes) -> tuple[int, int] | None:
    """Return the length of a block, its header and check included, and of its content; None where it is too long, not
    all there, or does not say.
    """
    start = feed.look(2, at)
    check = _XZ_CHECKS.get(header[7]) if len(header) == _XZ_HEADER and header.startswith(MAGICS["xz"]) else None
    if len(start) < 2 or not start[0] or start[1] & _XZ_HAS_BOTH_SIZES != _XZ_HAS_BOTH_SIZES or check is None:
        return None
    packed, behind = _xz_number(feed, at + 2)
    size, _ = _xz_number(feed, behind)
    length = 4 * (start[0] + 1) + packed + -packed % 4 + check
    if max(size, length) > FRAME_LIMIT or not feed.look(1, at + length - 1):
        return None
    return length, size


def _xz_number(feed: Feed, at: int) -> tuple[int, int]:
    """Return the number that begins `at` bytes ahead, in 7 bits a byte, and where it ends."""
    number = 0
    for place, byte in enumerate(feed.look(9, at)):
        number |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return number, at + place + 1
    raise torn("xz") if len(feed.look(9, at)) < 9 else damaged("xz", "a number without an end")
