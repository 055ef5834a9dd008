"""`nccl-logscan rules suggest LOG...`: a draft of a rule for each kind of line that no rule knows."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from nccl_logscan.cli import completing, say
from nccl_logscan.cli.options import NamedPath, own_rules
from nccl_logscan.cli.progress import progress_on
from nccl_logscan.cli.stdin import standard_input
from nccl_logscan.drafting.draft import as_yaml
from nccl_logscan.drafting.suggest import Suggestions, suggest
from nccl_logscan.errors import OutputError
from nccl_logscan.pipeline import Options, scan
from nccl_logscan.report.visible import harmless_to_runners, visible
from nccl_logscan.report.write import write_atomically
from nccl_logscan.rulebook.load import rulebook_with
from nccl_logscan.sources import STDIN, Source, open_sources


@click.command(
    "suggest",
    short_help="Draft a rule for each kind of error that no rule knows.",
    epilog="""\b
Examples:
  nccl-logscan rules suggest logs/                       drafts on standard output
  nccl-logscan rules suggest logs/ -o site-rules         a file for each, in site-rules/unsorted
  nccl-logscan rules suggest logs/ --rules site-rules    what your own rules do not know either
  nccl-logscan rules check --rules site-rules            says what is left to complete

\b
Exit codes:
  0 drafted, or nothing to draft, 2 usage, 3 unreadable or nothing to judge, 4 rules, 5 output""",
)
@click.argument("logs", nargs=-1, required=True, metavar="LOG...", shell_complete=completing.files)
@click.option(
    "-o",
    "--output",
    "folder",
    metavar="DIR",
    type=NamedPath(file_okay=False),
    help="Write each draft as <category or unsorted>/<name>.yaml below this folder. [default: standard output]",
)
@click.option(
    "--least", type=click.IntRange(min=1), default=1, metavar="N", help="Only for groups of at least N lines."
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    metavar="N",
    help="How many drafts at most, of the most frequent groups.",
)
@own_rules
def suggest_command(
    logs: tuple[str, ...], folder: Path | None, least: int, limit: int, folders: tuple[Path, ...]
) -> None:
    """Draft a rule for each kind of warning and error that no rule knows.

    A draft has what the log tells: the kind, an expression made from the line, the line as the example and another line
    as the near miss. What only a person knows is marked `# say:`, and a guess `# check:`. Secrets are taken out as in
    reports; names of hosts and users are not.
    """
    stdin = standard_input(logs)
    rulebook = rulebook_with(folders)
    with progress_on(sys.stderr) as progress:
        options = Options(progress=progress, looks_beside=False)
        result = scan(logs, rulebook, options, stdin=stdin)
    found = suggest(result, rulebook, least=least, limit=limit, reopened=lambda: _reopened(logs))
    texts = {f"{draft.id}.yaml": as_yaml(draft) for draft in found.drafts}
    if folder is not None:
        _write(folder, texts)
    elif texts:
        click.echo("---\n".join(f"# {name}\n{text}" for name, text in texts.items()), nl=False)
    for remark in _remarks(found, least, limit):
        say(remark)


def _reopened(logs: Sequence[str]) -> Sequence[Source]:
    """Return the logs to be read once more; what came from standard input is gone."""
    again = [log for log in logs if log != STDIN]
    return open_sources(again) if again else []


def _remarks(found: Suggestions, least: int, limit: int) -> Sequence[str]:
    if not (found.drafts or found.rare or found.wordless):
        return ("no warning or error is unclaimed: rules know them all, so there is nothing to draft",)
    reasons = (
        (found.beyond, f"further than --limit {limit}"),
        (found.rare, f"of fewer lines than --least {least}"),
        (found.wordless, "without words to go by"),
    )
    left_out = sum(number for number, _ in reasons)
    if not left_out:
        return ()
    said = ", ".join(f"{number} {reason}" for number, reason in reasons if number)
    return (f"{left_out} group{'s' if left_out != 1 else ''} left out: {said}",)


def _write(folder: Path, texts: Mapping[str, str]) -> None:
    """Write drafts below a folder; raises OutputError, with nothing written, where one of the files is there."""
    places = {folder / name: text for name, text in texts.items()}
    there = [place for place in places if os.path.lexists(place)]
    if there:
        more = f" and {len(there) - 1} more of the drafts" if len(there) > 1 else ""
        raise OutputError(
            f"{there[0]}{more} would be replaced; nothing was written",
            hint="move what is there away, name it with --rules if it is complete, or give another folder with -o",
        )
    for place, text in places.items():
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise OutputError(
                f"cannot make the folder {place.parent}: {reason}", hint="choose another folder with -o"
            ) from error
        write_atomically(place, text, what="the draft")
        click.echo(harmless_to_runners(visible(str(place))))
