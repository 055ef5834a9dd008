"""`nccl_logscan.read_events` and `nccl_logscan.write_events`: every line of a log as a row of a table."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from nccl_logscan.api.names import Paths, names_of
from nccl_logscan.api.scan import Progress, telling
from nccl_logscan.errors import OutputError
from nccl_logscan.event_table.export import collected, export
from nccl_logscan.event_table.forms import form_named
from nccl_logscan.event_table.kinds import kinds_named
from nccl_logscan.event_table.rows import Choice
from nccl_logscan.event_table.write import Form
from nccl_logscan.report.visible import visible
from nccl_logscan.report.write import EVENTS
from nccl_logscan.sources import open_sources
from nccl_logscan.sources.places import is_one_of

if TYPE_CHECKING:
    import polars as pl

_CALLER = 3  # of the function that a note is told to: below are `_tell` and the function itself


def read_events(
    paths: Paths,
    *,
    kinds: Iterable[str] = (),
    ranks: Iterable[int] = (),
    progress: Callable[[Progress], object] | None = None,
    stdin: BinaryIO | None = None,
) -> pl.DataFrame:
    """Return every line of the logs as rows of one table, in memory; `docs/events.md` tells the columns.

        >>> import nccl_logscan
        >>> table = nccl_logscan.read_events("fixtures/cases/lab/timeout-dataloader/driver.log", kinds=["torch"])
        >>> table["kind"].unique().sort().to_list()
        ['torch.dump-signal', 'torch.heartbeat', 'torch.process-group', 'torch.watchdog-timeout', 'torch.work-status']

    All rows are held at once, a few times the size of the log. Name the kinds or ranks that you need of a log of
    gigabytes, or write the table to a file with `write_events` and query that.

    Args:
        paths: What `scan` takes.
        kinds: Only events of these kinds (`nccl.warn`) or families (`nccl`).
        ranks: Only events of these global ranks.
        progress: Called every few thousand lines with what is being read.
        stdin: What is read for `"-"`.

    Returns:
        The table: the same columns whatever the log holds.

    Raises:
        InputError: An input is missing or unreadable, or there is no line in any of them.
        ValueError: A name is that of no kind of event.
    """
    choice = Choice(kinds_named(kinds), frozenset(ranks))
    sources = open_sources(names_of(paths), stdin=stdin)
    table, notes = collected(sources, choice=choice, progress=telling(progress))
    _tell(notes)
    return table


def write_events(
    paths: Paths,
    output: str | os.PathLike[str],
    *,
    kinds: Iterable[str] = (),
    ranks: Iterable[int] = (),
    processes: int = 1,
    progress: Callable[[Progress], object] | None = None,
    stdin: BinaryIO | None = None,
) -> Path:
    """Write the same table to a file, in little memory whatever the size of the logs; return the file's path.

        >>> import polars as pl, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = write_events("fixtures/cases/lab/timeout-dataloader/driver.log", f"{folder.name}/events.parquet")
        >>> pl.scan_parquet(path).filter(pl.col("kind") == "torch.watchdog-timeout").select("rank").collect().item(0, 0)
        0

    Args:
        paths: What `scan` takes.
        output: The file: `.parquet`, `.csv` or `.jsonl`. One that is there is replaced once the new one is whole.
        kinds: Only events of these kinds (`nccl.warn`) or families (`nccl`).
        ranks: Only events of these global ranks.
        processes: How many processes read several files. A script that asks for more than one needs
            `if __name__ == "__main__":`, since they are started anew.
        progress: Called every few thousand lines with what this process is reading.
        stdin: What is read for `"-"`.

    Returns:
        Where the table is, for `polars.scan_parquet`.

    Raises:
        InputError: An input is missing or unreadable, or there is no line in any of them.
        OutputError: The file could not be written; an earlier one is untouched.
        ValueError: A name is that of no kind of event, or of no form of a table.
    """
    place = Path(output)
    form = Form(form_named(place.name))
    choice = Choice(kinds_named(kinds), frozenset(ranks))
    names = names_of(paths)
    sources = open_sources(names, stdin=stdin)
    _must_be_no_input(place, (*names, *(source.name for source in sources)))
    done = export(sources, form, place, choice=choice, processes=processes, progress=telling(progress))
    _tell(done.notes)
    return place


def _must_be_no_input(place: Path, inputs: Iterable[str]) -> None:
    if is_one_of(inputs, place):
        raise OutputError(f"cannot write {EVENTS} to {place}: it is one of the inputs", hint="choose another place")


def _tell(notes: Iterable[str]) -> None:
    for note in notes:
        warnings.warn(visible(note), stacklevel=_CALLER)
