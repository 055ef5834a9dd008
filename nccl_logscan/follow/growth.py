"""Bytes that come: of a file that grows, is renamed and made anew, truncated or deleted, and of a pipe.

What a log's rotation does: logrotate, Docker, the kubelet and `RotatingFileHandler` rename the file and make a new one
of its name; logrotate's `copytruncate` copies it and cuts it to nothing. Neither tells the reader.
"""

from __future__ import annotations

import errno
import os
import select
from contextlib import suppress
from stat import S_ISDIR, S_ISREG
from typing import Protocol

_FINGERPRINT = 64
_OPENING = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC  # a named pipe without a writer would hold up a plain open

Identity = tuple[int, int]
"""Device and inode: the same file, whatever its name is now."""


class Growth(Protocol):
    """Gives the bytes that have come since they were last asked for."""

    @property
    def rewritten(self) -> int:
        """How often the bytes began anew: the file was replaced or truncated."""

    @property
    def trouble(self) -> str | None:
        """Why nothing can be read at present; None where it can."""

    @property
    def ended(self) -> bool:
        """Whether nothing more can come."""

    @property
    def identities(self) -> tuple[Identity, ...]:
        """The files that are open."""

    @property
    def waits_on(self) -> int | None:
        """A descriptor that becomes readable when bytes come; None where one has to look."""

    @property
    def is_file(self) -> bool:
        """Whether its bytes can be read once more, by its name."""

    def look(self) -> None:
        """See what has become of the file; then `read` as long as it gives bytes."""

    def read(self, most: int) -> bytes:
        """Return up to so many further bytes; none where there are none now. Never raises, never waits."""

    def close(self) -> None:
        """Let go of what it opened."""


class FileGrowth:
    """A file by its name. What stood in a file that was renamed or deleted is read to its end before the new one.

    `look` opens the file by its name each time: NFS asks its server what became of a file when it is opened, and of an
    open one only after a while (nfs(5), "close-to-open"). Where `renews` is False, the first file of the name is all.
    """

    ended = False
    waits_on = None

    def __init__(self, path: str) -> None:
        self.renews = True
        self.rewritten = 0
        self.trouble: str | None = None
        self._path = path
        self._file = -1
        self._identity: Identity | None = None
        self._is_regular = True
        self._offset = 0
        self._print = b""
        self._next: tuple[int, os.stat_result] | None = None
        self._last: tuple[int, Identity] | None = None
        self._may_hold = False

    @property
    def identities(self) -> tuple[Identity, ...]:
        """The file that is read, and the one before it until `release`."""
        last = (self._last[1],) if self._last else ()
        return (self._identity, *last) if self._identity else last

    @property
    def is_file(self) -> bool:
        """Whether it is a plain file, and not a named pipe."""
        return self._is_regular

    def look(self) -> None:
        """Open what the name leads to now, and compare it with what is being read."""
        self._drop_next()
        try:
            file = os.open(self._path, _OPENING)
        except (OSError, ValueError) as error:
            self._refused(error)
            return
        state = os.fstat(file)
        if S_ISDIR(state.st_mode):
            os.close(file)
            self.trouble = "is a folder now"
            return
        self.trouble = None
        if (state.st_dev, state.st_ino) != self._identity:
            if self._identity is not None and not self.renews:
                os.close(file)
                self._may_hold = True
                return
            self._next = (file, state)
            self._may_hold = True
            return
        os.close(file)
        self._may_hold = not self._is_regular or state.st_size != self._offset
        if self._is_regular and state.st_size < self._offset and self.renews:
            self._begin_anew()

    def read(self, most: int) -> bytes:
        """Return further bytes of the file that is open, then of the one that took its name."""
        while self._may_hold:
            piece = self._read_open(most) if self._file >= 0 else b""
            if piece:
                return piece
            if self._next is None:
                self._may_hold = False
            else:
                self._switch(*self._next)
        return b""

    def release(self) -> None:
        """Let go of the file before the present one; until then its inode can't become another file's."""
        if self._last is not None:
            os.close(self._last[0])
            self._last = None

    def close(self) -> None:
        """Let go of all files; what was open can't be read further."""
        self._drop_next()
        self.release()
        if self._file >= 0:
            os.close(self._file)
        self._file, self._may_hold = -1, False

    def _refused(self, error: OSError | ValueError) -> None:
        """Without its name a file may still be written to, by whoever has it open."""
        gone = isinstance(error, OSError) and error.errno in {errno.ENOENT, errno.ENOTDIR}
        reason = (error.strerror or str(error)).lower() if isinstance(error, OSError) else "is no path"
        self.trouble = "is not there" if gone else f"cannot be read: {reason}"
        self._may_hold = self._file >= 0

    def _read_open(self, most: int) -> bytes:
        try:
            if not self._is_regular:
                return os.read(self._file, most)
            return self._read_on(most)
        except BlockingIOError:
            return b""
        except OSError as error:
            # Of a file that its server has lost (ESTALE) nothing more will come; by its name it may be there again.
            self.trouble = f"cannot be read: {(error.strerror or str(error)).lower()}"
            if error.errno == errno.ESTALE:
                os.close(self._file)
                self._file, self._identity = -1, None
            self._may_hold = False
            return b""

    def _read_on(self, most: int) -> bytes:
        """Read from a little before where reading ended: other bytes there than then tell a file that was rewritten."""
        known = len(self._print)
        data = os.pread(self._file, known + most, self._offset - known)
        if data[:known] != self._print:
            self._begin_anew()
            known, data = 0, os.pread(self._file, most, 0)
        piece = data[known:]
        self._offset += len(piece)
        self._print = data[-_FINGERPRINT:]
        if piece and not piece.strip(b"\0"):
            self._pass_hole()
        return piece

    def _pass_hole(self) -> None:
        """Go to where data begins: a writer that goes on at its old place in a truncated file leaves a hole before."""
        with suppress(OSError):
            self._offset = max(self._offset, os.lseek(self._file, self._offset, os.SEEK_DATA))
            self._print = b""

    def _begin_anew(self) -> None:
        self._offset, self._print = 0, b""
        self.rewritten += 1
        self._may_hold = True

    def _switch(self, file: int, state: os.stat_result) -> None:
        self.release()
        if self._file >= 0 and self._identity is not None:
            self._last = (self._file, self._identity)
            self.rewritten += 1
        self._next = None
        self._file, self._identity = file, (state.st_dev, state.st_ino)
        self._is_regular = S_ISREG(state.st_mode)
        self._offset, self._print = 0, b""

    def _drop_next(self) -> None:
        if self._next is not None:
            os.close(self._next[0])
            self._next = None


class PipeGrowth:
    """A pipe, most often standard input; of a file that was redirected into it what is there."""

    rewritten = 0
    trouble = None
    identities = ()
    is_file = False

    def __init__(self, file: int) -> None:
        self.ended = False
        self._file = file

    @property
    def waits_on(self) -> int | None:
        """The pipe, until its end."""
        return None if self.ended else self._file

    def look(self) -> None:
        """Nothing becomes of a pipe."""

    def close(self) -> None:
        """The pipe is its owner's."""

    def read(self, most: int) -> bytes:
        """Return what is in the pipe."""
        if self.ended or not select.select([self._file], [], [], 0)[0]:
            return b""
        try:
            piece = os.read(self._file, most)
        except OSError:
            piece = b""
        self.ended = not piece
        return piece
