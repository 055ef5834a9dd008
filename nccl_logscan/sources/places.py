"""Which names are of the same file."""

from __future__ import annotations

import glob
from collections.abc import Iterable
from pathlib import Path

from nccl_logscan.sources.files import STDIN
from nccl_logscan.sources.urls import is_url


def is_one_of(inputs: Iterable[str], place: Path) -> bool:
    """Whether what is written to a place would replace one of the inputs."""
    return any(_is_same_file(place, given) for given in inputs)


def is_among(inputs: Iterable[str], place: Path) -> bool:
    """Whether a place is a file in one of the folders that are inputs, or one that a pattern among them matches."""
    return any(_is_in(place, given) for given in inputs if given != STDIN and not is_url(given))


def _is_in(place: Path, given: str) -> bool:
    try:
        if not place.is_file():
            return False
        if Path(given).is_dir():
            return place.resolve().is_relative_to(Path(given).resolve())
        matches = glob.glob(given, recursive=True) if glob.has_magic(given) else ()  # noqa: PTH207 - as sources reads it
        return any(_is_same_file(place, match) or (Path(match).is_dir() and _is_in(place, match)) for match in matches)
    except (OSError, ValueError):
        return False


def _is_same_file(place: Path, given: str) -> bool:
    try:
        return given != STDIN and place.samefile(given)
    except (OSError, ValueError):  # a NUL is in no name
        return False
