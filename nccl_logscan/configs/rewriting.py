"""A file that is edited round after round, its edits kept as edits of the file as it was."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator

from nccl_logscan.configs.edit import Edit, in_order
from nccl_logscan.records import dataclass


@dataclass(frozen=True, slots=True)
class _Kept:
    """Bytes `start` to `end` of the file as it was, which stand at `at` of the file as it is."""

    at: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Rewriting:
    """A file as it was, as it is, and which bytes of the one are in the other."""

    before: bytes
    data: bytes
    _kept: tuple[_Kept, ...]

    @classmethod
    def of(cls, data: bytes) -> Rewriting:
        """Return a file that nothing has been done to."""
        return cls(data, data, (_Kept(0, 0, len(data)),))

    def with_edits(self, edits: Iterable[Edit]) -> Rewriting:
        """Return the file with edits of it as it is made; of those that overlap, the first in the file."""
        parts: list[bytes] = []
        kept: list[_Kept] = []
        at = length = 0
        for edit in (*in_order(edits), Edit(len(self.data), len(self.data), b"")):
            kept += (_Kept(length + piece.at - at, piece.start, piece.end) for piece in self._within(at, edit.start))
            parts += (self.data[at : edit.start], edit.text)
            length += edit.start - at + len(edit.text)
            at = edit.end
        return Rewriting(self.before, b"".join(parts), tuple(kept))

    def edits(self) -> tuple[Edit, ...]:
        """Return what has been done, as edits of the file as it was."""
        made: list[Edit] = []
        was = now = 0
        for piece in (*self._kept, _Kept(len(self.data), len(self.before), len(self.before))):
            if piece.start > was or piece.at > now:
                made.append(Edit(was, piece.start, self.data[now : piece.at]))
            was, now = piece.end, piece.at + piece.end - piece.start
        return tuple(made)

    def origin(self, offset: int) -> int:
        """Return where the byte at `offset` was, or the byte before it that was there."""
        found = bisect_right(self._kept, offset, key=lambda piece: piece.at) - 1
        if found < 0:
            return 0
        piece = self._kept[found]
        return min(piece.start + offset - piece.at, piece.end)

    def _within(self, start: int, end: int) -> Iterator[_Kept]:
        """Yield what is kept of bytes `start` to `end` of the file as it is."""
        first = max(0, bisect_right(self._kept, start, key=lambda piece: piece.at) - 1)
        for number in range(first, len(self._kept)):
            piece = self._kept[number]
            if piece.at >= end:
                return
            low, high = max(start, piece.at), min(end, piece.at + piece.end - piece.start)
            if low < high:
                yield _Kept(low, piece.start + low - piece.at, piece.start + high - piece.at)
