"""Lint as JSON; the schema ships beside this file."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

from nccl_logscan.lint.model import Severity
from nccl_logscan.report.json import json_document
from nccl_logscan.report.lint.view import LintView, Shown
from nccl_logscan.version import __version__


def render_json(view: LintView) -> str:
    """Return the remarks as JSON in ASCII, so that no name in a file can act on the terminal it is printed to."""
    document = {
        "schema_version": "1.0",
        "tool": {"name": "nccl-logscan", "version": __version__},
        "versions": {
            "nccl": view.versions.nccl,
            "torch": view.versions.torch,
            "frameworks": dict(view.versions.frameworks),
        },
        "files": [
            {"name": config.name, "syntax": config.syntax, "faults": list(config.faults)}
            for config in view.configs.values()
        ],
        "files_with_nothing_to_lint": len(view.skipped),
        "remarks": [_remark(shown) for shown in view.shown],
        "summary": {
            **{f"{severity}s": view.count(severity) for severity in Severity},
            "fixable": view.fixable,
        },
    }
    return json_document(document)


def schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) that every document fulfils."""
    text = resources.files("nccl_logscan.report.lint").joinpath("lint.schema.json").read_text("utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def _remark(shown: Shown) -> dict[str, Any]:
    remark = shown.remark
    return {
        "check": remark.check,
        "severity": remark.severity,
        "file": remark.at.source,
        "line": remark.at.line,
        "column": shown.column,
        "end_column": shown.end_column,
        "name": remark.name,
        "value": shown.value,
        "problem": shown.problem,
        "advice": shown.advice,
        "tells": shown.tells,
        "source": remark.source,
        "fix": [
            {"start": edit.start, "end": edit.end, "text": edit.text.decode("utf-8", "replace")} for edit in remark.fix
        ],
    }
