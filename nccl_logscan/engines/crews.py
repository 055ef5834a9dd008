"""Crews of a cluster: large files whose segments are skimmed by tasks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from nccl_logscan.engines.cluster import Node
from nccl_logscan.engines.queue import Queue
from nccl_logscan.engines.shards import PIECE, File, Shard, Telling, told_by
from nccl_logscan.skim.asking import Asker
from nccl_logscan.skim.crew import Batch, Crew
from nccl_logscan.skim.told import Tale
from nccl_logscan.skim.windows import SEGMENT
from nccl_logscan.sources.source import Source


class TaskCrew:
    """The tasks that skim one file; see `Crew`. A shard that is lost is an OSError.

    `held`: bytes of lines that were handed out since `tell` was called.
    """

    def __init__(self, queue: Queue, file: File, nodes: tuple[Node, ...], asker: Asker) -> None:
        self._queue = queue
        self._file = file
        self._nodes = nodes
        self._asker = asker
        self._told: list[Telling] = []
        self._end = 0
        self._tales: list[Tale] = []
        self._to_read = 0
        self.held = 0
        self.size = file.size

    def skim(self, segments: range, batch: Batch, room: int) -> None:
        """See `Crew`."""
        if segments.start < self._end:
            return
        if not self._told:
            self._told = self._taken(segments.start)
        telling = self._told[0]
        if telling.end > segments.stop and self._to_read + _to_read(telling) > room:
            # A round may end before the shard does.
            self._told = self._queue.take_finely(self._file, self._nodes, segments.start, telling.end)
        telling = self._told.pop(0)
        self._end = telling.end
        self._tales.append(told_by(telling, self._file.name, self._asker, batch))
        self._to_read += _to_read(telling)
        self.held += sum(len(line[3]) for line in telling.lines)

    def _taken(self, first: int) -> list[Telling]:
        told = self._queue.take(self._file, first)
        assert isinstance(told, list)
        return told

    def tell(self) -> list[Tale]:
        """See `Crew`."""
        tales, self._tales = self._tales, []
        self._to_read = self.held = 0
        return tales

    def close(self) -> None:
        """See `Crew`."""
        self._tales.clear()


class TaskCrews:
    """The large files of a scan, by name; see `Crews`."""

    def __init__(self, queue: Queue, files: Mapping[str, tuple[File, tuple[Node, ...]]]) -> None:
        self._queue = queue
        self._files = files

    def skims(self, source: Source) -> bool:
        """See `Crews`."""
        return source.name in self._files

    def crew(self, source: Source, asker: Asker) -> Crew:
        """See `Crews`."""
        return TaskCrew(self._queue, *self._files[source.name], asker)


def _to_read(telling: Telling) -> int:
    """Return how many bytes of what ends a round are in a tale, at most."""
    return sum(len(line[3]) for line in telling.lines if line[4] and not line[6])


def shards_of(files: Iterable[tuple[File, tuple[Node, ...], bool]]) -> Iterator[tuple[Shard, tuple[Node, ...]]]:
    """Yield the shards of files, each with the nodes that have it and whether it is large, else wanted as it is."""
    for file, nodes, is_large in files:
        if not is_large:
            yield Shard(file, 0, file.size, is_raw=True), nodes
            continue
        segments = -(-file.size // SEGMENT)
        for first in range(0, segments, PIECE):
            yield Shard(file, first, min(segments, first + PIECE)), nodes
