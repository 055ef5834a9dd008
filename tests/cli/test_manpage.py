"""The man page: of all commands, and of no complaint of those who format it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nccl_logscan.cli import COMMANDS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "man" / "nccl-logscan.1"


def test_the_page_is_fresh():
    subprocess.run([sys.executable, "tools/manpage.py", "--check"], cwd=ROOT, check=True, timeout=60)


@pytest.mark.parametrize(
    "words", [["mandoc", "-Tlint"], ["groff", "-ww", "-man", "-Kutf8", "-Tutf8"]], ids=["mandoc", "groff"]
)
def test_formatters_do_not_complain(words):
    if shutil.which(words[0]) is None:
        pytest.skip(f"no {words[0]} here")
    done = subprocess.run([*words, str(PAGE)], capture_output=True, text=True, timeout=60, check=False)
    said = done.stderr if words[0] == "groff" else done.stdout + done.stderr
    assert (done.returncode, said) == (0, "")


@pytest.mark.parametrize(
    "said", ["nccl\\-logscan rules show", "\\-\\-every\\-line", "kubectl logs job/train", "NO_COLOR"]
)
def test_it_tells_commands_options_examples_and_variables(said):
    assert said in PAGE.read_text("utf-8")


@pytest.mark.parametrize("command", [*COMMANDS, "rules suggest", "rules show"])
def test_help_fits_into_100_columns(run, command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "140")

    told = run(*command.split(), "--help").out

    assert max(map(len, told.splitlines())) <= 100
