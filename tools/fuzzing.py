"""Feeds the targets of fuzz/ and writes what came of it into reports/robustness.md.

python tools/fuzzing.py --runs 2000000            feed each target until it has had so many inputs at this version of it
python tools/fuzzing.py --targets html,sarif ...  only these
python tools/fuzzing.py --write                   only write the page, from reports/fuzzing.jsonl

It needs atheris (`pip install atheris`), which has wheels for Linux and CPython up to 3.13 as of this writing.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(_ROOT))

from fuzz.target import Target  # noqa: E402 - it lies beside this folder
from fuzz.targets import TARGETS  # noqa: E402

_REPORT = _ROOT / "reports" / "robustness.md"
_RECORD = _ROOT / "reports" / "fuzzing.jsonl"
_HEADING = "## Fuzzing"
_A_PROCESS = 250_000
"""Inputs that one process is fed: its memory and what it learnt begin anew, its seed is another."""
_STAT = re.compile(r"^stat::(\w+):\s+(\d+)$", re.MULTILINE)
_FEATURES = re.compile(r" ft: (\d+) ")
_SECONDS = re.compile(r"^Done \d+ runs in (\d+) second", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Run:
    """One process's inputs to a target. `features`: what libFuzzer counts of branches and how often they were taken."""

    target: str
    seed: int
    executions: int
    seconds: int
    features: int
    peak_mb: int
    faults: int
    day: str
    commit: str


def main() -> int:
    """Feed the targets and write; 1 if one of them was found at fault."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2_000_000, help="inputs a target is to have had, all runs together")
    parser.add_argument("--targets", default=",".join(TARGETS), help="of which targets")
    parser.add_argument("--write", action="store_true", help="only write the page")
    given = parser.parse_args()
    faults = 0
    for name in [] if given.write else given.targets.split(","):
        faults += sum(run.faults for run in _feed(TARGETS[name], given.runs))
    before = _REPORT.read_text("utf-8").partition(_HEADING)[0]
    _REPORT.write_text(before + _page(_recorded()), "utf-8")
    return 1 if faults else 0


def _feed(target: Target, wanted: int) -> Iterator[Run]:
    earlier = [run for run in _recorded() if run.target == target.name]
    left, seed = wanted - sum(run.executions for run in earlier), len(earlier) + 1
    while left > 0:
        run = _run(target, min(left, _A_PROCESS), seed)
        with _RECORD.open("a", encoding="utf-8") as record:
            record.write(json.dumps(asdict(run)) + "\n")
        print(f"{target.name}: {run.executions:,} inputs in {run.seconds} s, {run.faults} faults", flush=True)
        yield run
        if run.faults:
            return
        left, seed = left - run.executions, seed + 1


def _run(target: Target, runs: int, seed: int) -> Run:
    corpus = _ROOT / ".fuzz" / target.name
    command = [sys.executable, "-m", "fuzz", target.name, f"--runs={runs}", f"--seed={seed}", f"--corpus={corpus}"]
    environment = {**os.environ, "PYTHONPATH": str(_ROOT)}
    ended = subprocess.run(command, cwd=_ROOT, env=environment, capture_output=True, check=False)
    told = ended.stderr.decode("utf-8", "replace")
    stats = {name: int(number) for name, number in _STAT.findall(told)}
    if ended.returncode:
        print(told[-4_000:], file=sys.stderr)
    return Run(
        target=target.name,
        seed=seed,
        executions=stats.get("number_of_executed_units", 0),
        seconds=int(found[1]) if (found := _SECONDS.search(told)) else 0,
        features=max(map(int, _FEATURES.findall(told)), default=0),
        peak_mb=stats.get("peak_rss_mb", 0),
        faults=int(ended.returncode != 0),
        day=datetime.now(UTC).date().isoformat(),
        commit=_commit(),
    )


def _commit() -> str:
    command = ["git", "rev-parse", "--short=12", "HEAD"]
    told = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=True)
    return told.stdout.strip()


def _recorded() -> list[Run]:
    return [Run(**json.loads(line)) for line in _RECORD.read_text("utf-8").splitlines()] if _RECORD.exists() else []


def _page(runs: Sequence[Run]) -> str:
    rows = [_row(target, [run for run in runs if run.target == name]) for name, target in TARGETS.items()]
    lines = [
        _HEADING,
        "",
        "By `python tools/fuzzing.py`, with [atheris](https://github.com/google/atheris): libFuzzer changes inputs",
        "made of the real logs, and keeps those that reach new branches. What must hold is asked after each input.",
        "Every input that once showed a fault stays in `fuzz/found` and is tried by the tests. The runs are in",
        "`reports/fuzzing.jsonl`.",
        "",
        "| target | inputs | seconds | features | MB | showed a fault once | do now | what must hold |",
        "|---|---|---|---|---|---|---|---|",
        *rows,
        "",
    ]
    return "\n".join(lines)


def _row(target: Target, runs: Sequence[Run]) -> str:
    executions, seconds = sum(run.executions for run in runs), sum(run.seconds for run in runs)
    features, peak = max((run.features for run in runs), default=0), max((run.peak_mb for run in runs), default=0)
    found = target.found()
    still = sum(not _holds(target, path) for path in found)
    numbers = f"{executions:,} | {seconds:,} | {features:,} | {peak} | {len(found)} | {still}"
    return f"| {target.name} | {numbers} | {target.holds} |"


def _holds(target: Target, path: Path) -> bool:
    try:
        target.attempt(path.read_bytes())
    except Exception:  # noqa: BLE001 - what this asks
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
