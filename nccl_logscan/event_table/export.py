"""From inputs to a table: in a file, as the command `events` writes it, or in memory."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import polars as pl

from nccl_logscan.errors import InputError
from nccl_logscan.event_table.frames import SCHEMA, numbered
from nccl_logscan.event_table.rows import Choice
from nccl_logscan.event_table.shards import Progress, Shard, frames_in_order, processes_for, shards_of
from nccl_logscan.event_table.write import Form, write_table
from nccl_logscan.report.write import EVENTS, written_whole
from nccl_logscan.sources import Source
from nccl_logscan.sources.line_source import logs_among


@dataclass(frozen=True, slots=True)
class Exported:
    """What came of it: rows written, lines read, and remarks on inputs that were skipped or cut off."""

    rows: int
    lines: int
    notes: tuple[str, ...]


def export(
    sources: Sequence[Source],
    form: Form,
    place: Path | BinaryIO,
    *,
    choice: Choice | None = None,
    processes: int | None = None,
    progress: Progress | None = None,
    printed: bool = False,
) -> Exported:
    """Write the events of inputs as one table, to a file (whole or not at all) or a stream (as they come).

    Rows stand in the order of the inputs, and the bytes are the same with any number of processes (default: as many as
    cores may be used, where the inputs are large enough). Where the place is `printed`, as standard output is, nothing
    in a text acts on a terminal or a CI runner.

    Raises:
        InputError: there is no line in any of the inputs.
        OutputError: the file could not be written; an earlier one in its place is untouched.
    """
    logs = logs_among(sources)
    shards = shards_of(logs)
    number = processes_for(shards, processes)
    with _opened(place) as file, _scratch(place, wanted=number > 1) as folder:
        frames = frames_in_order(shards, choice or Choice(), number, folder, progress)
        rows = write_table(numbered(frames), form, file, printed=printed)
        done = Exported(rows, sum(shard.lines for shard in shards), tuple(_notes(sources, logs, shards)))
        if not done.lines:
            raise _nothing_to_read(sources, done.notes)
    return done


def collected(
    sources: Sequence[Source], *, choice: Choice | None = None, progress: Progress | None = None
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Return the same table, with `SCHEMA`, in memory; and remarks on inputs that were skipped or cut off.

    Raises:
        InputError: there is no line in any of the inputs.
    """
    logs = logs_among(sources)
    shards = shards_of(logs)
    frames = list(numbered(frames_in_order(shards, choice or Choice(), 1, Path(), progress)))
    notes = tuple(_notes(sources, logs, shards))
    if not any(shard.lines for shard in shards):
        raise _nothing_to_read(sources, notes)
    return pl.concat([pl.DataFrame(schema=SCHEMA), *frames]), notes


def _notes(sources: Sequence[Source], logs: Sequence[Source], shards: Sequence[Shard]) -> Iterator[str]:
    yield from (note for shard in shards for note in shard.notes)
    for source in sources:
        if source not in logs:
            yield f"{source.name} is a configuration file and was not taken for a log"


@contextmanager
def _opened(place: Path | BinaryIO) -> Iterator[BinaryIO]:
    if isinstance(place, Path):
        with written_whole(place, what=EVENTS) as file:
            yield file
    else:
        yield place


@contextmanager
def _scratch(place: Path | BinaryIO, *, wanted: bool) -> Iterator[Path]:
    """Give a folder for what other processes have read: beside the target, where there must be room in any case."""
    if not wanted:
        yield Path()
        return
    beside = place.resolve().parent if isinstance(place, Path) else None
    with tempfile.TemporaryDirectory(prefix=".events.", suffix=".parts", dir=beside) as folder:
        yield Path(folder)


def _nothing_to_read(sources: Sequence[Source], notes: Sequence[str]) -> InputError:
    told = notes[0] if notes else f"{sources[0].name if sources else 'the input'} is empty"
    return InputError(told, hint="name a whole text log, or a folder that holds one")
