"""What pages of the documentation say of commands is what commands say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOL = ROOT / "tools" / "docs_pages.py"
sys.path.append(str(TOOL.parent))

import docs_pages  # noqa: E402 - tools is no package

LAUNCHERS = [page for page in sorted((ROOT / "docs" / "launchers").glob("*.md")) if page.name != "README.md"]
CASE = "fixtures/cases/lab/user-exception"


def test_what_the_program_determines_is_fresh():
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    words = [sys.executable, str(TOOL), "--check"]
    told = subprocess.run(words, capture_output=True, text=True, env=environment, check=False, timeout=300)

    assert told.returncode == 0, told.stderr


def test_a_part_that_is_not_what_the_command_prints_is_made_anew():
    page = f"Before.\n\n<!-- prints 2: {CASE} $ nccl-logscan driver.log -->\nstale\n<!-- end of prints -->\n\nAfter.\n"

    fresh = docs_pages.with_parts(page)

    assert "stale" not in fresh
    assert "\n$ nccl-logscan driver.log\nFAILED    user_code " in fresh
    assert "\n...\n```\n\n<!-- end of prints -->\n\nAfter.\n" in fresh
    assert docs_pages.with_parts(fresh) == fresh


def test_a_stale_page_is_named_and_left_as_it_is(tmp_path, monkeypatch, capsys):
    page = tmp_path / "docs" / "page.md"
    page.parent.mkdir()
    page.write_text("<!-- frames: here -->\n<!-- end of frames -->\n", "utf-8")
    monkeypatch.setattr(docs_pages, "_ROOT", tmp_path)
    monkeypatch.setattr(docs_pages, "_PAGES", page.parent)
    monkeypatch.setattr(sys, "argv", ["docs_pages.py", "--check"])

    assert docs_pages.main() == 1
    assert "docs/page.md is stale" in capsys.readouterr().err
    assert "findings_frame" not in page.read_text("utf-8")


def test_a_command_that_goes_wrong_makes_no_page():
    with pytest.raises(SystemExit, match="left with 3"):
        docs_pages.with_parts("<!-- prints: nccl-logscan nowhere.log -->\n<!-- end of prints -->\n")


def test_a_page_runs_only_this_program():
    with pytest.raises(SystemExit, match="rm is no command"):
        docs_pages.with_parts("<!-- prints: rm -rf all -->\n<!-- end of prints -->\n")


@pytest.mark.parametrize("page", LAUNCHERS, ids=lambda page: page.stem)
def test_a_launchers_page_has_a_real_case(page):
    cases = re.findall(r"<!-- prints(?: \d+)?: (fixtures/cases/\S+?)(?:=\S+)? ", page.read_text("utf-8"))

    assert cases
    assert all((ROOT / case / "case.yaml").is_file() for case in cases)


def test_every_launchers_page_is_linked():
    overview = (ROOT / "docs" / "launchers" / "README.md").read_text("utf-8")

    assert LAUNCHERS
    assert [page.name for page in LAUNCHERS if f"]({page.name})" not in overview] == []


def test_text_of_the_program_does_not_act_in_a_page():
    assert docs_pages._prose("a <b> *c* [d](e) `f<g>`") == "a &#60;b&#62; &#42;c&#42; &#91;d&#93;(e) `f<g>`"
