"""Compressed bytes → bytes: gzip, zstd, xz and bz2, told apart by their first bytes, several streams in a row.

Output comes in pieces of bounded size whatever the input claims, and stops with a reason instead of raising.
"""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Iterable, Iterator
from typing import Protocol

import zstandard

from nccl_logscan.sources.limits import Limits

PIECE = 1 << 20
"""The most bytes that one step of a decompressor gives, but for zstd (see there)."""

# A zstd block of 4 bytes can stand for 128 KiB, and its decompressor knows no bound on what one call returns, so it is
# fed little at a time: 1 KiB gives at most 32 MiB.
_ZSTD_FEED = 1 << 10


class EarlyEnd(Exception):  # noqa: N818 - an end with a reason, not a mistake of ours
    """The input cannot be read on; the text says why, as a clause that follows the input's name."""


class _Stream(Protocol):
    """One compressed stream, as bz2 and lzma model it."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class _Gzip:
    """A gzip member with the interface of `bz2.BZ2Decompressor`."""

    def __init__(self) -> None:
        self._inflate = zlib.decompressobj(wbits=31)

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


class _Zstd:
    """A zstd frame with the interface of `bz2.BZ2Decompressor`; one step gives at most 32 MiB."""

    def __init__(self, limits: Limits) -> None:
        self._frame = zstandard.ZstdDecompressor(max_window_size=limits.window_bytes).decompressobj()
        self._waiting = b""

    @property
    def eof(self) -> bool:
        return self._frame.eof

    @property
    def needs_input(self) -> bool:
        return not self._waiting

    @property
    def unused_data(self) -> bytes:
        return self._frame.unused_data + self._waiting

    def decompress(self, data: bytes, max_length: int) -> bytes:  # noqa: ARG002 - the frame takes no bound
        waiting = self._waiting + data
        self._waiting = waiting[_ZSTD_FEED:]
        return self._frame.decompress(waiting[:_ZSTD_FEED])


_MAGICS = {"gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd", "xz": b"\xfd7zXZ\x00", "bz2": b"BZh"}
_SKIPPABLE_ZSTD = b"\x2a\x4d\x18"


def compression_of(head: bytes) -> str | None:
    """Return gzip, zstd, xz or bz2 by the first bytes of an input; None if it is none of them."""
    for name, magic in _MAGICS.items():
        if head.startswith(magic):
            return name
    if head[1:4] == _SKIPPABLE_ZSTD and 0x50 <= head[0] <= 0x5F:
        return "zstd"
    return None


def _open_stream(name: str, limits: Limits) -> _Stream:
    if name == "gzip":
        return _Gzip()
    if name == "zstd":
        return _Zstd(limits)
    if name == "xz":
        return lzma.LZMADecompressor(memlimit=limits.window_bytes)
    return bz2.BZ2Decompressor()


def decompress(name: str, blocks: Iterable[bytes], limits: Limits) -> Iterator[bytes]:
    """Yield the decompressed bytes of `blocks`.

    Raises EarlyEnd where the input is cut off, damaged, or grows beyond `limits`; what came before it was yielded.
    """
    stream = _open_stream(name, limits)
    taken = given = 0
    begun = False
    for block in blocks:
        taken += len(block)
        waiting = block
        while waiting or not (stream.needs_input or stream.eof):
            if stream.eof:
                # Streams may follow one another, with zeros between them as padding.
                waiting = waiting.lstrip(b"\0")
                stream, begun = _open_stream(name, limits), False
                continue
            begun = begun or bool(waiting)
            piece = _step(name, stream, waiting)
            waiting = stream.unused_data if stream.eof else b""
            given += len(piece)
            if piece:
                yield piece
            if given > limits.decoded_floor and given > limits.ratio * taken:
                raise EarlyEnd(f"grows to more than {limits.ratio} times its size and was read up to that")
    if begun and not stream.eof:
        raise EarlyEnd(f"ends in the middle of its {name} data; what it holds was read")


def _step(name: str, stream: _Stream, waiting: bytes) -> bytes:
    try:
        return stream.decompress(waiting, PIECE)
    except (zlib.error, lzma.LZMAError, OSError, ValueError, zstandard.ZstdError) as error:
        raise EarlyEnd(f"has damaged {name} data ({error}); what came before it was read") from error
