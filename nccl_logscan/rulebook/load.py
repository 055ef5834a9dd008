"""Folders of rules to a Rulebook."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from nccl_logscan.errors import Problem, RulebookError
from nccl_logscan.rulebook.compiled import COMPILED, rulebook_from
from nccl_logscan.rulebook.find import Folder, digest_of, find_rules
from nccl_logscan.rulebook.rule import Rulebook
from nccl_logscan.rulebook.where import builtin_rules


def load_rulebook(folders: Sequence[Folder]) -> Rulebook:
    """Return the rules of all folders.

    Raises RulebookError with every problem of every file, in file order, and InputError where a folder cannot be read.
    """
    # Reading rules needs PyYAML and pydantic, a tenth of a second that a scan with the built-in rules does not pay.
    from nccl_logscan.rulebook.read import read_folders  # noqa: PLC0415

    reading = read_folders(folders)
    if reading.problems:
        raise RulebookError(reading.problems)
    return reading.rulebook


@cache
def builtin_rulebook() -> Rulebook:
    """Return the rules that ship with the program, from their compiled form where that is fresh."""
    folder = builtin_rules()
    compiled = folder / COMPILED
    if compiled.is_file():
        rulebook = rulebook_from(compiled.read_text("utf-8"))
        if rulebook is not None and rulebook.digest == _digest_of_files(folder):
            return rulebook
    return load_rulebook([folder])


def _digest_of_files(folder: Folder) -> str:
    return digest_of(found for found in find_rules(folder) if not isinstance(found, Problem))
