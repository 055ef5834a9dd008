"""Scans changed logs of all cases and writes reports/robustness.md.

python tools/robustness.py     measure and write

Harmless changes (tests/mutations.py) should leave every verdict as it was; after the others a scan should end with a
verdict or an error that says what is wrong, in a time that grows as the log does.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import yaml

_ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(_ROOT / "tests"))

from cases import ALL, Case  # noqa: E402 - of the tests
from mutations import DESTRUCTIVE, HARMLESS, Files, encoded, job_of, lay_out  # noqa: E402

from nccl_logscan.diagnosis.verdict import ScanResult  # noqa: E402
from nccl_logscan.errors import InputError  # noqa: E402
from nccl_logscan.pipeline import scan  # noqa: E402

_REPORT = _ROOT / "reports" / "robustness.md"
_EXPLAINED = _ROOT / "tests" / "changed_verdicts.yaml"
EXPLAINED: dict[str, dict[str, str]] = yaml.safe_load(_EXPLAINED.read_text("utf-8"))
"""Why a case has another verdict, by change and case."""
_TIMES = 3
"""How often each case is mangled in each way."""
_GROWING = "lab/timeout-dataloader"
_SIZES = (1, 4, 16)
"""MiB of the logs by which growth is measured."""
_ENOUGH = 50_000
"""Bytes of a log from which on its time says something of the bytes."""


@dataclass(frozen=True, slots=True)
class Changed:
    """A verdict that a harmless change changed. `allowed`: the case's label allows both."""

    case: str
    before: str
    after: str
    allowed: bool


@dataclass(slots=True)
class Mangled:
    """What became of logs that were mangled in one way; `slowest` in seconds a megabyte."""

    logs: int = 0
    errors: int = 0
    defects: int = 0
    slowest: float = 0.0

    def add(self, other: Mangled) -> None:
        """Count those of another, too."""
        self.logs, self.errors = self.logs + other.logs, self.errors + other.errors
        self.defects, self.slowest = self.defects + other.defects, max(self.slowest, other.slowest)


@dataclass(frozen=True, slots=True)
class Point:
    """One scan: megabytes of the log, seconds of the processors."""

    size: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Growth:
    """Scans of ever larger logs that were mangled in one way."""

    change: str
    points: Sequence[Point]

    @property
    def row(self) -> str:
        """A line of the page's table."""
        *_, before, last = self.points
        exponent = math.log(last.seconds / before.seconds) / math.log(last.size / before.size)
        cells = " | ".join(f"{point.seconds:.1f} s" for point in self.points)
        return f"| {self.change} | {cells} | {exponent:.2f} |"


def main() -> int:
    """Measure and write; 1 where a scan ended in a defect, or the verdicts that changed are not those explained."""
    cases = [case for case in ALL if case.texts() and "storm" not in case.name]
    harmless: dict[str, tuple[int, list[Changed]]] = {name: (0, []) for name in HARMLESS}
    mangled = {name: Mangled() for name in DESTRUCTIVE}
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(_of_case, range(len(cases)), chunksize=4):
            for name, changed in found.harmless.items():
                logs, those = harmless[name]
                harmless[name] = logs + 1, those + changed
            for name, told in found.mangled.items():
                mangled[name].add(told)
    growth = [_growth(name) for name in DESTRUCTIVE]
    kept = _REPORT.read_text("utf-8").partition("## Fuzzing")
    _REPORT.write_text(_page(len(cases), harmless, mangled, growth) + "\n" + "".join(kept[1:]), "utf-8")
    print(f"{_REPORT.relative_to(_ROOT)} is written")
    problems = list(_unlike({name: {one.case for one in those} for name, (_, those) in harmless.items()}))
    print("\n".join(problems), file=sys.stderr)
    return int(bool(problems) or any(one.defects for one in mangled.values()))


@dataclass(frozen=True, slots=True)
class OfCase:
    """What became of one case's changed logs, by change."""

    harmless: dict[str, list[Changed]]
    mangled: dict[str, Mangled]


def _of_case(number: int) -> OfCase:
    case = [case for case in ALL if case.texts() and "storm" not in case.name][number]
    found = OfCase({}, {name: Mangled() for name in DESTRUCTIVE})
    before = _scanned(case, encoded(case.texts()))
    assert before is not None
    for name, change in HARMLESS.items():
        files = change(job_of(case, before.job.hosts, name))
        if files is not None:
            found.harmless[name] = list(_changed(case, before, _scanned(case, files)))
    for name, mangle in DESTRUCTIVE.items():
        for time_ in range(_TIMES):
            _mangle(case, mangle(job_of(case, (), f"{name} {time_}")), found.mangled[name])
    return found


def _unlike(changed: Mapping[str, set[str]]) -> Iterator[str]:
    """Yield the verdicts that changed without an explanation, and the explanations of what did not change."""
    for name, cases in changed.items():
        explained = set(EXPLAINED.get(name, {}))
        yield from (
            f"{name}: {case} has another verdict, which {_EXPLAINED.name} does not explain"
            for case in sorted(cases - explained)
        )
        yield from (
            f"{name}: {case} has its verdict; take it out of {_EXPLAINED.name}" for case in sorted(explained - cases)
        )


def _scanned(case: Case, files: Files) -> ScanResult | None:
    """Return what is said of changed logs in the place of a case's own; None if there is nothing to judge in them."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "job"
        lay_out(case, files, folder)
        try:
            return scan([str(folder)])
        except InputError:
            return None


def _changed(case: Case, before: ScanResult, after: ScanResult | None) -> Iterator[Changed]:
    was, told = _verdict(before), "nothing to judge" if after is None else _verdict(after)
    if was != told:
        categories = {before.diagnosis.category, *([] if after is None else [after.diagnosis.category])}
        yield Changed(case.name, was, told, after is not None and categories <= case.acceptable)


def _verdict(result: ScanResult) -> str:
    diagnosis = result.diagnosis
    rank = "" if diagnosis.culprit.rank is None else f", rank {diagnosis.culprit.rank}"
    return f"{diagnosis.finding.rule.id if diagnosis.finding else diagnosis.category.value}{rank}"


def _mangle(case: Case, files: Files, told: Mangled) -> None:
    size = sum(map(len, files.values()))
    started = time.process_time()
    told.logs += 1
    try:
        told.errors += _scanned(case, files) is None
    except Exception as defect:  # noqa: BLE001 - what this looks for
        told.defects += 1
        print(f"{case.name}: {type(defect).__name__}: {defect}", file=sys.stderr)
    if size >= _ENOUGH:
        told.slowest = max(told.slowest, (time.process_time() - started) / size * 1e6)


def _growth(name: str) -> Growth:
    """Scan a log that was mangled in a way, in ever larger pieces, each in a process of its own."""
    [case] = [case for case in ALL if case.name == _GROWING]
    text = "".join(case.texts().values())
    points = []
    for megabytes in _SIZES:
        times = (megabytes << 20) // len(text)
        files = DESTRUCTIVE[name](replace(job_of(case, (), name), texts={"all.log": text * times}))
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "all.log"
            log.write_bytes(files["all.log"])
            command = [
                sys.executable,
                "-m",
                "nccl_logscan",
                str(log),
                "--quiet",
                "--format",
                "json",
                "-o",
                f"{folder}/o",
            ]
            process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            points.append(Point(log.stat().st_size / 1e6, usage.ru_utime + usage.ru_stime))
    return Growth(name, points)


def _page(
    cases: int,
    harmless: Mapping[str, tuple[int, list[Changed]]],
    mangled: Mapping[str, Mangled],
    growth: Sequence[Growth],
) -> str:
    logs = sum(count for count, _ in harmless.values())
    changed = sum(len(those) for _, those in harmless.values())
    rows = [f"| {name} | {count} | {len(those)} |" for name, (count, those) in harmless.items()]
    listed = [
        f"| {name} | {one.case} | {one.before} | {one.after} | {'yes' if one.allowed else ''} "
        f"| {EXPLAINED.get(name, {}).get(one.case, '')} |"
        for name, (_, those) in harmless.items()
        for one in those
    ]
    broken = [
        f"| {name} | {one.logs:,} | {one.errors:,} | {one.defects} | {one.slowest:.1f} |"
        for name, one in mangled.items()
    ]
    lines = [
        "# Changed logs",
        "",
        f"By `python tools/robustness.py`, of {cases} cases; the changes are in `tests/mutations.py`.",
        "",
        "## Harmless changes",
        "",
        f"**{changed} of {logs:,} logs ({changed / logs:.2%}) have another verdict** (category, rule or rank).",
        "",
        "| change | logs | other verdicts |",
        "|---|---|---|",
        *rows,
        "",
        "Those with another verdict; both right: the label allows both. Why: see `tests/changed_verdicts.yaml`;",
        "the tool fails for one that is not explained there, or is and did not change.",
        "",
        "| change | case | before | after | both right | why |",
        "|---|---|---|---|---|---|",
        *listed,
        "",
        "## Mangled logs",
        "",
        "Nothing to judge: the error that says so. s/MB: processor time of the slowest log of 50 kB or more.",
        "",
        "| change | logs | nothing to judge | defects | s/MB |",
        "|---|---|---|---|---|",
        *broken,
        "",
        "## Growth",
        "",
        f"`{_GROWING}` over and over until it has so many MiB, then mangled: seconds of the processors.",
        "Exponent: of the time by the size, between the last two; 1 is in step with it. Memory: reports/memory.md.",
        "",
        f"| change | {' | '.join(f'{size} MiB' for size in _SIZES)} | exponent |",
        f"|---|{'---|' * len(_SIZES)}---|",
        *(one.row for one in growth),
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
