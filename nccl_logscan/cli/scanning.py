"""A scan as the command line runs it: from the names that were given to a verdict and a report.

Needs no parser of command lines (`scan.py` has the options): most runs name their logs and nothing else.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from nccl_logscan.cli.progress import progress_on
from nccl_logscan.cli.stdin import standard_input
from nccl_logscan.cli.stdout import printing
from nccl_logscan.diagnosis.verdict import ScanResult
from nccl_logscan.errors import OutputError
from nccl_logscan.pipeline import Options, scan
from nccl_logscan.records import replace
from nccl_logscan.report.view import ReportView, build_view
from nccl_logscan.report.write import write_atomically
from nccl_logscan.rulebook.load import builtin_rulebook, load_rulebook
from nccl_logscan.rulebook.rule import Rulebook
from nccl_logscan.rulebook.where import builtin_rules
from nccl_logscan.skim.choice import Skimming
from nccl_logscan.sources import is_url, shown
from nccl_logscan.sources.places import is_one_of
from nccl_logscan.taxonomy import Category

if TYPE_CHECKING:
    from nccl_logscan.classifier.model import Model
    from nccl_logscan.cli.engine import EngineOptions
    from nccl_logscan.cli.follow import WatchOptions

SUFFIX = {"html": ".html", "json": ".json", "text": ".txt", "junit": ".xml", "github": ".github.txt"}
"""The forms of a report, and how the name of a file of each ends."""


def rulebook_with(folders: tuple[Path, ...]) -> Rulebook:
    """Return the built-in rules, and those of the user's own folders beside them."""
    return load_rulebook([builtin_rules(), *folders]) if folders else builtin_rulebook()


def run_scan(
    logs: tuple[str, ...],
    form: str | None = None,
    output: str | None = None,
    configs: tuple[str, ...] = (),
    folders: tuple[Path, ...] = (),
    *,
    watch: WatchOptions | None = None,
    engine: EngineOptions | None = None,
    skimming: Skimming | None = None,
    model: Path | None = None,
    redact: bool = False,
    exit_zero: bool = False,
    verbose: bool = False,
    quiet: bool = False,
) -> int:
    """Scan, or with `watch` follow the logs; write the report, print the verdict; return the exit code."""
    form = form or _form_of(output)
    names = logs if engine is None else engine.names(logs)
    place = None if output == "-" else _place(output, (*logs, *configs), form, names[0])
    options = Options(configs=configs, skimming=skimming or Skimming(), model=_model(model))
    if watch is not None:
        result = _watch(logs, folders, options, watch, quiet)
    else:
        result = _scan(logs, folders, options, engine)
    view = _public(build_view(result)) if redact else build_view(result)
    if place is not None:
        _write(place, _render(view, form, verbose=True), makes_folder=output is None)
    with printing():
        if place is None:
            _print(_render(view, form, verbose=verbose))
        elif not quiet:
            print_verdict(view, str(place), verbose=verbose)
    return 0 if exit_zero or view["verdict"]["category"] == Category.NONE else 1


def _scan(
    logs: tuple[str, ...],
    folders: tuple[Path, ...],
    options: Options,
    engine: EngineOptions | None,
) -> ScanResult:
    rulebook = rulebook_with(folders)
    stdin = standard_input(logs)
    with progress_on(sys.stderr) as progress:
        options = replace(options, progress=progress)
        if engine is not None:
            return engine.scan(logs, rulebook, options, stdin)
        return scan(logs, rulebook, options, stdin=stdin)


def _public(view: ReportView) -> ReportView:
    from nccl_logscan.report.public import public_view  # noqa: PLC0415 - few reports are for the public

    return public_view(view)[0]


def _model(path: Path | None) -> Model | None:
    if path is None:
        return None
    from nccl_logscan.classifier.model import read_model  # noqa: PLC0415 - few scans name one

    return read_model(path)


def _watch(
    logs: tuple[str, ...], folders: tuple[Path, ...], options: Options, watch: WatchOptions, quiet: bool
) -> ScanResult:
    from nccl_logscan.cli.follow import watched  # noqa: PLC0415 - its options are click's

    return watched(logs, rulebook_with(folders), options, watch, quiet=quiet)


# --- where the report goes -----------------------------------------------------------------------------------


def _place(output: str | None, logs: tuple[str, ...], form: str, name: str) -> Path:
    """Return where to write; a folder that is not there is told before an hour of reading, not after it."""
    if output is None:
        return Path("reports") / (_stem(name) + SUFFIX[form])
    place = Path(output)
    if is_one_of(logs, place):
        from nccl_logscan.cli.options import must_replace_none_of  # noqa: PLC0415 - options are click's to refuse

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
    return next((form for form, own in SUFFIX.items() if own == suffix), "html")


def _stem(log: str) -> str:
    """logs/trainer.log.gz → trainer; - → stdin."""
    if log == "-":
        return "stdin"
    name = Path(log).resolve().name if log in {".", ".."} else Path(shown(log) if is_url(log) else log).name
    plain = name.split(".", maxsplit=1)[0]
    return "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in plain) or "report"


# --- what it says --------------------------------------------------------------------------------------------

# Each form needs its own libraries (MarkupSafe, rich), so they are imported where a run has asked for that form.


def _render(view: ReportView, form: str, *, verbose: bool) -> str:
    if form == "json":
        from nccl_logscan.report.json import render_json  # noqa: PLC0415

        return render_json(view)
    if form == "html":
        from nccl_logscan.report.html import render_html  # noqa: PLC0415

        return render_html(view)
    if form == "junit":
        from nccl_logscan.report.junit import render_junit  # noqa: PLC0415

        return render_junit(view)
    if form == "github":
        from nccl_logscan.report.github import render_github  # noqa: PLC0415

        return render_github(view)
    return _as_text(view, verbose=verbose)


def _as_text(view: ReportView, *, verbose: bool) -> str:
    from nccl_logscan.report.text import plain_text  # noqa: PLC0415

    return plain_text(view, verbose=verbose)


def print_verdict(view: ReportView, written_to: str, *, verbose: bool) -> None:
    """Print the verdict as a scan does, with the place of the full report; in colours where somebody sees them."""
    from nccl_logscan.report.text import plain_text, render_text  # noqa: PLC0415

    if sys.stdout is None:
        return
    if not _may_show_colours(sys.stdout):
        _print(plain_text(view, written_to=written_to, verbose=verbose))
        return
    from rich.console import Console  # noqa: PLC0415

    render_text(view, Console(highlight=False), written_to=written_to, verbose=verbose)


def _may_show_colours(stream: TextIO) -> bool:
    """Tell a stream that rich may take for a terminal; what it makes of these variables is its own."""
    return stream.isatty() or any(name in os.environ for name in ("FORCE_COLOR", "TTY_COMPATIBLE"))


def _print(text: str) -> None:
    if sys.stdout is not None:
        sys.stdout.write(text)
