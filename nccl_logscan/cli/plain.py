"""Command lines that need no parser: names of logs, and where the report goes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from nccl_logscan.sources import STDIN
from nccl_logscan.sources.places import is_one_of

_FLAGS = {
    "-q": "quiet",
    "--quiet": "quiet",
    "-v": "verbose",
    "--verbose": "verbose",
    "--exit-zero": "exit_zero",
}
_OUTPUT = frozenset({"-o", "--output"})


class PlainScan(NamedTuple):
    """A scan of logs, with what the options of `scan.py` of the same names say."""

    logs: tuple[str, ...]
    output: str | None
    quiet: bool
    verbose: bool
    exit_zero: bool


def plain_scan(words: Sequence[str]) -> PlainScan | None:
    """Return what the words of a command line ask for; None where any needs a parser, or a word about it."""
    logs: list[str] = []
    output: str | None = None
    flags: set[str] = set()
    rest = iter(words)
    for word in rest:
        if word in _FLAGS:
            flags.add(_FLAGS[word])
        elif word in _OUTPUT:
            output = next(rest, "")
            if not output or (output.startswith("-") and output != STDIN):
                return None
        elif word.startswith("-") and word != STDIN:
            return None
        else:
            logs.append(word)
    if not logs or (output is not None and is_one_of(logs, Path(output))):
        return None
    return PlainScan(tuple(logs), output, "quiet" in flags, "verbose" in flags, "exit_zero" in flags)
