"""Each node's own files as sources: found there, and of large ones only what is to be read travels."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import BinaryIO, NamedTuple, cast

from nccl_logscan.engines.cluster import Node
from nccl_logscan.engines.queue import Queue
from nccl_logscan.engines.shards import File
from nccl_logscan.engines.worker import Listed
from nccl_logscan.errors import InputError
from nccl_logscan.records import dataclass
from nccl_logscan.skim.choice import LARGE
from nccl_logscan.sources.ahead import Blocks, read_ahead
from nccl_logscan.sources.files import sources_elsewhere
from nccl_logscan.sources.kind import Kind
from nccl_logscan.sources.limits import Limits
from nccl_logscan.sources.line_source import LineSource, Unread
from nccl_logscan.sources.source import Source

_PIECE = 1 << 22
_BUFFER = 1 << 20


class OnNodes(NamedTuple):
    """What lies on the nodes: sources in order; and of those read ahead the file, its nodes, and if it is large."""

    sources: Sequence[LineSource]
    ahead: Sequence[tuple[File, tuple[Node, ...], bool]]


@dataclass(frozen=True, slots=True)
class NodeFile:
    """A file of some nodes, the same on each; its bytes come as they are asked for. Raises OSError while it is read."""

    file: File
    nodes: tuple[Node, ...]
    queue: Queue

    @property
    def name(self) -> str:
        """NODE:PATH."""
        return self.file.name

    @property
    def size(self) -> int:
        """Bytes, when it was found."""
        return self.file.size

    @property
    def is_near(self) -> bool:
        """Whether ranges of it are read about as fast as the whole."""
        return True

    def head(self, size: int) -> bytes:
        """Return its first bytes."""
        return self.queue.fetch(self.file, self.nodes, 0, min(size, self.file.size))

    def open(self, *, seekable: bool = False) -> BinaryIO:  # noqa: ARG002 - it always is
        """Open it."""
        return cast("BinaryIO", io.BufferedReader(_Ranges(self), _BUFFER))

    def blocks(self) -> Blocks:
        """Give its bytes as often as they are asked for, a few blocks ahead of who reads them."""
        return read_ahead(self._pieces)

    def _pieces(self, took: Callable[[int], None]) -> Iterator[bytes]:
        for first in range(0, self.file.size, _PIECE):
            piece = self.queue.fetch(self.file, self.nodes, first, first + _PIECE)
            took(len(piece))
            yield piece


class _Ranges(io.RawIOBase):
    """A node's file to be sought in."""

    def __init__(self, given: NodeFile) -> None:
        super().__init__()
        self._given = given
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._given.size}[whence]
        self._at = max(0, start + offset)
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        end = min(self._at + len(buffer), self._given.size)
        if end <= self._at:
            return 0
        piece = self._given.queue.fetch(self._given.file, self._given.nodes, self._at, end)
        buffer[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)


def found_on_nodes(queue: Queue, nodes: Sequence[Node], pattern: str, limits: Limits) -> OnNodes:
    """Return what the nodes have below a path. Files that are the same on several (a shared disk) count once.

    A node that could not be asked is an input that could not be read. Raises InputError where no node has a file.
    """
    listed: dict[Node, list[Listed]] = {}
    sources: list[LineSource] = []
    for node, (outcome, told) in queue.listed(nodes, pattern):
        if outcome == "listed":
            listed[node] = [Listed(*file) for file in told]
        elif outcome == "none":
            sources.append(Unread(f"node {node.name}", f"was not read: {told}", is_lost=False))
        else:
            sources.append(Unread(f"node {node.name}", f"could not be read: {told}"))
    if not any(listed.values()):
        said = "; ".join(f"{source.name} {source.note}" for source in sources[:3])
        raise InputError(
            f"no node has a file below {pattern}" + (f": {said}" if said else ""),
            hint="give the folder that each node writes its logs to, as /tmp/ray/session_latest/logs",
        )
    having = _having(listed)
    ahead: list[tuple[File, tuple[Node, ...], bool]] = []
    for node, files in listed.items():
        for one in files:
            name = f"{node.name}:{one.path}"
            holders = having[_known_by(one)] if one.note is None else (node,)
            if one.note is not None:
                sources.append(Unread(name, one.note))
            elif holders[0] == node:
                given = NodeFile(File(name, one.path, one.size, one.digest), holders, queue)
                own, is_large = _sources(given, one, limits)
                sources.extend(own)
                if is_large or (one.size < LARGE and one.kind not in {None, Kind.CONFIG}):
                    ahead.append((given.file, holders, is_large))
    return OnNodes(sources, ahead)


def _having(listed: Mapping[Node, Sequence[Listed]]) -> dict[tuple[object, ...], tuple[Node, ...]]:
    having: dict[tuple[object, ...], tuple[Node, ...]] = {}
    for node, files in listed.items():
        for one in files:
            key = _known_by(one)
            having[key] = (*having.get(key, ()), node)
    return having


def _known_by(one: Listed) -> tuple[object, ...]:
    """What the same file has in common on two nodes that share a disk: path, inode, times, length and first bytes."""
    return one.path, one.identity, one.size, one.digest


def _sources(given: NodeFile, one: Listed, limits: Limits) -> tuple[list[Source], bool]:
    """Return a file's sources, and whether it is one whose segments are skimmed where it lies."""
    if one.kind is None:
        return sources_elsewhere(given, limits), False
    kind = Kind(one.kind)
    is_large = one.is_plain and one.size >= LARGE and kind is not Kind.CONFIG
    is_ahead = one.size < LARGE and kind is not Kind.CONFIG
    blocks = partial(_taken, given) if is_ahead else given.blocks()
    return [Source(given.name, blocks, limits=limits, size=given.size, kind=kind)], is_large


def _taken(given: NodeFile, took: Callable[[int], None]) -> Iterator[bytes]:
    """Yield a small file's bytes, which were sent for before."""
    piece = given.queue.take(given.file, 0)
    assert isinstance(piece, bytes)
    took(len(piece))
    yield piece
