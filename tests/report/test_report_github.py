"""The verdict as an annotation: one command, whatever the log holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from nccl_logscan.pipeline import scan
from nccl_logscan.report.github import render_github
from nccl_logscan.report.view import ReportView, build_view
from nccl_logscan.rulebook.load import builtin_rulebook

CASES = Path(__file__).parents[2] / "fixtures" / "cases"
CASE_FOLDERS = sorted(path.parent for path in CASES.glob("*/*/*.yaml"))


def view_of(*logs: Path) -> ReportView:
    return build_view(scan([str(log) for log in logs], builtin_rulebook()))


@pytest.mark.parametrize("case", CASE_FOLDERS[:4], ids=lambda c: c.name)
def test_a_case_gives_one_command_with_its_category(case: Path) -> None:
    view = view_of(case)
    text = render_github(view)
    assert text.count("\n") == 1
    healthy = view["verdict"]["category"] == "none"
    assert text.startswith("::notice title=" if healthy else "::error ")
    assert f"title=nccl-logscan%3A {view['verdict']['category']}::" in text


def test_hostile_text_starts_no_command_and_no_property() -> None:
    view = view_of(CASE_FOLDERS[0])
    hostile = "x,title=y::z\n::error::mine\r\n##[group]\x1b[31m 100%0A"
    view["verdict"] |= {"category": "unknown", "headline": hostile}
    view["verdict"]["evidence"] = [{"file": hostile, "line": 0}]
    text = render_github(view)
    assert text.count("\n") == 1
    assert "\r" not in text
    assert "\x1b" not in text
    assert "100%250A" in text
    head = text.split("::")[1]
    assert [part.partition("=")[0] for part in head.removeprefix("error ").split(",")] == ["file", "line", "title"]
    assert ",line=1," in head
