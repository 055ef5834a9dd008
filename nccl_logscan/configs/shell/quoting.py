"""How a value is written as a shell's word, or as a part of one."""

from __future__ import annotations

import re

from nccl_logscan.expressions import deferred

BARE = deferred(r"[A-Za-z0-9_@%+=:,./^-]+", re.ASCII)
"""What needs no quotes, wherever it stands."""

SPECIAL = frozenset("\\$`\"'!")
"""What means something else to a shell within quotes of one kind or the other."""

_REFUSED = {'"': frozenset('\\$`"!'), "'": frozenset("'")}


def quoted(value: str, quote: str, around: str = "") -> str | None:
    """Return a value in quotes of a kind ("" for none); None where it may not stand so inside of those `around` it."""
    if quote == "":
        return value if BARE.fullmatch(value) else None
    if _REFUSED[quote] & set(value) or (around and (quote in around or SPECIAL & set(value))):
        return None
    return f"{quote}{value}{quote}"
