"""Compressed bytes → bytes: gzip, zstd, xz and bz2, told apart by their first bytes, several streams in a row.

Output comes in pieces of bounded size whatever the input claims, and stops with a reason instead of raising.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from nccl_logscan.sources.ends import PIECE, EarlyEnd, outgrown
from nccl_logscan.sources.feed import Feed
from nccl_logscan.sources.frames import Cutter, Frame, cutter_of
from nccl_logscan.sources.in_order import FramesInOrder
from nccl_logscan.sources.limits import Limits
from nccl_logscan.sources.streams import ReadStream, stream_reader


def decompress(name: str, blocks: Iterable[bytes], limits: Limits, *, is_live: bool = True) -> Iterator[bytes]:
    """Yield the decompressed bytes of `blocks`.

    What can be unpacked is given at once where the input `is_live`, as a pipe is. Of others frames are unpacked side
    by side where the format has them, so that whole frames are waited for.

    Raises EarlyEnd where the input is cut off, damaged, or grows beyond `limits`; what came before it was yielded.
    """
    feed = Feed(blocks)
    read = stream_reader(name, limits, is_live=is_live)
    cut = None if is_live else cutter_of(name)
    given = 0
    for piece in _streams(feed, read) if cut is None else _frames(feed, read, cut, FramesInOrder(name, limits)):
        given += len(piece)
        yield piece
        if given > limits.decoded_floor and given > limits.ratio * feed.taken:
            raise outgrown(limits.ratio)


def _streams(feed: Feed, read: ReadStream) -> Iterator[bytes]:
    # Streams may follow one another, with zeros between them as padding.
    while feed.skip_zeros():
        yield from read(feed)


def _frames(feed: Feed, read: ReadStream, cut: Cutter, frames: FramesInOrder) -> Iterator[bytes]:
    try:
        while feed.look(1):
            batch, end = _batch(cut, feed)
            yield from frames.add(batch)
            if end is not None:
                yield from frames.rest()
                raise end
            if batch:
                continue
            if feed.look(1) == b"\0":
                feed.skip_zeros()
            elif feed.look(1):
                yield from frames.rest()
                yield from read(feed)
        yield from frames.rest()
    finally:
        frames.close()


def _batch(cut: Cutter, feed: Feed) -> tuple[list[Frame], EarlyEnd | None]:
    """Return the next frames, which give a piece together, and what keeps the feed from being read on, if so."""
    batch: list[Frame] = []
    size = 0
    try:
        while size < PIECE and (frame := cut(feed)):
            batch.append(frame)
            size += max(frame.size, len(frame.packed))
    except EarlyEnd as end:
        return batch, end
    return batch, None
