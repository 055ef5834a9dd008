"""The report as GitLab's code quality JSON, which a merge request shows at its files."""

from __future__ import annotations

import posixpath
from collections import Counter
from pathlib import Path, PurePosixPath
from typing import Any

from nccl_logscan.report.json import json_document
from nccl_logscan.report.remarks import Remark, remarks_of
from nccl_logscan.report.sarif_parts import fingerprint
from nccl_logscan.report.view import ReportView
from nccl_logscan.report.visible import visible

_SEVERITY = {"error": "major", "warning": "minor", "note": "info"}


def render_gitlab(view: ReportView) -> str:
    """Return a list of remarks in ASCII, the verdict first and critical; an empty one for a healthy job."""
    seen: Counter[str] = Counter()
    issues = [_issue(remark, seen) for remark in remarks_of(view)]
    return json_document(issues)


def _issue(remark: Remark, seen: Counter[str]) -> dict[str, Any]:
    return {
        "description": visible(remark.text),
        "check_name": visible(remark.rule),
        "fingerprint": fingerprint((remark.rule, *remark.identity), seen),
        "severity": "critical" if remark.kind == "verdict" else _SEVERITY[remark.level],
        "location": {"path": _path(remark.at["file"]), "lines": {"begin": max(1, remark.at["line"])}},
    }


def _path(name: str) -> str:
    """Return a file's path from the folder of the run, which is the project's in a job of GitLab."""
    path = PurePosixPath(posixpath.normpath("stdin" if name == "-" else name))
    if path.is_absolute():
        here = Path.cwd()
        path = path.relative_to(here) if path.is_relative_to(here) else path.relative_to(path.anchor)
    return visible(str(path))
