"""Archives → Sources: one for each member."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from nccl_logscan.sources.ahead import Blocks
from nccl_logscan.sources.archive import (
    Member,
    TarReader,
    read_zip_member,
    zip_members,
)
from nccl_logscan.sources.ends import PIECE, EarlyEnd
from nccl_logscan.sources.kind import Kind, kind_of
from nccl_logscan.sources.limits import Limits
from nccl_logscan.sources.source import Source, peeked, raising, unpacked


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
            self._open = unpacked(self._blocks(self._count), self._limits)
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
        while size > 0:
            if not self._block:
                self._block = memoryview(next(self._blocks, b""))
                if not self._block:
                    break
            pieces.append(bytes(self._block[:size]))
            size -= len(pieces[-1])
            self._block = self._block[len(pieces[-1]) :]
        return b"".join(pieces)


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
                note = f"holds more than {limits.members} files; the others were not read"
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
            size=share,
            kind=kind,
        )
        for (member, kind), share in zip(listed, shares, strict=True)
    ]
    return _with_note(name, sources, note, limits)


def zip_sources(path: Path, name: str, limits: Limits) -> list[Source]:
    """Return a zip file's members, and a source that says why it gave no more."""
    try:
        with path.open("rb") as file:
            entries = zip_members(file)
    except EarlyEnd as end:
        return _with_note(name, [], str(end), limits)
    note = (
        f"holds more than {limits.members} files; the others were not read" if len(entries) > limits.members else None
    )
    sources = [
        Source(
            f"{name}!{_printable(member.name)}",
            _zip_blocks(path, entry, limits),
            limits=limits,
            size=member.size,
            kind=_zip_member_kind(path, entry, limits),
        )
        for entry, member in entries[: limits.members]
    ]
    return _with_note(name, sources, note, limits)


def _zip_member_kind(path: Path, entry: zipfile.ZipInfo, limits: Limits) -> Kind:
    blocks = _zip_blocks(path, entry, limits)(lambda _: None)
    return kind_of(peeked(unpacked(blocks, limits))[1], entry.filename)


def _zip_blocks(path: Path, entry: zipfile.ZipInfo, limits: Limits) -> Blocks:
    def blocks(took: Callable[[int], None]) -> Iterator[bytes]:
        given = 0
        whole = max(1, entry.file_size)
        with path.open("rb") as file:
            for piece in read_zip_member(file, entry):
                before = given * entry.compress_size // whole
                given += len(piece)
                took(given * entry.compress_size // whole - before)
                yield piece
                if given > limits.decoded_floor and given > limits.ratio * max(1, entry.compress_size):
                    raise EarlyEnd(f"grows to more than {limits.ratio} times its size and was read up to that")

    return blocks


def _with_note(name: str, sources: list[Source], note: str | None, limits: Limits) -> list[Source]:
    """Add a source without lines that says why an archive gave no more; every archive gives at least one source."""
    if note is None and not sources:
        note = "is an archive with no file in it"
    if note is not None:
        sources.append(Source(name, _ending(note), limits=limits, size=None, kind=Kind.TEXT))
    return sources


def _ending(note: str) -> Blocks:
    def blocks(took: Callable[[int], None]) -> Iterator[bytes]:  # noqa: ARG001 - takes nothing from the disk
        yield from raising([EarlyEnd(note)])

    return blocks


def _printable(name: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in name)
