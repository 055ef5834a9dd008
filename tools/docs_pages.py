"""Writes what the program determines into the pages of docs/: what commands print and take, and the frames' columns.

python tools/docs_pages.py           write it
python tools/docs_pages.py --check   say whether it is fresh

A page marks the places, each with an end:

    <!-- prints: nccl-logscan demo -->
    <!-- end of prints -->

`prints: FOLDER... $ COMMAND` runs a command with the files of these folders around it, as in a terminal of 84 columns;
`FOLDER=NAME` puts them below that name, and `prints 12:` shows the first 12 lines. The commands of a page run in order,
and those without a folder in one that is empty at first. `commands:` and `frames:` give the two references.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import polars as pl
from manpage import commands_of

from nccl_logscan.api.frames import FRAMES, Column
from nccl_logscan.cli.commands import cli
from nccl_logscan.report.json import schema

_ROOT = Path(__file__).resolve().parents[1]
_PAGES = _ROOT / "docs"
_BLOCK = re.compile(
    r"^(?P<begin><!-- (?P<kind>prints|commands|frames)(?: (?P<most>\d+))?:(?P<words>[^\n]*) -->\n)"
    r".*?^(?P<end><!-- end of (?P=kind) -->)$",
    re.MULTILINE | re.DOTALL,
)
_ACTING = re.compile(r"[\\*_{}\[\]<>#|~]")
_COLUMNS, _ROWS = 84, 40
_TERMINAL = {"TERM": "xterm", "NO_COLOR": "1", "FORCE_HYPERLINK": "0", "PYTHONUTF8": "1"}
_LABELS = ("case.yaml", "expected.yaml")  # of the tests; a user's folder has none
_FAILED = 1  # what a scan leaves with where the job failed
_ESCAPE = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|\][^\x1b\x07]*(?:\x07|\x1b\\))")


def main() -> int:
    """Write the parts, or compare them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only say whether they are fresh")
    only_check = parser.parse_args().check
    stale = [page for page in sorted(_PAGES.rglob("*.md")) if _refreshed(page, only_check=only_check)]
    for page in stale if only_check else ():
        print(f"{page.relative_to(_ROOT)} is stale: run python tools/docs_pages.py", file=sys.stderr)
    return 1 if only_check and stale else 0


def _refreshed(page: Path, *, only_check: bool) -> bool:
    """Return whether a page was not fresh; it is, after, unless it was only to be looked at."""
    text = page.read_text("utf-8")
    fresh = with_parts(text)
    if not only_check and fresh != text:
        page.write_text(fresh, "utf-8")
    return fresh != text


def with_parts(text: str) -> str:
    """Return a page with all of its marked parts made anew."""
    with tempfile.TemporaryDirectory() as scratch:

        def part(found: re.Match[str]) -> str:
            made = _part(found["kind"], found["words"].strip(), int(found["most"] or 0), Path(scratch))
            return f"{found['begin']}\n{made}\n\n{found['end']}"

        return _BLOCK.sub(part, text)


def _part(kind: str, words: str, most: int, scratch: Path) -> str:
    if kind == "prints":
        return _printed(words, most, scratch)
    return "\n".join(_commands() if kind == "commands" else _frames())


def _printed(words: str, most: int, scratch: Path) -> str:
    """Return a command and what a terminal shows of it."""
    around, _, command = words.rpartition("$ ")
    folder = _folder_with(around.split(), scratch)
    lines = _run(shlex.split(command), folder).replace(str(folder.resolve()), "/home/me").rstrip().splitlines()
    shown = [*lines[:most], "..."] if 0 < most < len(lines) else lines
    return "\n".join(["```console", f"$ {command}", *shown, "```"])


def _folder_with(names: list[str], scratch: Path) -> Path:
    folder = scratch / ("-".join(name.replace("/", "-") for name in names) or "empty")
    if not folder.exists():
        folder.mkdir()
        for name in names:
            there, _, below = name.partition("=")
            ignored = shutil.ignore_patterns(*_LABELS)
            shutil.copytree(_ROOT / there, folder / below, dirs_exist_ok=True, ignore=ignored)
    return folder


def _run(words: list[str], folder: Path) -> str:
    """Return what a command writes to a terminal, without colours."""
    if words[0] != "nccl-logscan":
        raise SystemExit(f"error: {words[0]} is no command that pages show")
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(_ROOT), **_TERMINAL}  # nothing of CI's, or of a user's
    process = subprocess.Popen(
        [sys.executable, "-m", "nccl_logscan", *words[1:]],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=follower,
        stderr=follower,
    )
    os.close(follower)
    told = b"".join(_read_all(leader)).decode()
    if process.wait() > _FAILED:
        raise SystemExit(f"error: {shlex.join(words)} left with {process.returncode}:\n{told}")
    return _ESCAPE.sub("", told).replace("\r\n", "\n")


def _read_all(leader: int) -> Iterator[bytes]:
    """Yield what comes out of a terminal until nobody has it open, and close it."""
    with open(leader, "rb", buffering=0) as terminal:
        while True:
            try:
                block = terminal.read(65_536)
            except OSError:  # Linux' word for the end
                return
            if not block:
                return
            yield block


def _commands() -> Iterator[str]:
    """Yield a section for each command: usage, what it does, its options, its examples and exit codes."""
    root = click.Context(cli, info_name="nccl-logscan")
    for context in commands_of(root):
        yield from (f"## {context.command_path.removeprefix('nccl-logscan ')}", "")
        usage = " ".join(context.command.collect_usage_pieces(context))
        yield from ("```text", f"{context.command_path} {usage}", "```", "")
        for paragraph in (context.command.help or "").strip().split("\n\n"):
            yield from (_prose(paragraph), "")
        yield from _options(context)
        yield from _epilog(context.command.epilog)


def _options(context: click.Context) -> Iterator[str]:
    for parameter in context.command.get_params(context):
        record = parameter.get_help_record(context) if isinstance(parameter, click.Option) else None
        if record is not None:
            yield f"- `{record[0]}`: {_prose(record[1])}"
    yield ""


def _epilog(epilog: str | None) -> Iterator[str]:
    for written in (epilog or "").split("\n\n"):
        lines = written.replace("\b", "").strip("\n").splitlines()
        if lines and lines[0].endswith(":"):
            yield from (lines[0], "", "```text", *(line.removeprefix("  ") for line in lines[1:]), "```", "")
        elif lines:
            yield from (_prose(" ".join(lines)), "")


def _prose(text: str) -> str:
    """Return a text of the program as Markdown in which nothing but its backticks acts."""
    parts = " ".join(text.split()).split("`")
    return "`".join(part if number % 2 else _ACTING.sub(_escaped, part) for number, part in enumerate(parts))


def _escaped(found: re.Match[str]) -> str:
    return f"&#{ord(found[0])};"


def _frames() -> Iterator[str]:
    """Yield a table for each frame: its columns, their types, and what the report's schema says of them."""
    for name, frame in FRAMES.items():
        yield from (f"### {name}_frame", "", f"The report's `{'.'.join(frame.path)}`.", "")
        yield from ("| column | type | meaning |", "|---|---|---|")
        entry = _below(schema(), frame.path)["items"]
        yield from (
            f"| `{column.name}` | {_type(column.dtype)} | {_meaning(entry, column)} |" for column in frame.columns
        )
        yield ""


def _type(dtype: pl.DataType) -> str:
    if isinstance(dtype, pl.List):
        inner = dtype.inner
        return f"List of {_type(inner() if isinstance(inner, type) else inner)}"
    if isinstance(dtype, pl.Struct):
        return f"Struct of {' and '.join(f'`{field.name}`' for field in dtype.fields)}"
    return f"{dtype.base_type()}"


def _meaning(entry: dict[str, Any], column: Column) -> str:
    if column.is_zone:
        return "The zone of that time, in seconds; null where none was printed."
    return str(_below(entry, column.path).get("description", ""))


def _below(part: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    """Return the schema of what a path leads to, through objects that may be null."""
    for name in path:
        choices = [part, *part.get("anyOf", ())]
        part = next(choice["properties"][name] for choice in choices if name in choice.get("properties", ()))
    return part


if __name__ == "__main__":
    sys.exit(main())
