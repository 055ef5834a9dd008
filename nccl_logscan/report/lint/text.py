"""Lint for a person: the place, the line with a marker, what happens, what to do, and where that is said."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nccl_logscan.lint.model import Severity
from nccl_logscan.report.links import Placed, linked
from nccl_logscan.report.lint.view import LintView, Shown
from nccl_logscan.report.visible import harmless_to_runners, visible


def render_text(view: LintView, placed: Placed | None = None) -> str:
    """Return every remark, and a line that counts them; with `placed` the places lead to the files."""
    lines = [line for shown in view.shown for line in (*_remark(shown, placed), "")]
    faults = [f"{config.name}: note: {fault}" for config in view.configs.values() for fault in config.faults]
    return harmless_to_runners("\n".join((*lines, *map(visible, faults), _summary(view)))) + "\n"


def _remark(shown: Shown, placed: Placed | None) -> Iterator[str]:
    remark = shown.remark
    at = visible(f"{remark.at.source}:{remark.at.line}:{shown.column}")
    address = placed(remark.at.source, remark.at.line) if placed else None
    head, *others = _said(shown)
    yield f"{linked(at, address)}: {visible(head)}"
    yield from map(visible, others)


def _said(shown: Shown) -> Iterator[str]:
    remark = shown.remark
    yield f"{remark.severity}: {shown.problem} [{remark.check}]"
    if shown.text:
        before, marked = shown.text[: shown.mark.start], shown.text[shown.mark.start : shown.mark.end]
        yield f"{remark.at.line:5d} | {shown.text}"
        # Tabs stay, so that the marker stands under what it marks.
        yield "      | " + re.sub(r"[^\t]", " ", visible(before)) + "^" * max(1, len(visible(marked)))
    yield f" help: {shown.advice}"
    if shown.tells:
        yield f" tells: {shown.tells}"
    yield f" source: {remark.source}"


def _summary(view: LintView) -> str:
    files = len(view.configs) + len(view.skipped)
    counts = [_counted(view.count(severity), severity) for severity in Severity if view.count(severity)]
    where = f"in {_counted(files, 'file')}"
    if not counts:
        return f"nothing wrong {where}"
    fixable = f"; {view.fixable} of them can be mended with --fix" if view.fixable else ""
    if not view.counts_fixes:
        fixable = "; --fix shows what it can mend"
    return f"{', '.join(counts)} {where}{fixable}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' if number != 1 else ''}"
