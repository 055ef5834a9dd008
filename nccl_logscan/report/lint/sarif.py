"""Lint as SARIF 2.1.0, which code-scanning services and editors read."""

from __future__ import annotations

from collections import Counter
from typing import Any

from nccl_logscan.configs.edit import Edit
from nccl_logscan.configs.model import Config
from nccl_logscan.lint.model import Check
from nccl_logscan.report.lint.checks import ABOUT
from nccl_logscan.report.lint.view import LintView, Shown
from nccl_logscan.report.sarif_parts import artifact_location, check_described, document, fingerprint, message
from nccl_logscan.report.visible import visible


def render_sarif(view: LintView) -> str:
    """Return one run with a rule for each check, in ASCII."""
    seen: Counter[str] = Counter()
    results = [_result(shown, view.configs.get(shown.remark.at.source), seen) for shown in view.shown]
    artifacts = [{"location": artifact_location(config.name)} for config in view.configs.values()]
    return document([check_described(check) for check in ABOUT], results, artifacts=artifacts)


def _result(shown: Shown, config: Config | None, seen: Counter[str]) -> dict[str, Any]:
    remark = shown.remark
    text = f"{shown.problem}. {shown.advice[:1].upper()}{shown.advice[1:]}."
    text += f" This tells: {shown.tells}" if shown.tells else ""
    result: dict[str, Any] = {
        "ruleId": remark.check.value,
        "ruleIndex": list(Check).index(remark.check),
        "level": remark.severity.value,
        "message": message(visible(text)),
        "locations": [
            {"physicalLocation": {"artifactLocation": artifact_location(remark.at.source), "region": _region(shown)}}
        ],
        "partialFingerprints": {"ncclLogscanSetting/v1": fingerprint(_identity(shown), seen)},
        "properties": {"setting": visible(remark.name), "source": remark.source},
    }
    replacements = [_replacement(edit, config) for edit in remark.fix] if config else []
    if replacements and all(replacements):
        change = {"artifactLocation": artifact_location(remark.at.source), "replacements": replacements}
        result["fixes"] = [{"description": message(visible(shown.advice)), "artifactChanges": [change]}]
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


def _identity(shown: Shown) -> tuple[str, ...]:
    """Return what stays the same when lines are put before it: the file, the check, the setting and its line."""
    remark = shown.remark
    return remark.at.source, remark.check, remark.name, shown.text.strip()
