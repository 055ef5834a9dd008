"""What callers may name files by."""

from __future__ import annotations

import os
from collections.abc import Iterable
from io import IOBase
from typing import TypeAlias

Paths: TypeAlias = "str | os.PathLike[str] | Iterable[str | os.PathLike[str]]"
"""One name, as str or Path, or several."""


def names_of(paths: Paths) -> list[str]:
    """Return names as the sources take them: one is a list of one, never its letters.

    Raises TypeError for what names no file: an open file would be taken for the names that its lines are.
    """
    if isinstance(paths, (str, os.PathLike)):
        return [_name_of(paths)]
    if isinstance(paths, (bytes, bytearray, IOBase)) or not isinstance(paths, Iterable):
        raise TypeError(f"expected a name, as str or Path, or several, not {type(paths).__name__}")
    return [_name_of(path) for path in paths]


def _name_of(path: object) -> str:
    name = os.fspath(path) if isinstance(path, os.PathLike) else path
    if not isinstance(name, str):
        raise TypeError(f"expected a name, as str or Path, not {type(path).__name__}")
    return name
