"""Writes the parts of README.md that the program itself determines: what it prints, and the categories.

python tools/readme.py           write them
python tools/readme.py --check   say whether they are fresh
"""

from __future__ import annotations

import argparse
import contextlib
import io
import itertools
import os
import subprocess
import sys
from pathlib import Path

from rich.console import Console

from nccl_logscan import scan
from nccl_logscan.pipeline import Options
from nccl_logscan.report.text import render_text
from nccl_logscan.report.view import build_view
from nccl_logscan.taxonomy import Category

_ROOT = Path(__file__).resolve().parents[1]
_README = _ROOT / "README.md"
_LOG = "fixtures/cases/lab/timeout-dataloader/driver.log"
_OTHER_LOG = "fixtures/cases/lab/ds-overflow/driver.log"
_CONFIG = "fixtures/launch/ds-overflow/ds_config.json"
_LINT = "lint fixtures/lint/openrlhf/train_ppo.sh"
_ADVISE = "advise --params 30B --nodes 4 --network ib --framework verl --framework-version 0.8 --torch 2.9"
_EXPLAIN = "explain NCCL_IB_MTU"
_WIDTH = 110


def main() -> int:
    """Write the parts, or compare them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only say whether they are fresh")
    check = parser.parse_args().check
    text = _README.read_text("utf-8")
    fresh = _with_parts(text)
    if check:
        print("README.md is fresh" if fresh == text else "README.md is stale: run python tools/readme.py")
        return 0 if fresh == text else 1
    _README.write_text(fresh, "utf-8")
    return 0


def _with_parts(text: str) -> str:
    parts = (
        ("verdict", _verdict()),
        ("change", _change()),
        ("lint", _printed(_LINT)),
        ("advise", _printed(_ADVISE, most=24)),
        ("explain", _printed(_EXPLAIN)),
        ("categories", _categories()),
    )
    for name, part in parts:
        begin, end = f"<!-- {name}: python tools/readme.py -->\n", f"<!-- end of {name} -->"
        head, found, rest = text.partition(begin)
        _, closed, tail = rest.partition(end)
        if not (found and closed):
            raise SystemExit(f"error: README.md has no {begin.strip()} or no {end}")
        text = f"{head}{begin}{part}\n{end}{tail}"
    return text


def _verdict() -> str:
    """Return what a terminal shows of a scan of the shipped log."""
    shown = io.StringIO()
    console = Console(file=shown, width=_WIDTH, force_terminal=True, color_system=None, highlight=False)
    with contextlib.chdir(_ROOT):
        view = build_view(scan([_LOG]))
    render_text(view, console, written_to=["reports/driver.html"])
    return f"```console\n$ nccl-logscan {_LOG}\n{shown.getvalue().rstrip()}\n```"


def _change() -> str:
    """Return the first step of a verdict with the job's configuration beside the log."""
    shown = io.StringIO()
    console = Console(file=shown, width=_WIDTH, force_terminal=True, color_system=None, highlight=False)
    with contextlib.chdir(_ROOT):
        view = build_view(scan([_OTHER_LOG], options=Options(configs=(_CONFIG,))))
    render_text(view, console, verbose=True)
    lines = itertools.dropwhile(lambda line: not line.startswith("Do "), shown.getvalue().splitlines())
    first = itertools.takewhile(lambda line: "3. " not in line, lines)
    words = f"nccl-logscan {_OTHER_LOG} --verbose \\\n    --config {_CONFIG}"
    return "\n".join(["```console", f"$ {words}", "...", *first, "...", "```"])


def _printed(words: str, most: int | None = None) -> str:
    """Return a command and what it prints, or its first lines."""
    environment = {**os.environ, "COLUMNS": str(_WIDTH), "PYTHONPATH": str(_ROOT)}
    command = [sys.executable, "-m", "nccl_logscan", *words.split()]
    told = subprocess.run(command, capture_output=True, text=True, cwd=_ROOT, env=environment, check=False)
    lines = told.stdout.rstrip().split("\n")
    shown = lines if most is None else [*lines[:most], "..."]
    return "\n".join(["```console", f"$ nccl-logscan {words}", *shown, "```"])


def _categories() -> str:
    rows = [f"| {category.family} | `{category}` | {category.meaning} |" for category in Category]
    return "\n".join(["| family | category | root cause |", "|---|---|---|", *rows])


if __name__ == "__main__":
    sys.exit(main())
