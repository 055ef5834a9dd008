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
    """The tasks that skim one file; see `Crew`. A shard that is lost is an OSError."""

    def __init__(self, queue: Queue, file: File, asker: Asker) -> None:
        self._queue = queue
        self._file = file
        self._asker = asker
        self._tales: list[Tale] = []
        self.size = file.size

    def skim(self, segments: range, batch: Batch) -> None:
        """See `Crew`."""
        for first in range(segments.start, segments.stop, PIECE):
            told = self._queue.take(self._file, first)
            assert isinstance(told, Telling)
            self._tales.append(told_by(told, self._file.name, self._asker, batch))

    @property
    def held(self) -> int:
        """See `Crew`."""
        return sum(len(line.text) for tale in self._tales for line in tale.lines)

    def tell(self) -> list[Tale]:
        """See `Crew`."""
        tales, self._tales = self._tales, []
        return tales

    def close(self) -> None:
        """See `Crew`."""
        self._tales.clear()


class TaskCrews:
    """The large files of a scan, by name; see `Crews`."""

    def __init__(self, queue: Queue, files: Mapping[str, File]) -> None:
        self._queue = queue
        self._files = files

    def skims(self, source: Source) -> bool:
        """See `Crews`."""
        return source.name in self._files

    def crew(self, source: Source, asker: Asker) -> Crew:
        """See `Crews`."""
        return TaskCrew(self._queue, self._files[source.name], asker)


def shards_of(files: Iterable[tuple[File, tuple[Node, ...], bool]]) -> Iterator[tuple[Shard, tuple[Node, ...]]]:
    """Yield the shards of files, each with the nodes that have it and whether it is large, else wanted as it is."""
    for file, nodes, is_large in files:
        if not is_large:
            yield Shard(file, 0, file.size, is_raw=True), nodes
            continue
        segments = -(-file.size // SEGMENT)
        for first in range(0, segments, PIECE):
            yield Shard(file, first, min(segments, first + PIECE)), nodes
