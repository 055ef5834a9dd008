"""Command lines that need no parser: names of logs, and where the report goes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from nccl_logscan.sources import STDIN

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
    outputs: tuple[str, ...]
    quiet: bool
    verbose: bool
    exit_zero: bool


def plain_scan(words: Sequence[str]) -> PlainScan | None:
    """Return what the words of a command line ask for; None where any needs a parser, or a word about it."""
    logs: list[str] = []
    outputs: list[str] = []
    flags: set[str] = set()
    rest = iter(words)
    for word in rest:
        if word in _FLAGS:
            flags.add(_FLAGS[word])
        elif word in _OUTPUT:
            outputs.append(next(rest, ""))
        elif word.startswith("-") and word != STDIN:
            return None
        else:
            logs.append(word)
    if not logs or not all(map(_is_a_place, outputs)):
        return None
    return PlainScan(tuple(logs), tuple(outputs), "quiet" in flags, "verbose" in flags, "exit_zero" in flags)


def _is_a_place(name: str) -> bool:
    return bool(name) and (name == STDIN or not name.startswith("-"))
