"""What the paths of a watch lead to: now, and again and again, since a job's folder fills while it runs."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from nccl_logscan.errors import InputError
from nccl_logscan.follow.growth import FileGrowth, Identity, PipeGrowth
from nccl_logscan.follow.tail import Tail
from nccl_logscan.sources import STDIN, Limits, Source, open_sources
from nccl_logscan.sources.files import files_of
from nccl_logscan.sources.magics import compression_of, looks_like_tar, looks_like_zip

_ROTATED = re.compile(r"(?P<of>.+?)(?:[.-]\d[\dT_.:-]*(?:\.(?:gz|zst|xz|bz2|lz4))?|\.old|\.bak)$")
_TAILS = 65_536
_SAMPLE = 512


class Inputs:
    """The logs of a watch by name. `packed` are archives and compressed files that were there when it began.

    A file that is only the rotated part of a log that is followed is left out, since it was read under its first name.
    """

    def __init__(self, paths: Sequence[str], limits: Limits, stdin: int | None) -> None:
        self.tails: dict[str, Tail] = {}
        self.packed: list[Source] = []
        self.missing: list[str] = []
        self._paths = paths
        self._limits = limits
        self._stdin = stdin
        self._left_out: set[str] = set()
        self._begun = False

    def refresh(self) -> None:
        """Look for files that have come. Never raises: what is missing is looked for again the next time."""
        self.missing = []
        taken = {identity for tail in self.tails.values() for identity in tail.growth.identities}
        for given in self._paths:
            for path, name in self._found(given):
                if name in self.tails or name in self._left_out or len(self.tails) >= _TAILS:
                    continue
                tail = self._tail_of(path, name, taken)
                if tail is None:
                    self._left_out.add(name)
                    continue
                self.tails[name] = tail
        for tail in self.tails.values():
            if isinstance(tail.growth, FileGrowth):
                tail.growth.release()
                # What the next rotation gives this name has been read under another.
                tail.growth.renews = not self._is_older_part(tail.name)
        self._begun = True

    def close(self) -> None:
        """Let go of all files."""
        for tail in self.tails.values():
            tail.growth.close()

    def _is_older_part(self, name: str) -> bool:
        """Whether a name is that of a rotated part of a log that is followed."""
        return (match := _ROTATED.match(name)) is not None and match["of"] in self.tails

    def _found(self, given: str) -> Iterator[tuple[Path, str]]:
        if given == STDIN:
            if self._stdin is not None:
                yield Path(STDIN), STDIN
            return
        try:
            yield from files_of(given)
        except (InputError, OSError):
            self.missing.append(given)

    def _tail_of(self, path: Path, name: str, taken: set[Identity]) -> Tail | None:
        if name == STDIN and self._stdin is not None:
            return Tail(name, PipeGrowth(self._stdin), self._limits)
        identity = _identity(path)
        if identity in taken or (self._begun and self._is_older_part(name)):
            return None
        if not self._begun and _is_packed(path):
            self.packed.extend(open_sources([name], limits=self._limits))
            return None
        if identity is not None:
            taken.add(identity)
        return Tail(name, FileGrowth(str(path)), self._limits)


def _identity(path: Path) -> Identity | None:
    try:
        state = path.stat()
    except (OSError, ValueError):
        return None
    return state.st_dev, state.st_ino


def _is_packed(path: Path) -> bool:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return False
        with path.open("rb") as file:
            head = file.read(_SAMPLE)
    except (OSError, ValueError):
        return False
    return bool(compression_of(head)) or looks_like_tar(head) or looks_like_zip(head)
