"""Folders of rules to a Rulebook."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from nccl_logscan.errors import Problem, RulebookError
from nccl_logscan.rulebook.compiled import COMPILED, rulebook_from
from nccl_logscan.rulebook.find import Folder, digest_of, find_rules
from nccl_logscan.rulebook.rule import Rulebook
from nccl_logscan.rulebook.where import INSTALLED, builtin_rules


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


def rulebook_with(folders: Sequence[Path]) -> Rulebook:
    """Return the built-in rules, and those of the user's own folders beside them. Raises as `load_rulebook`."""
    return load_rulebook([builtin_rules(), *folders]) if folders else builtin_rulebook()


@cache
def builtin_rulebook() -> Rulebook:
    """Return the rules that ship with the program, from their compiled form where that is fresh."""
    folder = builtin_rules()
    compiled = folder / COMPILED
    if compiled.is_file():
        rulebook = rulebook_from(compiled.read_bytes())
        if rulebook is not None and (_is_untouched(folder) or rulebook.digest == _digest_of_files(folder)):
            return rulebook
    return load_rulebook([folder])


def _is_untouched(folder: Folder) -> bool:
    """Tell without reading them that no rule file is younger than the compiled form: it was written last.

    An installed program's files are not edited. In a checkout a file that was written, or taken out of a category's
    folder, shows by a time; Git sets times in the order of names, in which the compiled form comes last. A clock that
    ticks every few milliseconds gives the last of them the same time: equal is not younger.
    """
    if folder.name == INSTALLED:
        return True
    if not isinstance(folder, Path):
        return False
    compiled = (folder / COMPILED).stat().st_mtime_ns
    categories = [entry for entry in os.scandir(folder) if entry.is_dir()]
    files = [entry for category in categories for entry in os.scandir(category.path)]
    return all(entry.stat().st_mtime_ns <= compiled for entry in (*categories, *files))


def _digest_of_files(folder: Folder) -> str:
    return digest_of(found for found in find_rules(folder) if not isinstance(found, Problem))
