"""Which names are of the same file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from nccl_logscan.sources.files import STDIN


def is_one_of(inputs: Iterable[str], place: Path) -> bool:
    """Whether what is written to a place would replace one of the inputs."""
    return any(_is_same_file(place, given) for given in inputs)


def _is_same_file(place: Path, given: str) -> bool:
    try:
        return given != STDIN and place.samefile(given)
    except (OSError, ValueError):  # a NUL is in no name
        return False
