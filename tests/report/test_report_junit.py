"""The verdict as JUnit XML: it parses, whatever the log holds."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from nccl_logscan.pipeline import scan
from nccl_logscan.report.junit import render_junit
from nccl_logscan.report.view import ReportView, build_view
from nccl_logscan.rulebook.load import builtin_rulebook

LAB = Path(__file__).parents[2] / "fixtures" / "cases" / "lab"


def view_of(log: Path) -> ReportView:
    return build_view(scan([str(log)], builtin_rulebook()))


def parsed(view: ReportView) -> ET.Element:
    return ET.fromstring(render_junit(view).encode())  # noqa: S314 - what this program wrote


@pytest.mark.parametrize("name", ["abort", "bad-hca", "bad-ifname"])
def test_a_case_gives_one_case_that_fails_with_the_headline(name: str) -> None:
    view = view_of(LAB / name)
    suite = parsed(view).find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert failure.get("message") == view["verdict"]["headline"]
    assert view["verdict"]["evidence"][0]["text"] in (failure.text or "")


def test_a_healthy_job_gives_a_case_that_passes() -> None:
    suite = parsed(view_of(LAB / "m8-healthy" / "driver.log")).find("testsuite")
    assert suite is not None
    assert suite.get("failures") == "0"
    assert suite.find("testcase/failure") is None


def test_hostile_text_stays_text() -> None:
    view = view_of(LAB / "abort")
    hostile = "]]></failure><x a=\"1\" b='2'>&\x00\x1b[31m\ud800\ufffe\n::error::mine"
    view["verdict"]["headline"] = hostile
    view["verdict"]["reasons"] = ["::error::mine"]
    view["verdict"]["evidence"][0]["text"] = hostile
    root = parsed(view)
    assert [element.tag for element in root.iter()] == ["testsuites", "testsuite", "testcase", "failure"]
    assert "</failure><x" in (root.findtext("testsuite/testcase/failure") or "")
    assert "\n::error" not in render_junit(view)
