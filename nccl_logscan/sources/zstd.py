"""A zstd frame → bytes, a block at a time: a block has a bound, what one call to a decompressor returns has none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, NamedTuple, cast

from nccl_logscan.sources.ends import PIECE, damaged, too_large_a_window, torn
from nccl_logscan.sources.feed import Feed
from nccl_logscan.sources.limits import Limits
from nccl_logscan.sources.magics import MAGICS, is_skippable_zstd

# RFC 8878: a block gives at most 128 KiB, a frame's header has at most 18 bytes, a block's 3.
_BLOCK = 1 << 17
HEADER = 18
"""The most bytes of a frame's header."""


class Block(NamedTuple):
    """What a block's header of 3 bytes says: how many bytes follow, how many they can give, whether more blocks do."""

    length: int
    most: int
    is_last: bool


def block_of(header: bytes) -> Block:
    """Read a block's header."""
    number = int.from_bytes(header, "little")
    size, kind = number >> 3, number >> 1 & 3
    is_repeated, is_packed = kind == 1, kind == 2  # RFC 8878, 3.1.1.2.2
    return Block(1 if is_repeated else size, _BLOCK if is_packed else size, bool(number & 1))


class _Packed:
    """The compressed bytes of the frame at a feed's front, as a file to read: first its header, then each block."""

    def __init__(self, feed: Feed) -> None:
        from zstandard import frame_header_size, get_frame_parameters  # noqa: PLC0415 - 11 ms, for who has such a file

        self.is_torn = False
        self._feed = feed
        self._is_last = False
        head = feed.look(HEADER)
        self._tail = 4 if get_frame_parameters(head).has_checksum else 0
        self._header = frame_header_size(head)

    def read(self, size: int = -1) -> bytes:  # noqa: ARG002 - whole blocks, so that nothing of them waits
        """Return the next part, the check sum with the last block; none at the end."""
        if self._header:
            length, self._header = self._header, 0
        elif self._is_last:
            return b""
        else:
            block = block_of(self._feed.look(3))
            self._is_last = block.is_last
            length = 3 + block.length + (self._tail if block.is_last else 0)
        part = self._feed.take(length)
        if len(part) < length:
            self.is_torn = self._is_last = True
        return part


class FrameReader:
    """Unpacks frames one after another, in memory that it keeps for the next: thousands of small ones would each cost
    more to make room for than to unpack. For one thread at a time.
    """

    def __init__(self, limits: Limits) -> None:
        from zstandard import ZstdDecompressor  # noqa: PLC0415 - as above

        self._decompressor = ZstdDecompressor(max_window_size=limits.window_bytes)
        self._buffer = memoryview(b"")

    def read(self, feed: Feed, *, is_live: bool) -> Iterator[bytes]:
        """Yield what the frame at the feed's front holds; see `streams.read_stream`."""
        from zstandard import ZstdError  # noqa: PLC0415 - as above

        if is_skippable_zstd(feed.look(4)):
            header = feed.take(8)
            if len(header) < 8 or not feed.skip(int.from_bytes(header[4:], "little")):
                raise torn("zstd")
            return
        try:
            packed = _Packed(feed)
            yield from self._live(packed) if is_live else self._pieces(packed)
        except ZstdError as error:
            head = feed.look(HEADER)
            if len(head) < HEADER and head and MAGICS["zstd"].startswith(head[:4]):
                raise torn("zstd") from error
            if "requires too much memory" in str(error):
                raise too_large_a_window("zstd") from error
            raise damaged("zstd", error) from error
        if packed.is_torn:
            raise torn("zstd")

    def _live(self, packed: _Packed) -> Iterator[bytes]:
        frame = self._decompressor.decompressobj(write_size=_BLOCK)
        while part := packed.read():
            if piece := frame.decompress(part):
                yield piece

    def _pieces(self, packed: _Packed) -> Iterator[bytes]:
        """Yield a frame's content in pieces of 1 MiB.

        Unpacked into one buffer, of which copies are given: 500 MB take 0.56 s so, and 0.72 s where blocks are joined.
        """
        from zstandard import ZstdError  # noqa: PLC0415 - as above

        buffer = self._buffer = self._buffer or memoryview(bytearray(PIECE))
        reader = self._decompressor.stream_reader(cast("IO[bytes]", packed))
        filled = 0
        end: ZstdError | None = None
        while True:
            try:
                size = reader.readinto(buffer[filled : filled + _BLOCK])
            except ZstdError as error:
                size, end = 0, error
            filled += size
            if filled and (filled == PIECE or not size):
                yield bytes(buffer[:filled])
                filled = 0
            if not size:
                break
        if end is not None:
            raise end
