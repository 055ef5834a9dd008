"""Frames → Parquet, a row group at a time.

Polars writes Parquet piece by piece only when it pulls the pieces itself, and then nothing interrupts it. So it pulls
them in a thread of its own, from a queue of one frame, and the main thread, which makes them, can still be interrupted.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from queue import Empty, Full, Queue
from threading import Thread
from typing import IO, TYPE_CHECKING, Any, BinaryIO, cast

import polars as pl
from polars.io.plugins import register_io_source

from nccl_logscan.event_table.frames import SCHEMA

if TYPE_CHECKING:
    from typing_extensions import Buffer

_ROWS_OF_A_GROUP = 1 << 16
_PATIENCE = 0.2  # seconds between looks at whether the thread still lives


def write_parquet(frames: Iterable[pl.DataFrame], file: BinaryIO) -> int:
    """Write the frames; return how many rows there were. Raises OSError where the file cannot take them."""
    sink = _Sink(file)
    rows = 0
    try:
        for frame in frames:
            rows += frame.height
            sink.put(frame)
    except BaseException:
        sink.abandon()
        raise
    sink.finish()
    return rows


class _Abandoned(Exception):  # noqa: N818 - nothing failed in the thread that it ends
    """The rest of the frames will not come."""


class _Remembering(io.RawIOBase):
    """Writes to a file and remembers what the file raised: of an error of the system polars tells only the words."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.error: OSError | None = None

    def writable(self) -> bool:
        return True

    def write(self, piece: Buffer, /) -> int:
        try:
            return self._file.write(piece)
        except OSError as error:
            self.error = error
            raise


class _Sink:
    """A thread in which polars writes what is put in."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = _Remembering(file)
        self._queue: Queue[pl.DataFrame | _Abandoned | None] = Queue(maxsize=1)
        self._error: Exception | None = None
        self._thread = Thread(target=self._write, name="parquet", daemon=True)
        self._thread.start()

    def put(self, frame: pl.DataFrame | _Abandoned | None) -> None:
        """Hand over a frame, or None at the end; raises what went wrong in the thread."""
        while True:
            try:
                self._queue.put(frame, timeout=_PATIENCE)
            except Full:
                if not self._thread.is_alive():
                    self._raise()
            else:
                return

    def finish(self) -> None:
        """Wait until everything is written."""
        self.put(None)
        self._thread.join()
        self._raise()

    def abandon(self) -> None:
        """End the thread without an end of the file."""
        while self._thread.is_alive():
            try:
                self._queue.put(_Abandoned(), timeout=_PATIENCE)
            except Full:
                continue
            break
        self._thread.join()

    def _raise(self) -> None:
        if self._error is not None:
            raise self._file.error or self._error

    def _write(self) -> None:
        try:
            source = register_io_source(self._frames, schema=SCHEMA)
            source.sink_parquet(cast(IO[bytes], self._file), row_group_size=_ROWS_OF_A_GROUP, maintain_order=True)
        except Exception as error:  # noqa: BLE001 - raised again in the main thread
            self._error = error

    def _frames(self, *_asked: Any) -> Iterator[pl.DataFrame]:
        while True:
            try:
                frame = self._queue.get(timeout=_PATIENCE)
            except Empty:
                continue
            if isinstance(frame, _Abandoned):
                raise frame
            if frame is None:
                return
            yield frame
