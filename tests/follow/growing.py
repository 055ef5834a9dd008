"""Logs that grow as a job writes them."""

from __future__ import annotations


def append(path, text):
    """Write on, as a job does that has its log open in append mode."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(text if isinstance(text, bytes) else text.encode())


def step(number, rank=0):
    return f"2026-11-30 06:56:43,075 | rank{rank} | INFO | trainer:125 - step: {number}/999999 loss=1.00007\n"


DIED = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB\n"
)
EXIT = (
    "E1130 05:41:34.299000 617 torch/distributed/elastic/multiprocessing/api.py:986] "
    "failed (exitcode: 1) local_rank: 1 (pid: 631) of binary: /opt/python\n"
)
RESTART = (
    "I1130 05:41:34.300000 617 torch/distributed/elastic/agent/server/api.py:920] "
    "[default] Worker group FAILED. 2/3 attempts left; will restart worker group\n"
)
FINISHED = "2026-11-30 06:56:44,236 | rank0 | INFO | trainer:128 - training finished\n"
