"""Pages about poisoned jobs in Chromium: nothing of them runs, asks for anything, or leads away."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from nccl_logscan import scan
from nccl_logscan.report.html import render_html
from nccl_logscan.report.view import build_view

sys.path.append(str(Path(__file__).parents[1] / "hostile"))

from contents import CONTENTS
from poisoned_job import poisoned

ACTING = (
    "script", "svg", "css", "element break-out", "attribute break-out", "addresses", "templates", "entities",
    "Markdown", "XML", "bidirectional", "line ends", "GitHub's commands", "bytes that are no UTF-8",
)  # fmt: skip


@pytest.mark.parametrize("content", ACTING)
def test_nothing_of_a_poisoned_job_acts_in_a_browser(light, tmp_path, monkeypatch, content):
    for name, job in poisoned(tmp_path, CONTENTS[content], "none").items():
        monkeypatch.chdir(job.folder)
        result = scan(job.logs, config=job.configs)
        page = tmp_path / f"{name}.html"
        page.write_text(render_html(build_view(result)), "utf-8")

        light.open(page.as_uri())
        light.open_parts()

        assert light.problems == []  # nor that there is no function zz
        assert light.requests == [page.as_uri()]
        assert light.tab.locator("h1").count() == light.tab.locator("style").count() == 1
        assert light.tab.locator("body > script").count() == light.tab.locator("script").count() == 1
        assert light.tab.locator("footer").is_visible()
        assert light.tab.locator("text=zz").count()
