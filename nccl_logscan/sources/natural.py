"""An order of names as people count: rank2 before rank10."""

from __future__ import annotations

import re


def natural(name: str) -> list[tuple[int, int, str]]:
    """Return a key that sorts rank2 before rank10."""
    return [
        (0, int(part), part) if part.isdecimal() and part.isascii() else (1, 0, part)
        for part in re.split(r"([0-9]{1,18})", name)
        if part
    ]
