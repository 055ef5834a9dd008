"""The commands, by name: what a command line that is more than names of logs is parsed by."""

from __future__ import annotations

import os
from importlib import import_module

import click
from click.shell_completion import CompletionItem

from nccl_logscan.cli import COMMANDS, COMPLETION, tell
from nccl_logscan.version import __version__


class _LogsFirst(click.Group):
    """A first word that is a command's name is that command; anything else is a log to scan."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own = {"--help", "-h", "--version"}
        if args and args[0] not in COMMANDS and args[0] not in own:
            args = ["scan", *args]
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        home = COMMANDS.get(cmd_name)
        if home is None:
            return None
        command: click.Command = getattr(import_module(home), f"{cmd_name}_command")
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands; what else a first word may be is a log, or an option of a scan."""
        found = super().shell_complete(ctx, incomplete)
        if not incomplete.startswith("-"):
            return [CompletionItem(incomplete, type="file"), *found]
        scan = self.get_command(ctx, "scan")
        assert scan is not None
        theirs = scan.shell_complete(click.Context(scan, parent=ctx, info_name="scan"), incomplete)
        known = {item.value for item in found}
        return [*found, *(item for item in theirs if item.value not in known)]


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
  nccl-logscan show logs/trainer.log:4711   a line that a report names, and what it is read as
  nccl-logscan demo                         a report of a log that is shipped
  nccl-logscan scan --help                  all options of a scan

A log that is called like a command is ./rules.""",
)
@click.version_option(__version__, prog_name="nccl-logscan")
def cli() -> None:
    """Read the log of a failed training job; say what failed first, where, how sure that is, and what to change.

    `nccl-logscan LOG...` is short for `nccl-logscan scan LOG...`.
    """


def run_command(words: list[str]) -> int:
    """Parse the words of a command line and run it; return its exit code."""
    if COMPLETION in os.environ and not _are_words_given():
        tell(f"{COMPLETION} is set, and COMP_WORDS and COMP_CWORD are not what a shell sets", f"unset {COMPLETION}")
        return 2
    try:
        return int(cli.main(args=words, prog_name="nccl-logscan", standalone_mode=False) or 0)
    except click.exceptions.Abort as error:
        raise error.__cause__ if isinstance(error.__cause__, KeyboardInterrupt) else KeyboardInterrupt from error
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return error.exit_code
    except click.ClickException as error:
        tell(_usage(error), _where_help_is(error))
        return error.exit_code


def _are_words_given() -> bool:
    """Whether Click finds the words to complete; for fish, COMP_CWORD is a word, for other shells a number."""
    place = os.environ.get("COMP_CWORD", "")
    is_place = os.environ[COMPLETION].startswith("fish") or (place.isascii() and place.isdecimal())
    return "COMP_WORDS" in os.environ and "COMP_CWORD" in os.environ and is_place


def _usage(error: click.ClickException) -> str:
    message = " ".join(error.format_message().split()).removesuffix(".")
    return message[:1].lower() + message[1:]


def _where_help_is(error: click.ClickException) -> str:
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"{context.command_path if context else 'nccl-logscan'} --help shows what it takes"
