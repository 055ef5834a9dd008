"""A report put into its place whole or not at all."""

from __future__ import annotations

import errno
import os
import signal
import stat
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from nccl_logscan.errors import OutputError

REPORT = "the report"
EVENTS = "the events"
_SAID_BY_OUTPUT = frozenset({REPORT, EVENTS})
"""What `--output` gives the place of."""
_NAME_BYTES = 100
"""Of the target's name in its part's, which has to fit into the 255 bytes of a name as well."""
_placed: list[str] = []
_STREAMS = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}
_DESCRIPTORS = frozenset(("/dev/fd", "/proc/self/fd"))
_HINTS = {
    errno.ENOSPC: "free some space there, or choose another place with --output",
    errno.EDQUOT: "the quota there is used up; choose another place with --output",
    errno.EROFS: "the file system is read-only; choose another place with --output",
    errno.EACCES: "you may not write there; choose another place with --output",
    errno.EPERM: "you may not write there; choose another place with --output",
    errno.ENOENT: "create the folder first, or choose another place with --output",
    errno.ENOTDIR: "a part of the path is a file; choose another place with --output",
    errno.EISDIR: "it is a folder; name a file in it with --output",
    errno.ENAMETOOLONG: "choose a shorter name with --output",
}


def write_atomically(path: Path, content: str | bytes, *, what: str = REPORT) -> None:
    """Write a text as UTF-8, or bytes as they are, to `path`, whole or not at all.

    It is written beside the target, flushed to the disk and renamed over it, so a reader sees the earlier report or
    this one. An earlier file keeps its mode; a symbolic link keeps pointing where it does. Raises OutputError, with no
    new file left behind, if anything is in the way; `what` is what it then says of the content.
    """
    try:
        encoded = content.encode("utf-8") if isinstance(content, str) else content
        if (descriptor := descriptor_of(path)) is not None:
            with _opened(descriptor) as stream:
                stream.write(encoded)
            return
        target = _target_of(path)
        if target.exists() and not target.is_file():
            # A pipe or /dev/stdout: nothing to replace.
            target.write_bytes(encoded)
            return
        with _termination_waits(), _part_of(target) as part:
            part.write(encoded)
    except (OSError, RuntimeError, ValueError) as problem:
        raise _output_error(path, problem, what) from problem


@contextmanager
def written_whole(path: Path, *, what: str = REPORT) -> Iterator[BinaryIO]:
    """Give a file to write to, which takes its place at `path` when the block ends and is gone if the block raises.

    As `write_atomically`, for content that is too long to be held. An OSError of the block is an OutputError. SIGTERM
    and SIGHUP interrupt the block as Ctrl-C does.
    """
    try:
        target = _target_of(path)
    except (OSError, RuntimeError, ValueError) as problem:
        raise _output_error(path, problem, what) from problem
    try:
        with _termination_interrupts():
            if (descriptor := descriptor_of(path)) is not None:
                with _opened(descriptor) as stream:
                    yield stream
                return
            if target.exists() and not target.is_file():
                with target.open("wb") as stream:
                    yield stream
                return
            with _part_of(target) as part:
                yield part
    except OSError as problem:
        raise _output_error(path, problem, what) from problem


def placed() -> tuple[str, ...]:
    """Return the files that this process has put into their places, in order: what an interrupt has to say."""
    return tuple(_placed)


def descriptor_of(path: str | Path) -> int | None:
    """Return which of this process's open files a name stands for, as /dev/stdout does; None for any other.

    Such a file is written on with: what it holds already, by `>>`, is not ours to replace.
    """
    name = os.fspath(path)
    if name in _STREAMS:
        return _STREAMS[name]
    folder, _, number = name.rpartition("/")
    return int(number) if folder in _DESCRIPTORS and number.isascii() and number.isdigit() and len(number) < 9 else None


def _opened(descriptor: int) -> BinaryIO:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    return os.fdopen(os.dup(descriptor), "wb")


def _target_of(path: Path) -> Path:
    target = path.resolve()
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    return target


@contextmanager
def _part_of(target: Path) -> Iterator[BinaryIO]:
    """Give a new file beside the target that is renamed over it at the end."""
    mode = _mode_for(target)
    descriptor, name = _new_part(target)
    try:
        with os.fdopen(descriptor, "wb") as part:
            yield part
            part.flush()
            os.fchmod(part.fileno(), mode)
            os.fsync(part.fileno())
            if name is None:
                name = _part_name(target)
                _give_name(part.fileno(), name)
        Path(name).replace(target)
        _placed.append(str(target))
    except BaseException:
        # Also for KeyboardInterrupt.
        if name is not None:
            with suppress(OSError):
                Path(name).unlink()
        raise
    _sync_folder(target.parent)


def _new_part(target: Path) -> tuple[int, str | None]:
    """Make a file beside the target that nobody else has open, and return its descriptor and path.

    It has no name yet where the system makes such files, so that nothing of it is left behind however the process ends.
    """
    if hasattr(os, "O_TMPFILE") and Path("/proc/self/fd").exists():
        with suppress(OSError):  # some file systems make none; what else is wrong shows below
            return os.open(target.parent, os.O_RDWR | os.O_TMPFILE | os.O_CLOEXEC, 0o600), None
    name = _part_name(target)
    return _new(name), name


def _new(name: str) -> int:
    return os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def _give_name(descriptor: int, name: str) -> None:
    """Give a file that has no name one; where the file system cannot, a copy of it gets the name."""
    try:
        # Python follows the link to the file only where a folder is named; an absolute path has no use for it.
        os.link(f"/proc/self/fd/{descriptor}", name, src_dir_fd=descriptor, follow_symlinks=True)
    except OSError:
        with os.fdopen(_new(name), "wb") as copy:
            size, mode = os.fstat(descriptor).st_size, os.fstat(descriptor).st_mode
            done = 0
            while done < size:
                done += os.sendfile(copy.fileno(), descriptor, done, size - done)
            os.fchmod(copy.fileno(), stat.S_IMODE(mode))
            os.fsync(copy.fileno())


def _part_name(target: Path) -> str:
    # As `tempfile.mkstemp` makes one, which takes 2 ms to import.
    told = os.fsdecode(os.fsencode(target.name)[:_NAME_BYTES])
    return str(target.parent / f".{told}.{os.urandom(8).hex()}.part")


@contextmanager
def _termination_waits() -> Iterator[None]:
    """Put off the signals that would end the program without a chance to take the part away."""
    earlier = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, earlier)


@contextmanager
def _termination_interrupts() -> Iterator[None]:
    """Turn the signals that would end the program on the spot into an interrupt, which takes the part away."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ending = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) is signal.SIG_DFL]
    earlier = {number: signal.signal(number, signal.default_int_handler) for number in ending}
    try:
        yield
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)


def _mode_for(target: Path) -> int:
    """Return the mode the target has or, as open() would give a new file, what the umask leaves of rw for all."""
    if target.exists():
        if not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return stat.S_IMODE(target.stat().st_mode)
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask


def _sync_folder(folder: Path) -> None:
    # Some network file systems refuse to open or sync a folder; the report itself is on the disk by then.
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _output_error(path: Path, problem: Exception, what: str) -> OutputError:
    number = problem.errno if isinstance(problem, OSError) else None
    reason = os.strerror(number).lower() if number else str(problem).lower()
    hint = _HINTS.get(number or 0, "choose another place with --output") if what in _SAID_BY_OUTPUT else None
    return OutputError(f"cannot write {what} to {path}: {reason}", hint=hint)
