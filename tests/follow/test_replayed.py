"""Real jobs again, each line at the time that its stamp tells: no verdict before the last word, and then a scan's."""

from __future__ import annotations

import re
from datetime import datetime

import pytest
from growing import append
from scripted import CASES

from nccl_logscan.pipeline import Options, scan

_STAMP = re.compile(r"(?:(20\d\d)-|[EWIF])(\d\d)-?(\d\d)[ T](\d\d):(\d\d):(\d\d)")
LAB = sorted(case.parent for case in (CASES / "lab").glob("*/case.yaml"))


def timed(lines):
    """Each line with its time; one without a stamp comes with the line before it."""
    now = None
    for line in lines:
        if match := _STAMP.search(line[:120]):
            _, *parts = match.groups()
            now = max(now or 0.0, datetime(2026, *map(int, parts)).timestamp())
        yield now, line


@pytest.mark.parametrize("case", LAB, ids=[case.name for case in LAB])
def test_a_watch_comes_to_the_verdict_of_a_scan_and_not_before_the_last_line(watch, clock, tmp_path, case):
    logs = sorted(case.rglob("*.log"))
    lines = [
        (when, log, line) for log in logs for when, line in timed(log.read_text("utf-8", "replace").splitlines(True))
    ]
    for log in logs:
        append(tmp_path / log.relative_to(case), "")
    begin = min((when for when, _, _ in lines if when is not None), default=0.0)
    for when, log, line in lines:
        clock.at((when or begin) - begin, append, tmp_path / log.relative_to(case), line)
    last = max((when or begin) - begin for when, _, _ in lines)
    clock.at(last + 4_000, clock.stop)

    seen = watch(tmp_path)

    scanned = scan(logs, options=Options(looks_beside=False)).diagnosis
    assert (seen.category, seen.result.diagnosis.culprit.rank) == (scanned.category, scanned.culprit.rank)
    assert seen.ended_at >= last
