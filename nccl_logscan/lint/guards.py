"""Under which condition of a shell script a setting is made: `if [ "$DEBUG" = 1 ]; then`, `[ -n "$TRACE" ] &&`."""

from __future__ import annotations

import re

from nccl_logscan.expressions import deferred
from nccl_logscan.lint.made import Made

_LINES = 12
_LINE = 400
_BEGINS = deferred(rb"(if|elif|else|fi)\b")
_GUARD = deferred(rb"[^\n]*(?:&&|\bthen\b)")
_SWITCHES = deferred(rb"debug|trace|verbose|diagnos", re.IGNORECASE)
_LOOKS_FOR_ADAPTERS = deferred(rb"infiniband|\bibv?_|\bibstat|mlx|rdma|roce|\buse_ib|has_ib", re.IGNORECASE)


def is_asked_for(made: Made) -> bool:
    """Return whether a setting for debugging is made only where a switch of the script asks for that.

    So is NCCL_IB_DISABLE where the script has looked whether there are adapters.
    """
    if made.config is None or made.config.syntax != "shell":
        return False
    wanted = _LOOKS_FOR_ADAPTERS if made.key == "NCCL_IB_DISABLE" else _SWITCHES
    return wanted.search(_condition(made.config.data, made.placed.at.offset, made.placed.span.start)) is not None


def _condition(data: bytes, line: int, at: int) -> bytes:
    """Return the text of the conditions around a byte: of its line, and of the if that the lines above it belong to."""
    guard = _GUARD.match(data, line, at)
    found = guard[0][:_LINE] if guard else b""
    depth = _depth(data, line)
    for _ in range(_LINES):
        if line == 0 or depth == 0:
            break
        line = data.rfind(b"\n", max(0, line - 1 - _LINE), line - 1) + 1
        begins = _BEGINS.match(data, line + _depth(data, line))
        if not begins or _depth(data, line) >= depth:
            continue
        if begins[1] == b"fi":
            break
        found += data[line : line + _LINE].partition(b"\n")[0]
        if begins[1] == b"if":
            break
        depth = _depth(data, line) + 1
    return found


def _depth(data: bytes, line: int) -> int:
    text = data[line : line + _LINE]
    return len(text) - len(text.lstrip(b" \t"))
