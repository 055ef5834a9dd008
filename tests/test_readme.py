"""The README and the documents beside it say what is so."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "fixtures" / "README.md"]
PAGES += sorted((ROOT / "docs").glob("*.md")) + sorted((ROOT / "docs" / "decisions").glob("*.md"))


@pytest.mark.parametrize("tool", ["readme", "samples"])
def test_what_the_program_determines_is_fresh(tool):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    words = [sys.executable, str(ROOT / "tools" / f"{tool}.py"), "--check"]
    told = subprocess.run(words, capture_output=True, text=True, env=environment, check=False, timeout=120)

    assert told.returncode == 0, told.stdout + told.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_into_the_checkout_leads_somewhere(page):
    links = re.findall(r"\]\(([^)#\s]+)", page.read_text("utf-8"))

    assert [link for link in links if "://" not in link and not (page.parent / link).exists()] == []


def test_the_two_commands_of_the_set_up_name_files_that_ship():
    text = (ROOT / "README.md").read_text("utf-8")

    [scan] = re.findall(r"^    python3 -m venv .*nccl-logscan (\S+)$", text, re.MULTILINE)
    assert (ROOT / scan).is_file()
    assert "\n    bash tools/test\n" in text
    assert (ROOT / "tools" / "test").is_file()


def test_a_picture_in_the_readme_is_small():
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", (ROOT / "README.md").read_text("utf-8"))

    assert pictures
    assert all((ROOT / picture).stat().st_size < 300_000 for picture in pictures)
