"""Logs for engines, and a report without what differs from run to run."""

import sys
from pathlib import Path

from nccl_logscan.report.json import render_json
from nccl_logscan.report.view import build_view

sys.path.append(str(Path(__file__).parents[1]))
from long_log import write_log

__all__ = ["as_json", "write_log", "write_training"]
FAILED = Path(__file__).parents[2] / "fixtures" / "cases" / "lab" / "timeout-dataloader" / "driver.log"


def as_json(result):
    view = build_view(result)
    for name in ("seconds", "peak_rss_bytes"):
        del view["coverage"][name]
    return render_json(view)


def write_training(path, *, megabytes, host="vm"):
    """Write a log of about that size: channels, steps and prose of eight ranks, and the failure of a real job."""
    failure = FAILED.read_bytes()
    lines = []
    for step in range(megabytes * 1100):
        rank = step % 8
        lines.append(
            f"{host}:{700 + rank}:{800 + rank} [{rank}] NCCL INFO Channel {step % 32:02d}/0 : {rank}[{rank}] -> "
        )
        lines[-1] += f"{(rank + 1) % 8}[{(rank + 1) % 8}] via P2P/CUMEM"
        time = f"{step // 60 % 60:02d}:{step % 60:02d},000"
        lines.append(f"2026-11-30 05:{time} | rank{rank} | step {step} loss {7 / (step + 1):.4f}")
        lines.extend(
            f"shard-{step}-{n}.parquet read in {n * 7919 % 997} ms from cache, {'abc'[n % 3]} " + "." * 90
            for n in range(6)
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("\n".join(lines).encode() + b"\n" + failure)
    return path
