"""`nccl-logscan scan LOG...`: from logs to a verdict and a report."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import click

from nccl_logscan.cli.follow import WatchOptions, watch_options, watched
from nccl_logscan.cli.options import must_replace_none_of, own_rules, rulebook_with
from nccl_logscan.cli.progress import progress_on
from nccl_logscan.cli.stdout import printing
from nccl_logscan.diagnosis.verdict import ScanResult
from nccl_logscan.errors import InputError, OutputError
from nccl_logscan.pipeline import Options, scan
from nccl_logscan.report.view import ReportView, build_view
from nccl_logscan.report.write import write_atomically
from nccl_logscan.sources import STDIN
from nccl_logscan.taxonomy import Category

_SUFFIX = {"html": ".html", "json": ".json", "text": ".txt"}


@click.command(
    "scan",
    epilog="""\b
Examples:
  nccl-logscan scan rank*.log                         one job, a file a rank
  nccl-logscan scan ci-logs.tar.gz -o report.html     an archive as CI stores it
  nccl-logscan scan trainer.log -o verdict.json       the format goes by the name
  nccl-logscan scan trainer.log --format json -o - | jq .verdict
  nccl-logscan scan trainer.log --config train.sbatch the line to change, and the change as a diff
  nccl-logscan scan trainer.log --rules site-rules    rules of your own as well
  nccl-logscan --follow logs/ --stalled 45m           watch a job that runs; leave when it has failed or ended

\b
Exit codes:
  0 healthy, 1 failure found, 2 usage, 3 unreadable or nothing to judge, 4 rules, 5 output""",
)
@click.argument("logs", nargs=-1, required=True, metavar="LOG...")
@click.option("--format", "form", type=click.Choice(list(_SUFFIX)), help="What to write. [default: html]")
@click.option(
    "-o",
    "--output",
    metavar="PATH",
    help="Where to write it; - is standard output. [default: reports/<log's name>.html]",
)
@click.option(
    "--config",
    "configs",
    multiple=True,
    metavar="FILE",
    help="A launch script or configuration of the job, in which advice points to the line; repeatable. "
    "Files beside a log are looked at anyway.",
)
@own_rules
@watch_options
@click.option("--exit-zero", is_flag=True, help="Leave with 0 even if a failure was found.")
@click.option("-v", "--verbose", is_flag=True, help="Say more than fits into 24 lines.")
@click.option("-q", "--quiet", is_flag=True, help="Print no verdict; the exit code and the report tell.")
def scan_command(
    logs: tuple[str, ...],
    form: str | None,
    output: str | None,
    configs: tuple[str, ...],
    folders: tuple[Path, ...],
    *,
    exit_zero: bool,
    verbose: bool,
    quiet: bool,
    **watch: Any,
) -> int:
    """Scan logs as one job and say what failed first, where, and what to change.

    LOG is a file, a folder, a pattern or - for standard input; plain, gzip, zstd, xz, bz2 or a tar archive. Several are
    taken as one job: one file a rank or a node.
    """
    form = form or _form_of(output)
    wanted = WatchOptions(**watch)
    wanted.must_be_of_a_watch()
    place = None if output == "-" else _place(output, (*logs, *configs), form)
    if wanted.follow:
        view = build_view(watched(logs, rulebook_with(folders), Options(configs=configs), wanted, quiet=quiet))
    else:
        view = build_view(_scan(logs, folders, configs))
    if place is not None:
        _write(place, _render(view, form, verbose=True), makes_folder=output is None)
    with printing():
        if place is None:
            click.echo(_render(view, form, verbose=verbose), nl=False)
        elif not quiet:
            _print_verdict(view, str(place), verbose=verbose)
    return 0 if exit_zero or view["verdict"]["category"] == Category.NONE else 1


def _scan(logs: tuple[str, ...], folders: tuple[Path, ...], configs: tuple[str, ...]) -> ScanResult:
    rulebook = rulebook_with(folders)
    if STDIN in logs and sys.stdin is None:
        raise InputError("standard input is closed", hint="name a file, or pipe a log into the program")
    with progress_on(sys.stderr) as progress:
        return scan(
            logs, rulebook, Options(progress=progress, configs=configs), stdin=sys.stdin.buffer if sys.stdin else None
        )


# --- where the report goes -----------------------------------------------------------------------------------


def _place(output: str | None, logs: tuple[str, ...], form: str) -> Path:
    """Return where to write; a folder that is not there is told before an hour of reading, not after it."""
    if output is None:
        return Path("reports") / (_stem(logs[0]) + _SUFFIX[form])
    place = Path(output)
    must_replace_none_of(logs, place, "the report")
    if not place.parent.is_dir():
        raise OutputError(
            f"cannot write the report to {place}: there is no folder {place.parent}",
            hint="create the folder first, or choose another place with --output",
        )
    return place


def _write(place: Path, text: str, *, makes_folder: bool) -> None:
    if makes_folder:
        try:
            place.parent.mkdir(exist_ok=True)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise OutputError(
                f"cannot make the folder {place.parent} here: {reason}", hint="choose a place with --output PATH"
            ) from error
    write_atomically(place, text)


def _form_of(output: str | None) -> str:
    """The form that an output's name asks for; HTML where it asks for none."""
    suffix = Path(output).suffix if output else ""
    return next((form for form, own in _SUFFIX.items() if own == suffix), "html")


def _stem(log: str) -> str:
    """logs/trainer.log.gz → trainer; - → stdin."""
    if log == "-":
        return "stdin"
    name = Path(log).resolve().name if log in {".", ".."} else Path(log).name
    plain = name.split(".", maxsplit=1)[0]
    return "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in plain) or "report"


# --- what it says --------------------------------------------------------------------------------------------

# Each form needs its own libraries (Jinja2, rich), so they are imported where a run has asked for that form.


def _render(view: ReportView, form: str, *, verbose: bool) -> str:
    if form == "json":
        from nccl_logscan.report.json import render_json  # noqa: PLC0415

        return render_json(view)
    if form == "html":
        from nccl_logscan.report.html import render_html  # noqa: PLC0415

        return render_html(view)
    return _as_text(view, verbose=verbose)


def _as_text(view: ReportView, *, verbose: bool) -> str:
    from rich.console import Console  # noqa: PLC0415

    from nccl_logscan.report.text import render_text  # noqa: PLC0415

    page = io.StringIO()
    render_text(view, Console(highlight=False, color_system=None, force_terminal=False, file=page), verbose=verbose)
    return page.getvalue()


def _print_verdict(view: ReportView, written_to: str, *, verbose: bool) -> None:
    from rich.console import Console  # noqa: PLC0415

    from nccl_logscan.report.text import render_text  # noqa: PLC0415

    if sys.stdout is not None:
        render_text(view, Console(highlight=False), written_to=written_to, verbose=verbose)
