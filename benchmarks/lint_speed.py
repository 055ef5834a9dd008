"""Measures lint over launch scripts against grep and ripgrep on the same files in the same run.

python benchmarks/lint_speed.py [--files 2000] [--rounds 5]

The files are varied from fixtures/lint and fixtures/launch into a temporary folder, always in the same way. Writes
reports/lint-speed.md. Only the ratios within one run mean anything.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import platform
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Sequence
from pathlib import Path

from nccl_logscan.version import __version__

_ROOT = Path(__file__).resolve().parents[1]
_REPORT = _ROOT / "reports" / "lint-speed.md"
_FIXTURES = (_ROOT / "fixtures" / "lint", _ROOT / "fixtures" / "launch")
_LABELS = {"expected.yaml", "named_settings.yaml"}
_PATTERN = "NCCL_[A-Z0-9_]+"
_NUMBER = re.compile(r"(?<![\w.])\d{2,6}(?![\w.])")
_PLAIN = (
    "# step {n}: nothing to do with the network\n",
    "echo 'stage {n} of the preparation'\n",
    "mkdir -p /scratch/run{n}/logs\n",
    "cp -r /data/shard{n} /scratch/run{n}/\n",
)


def main() -> int:
    """Generate, measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=2_000, help="how many files to make")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each command, in turn; the median counts")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        size = make(folder, options.files)
        # The first round finds the files just written, that is in the page cache; programs are cold in it.
        first = _round(folder)
        rounds = [_round(folder) for _ in range(options.rounds)]
    text = _page(options.files, size, first, rounds)
    print(text)
    _REPORT.write_text(text, "utf-8")
    return 0


def make(folder: Path, files: int) -> int:
    """Write that many files, each a fixture with other numbers and some lines more; return their bytes."""
    originals = sorted(path for root in _FIXTURES for path in root.rglob("*") if path.is_file())
    originals = [path for path in originals if path.name not in _LABELS]
    chance = random.Random(files)  # noqa: S311 - no secret
    size = 0
    for number in range(files):
        original = originals[number % len(originals)]
        # A folder a file of its own keeps the names by which some syntaxes are known.
        path = folder / f"site{number // 100:02d}" / f"job{number:04d}" / original.name
        path.parent.mkdir(parents=True)
        size += path.write_text(_varied(original, chance), "utf-8")
    return size


def _varied(original: Path, chance: random.Random) -> str:
    text = _NUMBER.sub(lambda found: _other_number(found[0], chance), original.read_text("utf-8"))
    if original.suffix in {".sh", ".sbatch", ".slurm", ".bash"}:
        text += "".join(chance.choice(_PLAIN).format(n=chance.randrange(1000)) for _ in range(chance.randrange(40)))
    return text


def _other_number(number: str, chance: random.Random) -> str:
    return number if chance.random() < 0.5 else str(chance.randrange(10 ** (len(number) - 1), 10 ** len(number)))


def _commands(folder: Path) -> dict[str, list[str]]:
    commands = {
        "grep": ["grep", "-arE", _PATTERN, str(folder)],
        "rg": ["rg", "-a", "--hidden", "--no-ignore", _PATTERN, str(folder)],
        "nccl-logscan lint": [sys.executable, "-m", "nccl_logscan", "lint", str(folder)],
    }
    return {name: words for name, words in commands.items() if shutil.which(words[0])}


def _round(folder: Path) -> dict[str, float]:
    return {name: _seconds(words) for name, words in _commands(folder).items()}


def _seconds(words: Sequence[str]) -> float:
    started = time.perf_counter()
    # To a file: grep that writes to /dev/null stops at the first match.
    with tempfile.TemporaryFile() as printed:
        done = subprocess.run(words, stdout=printed, stderr=subprocess.PIPE, cwd=_ROOT, env=_environment(), check=False)
    if done.returncode not in {0, 1}:  # 1: grep found nothing; lint found something
        raise SystemExit(f"{' '.join(words)} ended with {done.returncode}: {done.stderr.decode()[-300:]}")
    return time.perf_counter() - started


def _environment() -> dict[str, str]:
    return {**os.environ, "LC_ALL": "C.UTF-8"}


def _page(files: int, size: int, first: dict[str, float], rounds: Sequence[dict[str, float]]) -> str:
    today = f"{dt.datetime.now(tz=dt.UTC):%Y-%m-%d}"
    median = {name: statistics.median(each[name] for each in rounds) for name in first}
    own = median["nccl-logscan lint"]
    intro = (
        f"Measured on {today} with nccl-logscan {__version__} on {os.cpu_count()} cores ({platform.machine()}, "
        f"{platform.system()}), Python {platform.python_version()}: {files:,} files, {size / 1e6:.1f} MB, varied from "
        f"the fixtures. `grep -arE` and `rg` print each line that holds `{_PATTERN}`. One run of each first, then "
        f"{len(rounds)} of each in turn, of which the median counts; all after the files were written, so none reads "
        "the disk. Compare the ratios and not the seconds with another machine's."
    )
    return "\n".join(
        [
            "<!-- written by: python benchmarks/lint_speed.py -->",
            "# Speed of lint",
            "",
            *textwrap.wrap(intro, 120),
            "",
            "| command | first run | median | lint takes |",
            "|---|---|---|---|",
            *(
                f"| {name} | {first[name]:.2f} s | {median[name]:.2f} s | {_ratio(own / median[name], name)} |"
                for name in first
            ),
            "",
            f"That is {files / own:,.0f} files a second, {1e3 * own / files:.2f} ms each.",
            "",
        ]
    )


def _ratio(ratio: float, name: str) -> str:
    return "" if name == "nccl-logscan lint" else f"{ratio:.1f} times as long"


if __name__ == "__main__":
    sys.exit(main())
