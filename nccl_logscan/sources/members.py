"""Archives → Sources: one for each member."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Iterator
from typing import BinaryIO

from nccl_logscan.sources.ahead import Blocks
from nccl_logscan.sources.archive import (
    CUT_OFF,
    Member,
    TarReader,
    read_zip_member,
    zip_members,
)
from nccl_logscan.sources.ends import PIECE, EarlyEnd, outgrown, raised
from nccl_logscan.sources.kind import Kind, kind_of
from nccl_logscan.sources.limits import Limits
from nccl_logscan.sources.passed_over import passed_over
from nccl_logscan.sources.source import SAMPLE, Source, peeked, unpacked, unpacked_ahead


class _Archive:
    """A tar file whose members are read in one pass as long as they are asked for in their order."""

    def __init__(self, blocks: Blocks, limits: Limits) -> None:
        self._blocks = blocks
        self._limits = limits
        self._open: Iterator[bytes] | None = None
        self._reader = TarReader(_BlockReader(iter(())))
        self._at = -1
        self.disk_read = 0

    def next(self) -> Member | None:
        """Step to the next plain file."""
        if self._open is None:
            self.disk_read = 0
            self._open = unpacked_ahead(self._blocks, self._limits)(self._count)
            self._reader = TarReader(_BlockReader(self._open))
        member = self._reader.next()
        if member is not None:
            self._at = member.number
        return member

    def rest(self) -> Iterator[bytes]:
        """Yield the bytes of the member stepped to; its end comes early if another member is asked for meanwhile."""
        mine = self._at
        while self._at == mine and (piece := self._reader.read(PIECE)):
            yield piece

    def rewind(self) -> None:
        """Start again with the next step."""
        self._open = None
        self._at = -1

    def member_blocks(self, member: Member, *, is_last: bool) -> Blocks:
        """Give one member's bytes, from wherever in the archive the last reading stopped."""

        def blocks(took: Callable[[int], None]) -> Iterator[bytes]:
            if self._at >= member.number:
                self.rewind()
            before = 0 if self._open is None else self.disk_read
            while self._at < member.number:
                if self.next() is None:
                    raise EarlyEnd("is no longer in the archive")
            for piece in self.rest():
                took(self.disk_read - before)
                before = self.disk_read
                yield piece
            if is_last:
                self.rewind()

        return blocks

    def _count(self, size: int) -> None:
        self.disk_read += size


class _BlockReader:
    """Blocks of any size as a stream to read from."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self._block = memoryview(b"")

    def read(self, size: int) -> bytes:
        pieces: list[bytes] = []
        while size > 0 and (part := self._next(size)):
            pieces.append(bytes(part))
            size -= len(part)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def skip(self, size: int) -> bool:
        while size > 0 and (part := self._next(size)):
            size -= len(part)
        return size <= 0

    def _next(self, most: int) -> memoryview:
        if not self._block:
            self._block = memoryview(next(self._blocks, b""))
        part, self._block = self._block[:most], self._block[most:]
        return part


class _FileReader:
    """A file as a stream to read from, of which parts are passed over unread."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._end = file.seek(0, os.SEEK_END)
        file.seek(0)

    def read(self, size: int) -> bytes:
        return self._file.read(size)

    def skip(self, size: int) -> bool:
        return self._file.seek(size, os.SEEK_CUR) <= self._end

    def at(self) -> int:
        return self._file.tell()


def tar_sources(blocks: Blocks, name: str, limits: Limits) -> list[Source]:
    """Return a tar file's members, and a source that says why it gave no more.

    The archive is walked once to learn its members; their bytes are read in a second walk.
    """
    archive = _Archive(blocks, limits)
    listed: list[tuple[Member, Kind]] = []
    ends: list[int] = []
    note = None
    try:
        while member := archive.next():
            if len(listed) == limits.members:
                note = _too_many(limits)
                break
            _, head = peeked(unpacked(archive.rest(), limits))
            listed.append((member, kind_of(head, member.name)))
            ends.append(archive.disk_read)
    except (EarlyEnd, OSError) as end:
        note = str(end)
    archive.rewind()
    shares = [after - before for before, after in zip([0, *ends], ends, strict=False)]
    sources = [
        Source(
            f"{name}!{_printable(member.name)}",
            archive.member_blocks(member, is_last=member is listed[-1][0]),
            limits=limits,
            size=share or None,  # what was read ahead for another one is no share of this
            kind=kind,
        )
        for (member, kind), share in zip(listed, shares, strict=True)
    ]
    return _with_note(name, sources, note, limits)


def plain_tar_sources(opened: Callable[[], BinaryIO], name: str, limits: Limits) -> list[Source]:
    """Return the members of a tar file that is not compressed: each is a range of the file, whatever is read before it.

    See `tar_sources`.
    """
    sources: list[Source] = []
    note = None
    try:
        with opened() as file:
            stream = _FileReader(file)
            reader = TarReader(stream)
            while member := reader.next():
                if len(sources) == limits.members:
                    note = _too_many(limits)
                    break
                blocks = _range_blocks(opened, stream.at(), member.size)
                _, head = peeked(unpacked(iter((reader.read(SAMPLE),)), limits))
                kind = kind_of(head, member.name)
                sources.append(
                    Source(f"{name}!{_printable(member.name)}", blocks, limits=limits, size=member.size, kind=kind)
                )
    except (EarlyEnd, OSError) as end:
        note = str(end)
    return _with_note(name, sources, note, limits)


def _range_blocks(opened: Callable[[], BinaryIO], start: int, size: int) -> Blocks:
    """Give a part of a file's bytes."""

    def blocks(took: Callable[[int], None]) -> Iterator[bytes]:
        left = size
        with opened() as file:
            file.seek(start)
            while left > 0:
                piece = file.read(min(left, PIECE))
                if not piece:
                    raise EarlyEnd(CUT_OFF)
                took(len(piece))
                left -= len(piece)
                yield piece

    return blocks


def _too_many(limits: Limits) -> str:
    return f"holds more than {limits.members:,} files; the others were not read ({raised('members')})"


def zip_sources(opened: Callable[[], BinaryIO], name: str, limits: Limits) -> list[Source]:
    """Return a zip file's members, and a source that says why it gave no more."""
    try:
        with opened() as file:
            entries = zip_members(file)
    except EarlyEnd as end:
        return _with_note(name, [], str(end), limits)
    note = _too_many(limits) if len(entries) > limits.members else None
    sources = [
        Source(
            f"{name}!{_printable(member.name)}",
            _zip_blocks(opened, entry, limits),
            limits=limits,
            size=member.size,
            kind=_zip_member_kind(opened, entry, limits),
        )
        for entry, member in entries[: limits.members]
    ]
    return _with_note(name, sources, note, limits)


def _zip_member_kind(opened: Callable[[], BinaryIO], entry: zipfile.ZipInfo, limits: Limits) -> Kind:
    blocks = _zip_blocks(opened, entry, limits)(lambda _: None)
    return kind_of(peeked(unpacked(blocks, limits))[1], entry.filename)


def _zip_blocks(opened: Callable[[], BinaryIO], entry: zipfile.ZipInfo, limits: Limits) -> Blocks:
    def blocks(took: Callable[[int], None]) -> Iterator[bytes]:
        given = 0
        whole = max(1, entry.file_size)
        with opened() as file:
            for piece in read_zip_member(file, entry):
                before = given * entry.compress_size // whole
                given += len(piece)
                took(given * entry.compress_size // whole - before)
                yield piece
                if given > limits.decoded_floor and given > limits.ratio * max(1, entry.compress_size):
                    raise outgrown(limits.ratio)

    return blocks


def _with_note(name: str, sources: list[Source], note: str | None, limits: Limits) -> list[Source]:
    """Add a source without lines that says why an archive gave no more; every archive gives at least one source."""
    if note is None and not sources:
        note = "is an archive with no file in it"
    if note is not None:
        sources.append(passed_over(name, note, limits))
    return sources


def _printable(name: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in name)
