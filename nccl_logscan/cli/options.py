"""Options that several commands take."""

from __future__ import annotations

from pathlib import Path

import click

own_rules = click.option(
    "--rules",
    "folders",
    multiple=True,
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A folder with rules of your own, beside the built-in ones.",
)
