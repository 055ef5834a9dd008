"""Numbers as logs print them."""

from __future__ import annotations

from collections.abc import Iterable

INT64_MAX = (1 << 63) - 1
"""The largest number that a column of a table holds."""


def whole(text: str | None, digits: int = 9) -> int | None:
    """Return a decimal number of at most so many digits; None for any other text, or none."""
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) <= digits else None


def median(values: Iterable[float]) -> float:
    """Return the middle of some numbers, of which there is one at least; between two it is their mean.

    As in the standard library's `statistics`, which takes 3 ms to import.
    """
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def median_high(values: Iterable[int]) -> int:
    """Return the middle of some numbers, of which there is one at least; of two in the middle the higher."""
    ordered = sorted(values)
    return ordered[len(ordered) // 2]
