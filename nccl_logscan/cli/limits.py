"""`--limit NAME=N`: limits on what is read, raised or lowered."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import click

from nccl_logscan.expressions import deferred
from nccl_logscan.records import replace
from nccl_logscan.sources.limits import Limits

_GIVEN = deferred(r"\s*(?P<name>[a-z_]+)\s*=\s*(?P<number>\d{1,15})\s*(?P<unit>[KMGT]?)(?:i?B)?\s*", re.IGNORECASE)
_UNITS = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}
NAMES = tuple(Limits.__annotations__)


def _limits(_context: click.Context, _option: click.Parameter, values: Sequence[str]) -> Limits:
    changed: dict[str, Any] = {}
    for value in values:
        given = _GIVEN.fullmatch(value)
        if given is None:
            raise click.BadParameter(f"{value!r} is no limit; write it as members=50000 or line_bytes=4M")
        if given["name"] not in NAMES:
            raise click.BadParameter(f"no limit is called {given['name']!r}; there are {', '.join(NAMES)}")
        number = int(given["number"]) << _UNITS[given["unit"].lower()]
        if number < 1:
            raise click.BadParameter(f"{given['name']} is at least 1")
        changed[given["name"]] = number
    return replace(Limits(), **changed)


limit_option = click.option(
    "--limit",
    "limits",
    multiple=True,
    metavar="NAME=N",
    callback=_limits,
    help=f"Another limit on what is read; K, M, G are powers of 1024; repeatable. {', '.join(NAMES)}.",
)
