"""Options that several commands take, and what is checked of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from nccl_logscan.expressions import deferred
from nccl_logscan.sources.places import is_one_of

_NO_NAME = "the name is empty; is a variable not set?"
_VERSION = deferred(r"(?:core_)?v?\d+(?:\.\d+){0,4}(?:[-+.\w]{0,40})?", re.ASCII)


class NamedPath(click.Path):
    """A path as a Path. No name, as an unset variable leaves it, is refused: a Path takes it for the folder here."""

    def __init__(self, *, exists: bool = False, file_okay: bool = True) -> None:
        super().__init__(exists=exists, file_okay=file_okay, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the Path; fails for an empty name."""
        if value == "":
            self.fail(_NO_NAME, param, ctx)
        return super().convert(value, param, ctx)


own_rules = click.option(
    "--rules",
    "folders",
    multiple=True,
    metavar="DIR",
    type=NamedPath(exists=True, file_okay=False),
    help="A folder with rules of your own, beside the built-in ones.",
)


def place_given(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    """Return the name of an output; raises BadParameter where it is empty. A callback of click's."""
    if value == "":
        raise click.BadParameter(_NO_NAME)
    return value


def version_given(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    """Return a version as its project writes it: 2.21.5, v2.21.5-1, 2.7.0+cu126, core_v0.15. A callback of click's."""
    return value if value is None else checked_version(value)


def checked_version(text: str) -> str:
    """Return the version without blanks around it; raises BadParameter where it is none."""
    if not _VERSION.fullmatch(text.strip()):
        raise click.BadParameter(f"{text!r} is no version; write it as 2.21.5")
    return text.strip()


def must_replace_none_of(inputs: Iterable[str], place: Path, what: str) -> None:
    """Raise BadParameter where `what` (the report) would be written over a file that it is about."""
    if is_one_of(inputs, place):
        raise click.BadParameter(f"{place} is one of the inputs; {what} would replace it", param_hint="--output")
