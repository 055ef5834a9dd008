"""`nccl-logscan --follow LOG...`: a scan of a job that still runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from nccl_logscan.cli import say
from nccl_logscan.cli.stdin import standard_input
from nccl_logscan.diagnosis.verdict import ScanResult
from nccl_logscan.pipeline import Options
from nccl_logscan.rulebook.rule import Rulebook
from nccl_logscan.sources import STDIN

_SPAN = re.compile(r"(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m(?:in)?)?(?:(\d{1,9}(?:\.\d{1,3})?)s?)?", re.ASCII)
_UNITS = (86_400, 3_600, 60, 1)
_Command = TypeVar("_Command", bound=Callable[..., Any])


def _seconds(_context: click.Context, _option: click.Parameter, value: str | None) -> float | None:
    """Return a span of time in seconds: 30, 30s, 5m, 1h30m. A callback of click's."""
    if value is None:
        return None
    match = _SPAN.fullmatch(value.strip())
    seconds = sum(float(part or 0) * unit for part, unit in zip(match.groups(), _UNITS, strict=True)) if match else 0.0
    if not seconds:
        raise click.BadParameter(f"{value!r} is no span of time; write it as 90s, 45m or 1h30m")
    return seconds


_OPTIONS = (
    click.option(
        "--follow",
        is_flag=True,
        help="Read the logs of a job that runs, as they grow, and give the verdict once it has failed or ended; Ctrl-C "
        "and SIGTERM give it at once.",
    ),
    click.option(
        "--settle",
        callback=_seconds,
        metavar="TIME",
        help="With --follow: how long logs are still before a failure counts. [default: 60s]",
    ),
    click.option(
        "--stalled",
        callback=_seconds,
        metavar="TIME",
        help="With --follow: take a job for hung of which no log has grown for so long. [default: never]",
    ),
    click.option(
        "--timeout", callback=_seconds, metavar="TIME", help="With --follow: give the verdict then at the latest."
    ),
    click.option(
        "--pid", type=click.IntRange(min=1), metavar="PID", help="With --follow: give it when this process has ended."
    ),
)


def watch_options(command: _Command) -> _Command:
    """Add the options of a watch to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """What the command line says of a watch; times in seconds, None where it says nothing."""

    follow: bool
    settle: float | None
    stalled: float | None
    timeout: float | None
    pid: int | None

    def must_be_of_a_watch(self) -> None:
        """Raise UsageError where one is given without --follow."""
        given = {"--settle": self.settle, "--stalled": self.stalled, "--timeout": self.timeout, "--pid": self.pid}
        for name, value in given.items():
            if value is not None and not self.follow:
                raise click.UsageError(f"{name} is of use with --follow only")


def watched(
    logs: Sequence[str], rulebook: Rulebook, options: Options, wanted: WatchOptions, *, quiet: bool
) -> ScanResult:
    """Follow logs, and say on standard error when the watch begins, meets a first sign of failure, and ends."""
    from nccl_logscan.follow import SETTLE, SystemClock, Watch, follow  # noqa: PLC0415 - a scan of a file needs none of it

    given = standard_input(logs)
    stdin = given.fileno() if given is not None and STDIN in logs else None
    watch = Watch(wanted.settle or SETTLE, wanted.stalled, wanted.timeout, wanted.pid)

    def tell(line: str) -> None:
        if not quiet:
            say(f"nccl-logscan: {line}")

    with SystemClock() as clock:
        return follow(logs, rulebook, options, watch, clock=clock, tell=tell, stdin=stdin)
