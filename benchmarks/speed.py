"""Measures a scan against grep and ripgrep on the same files in the same run and writes reports/speed.md.

python benchmarks/speed.py [--megabytes 200] [--rounds 3]

The logs are generated into a temporary folder. Only the ratios within one run mean anything: another machine, or a
busy one, gives other seconds.
"""

from __future__ import annotations

import argparse
import datetime as dt
import lzma
import os
import platform
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from nccl_logscan.version import __version__

_ROOT = Path(__file__).resolve().parents[1]
_REPORT = _ROOT / "reports" / "speed.md"
_STORM = _ROOT / "fixtures" / "cases" / "storm" / "rank0.log.xz"
_PIECE = 1 << 20

_INFO = (
    "node-{node}:{pid}:{tid} [{gpu}] NCCL INFO Channel {n:02d}/16 : {gpu}[{gpu}] -> {m}[{m}] via P2P/CUMEM",
    "node-{node}:{pid}:{tid} [{gpu}] NCCL INFO NET/IB: Ring {n:02d} : {rank} -> {other} [send] via NET/IB/{gpu}/GDRDMA",
    "node-{node}:{pid}:{tid} [{gpu}] NCCL INFO comm 0x55d0{tid:x} rank {rank} nranks 512 cudaDev {gpu} busId {n:x}000",
    "node-{node}:{pid}:{tid} [{gpu}] NCCL INFO AllReduce: opCount {tid:x} sendbuff 0x7f{pid:x} count {tid} datatype 7",
    "node-{node}:{pid}:{tid} [{gpu}] NCCL INFO Connected all rings",
)
_TRAINING = (
    "2026-11-30 05:{n:02d}:{n:02d},{pid} | INFO | trainer:{m} - step {tid} loss {loss:.4f} norm {loss:.3f} lr 3e-4",
    "[default{gpu}]:step {tid}: throughput {pid} tokens/s, memory {n}.{m} GiB",
    "{n}%|#####     | {tid}/{pid} [00:{n:02d}<01:{n:02d}, {loss:.2f}it/s, loss={loss:.3f}]",
    "2026-11-30 05:{n:02d}:{n:02d},{pid} | DEBUG | data:{m} - shard {tid} holds {pid} samples",
)
_FAILURE = (
    "[rank5]:[E1130 05:59:53.502925148 ProcessGroupNCCL.cpp:689] [Rank 5] Watchdog caught collective operation "
    "timeout: WorkNCCL(SeqNum=27, OpType=ALLREDUCE, NumelIn=1048576, NumelOut=1048576, Timeout(ms)=600000) ran for "
    "600015 milliseconds before timing out.\n"
)


@dataclass(frozen=True, slots=True)
class Timed:
    """One command on one file: median seconds, and the largest resident set in bytes."""

    seconds: float
    peak: int


def main() -> int:
    """Generate, measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=200, help="size of each generated log")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each command, in turn; the median counts")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        logs = dict(_logs(Path(folder), options.megabytes))
        rows = [(name, path.stat().st_size, _measured(path, options.rounds)) for name, path in logs.items()]
    text = _page(rows, options.rounds)
    print(text)
    _REPORT.write_text(text, "utf-8")
    return 0


def _logs(folder: Path, megabytes: int) -> Iterator[tuple[str, Path]]:
    for name, share in (("training, 3 % NCCL", 0.03), ("NCCL_DEBUG=INFO, 90 % NCCL", 0.9)):
        path = folder / f"{int(share * 100)}.log"
        _generate(path, megabytes << 20, share)
        yield name, path
    storm = folder / "storm.log"
    with lzma.open(_STORM) as packed, storm.open("wb") as plain:
        shutil.copyfileobj(packed, plain, _PIECE)
    yield "the storm: six lines over and over", storm


def _generate(path: Path, size: int, nccl_share: float) -> None:
    chance = random.Random(size)  # noqa: S311 - no secret
    written = 0
    with path.open("w", encoding="utf-8") as log:
        while written < size:
            form = chance.choice(_INFO if chance.random() < nccl_share else _TRAINING)
            node, gpu = chance.randrange(64), chance.randrange(8)
            written += log.write(
                form.format(
                    node=node,
                    gpu=gpu,
                    rank=8 * node + gpu,
                    other=chance.randrange(512),
                    pid=10_000 + 8 * node + gpu,
                    tid=chance.randrange(100_000),
                    n=chance.randrange(60),
                    m=chance.randrange(100),
                    loss=chance.random(),
                )
                + "\n"
            )
        log.write(_FAILURE)


def _measured(path: Path, rounds: int) -> dict[str, Timed]:
    """Run every command in turn, so that a busy minute of the machine falls on all of them."""
    commands = {
        "grep -a": ["grep", "-a", "-c", "NCCL WARN", str(path)],
        "rg -a": ["rg", "-a", "-c", "NCCL WARN", str(path)],
        "nccl-logscan": [sys.executable, "-m", "nccl_logscan", str(path), "-q", "-o", str(path.with_suffix(".json"))],
    }
    present = {name: words for name, words in commands.items() if shutil.which(words[0])}
    runs: dict[str, list[Timed]] = {name: [] for name in present}
    for _ in range(rounds):
        for name, words in present.items():
            runs[name].append(_run(words))
    return {
        name: Timed(statistics.median(run.seconds for run in own), max(run.peak for run in own))
        for name, own in runs.items()
    }


def _run(words: Sequence[str]) -> Timed:
    started = time.perf_counter()
    # To a file: grep that writes to /dev/null stops at the first match.
    with tempfile.TemporaryFile() as printed:
        process = subprocess.Popen(words, stdout=printed, cwd=_ROOT, env={**os.environ, "LC_ALL": "C.UTF-8"})
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) not in {0, 1}:  # 1: grep found nothing; a failure was found
        raise SystemExit(f"{' '.join(words)} ended with {os.waitstatus_to_exitcode(status)}")
    return Timed(time.perf_counter() - started, _bytes(usage))


def _bytes(usage: resource.struct_rusage) -> int:
    return usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _page(rows: Sequence[tuple[str, int, dict[str, Timed]]], rounds: int) -> str:
    today = f"{dt.datetime.now(tz=dt.UTC):%Y-%m-%d}"
    intro = (
        f"Measured on {today} with nccl-logscan {__version__} on {_machine()}; {', '.join(_versions())}. Runs of each "
        f"command: {rounds}, in turn; the median counts. `grep` and `rg` only count the lines that hold one text, so "
        "they show what reading the file costs; a scan reads, peels, tokenises and matches every line. Compare the "
        "ratios within a row and not the seconds with another machine's."
    )
    return "\n".join(
        [
            "<!-- written by: python benchmarks/speed.py -->",
            "# Speed",
            "",
            *textwrap.wrap(intro, 120),
            "",
            "| log | size | grep -a | rg -a | nccl-logscan | MB/s | times grep | times rg | peak memory |",
            "|---|---|---|---|---|---|---|---|---|",
            *(_row(name, size, timed) for name, size, timed in rows),
            "",
        ]
    )


def _row(name: str, size: int, timed: dict[str, Timed]) -> str:
    own = timed["nccl-logscan"]
    others = [timed.get(program) for program in ("grep -a", "rg -a")]
    return " | ".join(
        [
            f"| {name}",
            f"{size / 1e6:.0f} MB",
            *(f"{other.seconds:.2f} s" if other else "not installed" for other in others),
            f"{own.seconds:.1f} s",
            f"{size / 1e6 / own.seconds:.1f}",
            *(f"{own.seconds / other.seconds:.0f}" if other else "" for other in others),
            f"{own.peak / 1e6:.0f} MB |",
        ]
    )


def _machine() -> str:
    return f"{os.cpu_count()} cores ({platform.machine()}, {platform.system()} {platform.release().split('-')[0]})"


def _versions() -> Iterator[str]:
    yield f"Python {platform.python_version()}"
    for program in ("grep", "rg"):
        if shutil.which(program):
            told = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
            yield told.splitlines()[0]


if __name__ == "__main__":
    sys.exit(main())
