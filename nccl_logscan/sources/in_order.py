"""Frames unpacked side by side, given in their order."""

from __future__ import annotations

import lzma
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from nccl_logscan.sources.cores import cores
from nccl_logscan.sources.ends import EarlyEnd, damaged, torn
from nccl_logscan.sources.feed import Feed
from nccl_logscan.sources.frames import FRAME_LIMIT, Frame
from nccl_logscan.sources.joined import joined
from nccl_logscan.sources.limits import Limits
from nccl_logscan.sources.streams import Decoder, ReadStream, decoder_steps, stream_reader

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

_MOST_THREADS = 8

_Unpacked = tuple[list[bytes], EarlyEnd | None]
"""What frames gave, in pieces, and why it is not all, if so."""


class FramesInOrder:
    """Takes batches of frames and gives what they hold, in order. A single batch takes no thread.

    At most one batch more than there are threads is held at a time, and no more bytes than a long frame for each.
    """

    def __init__(self, name: str, limits: Limits) -> None:
        self._name = name
        self._limits = limits
        self._threads = min(cores(), _MOST_THREADS)
        self._pool: ThreadPoolExecutor | None = None
        self._first: Sequence[Frame] | None = None
        self._begun: deque[tuple[Future[_Unpacked], int]] = deque()
        self._size = 0
        self._of_thread = threading.local()

    def add(self, batch: Sequence[Frame]) -> Iterator[bytes]:
        """Begin to unpack a batch; yield what earlier ones hold as far as there is no room for more."""
        if not batch:
            return
        if self._pool is None and self._first is None:
            self._first = batch
            return
        if self._first is not None:
            first, self._first = self._first, None
            self._begin(first)
        self._begin(batch)
        while len(self._begun) > self._threads + 1 or self._size > self._threads * FRAME_LIMIT:
            yield from self._oldest()

    def rest(self) -> Iterator[bytes]:
        """Yield what all batches hold that were added."""
        if self._first is not None:
            first, self._first = self._first, None
            for frame in first:
                yield from joined(self._pieces(frame))
        while self._begun:
            yield from self._oldest()

    def close(self) -> None:
        """Let go of what was not asked for."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)

    def _begin(self, batch: Sequence[Frame]) -> None:
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - 14 ms, for those who have a long file

        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="unpack")
        size = sum(frame.size + len(frame.packed) for frame in batch)
        self._begun.append((self._pool.submit(self._unpack, batch), size))
        self._size += size

    def _oldest(self) -> Iterator[bytes]:
        unpacked, size = self._begun.popleft()
        pieces, end = unpacked.result()
        yield from pieces
        self._size -= size
        if end is not None:
            raise end

    def _unpack(self, frames: Iterable[Frame]) -> _Unpacked:
        """Return what frames hold; up to its end where one is torn, damaged, or gives more than it said."""
        pieces: list[bytes] = []
        try:
            for frame in frames:
                pieces.extend(joined(self._pieces(frame)))
        except EarlyEnd as end:
            return pieces, end
        return pieces, None

    def _pieces(self, frame: Frame) -> Iterator[bytes]:
        left = frame.size
        for piece in self._read(frame):
            left -= len(piece)
            if left < 0:
                raise damaged(self._name, "a frame gives more than it said")
            yield piece
        if self._name == "xz" and left:
            raise torn(self._name)

    def _read(self, frame: Frame) -> Iterator[bytes]:
        if self._name == "xz":
            # The block is a stream that ends without an index, which its decoder waits for in vain.
            block: Decoder = lzma.LZMADecompressor(memlimit=self._limits.window_bytes)
            return decoder_steps("xz", block, frame.packed)
        read: ReadStream | None = getattr(self._of_thread, "read", None)
        if read is None:
            read = self._of_thread.read = stream_reader(self._name, self._limits)
        return read(Feed([frame.packed]))
