"""Paths as a user gives them → Sources: files, folders, globs, archives and standard input."""

from __future__ import annotations

import errno
import glob
import os
import re
import stat
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from nccl_logscan.errors import InputError
from nccl_logscan.sources.archive import (
    Member,
    TarReader,
    looks_like_tar,
    looks_like_zip,
    read_zip_member,
    zip_members,
)
from nccl_logscan.sources.compressed import PIECE, EarlyEnd, compression_of, decompress
from nccl_logscan.sources.kind import Kind, kind_of
from nccl_logscan.sources.limits import Limits
from nccl_logscan.sources.raw import RawLine
from nccl_logscan.sources.text import LineCutter, as_utf8, is_binary

STDIN = "-"
DEFAULTS = Limits()
_SAMPLE = 1 << 16

Blocks = Callable[[Callable[[int], None]], Iterator[bytes]]
"""Gives an input's bytes, from its start, and calls back with how many bytes each step took from the disk."""


class Source:
    """One input. Its counters hold for the latest `lines()` or `content()`, and are true while that is being read.

    `name`: as the user gave it. `size`: bytes on disk, of an archive's member its share of them; None if not known.
    `note`: one clause that follows the name, where the input was skipped or ended early; else None.
    """

    def __init__(
        self, name: str, blocks: Blocks, *, limits: Limits, size: int | None, kind: Kind | None = None
    ) -> None:
        self.name = name
        self.size = size
        self.note: str | None = None
        self.bytes_read = 0
        self.disk_read = 0
        self._blocks = blocks
        self._limits = limits
        self._kind = kind
        self._begun: Iterator[bytes] | None = None
        self._cutter = LineCutter(name, limits)

    @property
    def kind(self) -> Kind:
        """What the input holds. Asking for the kind of standard input waits for its first bytes."""
        if self._kind is None:
            self._begun, head = _peeked(self._unpacked())
            self._kind = kind_of(head, self.name)
        return self._kind

    @property
    def lines_read(self) -> int:
        """Lines given so far."""
        return self._cutter.lines

    @property
    def replaced(self) -> int:
        """Bytes that were no UTF-8 or were NUL."""
        return self._cutter.replaced

    @property
    def cut_lines(self) -> int:
        """Lines that were longer than the limit."""
        return self._cutter.cut_lines

    def lines(self) -> Iterator[RawLine]:
        """Yield the input's lines. Never raises: whatever ends the reading is told in `note`."""
        self._begin()
        try:
            for block in as_utf8(self._text()):
                yield from self._cutter.feed(block)
        except EarlyEnd as end:
            self.note = str(end)
        except OSError as error:
            self.note = f"could not be read to its end: {_reason(error)}"
        yield from self._cutter.finish()
        if self.note is None and self.bytes_read == 0:
            self.note = "is empty"

    def content(self) -> bytes:
        """Return all bytes of the input, up to `Limits.dump_bytes` of them: what a recorder's dump is read from.

        Never raises: what was read is returned, and whatever ended the reading early is told in `note`. A pipe's bytes
        are given once, by this or by `lines()`.
        """
        self._begin()
        pieces: list[bytes] = []
        try:
            for block in self._opened()[0]:
                piece = block[: self._limits.dump_bytes - self.bytes_read]
                pieces.append(piece)
                self.bytes_read += len(piece)
                if len(piece) < len(block):
                    raise EarlyEnd(f"is longer than the {self._limits.dump_bytes} bytes that are read of one dump")
        except EarlyEnd as end:
            self.note = str(end)
        except OSError as error:
            self.note = f"could not be read to its end: {_reason(error)}"
        if self.note is None and self.bytes_read == 0:
            self.note = "is empty"
        return b"".join(pieces)

    def _begin(self) -> None:
        self.note = None
        self.bytes_read = self.disk_read = 0
        self._cutter = LineCutter(self.name, self._limits)

    def _opened(self) -> tuple[Iterator[bytes], bytes]:
        """Return the unpacked bytes from the start, those read to learn the kind of a pipe included, and the first."""
        begun, self._begun = self._begun, None
        blocks, head = _peeked(begun if begun is not None else self._unpacked())
        if self._kind is None:
            self._kind = kind_of(head, self.name)
        return blocks, head

    def _text(self) -> Iterator[bytes]:
        blocks, head = self._opened()
        if self._kind is Kind.FLIGHT_RECORDER:
            self.bytes_read = len(head)
            return
        _refuse_what_is_no_text(head)
        for block in blocks:
            self.bytes_read += len(block)
            yield block

    def _unpacked(self) -> Iterator[bytes]:
        return unpacked(self._blocks(self._count_disk), self._limits)

    def _count_disk(self, size: int) -> None:
        self.disk_read += size


def _refuse_what_is_no_text(head: bytes) -> None:
    if looks_like_tar(head) or looks_like_zip(head):
        raise EarlyEnd("is an archive where none is opened (in an archive, or in a pipe) and was skipped")
    if compression_of(head):
        raise EarlyEnd("is compressed more than once and was skipped")
    if is_binary(head):
        raise EarlyEnd("is not text and was skipped")


def unpacked(blocks: Iterator[bytes], limits: Limits) -> Iterator[bytes]:
    """Yield the decompressed bytes of a file, or the bytes themselves where they are not compressed."""
    for _ in range(limits.compressions):
        blocks, head = _peeked(blocks, 6)
        name = compression_of(head)
        if name is None:
            break
        blocks = decompress(name, blocks, limits)
    yield from blocks


def _peeked(blocks: Iterator[bytes], wanted: int = _SAMPLE) -> tuple[Iterator[bytes], bytes]:
    """Return the same blocks again and a copy of their first bytes; an early end comes when the blocks are read."""
    seen: list[bytes] = []
    size = 0
    end: list[Exception] = []
    while size < wanted:
        try:
            block = next(blocks, None)
        except (EarlyEnd, OSError) as error:
            end.append(error)
            break
        if block is None:
            break
        seen.append(block)
        size += len(block)
    return chain(seen, _raising(end), blocks), b"".join(seen)[: max(wanted, _SAMPLE)]


def _raising(errors: Iterable[Exception]) -> Iterator[bytes]:
    for error in errors:
        raise error
    yield from ()


# --- The places bytes come from ---------------------------------------------------------------------------


def _blocks_of(file: BinaryIO, took: Callable[[int], None]) -> Iterator[bytes]:
    while block := _read(file):
        took(len(block))
        yield block


def _read(file: BinaryIO) -> bytes:
    # A pipe gives what it has: waiting for a full mebibyte would hold back the lines of a slow job.
    read1: Callable[[int], bytes] = getattr(file, "read1", file.read)
    return read1(PIECE)


def _file_blocks(path: Path) -> Blocks:
    def blocks(took: Callable[[int], None]) -> Iterator[bytes]:
        with path.open("rb") as file:
            yield from _blocks_of(file, took)

    return blocks


def _stream_blocks(file: BinaryIO) -> Blocks:
    """Give a pipe's bytes: what was read is gone, so only the first reading gives any."""

    def blocks(took: Callable[[int], None]) -> Iterator[bytes]:
        yield from _blocks_of(file, took)

    return blocks


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


# --- From paths to sources --------------------------------------------------------------------------------


def open_sources(paths: Sequence[str], *, limits: Limits = DEFAULTS, stdin: BinaryIO | None = None) -> list[Source]:
    """Return the inputs that `paths` name, in the order given and each once.

    A path is a file, a folder (all files in it, at any depth, rank2 before rank10; hidden ones are passed over), a
    glob, or `-` for `stdin`. An archive gives one source a member. Raises InputError if a path names nothing, cannot
    be read, or is a folder with no file in it.
    """
    sources: list[Source] = []
    seen: set[tuple[int, int]] = set()
    for given in paths:
        if given == STDIN:
            if stdin is not None and not any(source.name == STDIN for source in sources):
                sources.extend(_stream_sources(stdin, limits))
            continue
        for path, name in _files_of(given):
            identity = _identity(path, given)
            if identity not in seen:
                seen.add(identity)
                sources.extend(_sources_of(path, name, limits))
    return sources


def _files_of(given: str) -> Iterator[tuple[Path, str]]:
    """Yield each file that a path names, with its name as the user would write it."""
    path = Path(given)
    if not _exists(path, given) and glob.has_magic(given):
        matches = sorted(glob.glob(given, recursive=True), key=natural)  # noqa: PTH207 - keeps the names as given
        if not matches:
            raise InputError(
                f"no file matches {given}",
                hint="check the pattern, and quote it only if it should not be expanded by your shell",
            )
        for match in matches:
            yield from _files_below(Path(match), match, is_given=False)
        return
    yield from _files_below(path, given, is_given=True)


def _exists(path: Path, given: str) -> bool:
    try:
        path.stat()
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise InputError(
                f"{given} is a loop of links", hint="give the folder or the file that the link should lead to"
            ) from error
        if error.errno == errno.EACCES:
            raise _unreadable(given, error) from error
        if not glob.has_magic(given):
            raise InputError(f"{given} does not exist", hint="check the path; use - for standard input") from error
        return False
    except ValueError as error:
        raise InputError(f"{given!r} is no path", hint="check the path; use - for standard input") from error
    return True


def _files_below(path: Path, given: str, *, is_given: bool) -> Iterator[tuple[Path, str]]:
    if not path.is_dir():
        yield path, given
        return
    found = [(member, str(Path(given) / member.relative_to(path))) for member in _walk(path, given)]
    if not found and is_given:
        raise InputError(
            f"{given} is a folder with no file in it", hint="give the folder that the job wrote its logs to"
        )
    yield from sorted(found, key=lambda pair: natural(pair[1]))


def _walk(top: Path, given: str) -> Iterator[Path]:
    """Yield the plain files below a folder. Links are followed; each folder is entered once, so no loop matters."""
    entered: set[tuple[int, int]] = set()

    def refuse(error: OSError) -> None:
        if error.filename == str(top):
            raise _unreadable(given, error) from error

    for folder, folders, files in os.walk(top, followlinks=True, onerror=refuse):
        here = Path(folder)
        state = here.stat()
        if (state.st_dev, state.st_ino) in entered:
            folders.clear()
            continue
        entered.add((state.st_dev, state.st_ino))
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (here / name for name in files if not name.startswith(".") and (here / name).is_file())


def natural(name: str) -> list[tuple[int, int, str]]:
    """Return a key that sorts rank2 before rank10."""
    return [
        (0, int(part), part) if part.isdecimal() and part.isascii() else (1, 0, part)
        for part in re.split(r"([0-9]{1,18})", name)
        if part
    ]


def _identity(path: Path, given: str) -> tuple[int, int]:
    try:
        state = path.stat()
    except OSError as error:
        raise _unreadable(given, error) from error
    return state.st_dev, state.st_ino


def _sources_of(path: Path, name: str, limits: Limits) -> list[Source]:
    try:
        state = path.stat()
        if not stat.S_ISREG(state.st_mode):
            return _stream_sources(path.open("rb"), limits, name)
        with path.open("rb") as file:
            start = file.read(_SAMPLE)
    except OSError as error:
        raise _unreadable(name, error) from error
    if looks_like_zip(start):
        return _zip_sources(path, name, limits)
    blocks = _file_blocks(path)
    _, head = _peeked(unpacked(iter((start,)), limits))
    if len(head) < len(start) == _SAMPLE and compression_of(start):
        # A block of bz2 gives nothing before all of its 900 kB are there.
        _, head = _peeked(unpacked(blocks(lambda _: None), limits))
    if looks_like_tar(head):
        return _tar_sources(blocks, name, limits)
    return [Source(name, blocks, limits=limits, size=state.st_size, kind=kind_of(head, name))]


def _stream_sources(file: BinaryIO, limits: Limits, name: str = STDIN) -> list[Source]:
    return [Source(name, _stream_blocks(file), limits=limits, size=None)]


def _tar_sources(blocks: Blocks, name: str, limits: Limits) -> list[Source]:
    """Walk the archive once to learn its members; their bytes are read in a second walk."""
    archive = _Archive(blocks, limits)
    listed: list[tuple[Member, Kind]] = []
    ends: list[int] = []
    note = None
    try:
        while member := archive.next():
            if len(listed) == limits.members:
                note = f"holds more than {limits.members} files; the others were not read"
                break
            _, head = _peeked(unpacked(archive.rest(), limits))
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


def _zip_sources(path: Path, name: str, limits: Limits) -> list[Source]:
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
    return kind_of(_peeked(unpacked(blocks, limits))[1], entry.filename)


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
        yield from _raising([EarlyEnd(note)])

    return blocks


def _printable(name: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in name)


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def _unreadable(name: str, error: OSError) -> InputError:
    return InputError(
        f"{name} cannot be read: {_reason(error)}", hint=f"check who may read it (ls -l {name}), or scan a copy"
    )
