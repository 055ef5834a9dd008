"""One Chromium for all tests, and pages to show in it."""

from __future__ import annotations

import importlib.util
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cases import BY_NAME, report_of
from playwright.sync_api import sync_playwright

from nccl_logscan.report.html import render_html
from nccl_logscan.report.view import build_view

_MADE = Path(__file__).parents[1] / "report" / "conftest.py"
_spec = importlib.util.spec_from_file_location("made_results", _MADE)
_made = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_made)
sample_result, hostile_result, huge_result = _made.sample_result, _made.hostile_result, _made.huge_result


@dataclass(frozen=True)
class Shown:
    """A page in its file, and the view that it shows."""

    path: Path
    view: dict[str, Any]

    @property
    def address(self):
        return self.path.as_uri()


@pytest.fixture(scope="session")
def browser():
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        reason = "there is no Chromium here: apt-get install chromium"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as driver:
        # Root, as which CI runs, gets no sandbox; the pages are our own.
        running = driver.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield running
        running.close()


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")


@pytest.fixture
def shown(request, folder):
    """Give the page of a case, or of a made result by its fixture's name."""

    def shown(name):
        case = BY_NAME.get(name)
        view = report_of(case, folder) if case else build_view(request.getfixturevalue(name))
        path = folder / f"{name.replace('/', '-')}.html"
        if not path.exists():
            path.write_text(render_html(view), "utf-8")
        return Shown(path, view)

    return shown


class Watched:
    """A tab. `problems` are console messages and exceptions, `requests` the addresses it asked for."""

    def __init__(self, tab):
        self.tab = tab
        self.problems = []
        self.requests = []
        tab.on("console", lambda message: self.problems.append(message.text))
        tab.on("pageerror", lambda error: self.problems.append(str(error)))
        tab.on("request", lambda request: self.requests.append(request.url))

    def open(self, address):
        """Go to an address and wait until all of it is loaded."""
        self.problems.clear()
        self.requests.clear()
        self.tab.goto(address)

    def open_parts(self):
        self.tab.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")


def _tab(browser, **options):
    context = browser.new_context(**options)
    return context, Watched(context.new_page())


@pytest.fixture(scope="session")
def light(browser):
    context, tab = _tab(browser, color_scheme="light", permissions=["clipboard-read", "clipboard-write"])
    yield tab
    context.close()


@pytest.fixture(scope="session")
def scriptless(browser):
    context, tab = _tab(browser, java_script_enabled=False)
    yield tab
    context.close()
