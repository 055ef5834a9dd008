"""Splice: a text that stands in pieces within another file, and the way back from the one's bytes to the other's."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable

from nccl_logscan.configs.mappings.tree import Node, Scalar
from nccl_logscan.expressions import deferred
from nccl_logscan.position import Span
from nccl_logscan.records import dataclass

_BARE_WORD = deferred(rb"[A-Za-z0-9_./:=,+@%^~-]+")


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes of the text from `inner` on are the file's from `outer` on, `length` of them."""

    inner: int
    outer: int
    length: int


@dataclass(frozen=True, slots=True)
class Splice:
    """A text and where its pieces stand in the file, in the text's order."""

    text: bytes
    pieces: tuple[Piece, ...]

    def outer(self, offset: int) -> int | None:
        """Return where a byte of the text stands in the file, None for one that was put in between."""
        at = bisect_right(self.pieces, offset, key=lambda piece: piece.inner) - 1
        if at < 0 or offset >= self.pieces[at].inner + self.pieces[at].length:
            return None
        return self.pieces[at].outer + offset - self.pieces[at].inner

    def span(self, span: Span) -> Span | None:
        """Return where a span of the text stands in the file; what was put in at its ends is left out."""
        start, end = span.start, span.end
        while start < end and self.outer(start) is None:
            start += 1
        while end > start and self.outer(end - 1) is None:
            end -= 1
        first = self.outer(start)
        if start == end:
            return None if first is None else Span(first, first)
        last = self.outer(end - 1)
        return None if first is None or last is None else Span(first, last + 1)


def script_in(scalar: Scalar, data: bytes) -> Splice | None:
    """Return a scalar's text with its place; None where the way back is not exact (escapes, uneven folds)."""
    wanted = scalar.text.encode("utf-8", "replace")
    if scalar.quote in ("|", ">"):
        return _block(wanted, scalar, data, b"\n" if scalar.quote == "|" else b" ")
    quoted = len(scalar.quote)
    start, end = scalar.start + quoted, scalar.end - quoted
    if data[start:end] == wanted:
        return Splice(wanted, (Piece(0, start, len(wanted)),))
    return _joined(wanted, _lines(data, start, end, strip=True), b" ")


def _block(wanted: bytes, scalar: Scalar, data: bytes, joint: bytes) -> Splice | None:
    """Return a block scalar's: its lines less their indentation, ended as its sign says."""
    body = data.find(b"\n", scalar.start, scalar.end)
    if body < 0:
        return None
    lines = _lines(data, body + 1, scalar.end, strip=False)
    indent = min((len(line) - len(line.lstrip(b" ")) for _, line in lines if line.strip()), default=0)
    kept = [(at + min(indent, len(line)), line[indent:]) for at, line in lines]
    splice = _joined(wanted.rstrip(b" \n"), kept, joint)
    return Splice(wanted, splice.pieces) if splice else None


def _lines(data: bytes, start: int, end: int, *, strip: bool) -> list[tuple[int, bytes]]:
    lines, at = [], start
    for raw in data[start:end].split(b"\n"):
        line = raw.removesuffix(b"\r")
        blanks = len(line) - len(line.lstrip(b" \t")) if strip else 0
        lines.append((at + blanks, line.strip(b" \t") if strip else line))
        at += len(raw) + 1
    return lines


def _joined(wanted: bytes, lines: list[tuple[int, bytes]], joint: bytes) -> Splice | None:
    """Return the lines as one text if that is the wanted one."""
    if joint.join(line for _, line in lines) != wanted:
        return None
    pieces, at = [], 0
    for offset, line in lines:
        # The line feed of the file is the joint, so that a span may end with it.
        pieces.append(Piece(at, offset, len(line)))
        at += len(line) + len(joint)
    return Splice(wanted, tuple(pieces))


def lines_in(items: Iterable[Node], data: bytes) -> Splice | None:
    """Return the scripts of a list, one after the other, as a runner gives them to one shell."""
    return _strung([item for item in items if isinstance(item, Scalar)], data, b"\n", quoted=False)


def words_in(words: list[Scalar], data: bytes) -> Splice | None:
    """Return the words of a command that is written as a list, quoted as a shell would need it."""
    return _strung(words, data, b" ", quoted=True)


def shell_script(words: list[Scalar]) -> Scalar | None:
    """["bash", "-c", SCRIPT] → SCRIPT."""
    for at, word in enumerate(words[:-1]):
        if at and re.fullmatch(r"-[a-z]*c", word.text) and words[0].text.rpartition("/")[2] in ("sh", "bash", "zsh"):
            return words[at + 1]
    return None


def _strung(scalars: list[Scalar], data: bytes, joint: bytes, *, quoted: bool) -> Splice | None:
    text, pieces = bytearray(), list[Piece]()
    for scalar in scalars:
        splice = script_in(scalar, data)
        if splice is None:
            return None
        quote = b"'" if quoted and not _BARE_WORD.fullmatch(splice.text) else b""
        if quote and quote in splice.text:
            return None
        begin = len(text) + len(quote)
        pieces += [Piece(begin + piece.inner, piece.outer, piece.length) for piece in splice.pieces]
        text += quote + splice.text + quote + joint
    return Splice(bytes(text), tuple(pieces)) if text else None
