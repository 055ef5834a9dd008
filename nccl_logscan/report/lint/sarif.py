"""Lint as SARIF 2.1.0, which code-scanning services and editors read."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from nccl_logscan.configs.edit import Edit
from nccl_logscan.configs.model import Config
from nccl_logscan.lint.model import Check, Severity
from nccl_logscan.report.lint.checks import ABOUT
from nccl_logscan.report.lint.view import LintView, Shown
from nccl_logscan.report.visible import json_harmless_to_runners, visible
from nccl_logscan.version import __version__

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVEL = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}


def render_sarif(view: LintView) -> str:
    """Return one run with a rule for each check, in ASCII."""
    seen: Counter[str] = Counter()
    run = {
        "tool": {"driver": _driver()},
        "columnKind": "utf16CodeUnits",
        "originalUriBaseIds": {"%SRCROOT%": {"description": {"text": "The folder in which lint was run."}}},
        "artifacts": [{"location": _location(config.name)} for config in view.configs.values()],
        "results": [_result(shown, view.configs.get(shown.remark.at.source), seen) for shown in view.shown],
    }
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json_harmless_to_runners(json.dumps(document, indent=2, ensure_ascii=True, allow_nan=False)) + "\n"


def _driver() -> dict[str, Any]:
    return {
        "name": "nccl-logscan",
        "semanticVersion": __version__,
        "rules": [
            {
                "id": check.value,
                "name": about.name,
                "shortDescription": {"text": about.title},
                "fullDescription": {"text": about.text},
                "help": {"text": about.text, "markdown": about.text},
                "helpUri": about.uri,
                "defaultConfiguration": {"level": _LEVEL[about.severity]},
            }
            for check, about in ABOUT.items()
        ],
    }


def _result(shown: Shown, config: Config | None, seen: Counter[str]) -> dict[str, Any]:
    remark = shown.remark
    text = f"{shown.problem}. {shown.advice[:1].upper()}{shown.advice[1:]}."
    text += f" This tells: {shown.tells}" if shown.tells else ""
    result: dict[str, Any] = {
        "ruleId": remark.check.value,
        "ruleIndex": list(Check).index(remark.check),
        "level": _LEVEL[remark.severity],
        "message": {"text": visible(text)},
        "locations": [
            {"physicalLocation": {"artifactLocation": _location(remark.at.source), "region": _region(shown)}}
        ],
        "partialFingerprints": {"ncclLogscanSetting/v1": _fingerprint(shown, seen)},
        "properties": {"setting": visible(remark.name), "source": remark.source},
    }
    replacements = [_replacement(edit, config) for edit in remark.fix] if config else []
    if replacements and all(replacements):
        change = {"artifactLocation": _location(remark.at.source), "replacements": replacements}
        result["fixes"] = [{"description": {"text": visible(shown.advice)}, "artifactChanges": [change]}]
    return result


def _region(shown: Shown) -> dict[str, Any]:
    return {
        "startLine": shown.remark.at.line,
        "startColumn": shown.column16,
        "endLine": shown.remark.at.line,
        "endColumn": shown.end_column16,
        "snippet": {"text": visible(shown.text)},
    }


def _replacement(edit: Edit, config: Config | None) -> dict[str, Any] | None:
    if config is None:
        return None
    try:
        text = edit.text.decode()
    except UnicodeDecodeError:
        return None
    deleted = {**_point(config, edit.start, "start"), **_point(config, edit.end, "end")}
    return {"deletedRegion": deleted, "insertedContent": {"text": text}}


def _point(config: Config, offset: int, which: str) -> dict[str, int]:
    """Return a byte's line and column, counted in UTF-16 units from 1, a byte order mark not counted."""
    line = config.lines.line_of(offset)
    begin = config.lines.position(config.name, offset).offset
    text = config.data[begin:offset].decode("utf-8", "replace")
    if line == 1:
        text = text.removeprefix("\ufeff")
    return {f"{which}Line": line, f"{which}Column": len(text.encode("utf-16-le")) // 2 + 1}


def _location(name: str) -> dict[str, str]:
    path = PurePosixPath(name)
    written = quote(name.encode("utf-8", "surrogateescape"), safe="/")
    if path.is_absolute():
        return {"uri": f"file://{written}"}
    return {"uri": written.removeprefix("./"), "uriBaseId": "%SRCROOT%"}


def _fingerprint(shown: Shown, seen: Counter[str]) -> str:
    """Return what stays the same when lines are put before it: of the file, the check, the setting and its line."""
    remark = shown.remark
    same = "\0".join((remark.at.source, remark.check, remark.name, shown.text.strip()))
    seen[same] += 1
    return hashlib.sha256(f"{same}\0{seen[same]}".encode("utf-8", "replace")).hexdigest()[:32]
