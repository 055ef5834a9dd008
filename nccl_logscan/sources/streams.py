"""One compressed stream → bytes, from its start to its end: a gzip member, a zstd frame, an xz or bz2 stream.

A step gives at most 1 MiB whatever the input claims, so that a bomb is stopped before it takes memory.
"""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Protocol

from nccl_logscan.sources.ends import PIECE, damaged, too_large_a_window, torn
from nccl_logscan.sources.feed import Feed
from nccl_logscan.sources.limits import Limits
from nccl_logscan.sources.zstd import FrameReader

try:
    from isal import igzip_lib, isal_zlib
except ImportError:
    igzip_lib = None  # type: ignore[assignment]

_GZIP_ERROR: type[Exception] = zlib.error if igzip_lib is None else igzip_lib.IsalError  # type: ignore[assignment]

_GZIP_WBITS = 31

# What a stream does not need goes back to the feed, so that many short ones cost as much as the bite is large.
_BITE = 1 << 16


class Decoder(Protocol):
    """One compressed stream, as bz2 and lzma model it."""

    @property
    def eof(self) -> bool:
        """Whether the stream's end was seen."""

    @property
    def needs_input(self) -> bool:
        """Whether nothing more comes out before more goes in."""

    @property
    def unused_data(self) -> bytes:
        """What was given beyond the stream's end."""

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        """Take all of `data` and return up to `max_length` bytes."""


class _Inflate:
    """Deflated data with the interface of `bz2.BZ2Decompressor`, where isal has no wheel."""

    def __init__(self, wbits: int) -> None:
        self._inflate = zlib.decompressobj(wbits=wbits)

    @property
    def eof(self) -> bool:
        return self._inflate.eof

    @property
    def needs_input(self) -> bool:
        return not self._inflate.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._inflate.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._inflate.decompress(self._inflate.unconsumed_tail + data, max_length)


ReadStream = Callable[[Feed], Iterator[bytes]]
"""Yields what the stream at the feed's front holds, and leaves the feed behind it.

Raises EarlyEnd where the stream is cut off or damaged; what came before it was yielded.
"""


def stream_reader(name: str, limits: Limits, *, is_live: bool = False) -> ReadStream:
    """Return what reads streams of this compression, one at a time.

    Of a live input all that can be unpacked is given before more is asked for.
    """
    if name == "zstd":
        return partial(FrameReader(limits).read, is_live=is_live)
    if name == "gzip":
        return lambda feed: _decoded(name, gzip_decoder(), feed)
    if name == "xz":
        return lambda feed: _decoded(name, lzma.LZMADecompressor(memlimit=limits.window_bytes), feed)
    return lambda feed: _decoded(name, bz2.BZ2Decompressor(), feed)


def _decoded(name: str, decoder: Decoder, feed: Feed) -> Iterator[bytes]:
    while not decoder.eof:
        packed = feed.some(_BITE)
        if not packed:
            raise torn(name)
        yield from decoder_steps(name, decoder, packed)
    feed.back(decoder.unused_data)


def decoder_steps(name: str, decoder: Decoder, packed: bytes) -> Iterator[bytes]:
    """Yield all that a decoder makes of some bytes; EarlyEnd where they are damaged."""
    while True:
        if piece := _step(name, decoder, packed):
            yield piece
        if decoder.eof or decoder.needs_input:
            return
        packed = b""


def gzip_decoder() -> Decoder:
    """Return a decoder of one gzip member: isal's, several times as fast as zlib's, where there is a wheel of it."""
    return _Inflate(_GZIP_WBITS) if igzip_lib is None else igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)


def read_deflated(feed: Feed) -> Iterator[bytes]:
    """Yield what deflated data without any header holds, as zip archives have it; see ReadStream."""
    if igzip_lib is None:
        return _decoded("zip", _Inflate(-zlib.MAX_WBITS), feed)
    return _decoded("zip", igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_DEFLATE), feed)


def crc32(data: bytes, start: int) -> int:
    """Return the check sum of gzip and zip, continued from that of the bytes before."""
    return zlib.crc32(data, start) if igzip_lib is None else isal_zlib.crc32(data, start)


def _step(name: str, decoder: Decoder, packed: bytes) -> bytes:
    try:
        return decoder.decompress(packed, PIECE)
    except (_GZIP_ERROR, lzma.LZMAError, OSError, ValueError, EOFError) as error:
        if "Memory usage limit" in str(error):
            raise too_large_a_window(name) from error
        raise damaged(name, error) from error
