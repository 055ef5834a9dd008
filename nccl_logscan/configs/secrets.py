"""Diffs without secrets: also those that only the name of a setting tells, on the line before or apart from it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from nccl_logscan.configs.diff import diff_of_edits, path_for_git
from nccl_logscan.configs.edit import Edit
from nccl_logscan.configs.model import Config
from nccl_logscan.expressions import deferred

CONTEXTS = (3, 2, 1)
"""How many unchanged lines a diff may have around a change, the usual number first. `git apply` takes no hunk without
any, and one beside a secret is to show as few as it can.
"""
_HUNK = deferred(r"^@@ -(\d+)(?:,(\d+))? ", re.MULTILINE)


def shown_diff(config: Config, edits: Sequence[Edit], may_show: Callable[[str], bool]) -> bytes | None:
    """Return the diff of edits with as many lines around them as hold no secret; None where they stand beside one."""
    path = path_for_git(config.name)
    for context in CONTEXTS:
        diff = diff_of_edits(path, config.data, edits, context)
        text = diff.decode("utf-8", "replace")
        if all(map(may_show, text.split("\n"))) and not holds_secret(config, hunks_of(text), may_show):
            return diff
    return None


def holds_secret(config: Config, ranges: Iterable[tuple[int, int]], may_show: Callable[[str], bool]) -> bool:
    """Return whether a setting that stands in these lines (from 1, the last included) has a value not to be shown.

    `may_show` says whether a text, here NAME=VALUE, holds no secret: `- name: DB_PASSWORD` and `value: x` below it are
    none by themselves.
    """
    shown = tuple(config.lines.bytes_of(first, last) for first, last in ranges)
    return any(
        not may_show(f"{placed.name}={placed.value}")
        for placed in config.settings
        if placed.value is not None
        and any(placed.span.start < lines.end and placed.span.end > lines.start for lines in shown)
    )


def hunks_of(diff: str) -> tuple[tuple[int, int], ...]:
    """Return the lines of the earlier file that a unified diff shows, the first and the last of each hunk."""
    found = ((int(match[1]), int(match[2] or 1)) for match in _HUNK.finditer(diff))
    return tuple((first, first + count - 1) for first, count in found)
