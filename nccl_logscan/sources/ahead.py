"""Blocks made in a thread of their own, a few of them ahead of who takes them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from itertools import islice
from queue import Empty, Queue

from nccl_logscan.sources.joined import joined

_BEFORE_A_THREAD = 2
_AHEAD = 4

Blocks = Callable[[Callable[[int], None]], Iterator[bytes]]
"""Gives an input's bytes, from its start, and calls back with how many bytes each step took from the disk."""


def read_ahead(blocks: Blocks) -> Blocks:
    """Return the same bytes in blocks of about 1 MiB, of which a few are made while one is used.

    What was taken from the disk for a block is told when the block is given, so it does not run ahead. A short input
    takes no thread. Whoever stops in the middle lets go of the thread by letting go of the iterator.
    """

    def ahead(took: Callable[[int], None]) -> Iterator[bytes]:
        taken = _Taken()
        made = joined(blocks(taken.add))
        for block in islice(made, _BEFORE_A_THREAD):
            took(taken.since())
            yield block
        thread = _Ahead(made, taken)
        try:
            for taken_for_it, block in thread.blocks():
                took(taken_for_it)
                if block:
                    yield block
        finally:
            thread.leave()

    return ahead


class _Taken:
    """Counts bytes taken from the disk."""

    def __init__(self) -> None:
        self._bytes = 0

    def add(self, size: int) -> None:
        self._bytes += size

    def since(self) -> int:
        """Return the bytes taken since this was asked last."""
        size, self._bytes = self._bytes, 0
        return size


class _Ahead:
    """The thread: puts each block, with what was taken for it, in a short queue."""

    def __init__(self, made: Iterator[bytes], taken: _Taken) -> None:
        self._queue: Queue[tuple[int, bytes | BaseException | None]] = Queue(_AHEAD)
        self._left = threading.Event()
        # A daemon, since who waits for its blocks may be gone while it waits for a disk.
        self._thread = threading.Thread(target=self._make, args=(made, taken), name="read ahead", daemon=True)
        self._thread.start()

    def blocks(self) -> Iterator[tuple[int, bytes]]:
        """Yield the blocks, an empty one for what was taken behind the last; raise what ended them."""
        while True:
            taken, block = self._queue.get()
            if isinstance(block, BaseException):
                raise block
            if block is None:
                yield taken, b""
                return
            yield taken, block

    def leave(self) -> None:
        """Have the thread end at its next block, by making room in the queue for it."""
        self._left.set()
        try:
            while True:
                self._queue.get_nowait()
        except Empty:
            pass

    def _make(self, made: Iterator[bytes], taken: _Taken) -> None:
        last: BaseException | None = None
        try:
            for block in made:
                self._queue.put((taken.since(), block))
                if self._left.is_set():
                    break
        except BaseException as error:  # noqa: BLE001 - raised where the blocks are taken
            last = error
        self._queue.put((taken.since(), last))
