"""`nccl-logscan explain NAME`: what a variable, a setting, a code or a message means."""

from __future__ import annotations

from pathlib import Path

import click

from nccl_logscan.catalogue.load import catalogue
from nccl_logscan.cli.completing import names
from nccl_logscan.cli.options import own_rules, version_given
from nccl_logscan.cli.stdout import printing
from nccl_logscan.explain.find import explain
from nccl_logscan.explain.render import as_json, as_text
from nccl_logscan.rulebook.load import rulebook_with


@click.command(
    "explain",
    epilog="""\b
Examples:
  nccl-logscan explain NCCL_IB_TIMEOUT --nccl 2.21.5
  nccl-logscan explain trainer.save_freq
  nccl-logscan explain process-group-timeout       what each framework calls it
  nccl-logscan explain ncclRemoteError
  nccl-logscan explain 12                          all that a number may mean
  nccl-logscan explain 'Xid 79'
  nccl-logscan explain 137
  nccl-logscan explain 'Got completion from peer'  a part of a log line

\b
Exit codes:
  0 explained, 2 usage, 3 nothing is known of it, 4 rules, 5 output""",
    context_settings={"ignore_unknown_options": True},
)
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="NAME", shell_complete=names)
@click.option("--nccl", callback=version_given, metavar="VERSION", help="Answer for this version of NCCL.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="How to write it.")
@click.option("-v", "--verbose", is_flag=True, help="List every rule that speaks of it.")
@own_rules
def explain_command(
    words: tuple[str, ...], nccl: str | None, form: str, folders: tuple[Path, ...], *, verbose: bool
) -> None:
    """Explain a variable, a setting, a concept, a code or a message.

    NAME is one of these; a message needs no quotes.
    """
    name = " ".join(words)
    found = explain(name, catalogue(), rulebook_with(folders), nccl)
    with printing():
        click.echo(as_json(name, found) if form == "json" else as_text(found, verbose=verbose), nl=False)
