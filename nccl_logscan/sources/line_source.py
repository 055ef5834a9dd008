"""LineSource: what a scan needs of an input; and a text in memory as one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, TypeVar

from nccl_logscan.position import Position
from nccl_logscan.records import dataclass
from nccl_logscan.sources.kind import Kind
from nccl_logscan.sources.raw import RawLine


class LineSource(Protocol):
    """What the pipeline needs of an input: a name, its lines once, counters that are final when they have passed.

    A dump of a flight recorder and a timeline of Ray have no lines but a content.
    """

    @property
    def name(self) -> str:
        """The name the user gave."""

    @property
    def kind(self) -> str:
        """What it holds: a `Kind`."""

    @property
    def bytes_read(self) -> int:
        """Bytes read, decoded."""

    @property
    def lines_read(self) -> int:
        """Lines given."""

    @property
    def replaced(self) -> int:
        """Bytes that were no UTF-8 or were NUL."""

    @property
    def cut_lines(self) -> int:
        """Lines that were too long and lost their middle."""

    @property
    def note(self) -> str | None:
        """Why it was skipped or ended early, if so."""

    @property
    def is_lost(self) -> bool:
        """Whether reading failed, so that lines may be missing even where none was read."""

    def lines(self) -> Iterator[RawLine]:
        """Yield the lines, once."""

    def content(self) -> bytes:
        """Return all bytes, once."""


def progress_of(source: LineSource) -> tuple[int, int | None]:
    """Return how many bytes have been read, and of how many on the disk.

    Where that is not known (standard input, a pipe, a text) it is None, and the bytes read are unpacked ones.
    """
    size = getattr(source, "size", None)
    return getattr(source, "disk_read", source.bytes_read) if size else source.bytes_read, size


@dataclass(slots=True)
class Unread:
    """Something of which it is known that it is there and why it could not be read: an input of no bytes.

    `is_lost`: lines of the job may be in it.
    """

    name: str
    note: str | None
    is_lost: bool = True
    kind: str = "text"
    bytes_read: int = 0
    lines_read: int = 0
    replaced: int = 0
    cut_lines: int = 0

    def lines(self) -> Iterator[RawLine]:
        """Yield none."""
        yield from ()

    def content(self) -> bytes:
        """Return none."""
        return b""


@dataclass(slots=True)
class TextSource:
    """A text in memory as a source."""

    name: str
    text: str
    kind: str = "text"
    bytes_read: int = 0
    lines_read: int = 0
    replaced: int = 0
    cut_lines: int = 0
    note: str | None = None
    is_lost: bool = False

    def lines(self) -> Iterator[RawLine]:
        """Yield the text's lines."""
        for line in self.text.removesuffix("\n").split("\n"):
            self.lines_read += 1
            yield RawLine(Position(self.name, self.lines_read, self.bytes_read), line.removesuffix("\r"))
            self.bytes_read += len(line.encode()) + 1

    def content(self) -> bytes:
        """Return the text's bytes."""
        encoded = self.text.encode("utf-8", "surrogatepass")
        self.bytes_read = len(encoded)
        return encoded


_Input = TypeVar("_Input", bound=LineSource)


def logs_among(sources: Sequence[_Input]) -> Sequence[_Input]:
    """Return what to read as logs: where nothing is a log, everything is taken for one."""
    return [source for source in sources if source.kind != Kind.CONFIG] or sources
