"""Expressions behind literals: the cheap question before the dear one."""

from __future__ import annotations

import re
from collections.abc import Iterable

Gated = tuple[str, re.Pattern[str]]
"""An expression, and a literal that stands in every text it can match."""


def first_match(expressions: Iterable[Gated], text: str) -> re.Match[str] | None:
    """Return the match of the first expression that is found in the text. None where none is."""
    for literal, expression in expressions:
        if literal in text and (match := expression.search(text)):
            return match
    return None
