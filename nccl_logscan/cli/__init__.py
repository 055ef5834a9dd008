"""The command line: `nccl-logscan LOG...` scans; `rules` is about rules, `explain` about names."""

from __future__ import annotations

import gc
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from nccl_logscan.errors import LogscanError, RulebookError
from nccl_logscan.report.visible import visible, visible_lines
from nccl_logscan.version import __version__

_DEFECT = 70

# Imported when they are run: `rules` needs PyYAML and pydantic, and `--version` neither.
_COMMANDS = {
    "scan": "nccl_logscan.cli.scan",
    "lint": "nccl_logscan.cli.lint",
    "advise": "nccl_logscan.cli.advise",
    "explain": "nccl_logscan.cli.explain",
    "rules": "nccl_logscan.cli.rules",
}


class _LogsFirst(click.Group):
    """A first word that is a command's name is that command; anything else is a log to scan."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own = {"--help", "-h", "--version"}
        if args and args[0] not in _COMMANDS and args[0] not in own:
            args = ["scan", *args]
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        home = _COMMANDS.get(cmd_name)
        if home is None:
            return None
        command: click.Command = getattr(import_module(home), f"{cmd_name}_command")
        return command


@click.group(
    cls=_LogsFirst,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Examples:
  nccl-logscan logs/trainer.log             a verdict here, a report in reports/trainer.html
  nccl-logscan logs/                        every file of a folder, as one job
  kubectl logs job/train | nccl-logscan -   standard input
  nccl-logscan --follow logs/               a job that still runs
  nccl-logscan trainer.log --format json --output -
  nccl-logscan scan --help                  all options of a scan

A log that is called like a command is ./rules.""",
)
@click.version_option(__version__, prog_name="nccl-logscan")
def cli() -> None:
    """Read the log of a failed training job; say what failed first, where, how sure that is, and what to change.

    `nccl-logscan LOG...` is short for `nccl-logscan scan LOG...`.
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    0 healthy, 1 failure found, 2 usage, 3 input unreadable or nothing to judge, 4 rules, 5 output, 70 a defect of ours.
    """
    _print_anything()
    try:
        return int(cli.main(args=arguments, prog_name="nccl-logscan", standalone_mode=False) or 0)
    except (click.exceptions.Abort, KeyboardInterrupt):
        click.echo("error: interrupted; nothing was written", err=True)
        return 130
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return error.exit_code
    except click.ClickException as error:
        _tell(_usage(error), _where_help_is(error))
        return error.exit_code
    except LogscanError as error:
        for problem in error.problems if isinstance(error, RulebookError) else ():
            click.echo(visible_lines(problem.render()), err=True)
        _tell(str(error), error.hint)
        return error.exit_code
    except Exception as error:  # noqa: BLE001 - the one place that says a defect is ours
        return _defect(error)


def _print_anything() -> None:
    """Have characters that the terminal's encoding lacks replaced: a log may hold any."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _tell(message: str, hint: str | None) -> None:
    """Say what happened in one line and what to do in another; a name in them may hold anything."""
    click.echo(f"error: {visible(message)}", err=True)
    if hint:
        click.echo(f" help: {visible(hint)}", err=True)


def _usage(error: click.ClickException) -> str:
    message = " ".join(error.format_message().split()).removesuffix(".")
    return message[:1].lower() + message[1:]


def _where_help_is(error: click.ClickException) -> str:
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"{context.command_path if context else 'nccl-logscan'} --help shows what it takes"


def _defect(error: Exception) -> int:
    if os.environ.get("NCCL_LOGSCAN_TRACEBACK"):
        raise error
    message = f"nccl-logscan {__version__} has a defect: {type(error).__name__}: {error}"
    _tell(message, "run again with NCCL_LOGSCAN_TRACEBACK=1 and report what it prints")
    return _DEFECT


def entry_point() -> Any:
    """Run as the console script."""
    # A run makes many records and few cycles: looking for these as often as usual costs a fourteenth of a small scan.
    gc.set_threshold(100_000, 50, 100)
    sys.exit(main())
