"""What callers may name files by."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeAlias

Paths: TypeAlias = "str | os.PathLike[str] | Iterable[str | os.PathLike[str]]"
"""One name, as str or Path, or several."""


def names_of(paths: Paths) -> list[str]:
    """Return names as the sources take them: one is a list of one, never its letters."""
    if isinstance(paths, (str, os.PathLike)):
        return [os.fspath(paths)]
    return [os.fspath(path) for path in paths]
