"""The tables of `nvidia-smi dmon` and `dcgmi dmon`, plain or as CSV: a row a GPU and sample, columns by their heading.

    # gpu    pwr  gtemp  mtemp     sm    mem            #Entity   GPUTL  POWER
    # Idx      W      C      C      %      %            ID                   W
        0    117     45      -     13      6            GPU 0     98     611.2

A heading comes again every so many rows. `-` and `N/A` are no value. With `-o DT` date and time stand before the GPU.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from nccl_logscan.expressions import deferred

WORDS = frozenset({"# gpu ", "#gpu,", "# date ", "# time ", "#date,", "#time,", "#entity "})
"""Of each heading one, in lower case."""
_HEADING = deferred(r"^# ?(?:Date[ ,]+)?(?:Time[ ,]+)?gpu[ ,]|^#Entity\s")
_COLUMNS = 64
_PREFIXES = frozenset({"date", "time"})


class Heading(NamedTuple):
    """The columns of a table after the GPU's, and how many stand before it."""

    before: int
    columns: tuple[str, ...]
    is_dcgm: bool


def heading_in(text: str) -> Heading | None:
    """Return the heading that a line is."""
    if not text.startswith("#") or _HEADING.match(text) is None:
        return None
    words = _cells(text.lstrip("# "))[:_COLUMNS]
    before = next((at for at, word in enumerate(words) if word.lower() not in _PREFIXES), 0)
    return Heading(before, tuple(words[before + 1 :]), words[before] == "Entity")


def row_in(text: str, heading: Heading) -> tuple[int, dict[str, float]] | None:
    """Return the GPU of a row and its values by their columns; None for a line that is no row of the table."""
    if not text or text[0] not in " 0123456789G" or len(text) > _COLUMNS * 16:
        return None
    cells = _cells(text)
    if heading.is_dcgm:
        if cells[:1] != ["GPU"]:
            return None
        cells = cells[1:]
    cells = cells[heading.before :]
    if len(cells) != len(heading.columns) + 1 or not (cells[0].isascii() and cells[0].isdigit() and len(cells[0]) < 5):
        return None
    told = ((name, _number(cell)) for name, cell in zip(heading.columns, cells[1:], strict=True))
    return int(cells[0]), {name: value for name, value in told if value is not None}


def _cells(text: str) -> list[str]:
    return text.replace(",", " ").split()


def _number(cell: str) -> float | None:
    try:
        number = float(cell)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
