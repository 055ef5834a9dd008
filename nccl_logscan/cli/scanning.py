"""A scan as the command line runs it: from the names that were given to a verdict and a report.

Needs no parser of command lines (`scan.py` has the options): most runs name their logs and nothing else.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from nccl_logscan.cli import warn
from nccl_logscan.cli.outputs import outputs_of, raise_all, written
from nccl_logscan.cli.progress import progress_on
from nccl_logscan.cli.stdin import standard_input
from nccl_logscan.cli.stdout import placed_on, printing
from nccl_logscan.cli.step_summary import append_summary
from nccl_logscan.diagnosis.verdict import ScanResult
from nccl_logscan.errors import OutputError
from nccl_logscan.pipeline import Options, scan
from nccl_logscan.records import replace
from nccl_logscan.report.forms import render
from nccl_logscan.report.view import ReportView, build_view
from nccl_logscan.rulebook.load import rulebook_with
from nccl_logscan.skim.choice import Skimming
from nccl_logscan.sources.limits import Limits
from nccl_logscan.taxonomy import Category

if TYPE_CHECKING:
    from nccl_logscan.classifier.model import Model
    from nccl_logscan.cli.engine import EngineOptions
    from nccl_logscan.cli.follow import WatchOptions


def run_scan(
    logs: tuple[str, ...],
    forms: tuple[str, ...] = (),
    outputs: tuple[str, ...] = (),
    configs: tuple[str, ...] = (),
    folders: tuple[Path, ...] = (),
    *,
    watch: WatchOptions | None = None,
    engine: EngineOptions | None = None,
    skimming: Skimming | None = None,
    model: Path | None = None,
    redact: bool = False,
    limits: Limits | None = None,
    exit_zero: bool = False,
    verbose: bool = False,
    quiet: bool = False,
) -> int:
    """Scan, or with `watch` follow the logs; write the report, print the verdict; return the exit code."""
    names = logs if engine is None else engine.names(logs)
    reports = outputs_of(outputs, forms, (*logs, *configs), names[0])
    options = Options(limits=limits or Limits(), configs=configs, skimming=skimming or Skimming(), model=_model(model))
    if watch is not None:
        result = _watch(logs, folders, options, watch, quiet)
    else:
        result = _scan(logs, folders, options, engine)
    view = _public(build_view(result)) if redact else build_view(result)
    read = [one.name for one in result.inputs]
    places, problems = written(view, reports, read)
    if (problem := append_summary(view, read, places)) is not None:
        warn(problem)
    printed = next((report.form for report in reports if report.place is None), None)
    try:
        with printing():
            if printed is not None:
                _print(render(view, printed, verbose=verbose))
            elif not quiet:
                print_verdict(view, places, verbose=verbose)
    except OutputError as error:
        problems.append(error)
    raise_all(problems)
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


# --- what it says --------------------------------------------------------------------------------------------


def print_verdict(view: ReportView, written_to: Sequence[str], *, verbose: bool, below: int = 0) -> None:
    """Print the verdict as a scan does, with the places of the full reports; in colours where somebody sees them.

    `below` is how many lines the caller prints under it: together they fit into a window.
    """
    from nccl_logscan.report.text import LINE_LIMIT, plain_text, render_text  # noqa: PLC0415

    if sys.stdout is None:
        return
    if not _may_show_colours(sys.stdout):
        _print(plain_text(view, written_to=written_to, verbose=verbose, line_limit=LINE_LIMIT - below))
        return
    from rich.console import Console  # noqa: PLC0415

    render_text(
        view,
        Console(highlight=False),
        written_to=written_to,
        verbose=verbose,
        placed=placed_on(sys.stdout),
        line_limit=LINE_LIMIT - below,
    )


def _may_show_colours(stream: TextIO) -> bool:
    """Tell a stream that rich may take for a terminal; what it makes of these variables is its own."""
    return stream.isatty() or any(name in os.environ for name in ("FORCE_COLOR", "TTY_COMPATIBLE"))


def _print(text: str) -> None:
    if sys.stdout is not None:
        sys.stdout.write(text)
