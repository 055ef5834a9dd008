"""Feed: the bytes of a packed input, which can be looked at before they are taken."""

from __future__ import annotations

from collections.abc import Iterable

_MOST = 1 << 16


class Feed:
    """Blocks of any size as one run of bytes. `taken` counts what was asked of the blocks so far.

    What is looked at is held until it is taken, so the farthest look bounds the memory.
    """

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self.taken = 0
        self._blocks = iter(blocks)
        self._held = b""
        self._at = 0

    def look(self, size: int, at: int = 0) -> bytes:
        """Return `size` bytes that begin `at` bytes ahead, without taking them; fewer only at the end."""
        self._hold(at + size)
        start = self._at + at
        return self._held[start : start + size]

    def take(self, size: int) -> bytes:
        """Return the next `size` bytes; fewer only at the end."""
        piece = self.look(size)
        self._at += len(piece)
        return piece

    def some(self, most: int) -> bytes:
        """Return whatever comes next, up to `most` bytes and at least one; none at the end."""
        self._hold(1)
        piece = self._held[self._at : self._at + most]
        self._at += len(piece)
        return piece

    def back(self, piece: bytes) -> None:
        """Put bytes before the next ones: they were taken and turned out to belong to what follows."""
        start = self._at - len(piece)
        if start >= 0 and self._held[start : self._at] == piece:
            self._at = start
        else:
            self._held, self._at = piece + self._held[self._at :], 0

    def skip(self, size: int) -> bool:
        """Pass over the next `size` bytes; return whether they were all there."""
        while size > 0:
            piece = self.some(size)
            if not piece:
                return False
            size -= len(piece)
        return True

    def skip_zeros(self) -> bool:
        """Pass over zero bytes; return whether anything follows."""
        while piece := self.some(_MOST):
            rest = piece.lstrip(b"\0")
            if rest:
                self.back(rest)
                return True
        return False

    def _hold(self, size: int) -> None:
        """Have `size` bytes at hand, if there are as many."""
        missing = size - (len(self._held) - self._at)
        if missing <= 0:
            return
        parts = [self._held[self._at :]]
        for block in self._blocks:
            self.taken += len(block)
            parts.append(block)
            missing -= len(block)
            if missing <= 0:
                break
        self._held, self._at = b"".join(parts) if parts[0] else b"".join(parts[1:]), 0
