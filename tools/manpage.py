"""Writes the man page, docs/man/nccl-logscan.1, from what the commands say of themselves.

python tools/manpage.py [--check]

One page holds all commands; its date is that of its last change. With --check nothing is written, and the exit code is
1 where the page is stale.
"""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import click

from nccl_logscan.cli.commands import cli
from nccl_logscan.version import __version__

PAGE = Path(__file__).parents[1] / "docs" / "man" / "nccl-logscan.1"
_NAME = "nccl-logscan"
_WIDTH = 80
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_HEAD = r""".\" Written by: python tools/manpage.py
.TH NCCL\-LOGSCAN 1 "{date}" "nccl\-logscan {version}" "User Commands"
.nh
.ad l
.SH NAME
nccl\-logscan \- say what failed first in the log of a multi\-GPU training job"""
_TAIL = r""".SH ENVIRONMENT
.TP
.B NO_COLOR
Print no colours.
.TP
.B FORCE_COLOR
Print colours into a pipe, too.
.TP
.B FORCE_HYPERLINK
Print places of files as hyperlinks on any terminal; 0: on none.
.TP
.B NCCL_LOGSCAN_KERNEL
off: skim large logs without the compiled kernel.
.TP
.B NCCL_LOGSCAN_TRACEBACK
1: show where in the program a defect is.
.SH FILES
.TP
.I reports/NAME.html
The report of a scan that was given no \fB\-\-output\fP."""


def main() -> int:
    """Write the page, or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only say whether the page is fresh")
    only_check = parser.parse_args().check
    if PAGE.is_file() and (there := PAGE.read_text("utf-8")) == page(_date_of(there)):
        return 0
    if not only_check:
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(page(f"{datetime.now(UTC):%Y-%m-%d}"), "utf-8")
        return 0
    print(f"{PAGE} is stale: run python tools/manpage.py", file=sys.stderr)
    return 1


def _date_of(text: str) -> str:
    found = _DATE.search(text)
    return found[0] if found else ""


def page(date: str) -> str:
    """Return the page in the macros of man(7)."""
    root = click.Context(cli, info_name=_NAME)
    lines = [
        _HEAD.format(version=_escaped(__version__), date=date),
        ".SH SYNOPSIS",
        *_synopsis(root),
        ".SH DESCRIPTION",
    ]
    lines += [*_paragraphs(cli.help or ""), *_epilog(cli.epilog), ".SH COMMANDS"]
    for context in commands_of(root):
        lines += _command(context)
    return "\n".join((*lines, _TAIL)) + "\n"


def commands_of(parent: click.Context) -> Iterator[click.Context]:
    """Yield each command that does something, those of groups among them."""
    group = parent.command
    assert isinstance(group, click.Group)
    for name in group.list_commands(parent):
        command = group.get_command(parent, name)
        assert command is not None
        context = click.Context(command, info_name=name, parent=parent)
        if isinstance(command, click.Group):
            yield from commands_of(context)
        else:
            yield context


def _synopsis(root: click.Context) -> Iterator[str]:
    yield from (".B nccl\\-logscan", "[\\fIOPTIONS\\fP] \\fILOG\\fP...")
    for context in commands_of(root):
        yield from (".br", f".B {_escaped(context.command_path)}", _escaped(" ".join(_usage(context))))


def _usage(context: click.Context) -> list[str]:
    return context.command.collect_usage_pieces(context)


def _command(context: click.Context) -> Iterator[str]:
    yield f'.SS "{_escaped(context.command_path)} {_escaped(" ".join(_usage(context)))}"'
    yield from _paragraphs(context.command.help or "")
    for parameter in context.command.get_params(context):
        record = parameter.get_help_record(context) if isinstance(parameter, click.Option) else None
        if record is not None:
            yield from (".TP", f".B {_escaped(record[0])}", *_text(record[1]))
    yield from _epilog(context.command.epilog)


def _paragraphs(help_text: str) -> Iterator[str]:
    for number, paragraph in enumerate(help_text.strip().split("\n\n")):
        if number:
            yield ".PP"
        yield from _text(paragraph)


def _text(said: str) -> Iterator[str]:
    lines = textwrap.wrap(_escaped(" ".join(said.split())), _WIDTH, break_long_words=False, break_on_hyphens=False)
    yield from map(_guarded, lines)


def _epilog(epilog: str | None) -> Iterator[str]:
    """Yield examples and exit codes, whose lines stay as they are."""
    for written in (epilog or "").split("\n\n"):
        block = written.replace("\b", "").strip("\n")
        lines = block.splitlines()
        if not lines:
            continue
        if not lines[0].endswith(":"):
            yield from (".PP", *_text(block))
            continue
        yield from (".PP", _escaped(lines[0]), ".RS 4", ".nf")
        yield from (_guarded(_escaped(line.removeprefix("  "))) for line in lines[1:])
        yield from (".fi", ".RE")


def _escaped(text: str) -> str:
    return text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq").replace("|", "|\\:")


def _guarded(line: str) -> str:
    """Return a line of text that no formatter takes for a request."""
    return f"\\&{line}" if line.startswith((".", "'")) else line


if __name__ == "__main__":
    sys.exit(main())
