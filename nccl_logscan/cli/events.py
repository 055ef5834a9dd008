"""`nccl-logscan events LOG...`: every line of a log as a row of a table, for those who query it themselves."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path

import click

from nccl_logscan.cli import completing, say
from nccl_logscan.cli.limits import limit_option
from nccl_logscan.cli.options import must_replace_none_of, place_given
from nccl_logscan.cli.progress import progress_on
from nccl_logscan.cli.stdin import standard_input
from nccl_logscan.cli.stdout import printing
from nccl_logscan.errors import OutputError
from nccl_logscan.event_table.forms import SUFFIXES, form_named
from nccl_logscan.event_table.kinds import kinds_named
from nccl_logscan.event_table.rows import Choice
from nccl_logscan.report.visible import harmless_to_runners, visible
from nccl_logscan.report.write import EVENTS, descriptor_of
from nccl_logscan.sources import Source, open_sources
from nccl_logscan.sources.limits import Limits

_NOTES = 20
_PRINTED = frozenset({1, 2})


def _kinds_named(_context: click.Context, _option: click.Parameter, names: tuple[str, ...]) -> frozenset[str]:
    try:
        return kinds_named(names)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


@click.command(
    "events",
    short_help="Make a table of a log: a row a line, as Parquet, CSV or JSON.",
    epilog="""\b
Examples:
  nccl-logscan events trainer.log -o events.parquet
  nccl-logscan events logs/ -o events.csv                every file of a folder
  nccl-logscan events ci-logs.tar.gz -o - | jq .message  JSON lines on standard output
  nccl-logscan events logs/ --kind nccl.warn --kind python -o errors.parquet
  duckdb -c "select kind, count(*) from 'events.parquet' group by kind"

\b
docs/events.md tells the columns, their types and units.

\b
Exit codes:
  0 written, 2 usage, 3 unreadable or no line, 5 output""",
)
@click.argument("logs", nargs=-1, required=True, metavar="LOG...", shell_complete=completing.files)
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="PATH",
    callback=place_given,
    shell_complete=completing.files,
    help="Where to write it: .parquet, .csv or .jsonl; - is standard output.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(list(dict.fromkeys(SUFFIXES.values()))),
    help="What to write. [default: by the output's name; jsonl on standard output]",
)
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    callback=_kinds_named,
    shell_complete=completing.kinds,
    metavar="KIND",
    help="Only events of this kind (nccl.warn) or family (nccl); repeatable.",
)
@click.option(
    "--rank", "ranks", multiple=True, type=click.IntRange(min=0), help="Only events of this global rank; repeatable."
)
@click.option(
    "--processes",
    type=click.IntRange(1, 512),
    help="How many processes read several files. [default: as many as cores, for large ones]",
)
@limit_option
@click.option("-q", "--quiet", is_flag=True, help="Do not say what was written.")
def events_command(
    logs: tuple[str, ...],
    output: str,
    form: str | None,
    *,
    kinds: frozenset[str],
    ranks: tuple[int, ...],
    processes: int | None,
    limits: Limits,
    quiet: bool,
) -> None:
    """Write every line of a log as a row of a table, with what the line tells in columns.

    LOG is what a scan takes: files, folders, patterns, archives, compressed or not, or - for standard input. Secrets
    are taken out as in reports.
    """
    form = form or _form_of(output)
    sources = open_sources(logs, limits=limits, stdin=standard_input(logs))
    place = None if output == "-" else _place(output, (*logs, *(source.name for source in sources)))
    with printing():
        _export(sources, form, place, Choice(kinds, frozenset(ranks)), processes, quiet=quiet)


def _export(
    sources: list[Source], form: str, place: Path | None, choice: Choice, processes: int | None, *, quiet: bool
) -> None:
    # One thread writes faster than lines are read; each further one, of as many as there are cores, holds a part of the
    # table in memory (316 MB with eight, 216 MB with one).
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    # polars takes a quarter of a second to import, and no other command needs it.
    from nccl_logscan.event_table.export import export  # noqa: PLC0415
    from nccl_logscan.event_table.write import Form  # noqa: PLC0415

    _take_interrupts_back()
    if place is None and sys.stdout is None:
        raise OutputError("standard output is closed", hint="name a file with --output")
    with progress_on(sys.stderr) as progress:
        done = export(
            sources,
            Form(form),
            place or sys.stdout.buffer,
            choice=choice,
            processes=processes,
            progress=progress,
            printed=place is None or descriptor_of(place) in _PRINTED,
        )
    for note in done.notes[:_NOTES]:
        say(f"note: {note}")
    if len(done.notes) > _NOTES:
        say(f"note: {len(done.notes) - _NOTES} further remarks on inputs are left out")
    if place is not None and not quiet:
        click.echo(harmless_to_runners(f"{done.rows:,} rows of {done.lines:,} lines are in {visible(str(place))}"))


def _take_interrupts_back() -> None:
    """Have an interrupt end a read that waits: when polars is imported, it sets a handler that has reads go on."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is threading.main_thread() and handler is not None:
        signal.signal(signal.SIGINT, handler)


def _form_of(output: str) -> str:
    if output == "-":
        return "jsonl"
    try:
        return form_named(output)
    except ValueError as error:
        raise click.BadParameter(f"{error}, or say --format", param_hint="--output") from error


def _place(output: str, inputs: tuple[str, ...]) -> Path:
    """Return where to write; a folder that is not there is told before an hour of reading, not after it."""
    place = Path(output)
    must_replace_none_of(inputs, place, EVENTS)
    if not place.parent.is_dir():
        raise OutputError(
            f"cannot write {EVENTS} to {place}: there is no folder {place.parent}",
            hint="create the folder first, or choose another place with --output",
        )
    return place
