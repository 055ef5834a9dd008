"""`nccl-logscan lint FILE...`: what is wrong with a job's settings, before it starts."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from nccl_logscan.cli import completing, say
from nccl_logscan.cli.config_files import Files, examine, find_files, must_hold_something
from nccl_logscan.cli.lint_processes import judge_in_parts, processes_for
from nccl_logscan.cli.options import checked_version, must_replace_none_of, place_given, version_given
from nccl_logscan.cli.stdout import placed_on, printing
from nccl_logscan.configs.diff import path_for_git
from nccl_logscan.errors import InputError, OutputError
from nccl_logscan.lint.mend import Mending, mend
from nccl_logscan.lint.model import Check, Remark, Severity, Versions
from nccl_logscan.lint.run import lint
from nccl_logscan.report.links import Placed
from nccl_logscan.report.lint.mend import diff_of
from nccl_logscan.report.lint.view import LintView, lint_view
from nccl_logscan.report.write import write_atomically
from nccl_logscan.sources import STDIN

_WITH_FIXES = frozenset({"json", "sarif"})
_CHECKS = click.Choice([check.value for check in Check])


def _versions_of(_context: click.Context, _option: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    """verl=0.8 → {"verl": "0.8"}."""
    versions = {}
    for entry in given:
        name, _, in_use = entry.partition("=")
        if not name or not in_use:
            raise click.BadParameter(f"{entry!r} is not NAME=VERSION, such as verl=0.8")
        versions[name.strip().lower().replace("_", "-")] = checked_version(in_use)
    return versions


@click.command(
    "lint",
    short_help="Say what is wrong in launch scripts and configurations.",
    epilog="""\b
Examples:
  nccl-logscan lint run.sh ds_config.json              one job's files, judged together
  nccl-logscan lint scripts/                           the files of a folder, each by itself
  nccl-logscan lint run.sh --nccl 2.21.5 --framework verl=0.8
  nccl-logscan lint run.sh --fix | git apply           the fixes as a diff
  nccl-logscan lint run.sh --fix --write               the fixes made
  nccl-logscan lint . --format sarif -o lint.sarif     for code scanning
  kubectl get job train -o yaml | nccl-logscan lint - --stdin-name job.yaml

\b
Exit codes:
  0 nothing wrong (notes at most), 1 errors or warnings, 2 usage,
  3 unreadable or nothing known, 5 output""",
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", shell_complete=completing.files)
@click.option("--nccl", callback=version_given, metavar="VERSION", help="The NCCL version in use, such as 2.21.5.")
@click.option("--torch", callback=version_given, metavar="VERSION", help="The PyTorch version in use.")
@click.option(
    "--framework",
    "frameworks",
    multiple=True,
    metavar="NAME=VERSION",
    callback=_versions_of,
    help="A framework's version in use, such as verl=0.8.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif", "github"]),
    default="text",
    show_default=True,
    help="How to write the remarks.",
)
@click.option(
    "-o",
    "--output",
    metavar="PATH",
    callback=place_given,
    help="Where to write the remarks. [default: standard output]",
)
@click.option("--stdin-name", metavar="NAME", default="stdin.sh", show_default=True, help="What - is called.")
@click.option("--fix", is_flag=True, help="Print the fixes as a unified diff; the remarks go to standard error.")
@click.option("--write", is_flag=True, help="With --fix: make the fixes in the files.")
@click.option("--select", multiple=True, type=_CHECKS, metavar="CHECK", help="Only this check; may be repeated.")
@click.option("--ignore", multiple=True, type=_CHECKS, metavar="CHECK", help="Not this check; may be repeated.")
@click.option("--exit-zero", is_flag=True, help="Leave with 0 whatever is found.")
def lint_command(  # noqa: PLR0917 - click hands options over by name
    files: tuple[str, ...],
    nccl: str | None,
    torch: str | None,
    frameworks: dict[str, str],
    form: str,
    output: str | None,
    stdin_name: str,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    *,
    fix: bool,
    write: bool,
    exit_zero: bool,
) -> int:
    """Say what is wrong with NCCL's, PyTorch's and the frameworks' settings in launch scripts and configurations.

    FILE is a shell or sbatch script, YAML, JSON, TOML, a Dockerfile, .env, nccl.conf, a Python program, a folder of
    such, or - for standard input. Up to eight files that are named belong to one job; those of a folder are judged one
    by one.
    """
    if write and (not fix or STDIN in files):
        raise click.UsageError("--write goes with --fix" if not fix else "standard input cannot be written to")
    versions = Versions(nccl, torch, frameworks)
    found = find_files(files, stdin_name, sys.stdin.buffer if sys.stdin else None)
    if output is not None and output != STDIN:
        must_replace_none_of((*files, *found.loose), Path(output), "what is said of them")
    wanted = {Check(check) for check in select or list(Check)} - {Check(check) for check in ignore}
    shows_fixes = fix or form in _WITH_FIXES
    remarks = _judged(found, versions, wanted, fixes=shows_fixes, in_parts=not fix)
    must_hold_something(found, files)
    failures: list[OutputError] = []
    if fix:
        remarks = _mend(found, remarks, versions, wanted, failures if write else None)
    view = lint_view(remarks, found.configs, versions, found.skipped, counts_fixes=shows_fixes)
    to_stderr = fix and not write
    text = _RENDER[form](view) if form in _RENDER else _text(view, _placed(output, to_stderr=to_stderr))
    _write(text, output, to_stderr=to_stderr)
    for problem in (*found.problems, *map(str, failures)):
        say(f"error: {problem}")
    if failures:
        return OutputError.exit_code
    if found.problems:
        return InputError.exit_code
    return 0 if exit_zero or view.count(Severity.ERROR) + view.count(Severity.WARNING) == 0 else 1


def _judged(found: Files, versions: Versions, wanted: set[Check], *, fixes: bool, in_parts: bool) -> list[Remark]:
    """Read the folders' files, and return the remarks on all."""
    processes = processes_for(len(found.loose)) if in_parts else 1
    if processes == 1:
        examine(found.loose, found)
        return _remarks(found, versions, wanted, fixes=fixes)
    remarks = _remarks(found, versions, wanted, fixes=fixes)
    more, more_remarks = judge_in_parts(found.loose, versions, processes, fixes=fixes)
    found.add(more)
    return remarks + [remark for remark in more_remarks if remark.check in wanted]


def _remarks(found: Files, versions: Versions, wanted: set[Check], *, fixes: bool) -> list[Remark]:
    return [remark for job in found.jobs for remark in lint(job, versions, fixes=fixes) if remark.check in wanted]


# --- fixes -----------------------------------------------------------------------------------------------------


def _mend(
    found: Files, remarks: list[Remark], versions: Versions, wanted: set[Check], failures: list[OutputError] | None
) -> list[Remark]:
    """Print the fixes as a diff, or make them where there is a list for what cannot be written; return the remarks
    that are left.
    """
    mendable = {remark.at.source for remark in remarks if remark.fix}
    jobs = [job for job in found.jobs if any(config.name in mendable for config in job)]
    changes = [change for job in jobs for change in mend(job, versions, wanted)]
    if failures is None:
        _print_diff(changes)
        return remarks
    made: dict[str, bytes] = {}
    for change in changes:
        try:
            _make(change)
            made[change.config.name] = change.data
        except OutputError as failure:
            failures.append(failure)
    found.jobs[:] = found.with_data(made).jobs
    return _remarks(found, versions, wanted, fixes=True)


def _print_diff(changes: Sequence[Mending]) -> None:
    diffs = [(change.config.name, diff_of(change, path_for_git(change.config.name))) for change in changes]
    with printing():
        for _, diff in diffs:
            click.echo(diff.text, nl=False)
    for name, diff in diffs:
        if diff.withheld:
            lines = ", ".join(map(str, diff.withheld))
            why = f"a secret stands beside the change of line {lines}, or what a terminal or a CI runner would obey"
            told = f"{name}: {why}; the diff leaves it out"
            say(f"note: {told}; --fix --write makes it")


def _make(change: Mending) -> None:
    """Write a file with its fixes, unless it is no longer what was read."""
    path = Path(change.config.name)
    try:
        now = path.read_bytes()
    except OSError as error:
        raise OutputError(f"cannot read {path} again: {(error.strerror or str(error)).lower()}") from error
    if now != change.config.data:
        raise OutputError(f"{path} has been changed since it was read; run lint again")
    write_atomically(path, change.data, what="the fixes")
    count = len(change.lines)
    lines = ", ".join(map(str, sorted(set(change.lines))))
    say(f"mended {count} setting{'s' if count != 1 else ''} in {path}: line {lines}")


# --- output ----------------------------------------------------------------------------------------------------


def _write(text: str, output: str | None, *, to_stderr: bool) -> None:
    if output is not None and output != STDIN:
        write_atomically(Path(output), text, what="the remarks")
        return
    with printing():
        click.echo(text, nl=False, err=to_stderr)


def _placed(output: str | None, *, to_stderr: bool) -> Placed | None:
    if output is not None and output != STDIN:
        return None
    return placed_on(sys.stderr if to_stderr else sys.stdout)


def _text(view: LintView, placed: Placed | None) -> str:
    from nccl_logscan.report.lint.text import render_text  # noqa: PLC0415 - each format is imported where it is used

    return render_text(view, placed)


def _json(view: LintView) -> str:
    from nccl_logscan.report.lint.json import render_json  # noqa: PLC0415

    return render_json(view)


def _sarif(view: LintView) -> str:
    from nccl_logscan.report.lint.sarif import render_sarif  # noqa: PLC0415

    return render_sarif(view)


def _github(view: LintView) -> str:
    from nccl_logscan.report.lint.github import render_github  # noqa: PLC0415

    return render_github(view)


_RENDER: dict[str, Callable[[LintView], str]] = {"json": _json, "sarif": _sarif, "github": _github}
