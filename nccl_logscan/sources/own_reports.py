"""What this program wrote among logs: it quotes them, and read as one of them it would be taken for the job's words."""

from __future__ import annotations

from pathlib import Path

from nccl_logscan.expressions import deferred

_SUFFIXES = frozenset((".html", ".htm", ".json", ".sarif", ".xml", ".txt", ".md", ".prom", ".om", ".csv", ".jsonl"))
"""How its reports and tables are named; the files of other names are not opened."""
_START = 4096
_BEGINNING = deferred(
    rb'(?s)<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    rb"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; .{0,1000}?<title>[a-z_]{2,40}: "
    rb'|\{\s*"schema_version": "[^"]{1,20}",\s*"tool": \{\s*"name": "nccl-logscan"'
    rb'|\{\s*"\$schema": "[^"]{0,100}sarif[^"]{0,100}".{0,200}?"name": "nccl-logscan"'
    rb'|<\?xml[^>]{0,100}>\s*<testsuites>\s*<testsuite name="nccl-logscan"'
    rb"|# HELP nccl_logscan_"
    rb"|::(?:error|warning|notice) [^\n]{0,3000}?title=nccl-logscan"
    rb"|\s*## (?:FAILED|UNCLEAR|HEALTHY): "
    rb"|FAILED    [a-z_]{2,40}  (?:established|likely|only suggested), \d"
    rb"|UNCLEAR   |HEALTHY   no failure found"
    rb'|order,source,line,byte_offset,kind,|\{"order":\d+,"source":"'
)


def is_own_report(path: Path) -> bool:
    """Tell whether a file of a folder is a report or a table of this program, by its name and how it begins."""
    if path.suffix.lower() not in _SUFFIXES or not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return _BEGINNING.match(file.read(_START)) is not None
    except OSError:
        return False
