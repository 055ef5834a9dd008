"""Lint as annotations of a GitHub workflow run."""

from __future__ import annotations

from nccl_logscan.lint.model import Severity
from nccl_logscan.report.annotation import annotation
from nccl_logscan.report.lint.view import LintView, Shown

_COMMAND = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render_github(view: LintView) -> str:
    """Return a workflow command a remark; a line each, whatever a name or value holds."""
    return "".join(f"{_annotation(shown)}\n" for shown in view.shown)


def _annotation(shown: Shown) -> str:
    remark = shown.remark
    properties = {
        "file": remark.at.source,
        "line": str(remark.at.line),
        "endLine": str(remark.at.line),
        "col": str(shown.column),
        # The runner's last column is one that is marked.
        "endColumn": str(max(shown.column, shown.end_column - 1)),
        "title": f"{remark.check}: {remark.name}",
    }
    parts = [shown.problem, shown.advice, f"this tells: {shown.tells}" if shown.tells else "", remark.source]
    return annotation(_COMMAND[remark.severity], properties, "\n".join(filter(None, parts)))
