"""Archives → members, in order and without touching the disk: tar as a stream, zip by its directory.

Only plain files count: links, devices, sparse files and folders are passed over.
"""

from __future__ import annotations

import os
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from typing import BinaryIO, Protocol

from nccl_logscan.records import dataclass
from nccl_logscan.sources.ends import PIECE, EarlyEnd
from nccl_logscan.sources.feed import Feed
from nccl_logscan.sources.magics import looks_like_zip
from nccl_logscan.sources.streams import crc32, read_deflated

_BLOCK = 512
_LOCAL_HEADER = 30
_ENCRYPTED = 1
_NAME_LIMIT = 1 << 16
CUT_OFF = "ends in the middle of the archive; what it holds was read"
_PLAIN_FILES = frozenset({tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.CONTTYPE})
_LONG_NAME, _PAX_HEADER = tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE


class Reader(Protocol):
    """The bytes of a stream, in order."""

    def read(self, size: int, /) -> bytes:
        """Return up to `size` next bytes; fewer only at the end."""

    def skip(self, size: int, /) -> bool:
        """Pass over the next bytes; return whether they were all there."""


@dataclass(frozen=True, slots=True)
class Member:
    """A plain file of an archive: its number among all entries, its name, its length in bytes."""

    number: int
    name: str
    size: int


class TarReader:
    """Walks a tar stream once. After `next` gave a member, `read` gives its bytes; what is not read is skipped."""

    def __init__(self, stream: Reader) -> None:
        self._stream = stream
        self._left = 0
        self._padding = 0
        self._number = -1

    def next(self) -> Member | None:
        """Return the next plain file, or None at the end; EarlyEnd where the archive is cut off or damaged."""
        name: str | None = None
        while True:
            self._skip(self._left + self._padding)
            info = self._header()
            if info is None:
                return None
            self._left, self._padding = info.size, -info.size % _BLOCK
            if info.type in {_LONG_NAME, _PAX_HEADER}:
                name = self._long_name(info.type) or name
                continue
            self._number += 1
            if info.type in _PLAIN_FILES and not info.name.endswith("/"):
                return Member(self._number, name or info.name, info.size)
            if info.type in {tarfile.LNKTYPE, tarfile.SYMTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE}:
                self._left = self._padding = 0
            name = None

    def read(self, size: int) -> bytes:
        """Return up to `size` next bytes of the member; empty at its end."""
        wanted = min(size, self._left)
        piece = self._stream.read(wanted) if wanted else b""
        if wanted and not piece:
            raise EarlyEnd(CUT_OFF)
        self._left -= len(piece)
        return piece

    def _header(self) -> tarfile.TarInfo | None:
        block = self._stream.read(_BLOCK)
        if not block or not block.strip(b"\0"):
            return None
        try:
            return tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        except (tarfile.TarError, ValueError) as error:
            raise EarlyEnd(f"is damaged or cut off ({error}); the members before that were read") from error

    def _long_name(self, kind: bytes) -> str | None:
        if self._left > _NAME_LIMIT:
            return None
        block = self.read(self._left)
        if kind == _LONG_NAME:
            return block.rstrip(b"\0").decode("utf-8", "surrogateescape")
        return _pax_path(block)

    def _skip(self, size: int) -> None:
        if not self._stream.skip(size):
            raise EarlyEnd(CUT_OFF)
        self._left = self._padding = 0


def _pax_path(block: bytes) -> str | None:
    """Return the path of a pax header, whose records are `LENGTH KEY=VALUE<LF>`."""
    for record in block.split(b"\n"):
        key, _, value = record.partition(b" ")[2].partition(b"=")
        if key == b"path":
            return value.decode("utf-8", "surrogateescape")
    return None


def zip_members(file: BinaryIO) -> list[tuple[zipfile.ZipInfo, Member]]:
    """Return the plain files of a zip archive; EarlyEnd if its directory cannot be read."""
    try:
        with zipfile.ZipFile(file) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise EarlyEnd(f"is a damaged or cut off zip archive ({error})") from error
    return [
        (entry, Member(number, entry.filename, entry.compress_size))
        for number, entry in enumerate(entries)
        if not entry.is_dir() and not stat.S_ISLNK(entry.external_attr >> 16)
    ]


def read_zip_member(file: BinaryIO, entry: zipfile.ZipInfo) -> Iterator[bytes]:
    """Yield one member's bytes; EarlyEnd where it is damaged, encrypted or packed in a way zip readers lack."""
    try:
        if entry.compress_type == zipfile.ZIP_DEFLATED and not entry.flag_bits & _ENCRYPTED:
            yield from _inflated(file, entry)
            return
        with zipfile.ZipFile(file) as archive, archive.open(entry) as member:
            while piece := member.read(PIECE):
                yield piece
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, NotImplementedError, RuntimeError) as error:
        raise EarlyEnd(f"cannot be unpacked further ({error})") from error


def _inflated(file: BinaryIO, entry: zipfile.ZipInfo) -> Iterator[bytes]:
    """Yield a deflated member at the speed of isal, without reading the archive's directory again for each."""
    file.seek(entry.header_offset)
    header = file.read(_LOCAL_HEADER)
    if len(header) < _LOCAL_HEADER or not looks_like_zip(header):
        raise zipfile.BadZipFile("no member begins where the directory says")
    # APPNOTE.TXT 4.3.7: the lengths of the name and of the extra field, which may differ from the directory's.
    file.seek(sum(struct.unpack("<HH", header[26:30])), os.SEEK_CUR)
    check = 0
    for piece in read_deflated(Feed(_range_of(file, entry.compress_size))):
        check = crc32(piece, check)
        yield piece
    if check != entry.CRC:
        raise zipfile.BadZipFile("its check sum is another")


def _range_of(file: BinaryIO, size: int) -> Iterator[bytes]:
    while size > 0 and (block := file.read(min(size, PIECE))):
        size -= len(block)
        yield block
