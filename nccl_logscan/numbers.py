"""Numbers as logs print them."""

from __future__ import annotations


def whole(text: str | None, digits: int = 9) -> int | None:
    """Return a decimal number of at most so many digits; None for any other text, or none."""
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) <= digits else None
