"""A log of any length, of 512 processes, whose lines differ: what a scan keeps of them shows in its memory."""

from __future__ import annotations

import random

_NCCL = (
    "node-{node}:{pid}:{pid} [{gpu}] NCCL INFO Channel {n:02d}/{m} : {gpu}[{gpu}] -> {n}[{m}] via NET/IB/{gpu}/GDRDMA",
    "node-{node}:{pid}:{pid} [{gpu}] NCCL INFO comm 0x{n:x} rank {rank} nranks 512 cudaDev {gpu} - Init COMPLETE",
    (
        "node-{node}:{pid}:{pid} [{gpu}] transport/net_ib.cc:{n} NCCL WARN NET/IB : Got completion from peer "
        "10.{node}.0.{gpu}<{pid}> with status=12 opcode=0 len={n} vendor err 129"
    ),
    (
        "[rank{rank}]:[E1130 05:40:53.{pid} ProcessGroupNCCL.cpp:689] [Rank {rank}] Watchdog caught collective "
        "operation timeout: WorkNCCL(SeqNum={m}, OpType=ALLREDUCE, NumelIn={m}, NumelOut={m}, Timeout(ms)=600000) ran "
        "for 600{n} milliseconds before timing out."
    ),
)
_NCCL_SHARE = 0.3
_OTHER = (
    "2026-11-30 05:40:{s:02d},{n:03d} INFO train step {n} loss {loss:.5f} lr 3.0e-4 tokens/s {m}",
    "WARNING: shard-{n}-{m}.parquet took {loss:.3f} s",
    "{n}%|####      | {m}/{pid} [00:{s:02d}<00:{s:02d}, {loss:.2f}it/s]",
)


def write_log(path, *, megabytes):
    """Write a log of about that size, the same for the same arguments."""
    chance = random.Random(megabytes)  # noqa: S311 - no secret
    written = 0
    with open(path, "w", encoding="utf-8") as log:  # noqa: PTH123 - a path or a name
        while written < megabytes << 20:
            form = chance.choice(_NCCL if chance.random() < _NCCL_SHARE else _OTHER)
            written += log.write(_line(form, chance))


def _line(form, chance):
    rank = chance.randrange(512)
    return (
        form.format(
            node=rank // 8,
            pid=10_000 + rank,
            gpu=rank % 8,
            rank=rank,
            n=chance.randrange(1_000_000),
            m=chance.randrange(256),
            s=chance.randrange(60),
            loss=chance.random(),
        )
        + "\n"
    )
