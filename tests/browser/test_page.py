"""The HTML report as a browser shows it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from chromium import chromium

from nccl_logscan.cli import main

CASES = Path(__file__).parents[2] / "fixtures" / "cases"
LARGEST = 400_000
WIDTHS = (360, 768, 1280, 2560)

SHOWN = (
    "lab/timeout-dataloader",
    "lab/m8-timeout-rank5",
    "lab/m8-healthy",
    "lab/desync-op",
    "lab/dup-gpu",
    "lab/user-exception",
    "lab/v2.25.1-linkdown",
    "lab/v2.16.5-fullmem",
    "lab/mix-2.18.3-2.21.5",
    "field/net002",
    "field/net060",
    "field/app_003",
)


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        reason = "there is no Chromium here: apt-get install chromium"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    with chromium(program, tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture(scope="session")
def page(browser):
    return browser.new_page()


@pytest.fixture(scope="session")
def report_on(tmp_path_factory):
    """Write the page of a case, once, and return where it is."""
    folder = tmp_path_factory.mktemp("pages")

    def report_on(case):
        path = folder / f"{case.replace('/', '-')}.html"
        if not path.exists():
            logs = sorted(str(log) for log in (CASES / case).glob("*.log"))
            assert main([*logs, "-o", str(path), "-q"]) in {0, 1}
        return path

    return report_on


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("case", SHOWN)
def test_the_page_is_never_wider_than_the_window(page, report_on, case, width):
    page.resize(width)
    page.open(report_on(case).as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")

    assert page.evaluate("document.documentElement.clientWidth") <= width
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0


@pytest.mark.parametrize("case", SHOWN)
def test_the_page_raises_no_error_and_asks_for_nothing(page, report_on, case):
    address = report_on(case).as_uri()

    page.open(address)

    assert page.evaluate("document.querySelector('h1') !== null")
    assert page.problems == []
    assert [request for request in page.requests if request != address and not request.startswith("data:")] == []


@pytest.mark.parametrize("case", SHOWN)
def test_the_page_is_small_enough_for_a_mail(report_on, case):
    assert report_on(case).stat().st_size < LARGEST


def test_the_probe_hears_of_what_a_page_does_wrong(page, tmp_path):
    bad = tmp_path / "bad.html"
    bad.write_text(
        "<!DOCTYPE html><h1>x</h1><div style='width:5000px'>x</div><img src='other.png'>"
        "<script>console.error('no')</script>"
    )

    page.resize(1280)
    page.open(bad.as_uri())

    assert page.problems
    assert any(request.endswith("other.png") for request in page.requests)
    assert page.evaluate("document.documentElement.scrollWidth") > 1280
