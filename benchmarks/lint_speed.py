"""Measures lint over launch scripts against grep, ripgrep, shellcheck and yamllint on the same files in the same run.

python benchmarks/lint_speed.py [--files 2000] [--rounds 5]

The files are varied from fixtures/lint and fixtures/launch into a temporary folder, always in the same way. Writes
reports/lint-speed.md. Only the ratios within one run mean anything; those of processor time hardly depend on what else
the machine does.
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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nccl_logscan.version import __version__

_ROOT = Path(__file__).resolve().parents[1]
_REPORT = _ROOT / "reports" / "lint-speed.md"
_FIXTURES = (_ROOT / "fixtures" / "lint", _ROOT / "fixtures" / "launch")
_SHELLCHECK = ("shellcheck", "-s", "bash", "-f", "gcc")
_OWN = "nccl-logscan lint"
_KINDS = {"all": "files", "scripts": "shell scripts", "yaml": "YAML files"}
_LABELS = {"expected.yaml", "named_settings.yaml"}
_PATTERN = "NCCL_[A-Z0-9_]+"
_SCRIPTS = (".sh", ".bash", ".sbatch", ".slurm")
_YAML = (".yaml", ".yml")
_NUMBER = re.compile(r"(?<![\w.])\d{2,6}(?![\w.])")
_PLAIN = (
    "# step {n}: nothing to do with the network\n",
    "echo 'stage {n} of the preparation'\n",
    "mkdir -p /scratch/run{n}/logs\n",
    "cp -r /data/shard{n} /scratch/run{n}/\n",
)


@dataclass(frozen=True, slots=True)
class Command:
    """A command over files of one kind. Those of one `kind` are compared; `slow` ones are run once."""

    name: str
    kind: str
    words: tuple[str, ...]
    slow: bool = False


@dataclass(frozen=True, slots=True)
class Taken:
    """How long a command took by the clock, and how much processor time it and its processes had, in seconds."""

    wall: float
    processor: float


def main() -> int:
    """Generate, measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=2_000, help="how many files to make")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each command, in turn; the median counts")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "files"
        size = make(folder, options.files)
        commands = _commands(folder, Path(name))
        environment = _environment(Path(name))
        # The first round finds the files just written, that is in the page cache, and compiles the program's modules.
        first = {command: _taken(command.words, environment) for command in commands}
        rounds = [
            {command: _taken(command.words, environment) for command in commands if not command.slow}
            for _ in range(options.rounds)
        ]
        counts = {kind: _count(folder, kind) for kind in ("all", "scripts", "yaml")}
    text = _page(counts, size, first, rounds)
    print(text)
    _REPORT.write_text(text, "utf-8")
    return 0


def make(folder: Path, files: int) -> int:
    """Write that many files, each a fixture with other numbers and some lines more; return their bytes."""
    folder.mkdir(exist_ok=True)
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


def _commands(folder: Path, beside: Path) -> list[Command]:
    scripts, yaml = (_linked(folder, beside / kind, kind) for kind in ("scripts", "yaml"))
    own = (sys.executable, "-m", "nccl_logscan", "lint")
    quiet = "{extends: default, rules: {line-length: disable}}"
    commands = [
        Command("grep -arE", "all", ("grep", "-arE", _PATTERN, str(folder))),
        Command("rg -a", "all", ("rg", "-a", "--hidden", "--no-ignore", _PATTERN, str(folder))),
        Command(_OWN, "all", (*own, str(folder))),
        Command(
            "shellcheck", "scripts", ("shellcheck", "-s", "bash", "-f", "gcc", *map(str, _files(scripts))), slow=True
        ),
        Command(_OWN, "scripts", (*own, str(scripts))),
        Command("yamllint", "yaml", ("yamllint", "-f", "parsable", "-d", quiet, str(yaml))),
        Command(_OWN, "yaml", (*own, str(yaml))),
    ]
    missing = {command.kind for command in commands if not shutil.which(command.words[0])} - {"all"}
    return [command for command in commands if shutil.which(command.words[0]) and command.kind not in missing]


def _linked(folder: Path, to: Path, kind: str) -> Path:
    """Return a folder with the files of one kind, as hard links under names of their own."""
    to.mkdir()
    for number, path in enumerate(_of_kind(folder, kind)):
        os.link(path, to / f"{number:04d}-{path.name}")
    return to


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _of_kind(folder: Path, kind: str) -> list[Path]:
    suffixes = {"scripts": _SCRIPTS, "yaml": _YAML}.get(kind)
    return [path for path in _files(folder) if suffixes is None or path.suffix in suffixes]


def _count(folder: Path, kind: str) -> int:
    return len(_of_kind(folder, kind))


def _taken(words: Sequence[str], environment: Mapping[str, str]) -> Taken:
    started = time.perf_counter()
    # To a file: grep that writes to /dev/null stops at the first match.
    with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as told:
        process = subprocess.Popen(words, stdout=printed, stderr=told, cwd=_ROOT, env=environment)
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in {0, 1}:  # 1: grep found nothing; a linter found something
            told.seek(0)
            raise SystemExit(f"{words[0]} ended with {process.returncode}: {told.read().decode()[-300:]}")
    return Taken(wall, used.ru_utime + used.ru_stime)


def _environment(folder: Path) -> dict[str, str]:
    """Return an environment in which Python keeps its bytecode, as it does for an installed program."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "LC_ALL": "C.UTF-8", "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}


def _page(
    counts: Mapping[str, int],
    size: int,
    first: Mapping[Command, Taken],
    rounds: Sequence[Mapping[Command, Taken]],
) -> str:
    today = f"{dt.datetime.now(tz=dt.UTC):%Y-%m-%d}"
    median = {command: _median([taken[command] for taken in (*rounds, first) if command in taken]) for command in first}
    own = {command.kind: median[command] for command in first if command.name == _OWN}
    intro = (
        f"Measured on {today} with nccl-logscan {__version__} on {os.cpu_count()} cores ({platform.machine()}, "
        f"{platform.system()}), Python {platform.python_version()}: {counts['all']:,} files, {size / 1e6:.1f} MB, "
        f"varied from the fixtures; {counts['scripts']:,} of them are shell scripts and {counts['yaml']:,} YAML. "
        f"`grep` and `rg` print each line that holds `{_PATTERN}`; shellcheck and yamllint are linters of the same "
        f"files for other faults. {len(rounds) + 1} runs of each in turn, of which the median counts, and one of "
        "shellcheck; all after the files were written, so none reads the disk. Processor time is that of all processes "
        "of a command. Compare the ratios and not the seconds with another machine's."
    )
    rows = [
        f"| {command.name} | {counts[command.kind]:,} {_KINDS[command.kind]} | {taken.wall:.2f} s "
        f"| {taken.processor:.2f} s | {_ratio(command, taken, own)} |"
        for command, taken in median.items()
    ]
    each = 1e3 * own["all"].processor / counts["all"]
    return "\n".join(
        [
            "<!-- written by: python benchmarks/lint_speed.py -->",
            "# Speed of lint",
            "",
            *textwrap.wrap(intro, 120),
            "",
            "| command | files | by the clock | processor time | lint takes, by the clock and in processor time |",
            "|---|---|---|---|---|",
            *rows,
            "",
            f"That is {counts['all'] / own['all'].wall:,.0f} files a second, {each:.2f} ms of processor time each.",
            "",
        ]
    )


def _median(taken: Sequence[Taken]) -> Taken:
    return Taken(statistics.median(one.wall for one in taken), statistics.median(one.processor for one in taken))


def _ratio(command: Command, taken: Taken, own: Mapping[str, Taken]) -> str:
    if command.name == _OWN:
        return ""
    lint = own[command.kind]
    return f"{_times(lint.wall / taken.wall)}, {_times(lint.processor / taken.processor)}"


def _times(ratio: float) -> str:
    return f"{ratio:.1f} times" if ratio >= 1 else f"1/{1 / ratio:.0f}"


if __name__ == "__main__":
    sys.exit(main())
