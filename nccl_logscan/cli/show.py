"""`nccl-logscan show LOG:LINE`: a line that a report names, the lines around it, and what is made of it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import click

from nccl_logscan.cli.options import own_rules
from nccl_logscan.cli.stdin import standard_input
from nccl_logscan.cli.stdout import placed_on, printing
from nccl_logscan.explain.line import MOST_AROUND, read_line, source_named, window_at
from nccl_logscan.explain.line_text import as_text
from nccl_logscan.rulebook.load import rulebook_with

_DIGITS = 18


class _Place(NamedTuple):
    """An input as a report names it, and a line of it, from 1."""

    log: str
    line: int


def _place(_context: click.Context, _argument: click.Parameter, value: str) -> _Place:
    """Take LOG:LINE apart at its last colon. A callback of click's."""
    log, _, number = value.rpartition(":")
    if not log or not (number.isascii() and number.isdigit()):
        raise click.BadParameter(f"{value} does not end in the number of a line; write it as trainer.log:118")
    if len(number) > _DIGITS or not int(number):
        raise click.BadParameter(f"{value}: there is no line {number[:_DIGITS]}; lines count from 1")
    return _Place(log, int(number))


@click.command(
    "show",
    short_help="Show a line that a report names, with those around it.",
    epilog="""\b
Examples:
  nccl-logscan show logs/trainer.log:4711
  nccl-logscan show logs/trainer.log.gz:4711 -C 20
  nccl-logscan show 'ci-logs.tar.gz!rank0.log:17'      a file in an archive, as a scan names it
  nccl-logscan show trainer.log:17 --rules site-rules  whether a rule of your own claims it
  kubectl logs job/train | nccl-logscan show -:17

\b
Exit codes:
  0 shown, 2 usage, 3 unreadable or no such line, 4 rules, 5 output""",
    context_settings={"ignore_unknown_options": True},  # -:17 is a line of standard input
)
@click.argument("place", metavar="LOG:LINE", type=click.Path(), callback=_place)
@click.option(
    "-C",
    "--context",
    "around",
    type=click.IntRange(0, MOST_AROUND),
    default=5,
    show_default=True,
    metavar="N",
    help="How many lines to show before it, and after.",
)
@own_rules
def show_command(place: _Place, around: int, folders: tuple[Path, ...]) -> None:
    """Show a line of a log with the lines around it, what it is read as, and which rules claim it.

    LOG:LINE is written as reports print it; a path may hold colons. Secrets are taken out as in reports, long lines are
    cut, and characters that would act on the terminal are spelled out.
    """
    rulebook = rulebook_with(folders)
    window = window_at(source_named(place.log, standard_input((place.log,))), place.line)
    text = as_text(window, read_line(window, rulebook), around, placed_on(sys.stdout))
    with printing():
        click.echo(text, nl=False)
