"""Bytes → RawLine: cut at line feeds, decode, count what was replaced, hold no more than the longest line kept."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator

from nccl_logscan.position import Position
from nccl_logscan.sources.limits import Limits
from nccl_logscan.sources.raw import RawLine

CUT_MARK = " [...] "
"""Stands in a text where the middle of a very long line was dropped."""

_UTF8_BOM = codecs.BOM_UTF8
_UTF16_BOMS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}

_SAMPLE = 1 << 16
# Bytes that text does not hold: control characters but tab, line feed, vertical tab, form feed, carriage return,
# bell, backspace, shift in and out, escape. NULs are judged apart: a file that ranks truncated under one another is
# full of them.
_CONTROLS = bytes(byte for byte in range(1, 32) if byte not in b"\t\n\v\f\r\a\b\x0e\x0f\x1b")


def is_binary(head: bytes) -> bool:
    """Tell by an input's first bytes whether it is no text at all."""
    if head[:2] in _UTF16_BOMS:
        return False
    sample = head[:_SAMPLE].translate(None, b"\0")
    if not sample:
        return False
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    if controls * 10 > len(sample):
        return True
    return sample.decode("utf-8", "replace").count("\ufffd") * 3 > len(sample)


def is_utf8_text(head: bytes) -> bool:
    """Tell by an input's first bytes whether it is text that is read as it is, without transcoding."""
    return head[:2] not in _UTF16_BOMS and not is_binary(head)


def as_utf8(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield UTF-8: UTF-16 with a byte order mark is transcoded, everything else passes as it is."""
    iterator = iter(blocks)
    head = b""
    for block in iterator:
        head += block
        if len(head) >= len(_UTF8_BOM):
            break
    encoding = _UTF16_BOMS.get(head[:2])
    if encoding is None:
        yield head
        yield from iterator
        return
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    yield decoder.decode(head[2:]).encode("utf-8", "replace")
    for block in iterator:
        yield decoder.decode(block).encode("utf-8", "replace")
    yield decoder.decode(b"", final=True).encode("utf-8", "replace")


class LineCutter:
    """Cuts one input's blocks into RawLines. How the input is cut into blocks changes nothing.

    `feed` takes the next block, `finish` gives the last line where no line feed ended it. An offset counts bytes
    fed, so that of a UTF-16 input counts its UTF-8 form. `lines`, `replaced` and `cut_lines` count what was given.
    """

    def __init__(self, name: str, limits: Limits) -> None:
        self.lines = 0
        self.replaced = 0
        self.cut_lines = 0
        self._name = name
        self._limit = limits.line_bytes
        self._half = max(1, limits.line_bytes // 2)
        self._offset = 0
        self._open = bytearray()
        self._tail: bytearray | None = None
        self._open_length = 0
        self._open_nuls = 0
        self._fed = False

    def feed(self, block: bytes) -> Iterator[RawLine]:
        """Yield every line that `block` completes."""
        if not self._fed and block:
            self._fed = True
            if block.startswith(_UTF8_BOM):
                block = block[3:]
                self._offset = 3
        first = block.find(b"\n")
        if first < 0:
            self._grow(block)
            return
        start = 0
        if self._open_length:
            self._grow(block[:first])
            yield self._close()
            start = first + 1
        end = block.rfind(b"\n") + 1
        if start < end:
            yield from self._whole(block[start:end])
        self._grow(block[end:])

    @property
    def is_open(self) -> bool:
        """Whether the last line has no end yet."""
        return self._open_length > 0

    def finish(self) -> Iterator[RawLine]:
        """Yield the line that the input ended in."""
        if self._open_length:
            yield self._close()

    def _grow(self, part: bytes) -> None:
        """Take a part of a line that is not complete yet, keeping at most the limit of it."""
        if not part:
            return
        self._open_length += len(part)
        if b"\0" in part:
            kept = part.translate(None, b"\0")
            self._open_nuls += len(part) - len(kept)
            part = kept
        if self._tail is None:
            self._open += part
            if len(self._open) > self._limit:
                self._tail = self._open[self._half :]
                del self._open[self._half :]
        else:
            self._tail += part
        if self._tail is not None and len(self._tail) > self._half:
            del self._tail[: -self._half]

    def _close(self) -> RawLine:
        length, nuls = self._open_length, self._open_nuls
        at = self._place(length)
        if self._tail is None:
            line = self._decoded(at, bytes(self._open), nuls)
        else:
            dropped = length - nuls - len(self._open) - len(self._tail)
            line = self._joined(at, bytes(self._open), bytes(self._tail), nuls, dropped)
        self._open = bytearray()
        self._tail = None
        self._open_length = self._open_nuls = 0
        return line

    def _place(self, length: int) -> Position:
        self.lines += 1
        at = Position(self._name, self.lines, self._offset)
        self._offset += length + 1
        return at

    def _whole(self, lines: bytes) -> Iterator[RawLine]:
        """Yield lines that lie in one block; plain ASCII, nearly all of any log, costs one decoding for all."""
        if not lines.isascii() or b"\0" in lines or (len(lines) > self._limit and _longest(lines) > self._limit):
            for part in lines[:-1].split(b"\n"):
                yield self._one(part)
            return
        name, number, offset = self._name, self.lines, self._offset
        ends_in_cr = b"\r\n" in lines
        for text in lines[:-1].decode("ascii").split("\n"):
            number += 1
            self.lines = number
            at = Position(name, number, offset)
            offset += len(text) + 1
            self._offset = offset
            yield RawLine(at, text[:-1] if ends_in_cr and text.endswith("\r") else text)

    def line_at(self, at: Position, part: bytes) -> RawLine:
        """Return a line whose bytes lie elsewhere than at the end of what was fed; it is not counted in `lines`."""
        return self._decoded_one(at, part)

    def _one(self, part: bytes) -> RawLine:
        return self._decoded_one(self._place(len(part)), part)

    def _decoded_one(self, at: Position, part: bytes) -> RawLine:
        nuls = 0
        if b"\0" in part:
            kept = part.translate(None, b"\0")
            nuls = len(part) - len(kept)
            part = kept
        if len(part) > self._limit:
            dropped = len(part) - 2 * self._half
            return self._joined(at, part[: self._half], part[-self._half :], nuls, dropped)
        return self._decoded(at, part, nuls)

    def _decoded(self, at: Position, part: bytes, nuls: int) -> RawLine:
        text, replaced = _decode(part.removesuffix(b"\r"))
        self.replaced += replaced + nuls
        return RawLine(at, text, replaced + nuls)

    def _joined(self, at: Position, head: bytes, tail: bytes, nuls: int, dropped: int) -> RawLine:
        # A character cut in two at the edge of the gap is part of what was dropped, not a damaged byte.
        whole_head = _without_open_end(head)
        whole_tail = tail.lstrip(_CONTINUATIONS) if len(tail) - len(tail.lstrip(_CONTINUATIONS)) < 4 else tail
        dropped += len(head) - len(whole_head) + len(tail) - len(whole_tail)
        head_text, head_replaced = _decode(whole_head)
        tail_text, tail_replaced = _decode(whole_tail.removesuffix(b"\r"))
        replaced = head_replaced + tail_replaced + nuls
        self.replaced += replaced
        self.cut_lines += 1
        return RawLine(at, head_text + CUT_MARK + tail_text, replaced, dropped)


_CONTINUATIONS = bytes(range(0x80, 0xC0))


def _longest(lines: bytes) -> int:
    return max(map(len, lines.split(b"\n")))


def _without_open_end(head: bytes) -> bytes:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    decoder.decode(head)
    return head[: len(head) - len(decoder.getstate()[0])]


def _decode(part: bytes) -> tuple[str, int]:
    try:
        return part.decode(), 0
    except UnicodeDecodeError:
        text = part.decode("utf-8", "replace")
        return text, max(1, text.count("\ufffd") - part.count(b"\xef\xbf\xbd"))


def cut_lines(name: str, blocks: Iterable[bytes], limits: Limits) -> Iterator[RawLine]:
    """Yield the lines of one input from its decompressed bytes."""
    cutter = LineCutter(name, limits)
    for block in as_utf8(blocks):
        yield from cutter.feed(block)
    yield from cutter.finish()
