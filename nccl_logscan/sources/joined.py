"""Small pieces of bytes → pieces of about a mebibyte."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from nccl_logscan.sources.ends import PIECE, EarlyEnd

_LARGE = PIECE // 4


def joined(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the same bytes in pieces of about a mebibyte; an early end comes behind what was before it.

    Large pieces pass as they are: to copy them costs more than it saves.
    """
    waiting: list[bytes] = []
    size = 0
    try:
        for piece in pieces:
            if size and len(piece) > _LARGE:
                yield b"".join(waiting)
                waiting, size = [], 0
            waiting.append(piece)
            size += len(piece)
            if size >= PIECE or len(piece) > _LARGE:
                yield b"".join(waiting)
                waiting, size = [], 0
    except (EarlyEnd, OSError):
        if waiting:
            yield b"".join(waiting)
        raise
    if waiting:
        yield b"".join(waiting)
