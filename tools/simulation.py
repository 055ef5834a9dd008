"""Measures the verdicts on simulated jobs, of which the right answer is known, and writes reports/simulation.md.

python tools/simulation.py --jobs 300 --seed 1      simulate, scan and count; write the report
python tools/simulation.py --fault late --show      print each job's truth and verdict
python tools/simulation.py --scaling                one fault at 64, 512 and 4,096 ranks: bytes, seconds, memory

The simulator (tests/simulation) writes what PyTorch, NCCL and launchers write and knows nothing of the rules.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(_ROOT))

from nccl_logscan.errors import InputError  # noqa: E402 - the simulator is imported from the root of the tree
from nccl_logscan.pipeline import scan  # noqa: E402
from tests.simulation import FAULTS, LAYOUTS, Scenario, Truth, draw, simulate  # noqa: E402

_REPORT = _ROOT / "reports" / "simulation.md"
_OUTCOMES = ("right", "host", "honest", "missed", "wrong")
_MEANINGS = {
    "right": "the culprit is named, or nobody is where nobody is to blame",
    "host": "a rank is to blame and only its host is named, or a host and only its address as the peer",
    "honest": "no name, and the surviving files do not tell it",
    "missed": "no name, though the surviving files tell it",
    "wrong": "another rank or host is named",
}


@dataclass(frozen=True, slots=True)
class Job:
    """One job's result. `culprit`, `category`: the outcomes; `category` may be `also`, too: another acceptable one."""

    seed: int
    fault: str
    layout: str
    ranks: int
    culprit: str
    category: str
    got: str
    rule: str | None
    confidence: float
    named: str
    wanted: str
    lost: int
    bytes: int
    seconds: float
    peak_mb: int
    what: str
    evidence_left: bool


def main() -> int:
    """Run as the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=300, help="how many jobs (300)")
    parser.add_argument("--seed", type=int, default=1, help="the first job's seed (1)")
    parser.add_argument("--ranks", type=int, help="all jobs of so many ranks")
    parser.add_argument("--fault", choices=FAULTS, help="this fault only")
    parser.add_argument("--layout", choices=LAYOUTS, help="this layout only")
    parser.add_argument("--show", action="store_true", help="print each job")
    parser.add_argument("--keep", type=Path, help="keep the jobs' files in this folder")
    parser.add_argument("--json", type=Path, help="write all results to this file")
    parser.add_argument("--scaling", action="store_true", help="measure time and memory by ranks and by lines")
    parser.add_argument("--one", nargs=3, metavar=("RANKS", "CHATTER", "FOLDER"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        return _measure_one(int(args.one[0]), int(args.one[1]), Path(args.one[2]))
    if args.scaling:
        return _scaling()
    fixed = {name: value for name in ("ranks", "fault", "layout") if (value := getattr(args, name)) is not None}
    jobs = _run(range(args.seed, args.seed + args.jobs), fixed, args.keep, args.show)
    page = _page(jobs, f"python tools/simulation.py --jobs {args.jobs} --seed {args.seed}")
    print(page)
    if args.json:
        args.json.write_text(json.dumps([asdict(job) for job in jobs], indent=1))
    if not fixed and not args.show:
        _write(page)
    return 0


def _run(seeds: Iterable[int], fixed: dict[str, Any], keep: Path | None, show: bool) -> list[Job]:
    tasks = [(seed, fixed, keep) for seed in seeds]
    jobs = []
    with multiprocessing.get_context("spawn").Pool(2, maxtasksperchild=40) as pool:
        for job in pool.imap(_task, tasks):
            jobs.append(job)
            if show:
                print(
                    f"{job.seed:5d} {job.fault:14s} {job.layout:12s} {job.ranks:4d} ranks  {job.culprit:7s} wanted "
                    f"{job.wanted}; named {job.named}; {job.category} {job.got} ({job.rule}, {job.confidence:.2f}); "
                    f"{job.what}; {job.lost} files lost",
                    flush=True,
                )
    return jobs


def _task(task: tuple[int, dict[str, Any], Path | None]) -> Job:
    seed, fixed, keep = task
    if keep is not None:
        return run_job(seed, keep / str(seed), fixed)
    with tempfile.TemporaryDirectory(prefix="simulation-") as folder:
        return run_job(seed, Path(folder), fixed)


def run_job(seed: int, folder: Path, fixed: dict[str, Any]) -> Job:
    """Simulate a job into a folder and scan it."""
    scenario = draw(seed, **fixed)
    truth = simulate(seed, folder, **fixed)
    started = time.perf_counter()
    rule: str | None
    try:
        result = scan([folder])
    except InputError:
        got, rule, confidence, rank, host, peer = "unknown", "refused", 0.0, None, None, None
    else:
        verdict = result.diagnosis
        got, rank, host = str(verdict.category), verdict.culprit.rank, verdict.culprit.host
        peer = verdict.culprit.peer
        rule, confidence = (verdict.finding.rule.id if verdict.finding else None), verdict.confidence
    return Job(
        seed=seed,
        fault=truth.fault,
        layout=truth.layout,
        ranks=scenario.ranks,
        culprit=culprit_outcome(truth, rank, host, peer),
        category=category_outcome(truth, got),
        got=got,
        rule=rule,
        confidence=confidence,
        named=f"rank {rank}, host {host}" + (f", peer {peer}" if peer else ""),
        wanted=f"rank {truth.culprit}, host {truth.host}, {truth.category}",
        lost=truth.lost_files,
        bytes=sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()),
        seconds=time.perf_counter() - started,
        peak_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        what=truth.what,
        evidence_left=truth.evidence_left,
    )


def culprit_outcome(truth: Truth, rank: int | None, host: str | None, peer: str | None = None) -> str:
    """Judge the name a verdict gives: right, host, honest, missed or wrong.

    Where a host is to blame, any of its ranks or names is right; where a rank is, the rank must be.
    """
    if truth.culprit is None and truth.host is None:
        return "right" if rank is None else "wrong"
    on_host = host is None or host in truth.hosts_of_culprit or host.split(".")[0] in truth.hosts_of_culprit
    if truth.culprit is None:
        named = rank is not None or host is not None
        if not named and peer is not None and peer.split("<")[0] in truth.hosts_of_culprit:
            return "host"
        right = on_host and (rank is None or rank in truth.ranks_of_host)
    else:
        named = rank is not None
        right = rank == truth.culprit
        if not named and host is not None:
            return "host" if on_host else "wrong"
    if named:
        return "right" if right else "wrong"
    return "missed" if truth.evidence_left else "honest"


def category_outcome(truth: Truth, got: str) -> str:
    """Judge the category: right, also, honest, missed or wrong."""
    if got == truth.category:
        return "right"
    if got in truth.also:
        return "also"
    if got == "unknown":
        return "missed" if truth.category_left else "honest"
    return "wrong"


def _page(jobs: Sequence[Job], command: str) -> str:
    ranks, seconds = [job.ranks for job in jobs], [job.seconds for job in jobs]
    size = (
        f"{len(jobs)} jobs of {min(ranks)} to {max(ranks)} ranks, {sum(job.bytes for job in jobs) / 1e6:.0f} MB, "
        f"{sum(seconds):.0f} s of scanning, at most {max(seconds):.1f} s a job; peak memory of a process "
        f"{max(job.peak_mb for job in jobs)} MB (the simulator's included)."
    )
    lines = [
        "# Verdicts on simulated jobs",
        "",
        f"Made by `{command}`; the simulator is tests/simulation, the right answers are its own.",
        "",
        size,
        "",
        "| the name | jobs | meaning |",
        "|---|---|---|",
    ]
    counted = Counter(job.culprit for job in jobs)
    lines += [f"| {outcome} | {counted[outcome]} | {_MEANINGS[outcome]} |" for outcome in _OUTCOMES]
    category = Counter(job.category for job in jobs)
    unknown = f"{category['honest']} honestly unknown, {category['missed']} unknown though told"
    known = f"{category['right']} right, {category['also']} another acceptable one"
    lines += [
        "",
        f"Category: {known}, {unknown}, {category['wrong']} wrong.",
        "",
        *_table("fault", jobs, lambda job: job.fault, FAULTS),
        *_table("layout", jobs, lambda job: job.layout, LAYOUTS),
        *_table("lost files", jobs, lambda job: "some" if job.lost else "none", ("none", "some")),
    ]
    return "\n".join(lines) + "\n"


def _table(title: str, jobs: Sequence[Job], key: Callable[[Job], str], order: Sequence[str]) -> list[str]:
    groups: dict[str, list[Job]] = defaultdict(list)
    for job in jobs:
        groups[key(job)].append(job)
    lines = [
        f"| {title} | jobs | right | host | honest | missed | wrong | category right | also | wrong or missed |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name in order:
        group = groups.get(name)
        if not group:
            continue
        who, what = Counter(job.culprit for job in group), Counter(job.category for job in group)
        cells = [len(group), *(who[outcome] for outcome in _OUTCOMES), what["right"], what["also"]]
        lines.append(f"| {name} | {' | '.join(map(str, cells))} | {what['wrong'] + what['missed']} |")
    return [*lines, ""]


def _scaling() -> int:
    rows = []
    for ranks in (64, 512, 4096):
        for chatter in (1, 22):
            with tempfile.TemporaryDirectory(prefix="simulation-") as folder:
                command = [sys.executable, __file__, "--one", str(ranks), str(chatter), folder]
                simulate(7, folder, **_scaled(ranks, chatter))
                done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                print(done.stderr, file=sys.stderr)
                return 1
            rows.append(json.loads(done.stdout))
            print(rows[-1], flush=True)
    _write_scaling(rows)
    return 0


def _scaled(ranks: int, chatter: int) -> dict[str, Any]:
    fixed = Scenario(
        seed=7,
        fault="late",
        layout="driver",
        ranks=ranks,
        gpus=8,
        style="logging",
        steps=30,
        fault_step=11,
        nccl_debug="WARN",
        chatter=chatter,
        network="ib",
    )
    return {name: value for name, value in asdict(fixed).items() if name != "seed"}


def _measure_one(ranks: int, chatter: int, folder: Path) -> int:
    """Scan a folder alone in this process and print what it took."""
    started = time.perf_counter()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = scan([folder])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        json.dumps(
            {
                "ranks": ranks,
                "chatter": chatter,
                "bytes": result.coverage.bytes,
                "lines": result.coverage.lines,
                "seconds": round(time.perf_counter() - started, 1),
                "before_mb": before // 1024,
                "peak_mb": peak // 1024,
                "named": result.diagnosis.culprit.rank,
                "category": str(result.diagnosis.category),
            }
        )
    )
    return 0


_SCALING = "## Time and memory"


def _write(page: str) -> None:
    old = _REPORT.read_text() if _REPORT.exists() else ""
    kept = old[old.index(_SCALING) :] if _SCALING in old else ""
    _REPORT.write_text(page + ("\n" + kept if kept else ""))


def _write_scaling(rows: Sequence[dict[str, Any]]) -> None:
    lines = [
        _SCALING,
        "",
        "Made by `python tools/simulation.py --scaling`: one late rank, one interleaved log, each scan in a process of",
        "its own; with few lines a rank and with about ten times as many.",
        "",
        "| ranks | lines | MB | seconds | peak MB |",
        "|---|---|---|---|---|",
        *(
            f"| {row['ranks']:,} | {row['lines']:,} | {row['bytes'] / 1e6:.0f} | {row['seconds']} | {row['peak_mb']} |"
            for row in rows
        ),
    ]
    old = _REPORT.read_text() if _REPORT.exists() else ""
    head = old[: old.index(_SCALING)] if _SCALING in old else (old + "\n" if old else "")
    _REPORT.write_text(head + "\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
