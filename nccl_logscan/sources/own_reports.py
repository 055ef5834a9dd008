"""Earlier reports of this program, which often lie among the logs that they are about and are none."""

from __future__ import annotations

from pathlib import Path

from nccl_logscan.expressions import deferred

# How each form of a report begins (nccl_logscan/report/), and lint's; and the tables of `events`.
_OWN = deferred(
    rb'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    rb'<meta name="generator" content="nccl-logscan">'
    rb'|\{\n  "schema_version": "[\d.]{1,20}",\n  "tool": \{\n    "name": "nccl-logscan"'
    rb'|\{\n  "\$schema": "[^"\n]{1,200}sarif[^"\n]{1,200}",\n[\s\S]{0,200}"name": "nccl-logscan"'
    rb'|<\?xml [^\n]{1,100}\n<testsuites>\n  <testsuite name="nccl-logscan"'
    rb"|# HELP nccl_logscan_|## (?:FAILED|UNCLEAR|HEALTHY)\b|(?:FAILED {4}|UNCLEAR {3}|HEALTHY {3})\S"
    rb'|\[\n  \{\n    "description": "|\[\]\n'
    rb'|\{"otherData": \{"tool": "nccl-logscan '
    rb'|order,source,line,byte_offset,kind,|\{"order":\d+,"source":"'
    rb"|::(?:error|notice) [^\n]{0,4096}title=nccl-logscan"
)


_ENDINGS = (".csv", ".html", ".htm", ".json", ".jsonl", ".md", ".om", ".prom", ".sarif", ".txt", ".xml")
_HEAD = 8_192


def is_own_report(path: Path) -> bool:
    """Tell a report that this program wrote, in any of its forms, by its name's ending and its first bytes."""
    if not path.name.lower().endswith(_ENDINGS):
        return False
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return _OWN.match(file.read(_HEAD)) is not None
    except OSError:
        return False
