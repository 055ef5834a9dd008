"""Inputs cut into shards, read by several processes, put together in their order: the table is that of one process.

A process leaves the frames of its shards in files and tells when a shard is done; so it never waits for those before
it, and neither side holds more than a frame.
"""

from __future__ import annotations

import heapq
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import NamedTuple

import polars as pl

from nccl_logscan.errors import InputError
from nccl_logscan.event_table.frames import frames_of
from nccl_logscan.event_table.rows import Choice, rows_of
from nccl_logscan.sources import NO_LINES, Source, open_sources
from nccl_logscan.sources.kind import IS_A
from nccl_logscan.sources.line_source import LineSource

_SHARD_BYTES = 1 << 24
_WORTH_IT = 1 << 23
"""Bytes of all inputs from which a further process saves more than its start costs (half a second)."""

Progress = Callable[[LineSource], None]


@dataclass(slots=True)
class Shard:
    """Neighbouring inputs that are read together. `notes`: what is to be said of them once they are read."""

    sources: list[Source]
    size: int
    is_portable: bool
    lines: int = 0
    notes: tuple[str, ...] = ()

    def frames(self, choice: Choice, progress: Progress | None = None) -> Iterator[pl.DataFrame]:
        """Read the inputs in this process."""
        logs = [source for source in self.sources if source.kind not in NO_LINES]
        yield from frames_of(row for source in logs for row in rows_of(source, choice, progress))
        self.lines = sum(source.lines_read for source in logs)
        self.notes = tuple(
            f"{source.name} is {IS_A[source.kind]}, which has no lines, and was left out"
            if source not in logs
            else f"{source.name} {source.note}"
            for source in self.sources
            if source not in logs or source.note is not None
        )


class _Done(NamedTuple):
    """A shard that another process has read."""

    frames: int
    lines: int
    notes: tuple[str, ...]


def shards_of(sources: Sequence[Source]) -> list[Shard]:
    """Group neighbours so that many small files cost little more than their bytes.

    A member of an archive and a pipe can be read in this process alone.
    """
    shards: list[Shard] = []
    for source in sources:
        portable = Path(source.name).is_file()
        size = source.size or 0
        last = shards[-1] if shards else None
        if last and portable and last.is_portable and last.size + size <= _SHARD_BYTES:
            last.sources.append(source)
            last.size += size
        else:
            shards.append(Shard([source], size, portable))
    return shards


def processes_for(shards: Sequence[Shard], most: int | None = None) -> int:
    """Return how many processes are worth their cost; `most` is what the user allows (default: the usable cores)."""
    portable = [shard for shard in shards if shard.is_portable]
    if most is None:
        most = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        if sum(shard.size for shard in portable) < _WORTH_IT:
            return 1
    return max(1, min(most, len(portable)))


def frames_in_order(
    shards: Sequence[Shard], choice: Choice, processes: int, folder: Path, progress: Progress | None = None
) -> Iterator[pl.DataFrame]:
    """Yield the frames of all shards in order; with several processes, `folder` takes files meanwhile."""
    if processes == 1:
        for shard in shards:
            yield from shard.frames(choice, progress)
        return
    with _workers(shards, choice, processes, folder) as answers:
        for number, shard in enumerate(shards):
            done = _answer(answers.get(number))
            if done is None:
                # No other process can read it, or the one that should was killed, for memory perhaps.
                yield from shard.frames(choice, progress)
                continue
            shard.lines, shard.notes = done.lines, done.notes
            for part in range(done.frames):
                place = _place(folder, number, part)
                yield pl.read_ipc(place)
                place.unlink()


def _place(folder: Path, shard: int, part: int) -> Path:
    return folder / f"{shard}-{part}.arrow"


def _answer(answers: Connection | None) -> _Done | None:
    if answers is None:
        return None
    try:
        done: _Done = answers.recv()
    except (EOFError, ConnectionError):
        return None
    return done


@contextmanager
def _workers(shards: Sequence[Shard], choice: Choice, processes: int, folder: Path) -> Iterator[dict[int, Connection]]:
    """Start processes that read shards; give, by number of the shard, whence its answer comes."""
    # polars' threads do not survive a fork.
    spawning = get_context("spawn")
    answers: dict[int, Connection] = {}
    started: list[SpawnProcess] = []
    try:
        for part in _parts(shards, processes):
            names = {number: [source.name for source in shards[number].sources] for number in part}
            receiving, sending = spawning.Pipe(duplex=False)
            process = spawning.Process(target=_read_shards, args=(names, choice, folder, sending), daemon=True)
            process.start()
            sending.close()
            started.append(process)
            answers |= dict.fromkeys(part, receiving)
        yield answers
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.join()


def _parts(shards: Sequence[Shard], processes: int) -> Iterator[list[int]]:
    """Yield the numbers of the shards for each process, about the same bytes for each."""
    loads = [(0, process) for process in range(processes)]
    parts: list[list[int]] = [[] for _ in loads]
    portable = (number for number, shard in enumerate(shards) if shard.is_portable)
    for number in sorted(portable, key=lambda number: -shards[number].size):
        load, process = heapq.heappop(loads)
        parts[process].append(number)
        heapq.heappush(loads, (load + shards[number].size, process))
    yield from map(sorted, parts)


def _read_shards(names: dict[int, list[str]], choice: Choice, folder: Path, answers: Connection) -> None:
    """Read shards and leave their frames in the folder: what a further process does."""
    # Ctrl-C reaches every process of the terminal; the first one tells of it and ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A file that has gone, a full disk: the first process, without an answer, reads the rest and tells what it meets.
    with answers, suppress(OSError, InputError, pl.exceptions.PolarsError):
        for number, files in names.items():
            answers.send(_read_shard(number, files, choice, folder))


def _read_shard(number: int, files: Sequence[str], choice: Choice, folder: Path) -> _Done:
    sources = [source for file in files for source in open_sources([file])]
    shard = Shard(sources, 0, is_portable=True)
    frames = 0
    for frame in shard.frames(choice):
        frame.write_ipc(_place(folder, number, frames), compression="lz4")
        frames += 1
    return _Done(frames, shard.lines, shard.notes)
