"""Paths as a user gives them → Sources: files, folders, globs, archives and standard input."""

from __future__ import annotations

import errno
import glob
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Protocol

from nccl_logscan.errors import InputError
from nccl_logscan.records import dataclass
from nccl_logscan.sources.ahead import Blocks
from nccl_logscan.sources.ends import PIECE
from nccl_logscan.sources.kind import NO_LINES, Kind, kind_of
from nccl_logscan.sources.limits import Limits
from nccl_logscan.sources.magics import compression_of, looks_like_tar, looks_like_zip
from nccl_logscan.sources.natural import natural
from nccl_logscan.sources.own_reports import is_own_report
from nccl_logscan.sources.passed_over import passed_over
from nccl_logscan.sources.source import DEFAULTS, SAMPLE, Source, peeked, reason_of, unpacked
from nccl_logscan.sources.text import is_utf8_text
from nccl_logscan.sources.urls import is_url

STDIN = "-"

# --- The places bytes come from ---------------------------------------------------------------------------


def _blocks_of(file: BinaryIO, took: Callable[[int], None]) -> Iterator[bytes]:
    while block := _read(file):
        took(len(block))
        yield block


def _read(file: BinaryIO) -> bytes:
    # A pipe gives what it has: waiting for a full mebibyte would hold back the lines of a slow job.
    read1: Callable[[int], bytes] = getattr(file, "read1", file.read)
    return read1(PIECE)


def file_blocks(path: Path) -> Blocks:
    """Give a file's bytes, as often as they are asked for."""

    def blocks(took: Callable[[int], None]) -> Iterator[bytes]:
        with path.open("rb") as file:
            yield from _blocks_of(file, took)

    return blocks


def _stream_blocks(file: BinaryIO) -> Blocks:
    """Give a pipe's bytes: what was read is gone, so only the first reading gives any."""

    def blocks(took: Callable[[int], None]) -> Iterator[bytes]:
        yield from _blocks_of(file, took)

    return blocks


# --- From paths to sources --------------------------------------------------------------------------------


def open_sources(paths: Sequence[str], *, limits: Limits = DEFAULTS, stdin: BinaryIO | None = None) -> list[Source]:
    """Return the inputs that `paths` name, in the order given and each once.

    A path is a file, a folder (all files in it, at any depth, rank2 before rank10; hidden ones are passed over), a
    glob, a URL of any of these, or `-` for `stdin`. An archive gives one source a member. Reports of this program
    in a folder or a glob are passed over. Raises InputError if a path names nothing, cannot be read, or is a folder
    with no file in it.
    """
    sources: list[Source] = []
    seen: set[tuple[int, int] | tuple[str, str]] = set()
    for given in paths:
        if given == STDIN:
            if stdin is not None and not any(source.name == STDIN for source in sources):
                sources.extend(_stream_sources(stdin, limits))
            continue
        if is_url(given):
            from nccl_logscan.sources.remote import remote_files  # noqa: PLC0415 - for those who have a URL

            for file in remote_files(given):
                if file.identity not in seen:
                    seen.add(file.identity)
                    sources.extend(sources_elsewhere(file, limits))
            continue
        for path, name in files_of(given):
            identity = _identity(path, given)
            if identity not in seen:
                seen.add(identity)
                sources.extend(_sources_of(path, name, limits))
    return sources


def files_of(given: str) -> Iterator[tuple[Path, str]]:
    """Yield each file that a path names, with its name as the user would write it; InputError where there is none.

    Earlier reports of this program are passed over in folders and patterns.
    """
    reports, others = 0, 0
    for path, name in _named(given):
        if name != given and is_own_report(path):
            reports += 1
        else:
            others += 1
            yield path, name
    if reports and not others:
        raise InputError(
            f"{given} has reports of this program in it and nothing else",
            hint="give the folder that the job wrote its logs to",
        )


def _named(given: str) -> Iterator[tuple[Path, str]]:
    if not given:
        raise InputError("the name of an input is empty", hint="is a variable not set? the folder here is .")
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
    """Yield the plain files below a folder. Links are followed, but for those that `_leads_astray` tells of, which are
    yielded themselves; each folder is entered once, so no loop matters.
    """
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
        yield from (here / name for name in folders if _leads_astray(here / name))
        folders[:] = [name for name in folders if not _leads_astray(here / name)]
        yield from (here / name for name in files if not name.startswith(".") and (here / name).is_file())


def _leads_astray(path: Path) -> bool:
    """Whether a path is a link that somebody else made to what is not theirs: to have us show what only we may read."""
    if not path.is_symlink():
        return False
    try:
        maker, owner = path.lstat().st_uid, path.stat().st_uid
    except OSError:
        return False
    return maker not in {owner, os.geteuid(), 0}


def _identity(path: Path, given: str) -> tuple[int, int]:
    try:
        state = path.stat()
    except OSError as error:
        raise _unreadable(given, error) from error
    return state.st_dev, state.st_ino


def _sources_of(path: Path, name: str, limits: Limits) -> list[Source]:
    if _leads_astray(path):
        why = (
            "is another user's link to what is not theirs, and was not followed; name what it leads to, to have it read"
        )
        return [passed_over(name, why, limits)]
    try:
        state = path.stat()
        if not stat.S_ISREG(state.st_mode):
            return _stream_sources(path.open("rb"), limits, name)
        with path.open("rb") as file:
            start = file.read(SAMPLE)
    except OSError as error:
        raise _unreadable(name, error) from error
    if looks_like_zip(start):
        from nccl_logscan.sources.members import zip_sources  # noqa: PLC0415 - 10 ms, for those who have an archive

        return zip_sources(lambda: path.open("rb"), name, limits)
    if looks_like_tar(start):
        from nccl_logscan.sources.members import plain_tar_sources  # noqa: PLC0415 - as above

        return plain_tar_sources(lambda: path.open("rb"), name, limits)
    return _told_by(start, _Input(name, file_blocks(path), state.st_size, path), limits)


class FileElsewhere(Protocol):
    """A file that this process cannot open by a path; see `RemoteFile`."""

    @property
    def name(self) -> str:
        """The name that is shown."""

    @property
    def size(self) -> int | None:
        """Its bytes, where that is known."""

    @property
    def is_near(self) -> bool:
        """Whether ranges of it are read about as fast as the whole."""

    def head(self, size: int) -> bytes:
        """Return the first bytes."""

    def open(self, *, seekable: bool = False) -> BinaryIO:
        """Open it."""

    def blocks(self) -> Blocks:
        """Give its bytes as often as they are asked for."""


def sources_elsewhere(file: FileElsewhere, limits: Limits) -> list[Source]:
    """Return the sources of a file that lies elsewhere: itself, or the members of an archive."""
    start = file.head(SAMPLE)
    if looks_like_zip(start):
        from nccl_logscan.sources.members import zip_sources  # noqa: PLC0415 - as above

        return zip_sources(lambda: file.open(seekable=True), file.name, limits)
    if file.is_near and looks_like_tar(start):
        from nccl_logscan.sources.members import plain_tar_sources  # noqa: PLC0415 - as above

        return plain_tar_sources(lambda: file.open(seekable=True), file.name, limits)
    return _told_by(start, _Input(file.name, file.blocks(), file.size), limits)


@dataclass(frozen=True, slots=True)
class _Input:
    """A file that is read from its start: its name, bytes and length, and where it lies if that is here."""

    name: str
    blocks: Blocks
    size: int | None
    path: Path | None = None


def _told_by(start: bytes, given: _Input, limits: Limits) -> list[Source]:
    """Return the sources of a file by what it begins with."""
    _, head = peeked(unpacked(iter((start,)), limits))
    if len(head) < len(start) == SAMPLE and compression_of(start):
        # A block of bz2 gives nothing before all of its 900 kB are there.
        _, head = peeked(unpacked(given.blocks(lambda _: None), limits))
    if looks_like_tar(head):
        from nccl_logscan.sources.members import tar_sources  # noqa: PLC0415 - as above

        return tar_sources(given.blocks, given.name, limits)
    kind = kind_of(head, given.name)
    is_plain = compression_of(start) is None and kind not in NO_LINES and is_utf8_text(head)
    path = given.path if is_plain else None
    return [Source(given.name, given.blocks, limits=limits, size=given.size, kind=kind, path=path)]


def kind_of_start(start: bytes, name: str, limits: Limits) -> tuple[Kind | None, bool]:
    """Return a file's kind by its first `SAMPLE` bytes, and whether it is text that is neither packed nor transcoded.

    The kind is None where it is an archive, or packed so that these bytes do not tell.
    """
    _, head = peeked(unpacked(iter((start,)), limits))
    is_packed = compression_of(start) is not None
    if looks_like_zip(start) or looks_like_tar(head) or (is_packed and len(head) < len(start) == SAMPLE):
        return None, False
    kind = kind_of(head, name)
    return kind, not is_packed and kind not in NO_LINES and is_utf8_text(head)


def _stream_sources(file: BinaryIO, limits: Limits, name: str = STDIN) -> list[Source]:
    return [Source(name, _stream_blocks(file), limits=limits, size=None, is_live=True)]


def _unreadable(name: str, error: OSError) -> InputError:
    return InputError(
        f"{name} cannot be read: {reason_of(error)}", hint=f"check who may read it (ls -l {name}), or scan a copy"
    )
