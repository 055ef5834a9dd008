"""Spans of time in words."""

from __future__ import annotations

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))


def said(seconds: float) -> str:
    """Return a span of time by its two largest units: 45 s, 12 min 5 s, 2 h, 3 d 4 h."""
    left = round(seconds)
    parts: list[str] = []
    for size, unit in (*_UNITS, (1, "s")):
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2]) or "0 s"
