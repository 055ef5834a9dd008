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
        self._held = bytearray()

    def look(self, size: int, at: int = 0) -> bytes:
        """Return `size` bytes that begin `at` bytes ahead, without taking them; fewer only at the end."""
        while len(self._held) < at + size and (block := self._block()):
            self._held += block
        return bytes(self._held[at : at + size])

    def take(self, size: int) -> bytes:
        """Return the next `size` bytes; fewer only at the end."""
        self.look(0, size)
        with memoryview(self._held) as held:
            piece = bytes(held[:size])
        del self._held[:size]
        return piece

    def some(self, most: int) -> bytes:
        """Return whatever comes next, up to `most` bytes and at least one; none at the end."""
        if not self._held:
            block = self._block()
            if len(block) <= most:
                return block
            self._held += block
        return self.take(min(most, len(self._held)))

    def back(self, piece: bytes) -> None:
        """Put bytes before the next ones: they were taken and turned out to belong to what follows."""
        self._held[:0] = piece

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

    def _block(self) -> bytes:
        for block in self._blocks:
            if block:
                self.taken += len(block)
                return block
        return b""
