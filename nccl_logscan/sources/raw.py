"""RawLine: one line of an input, decoded, with nothing removed but its line end."""

from __future__ import annotations

from typing import NamedTuple

from nccl_logscan.position import Position


class RawLine(NamedTuple):
    """A decoded line.

    `replaced` counts bytes that were not UTF-8 and were replaced, or were NUL and were left out; `cut` counts
    bytes dropped from the middle of a line longer than `Limits.line_bytes` (where `CUT_MARK` stands).
    """

    at: Position
    text: str
    replaced: int = 0
    cut: int = 0
