"""How the job ends: who fails, what the other ranks then write, and what the launcher says of it.

Worded as PyTorch 2.11 and NCCL 2.30.7 do in the lab's logs; the InfiniBand lines as in public reports.
"""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable

from benchmarks.synthetic.job import GPUS, Job, Rank

Prefix = Callable[[Rank], str]
_LIMIT = 600_000  # milliseconds, of the process group
_AGENT = "torch/distributed/elastic/multiprocessing/api.py"
_WHY = (
    "This is most likely caused by incorrect usages of collectives, e.g., wrong sizes used across ranks, the order of "
    "collectives is not same for all ranks or the scheduled collective, for some reason, didn't run. Additionally, "
    "this can be caused by GIL deadlock or other reasons such as network errors or bugs in the communications library "
    "(e.g. NCCL), etc. "
)


def rank_missing(job: Job, missing: Rank, at: dt.datetime, prefix: Prefix, chance: random.Random) -> list[str]:
    """All ranks but one run into the watchdog's limit in a collective that the missing rank never entered."""
    others = [rank for rank in job.ranks if rank is not missing]
    chance.shuffle(others)
    lines = [line for rank in others for line in _timed_out(rank, at, prefix, 2718, chance)]
    lines += _dumps_without_timeout(missing, others[0], at + dt.timedelta(seconds=1), prefix, 2717)
    for rank in others:
        lines.append(
            f"{prefix(rank)}{_head(rank, 'F', at + dt.timedelta(seconds=60), 1653)}{_group(rank)}{_group(rank)}"
            "Terminating the process after attempting to dump debug info, due to collective timeout or exception.\n"
        )
    return lines + _torchrun_ends(job, others[0], at + dt.timedelta(seconds=61), prefix)


def link_lost(job: Job, culprit: Rank, at: dt.datetime, prefix: Prefix, chance: random.Random) -> list[str]:
    """One rank's port goes down; the others wait in the same collective until the watchdog ends them."""
    others = [rank for rank in job.ranks if rank is not culprit]
    chance.shuffle(others)
    lines = [
        line
        for rank in (culprit, *others)
        for line in link_lost_on(job, rank, culprit, at, prefix=prefix, chance=chance)
    ]
    return lines + _torchrun_ends(job, culprit, at + dt.timedelta(seconds=661), prefix)


def link_lost_on(
    job: Job, rank: Rank, culprit: Rank, at: dt.datetime, *, prefix: Prefix, chance: random.Random
) -> list[str]:
    """What one rank writes then."""
    if rank is culprit:
        return _no_completion(rank, job.ranks[(rank.number + GPUS) % len(job.ranks)], at, prefix)
    return _timed_out(rank, at + dt.timedelta(seconds=600), prefix, 3, chance)


def _head(rank: Rank, level: str, at: dt.datetime, line: int) -> str:
    # c10's nine digits come from another clock than the second
    digits = f"{at.microsecond:06d}{rank.number % 1000:03d}"
    return f"[rank{rank.number}]:[{level}{at:%m%d %H:%M:%S}.{digits} ProcessGroupNCCL.cpp:{line}] "


def _group(rank: Rank) -> str:
    return f"[PG ID 0 PG GUID 0(default_pg) Rank {rank.number}] "


def _timed_out(rank: Rank, at: dt.datetime, prefix: Prefix, sequence: int, chance: random.Random) -> list[str]:
    at += dt.timedelta(microseconds=chance.randrange(900_000))
    before = prefix(rank)
    group = _group(rank)
    return [
        (
            f"{before}{_head(rank, 'E', at, 689)}[Rank {rank.number}] Watchdog caught collective operation timeout: "
            f"WorkNCCL(SeqNum={sequence}, OpType=ALLREDUCE, NumelIn=1048576, NumelOut=1048576, "
            f"Timeout(ms)={_LIMIT}) ran for "
            f"{_LIMIT + chance.randrange(100)} milliseconds before timing out.\n"
        ),
        (
            f"{before}{_head(rank, 'E', at, 2303)}{group} failure detected by watchdog at work sequence id: "
            f"{sequence} PG "
            f"status: last enqueued work: {sequence + 1}, last completed work: {sequence - 1}\n"
        ),
        f"{before}{_head(rank, 'E', at, 2636)}{group}First PG on this rank to signal dumping.\n",
        (
            f"{before}{_head(rank, 'E', at, 1914)}{group}Received a dump signal due to a collective timeout from "
            "this local "
            f"rank and we will try our best to dump the debug info. Last enqueued NCCL work: {sequence + 1}, last "
            "completed "
            f"NCCL work: {sequence - 1}.{_WHY}\n"
        ),
        (
            f"{before}{_head(rank, 'E', at, 1628)}{group}ProcessGroupNCCL preparing to dump debug info. Include "
            "stack trace: "
            "1, only active collectives: 0\n"
        ),
    ]


def _dumps_without_timeout(rank: Rank, other: Rank, at: dt.datetime, prefix: Prefix, sequence: int) -> list[str]:
    before, group = prefix(rank), _group(rank)
    return [
        (
            f"{before}{_head(rank, 'E', at, 1849)}{group}Observed flight recorder dump signal from another rank via "
            "TCPStore.\n"
        ),
        (
            f"{before}{_head(rank, 'E', at, 1914)}{group}Received a dump signal due to a collective timeout from  rank "
            f"{other.number} and we will try our best to dump the debug info. Last enqueued NCCL work: "
            f"{sequence}, last "
            f"completed NCCL work: {sequence}.{_WHY}\n"
        ),
        (
            f"{before}{_head(rank, 'E', at, 1628)}{group}ProcessGroupNCCL preparing to dump debug info. Include "
            "stack trace: "
            "1, only active collectives: 0\n"
        ),
    ]


def _no_completion(rank: Rank, peer: Rank, at: dt.datetime, prefix: Prefix) -> list[str]:
    before, thread = prefix(rank), f"{rank.host}:{rank.pid}:{rank.pid + 611} [{rank.local}] "
    completion = (
        f"NET/IB: Got completion from peer {peer.address}<47822> with status=IBV_WC_RETRY_EXC_ERR(12) "
        f"opcode=IBV_WC_RDMA_WRITE(1) vendor_err=129 (Send) localGid ::ffff:{rank.address} remoteGids"
        f"::ffff:{peer.address} hca mlx5_{rank.local}"
    )
    failed = "NCCL error: remote process exited or there was a network error, NCCL version 2.30.7"
    told = (
        "ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.",
        "Last error:",
        completion,
    )
    return [
        f"{before}\n",
        (
            f"{before}[{at:%Y-%m-%d %H:%M:%S}] {rank.host}:{rank.pid}:{rank.pid + 97} [{rank.local}] transport/net_ib/"
            f"common.cc:172 (ncclIbAsyncThreadMain) NCCL WARN NET/IB : mlx5_{rank.local}:1 Got non-fatal async "
            "event: port "
            "error(10)\n"
        ),
        f"{before}\n",
        f"{before}[{at:%Y-%m-%d %H:%M:%S}] {thread}transport/net_ib/p2p.cc:688 (ncclIbTest) NCCL WARN {completion}\n",
        f"{before}{thread}NCCL INFO transport/net.cc:1391 -> 6\n",
        f"{before}{thread}NCCL INFO proxy.cc:743 -> 6\n",
        f"{before}{thread}NCCL INFO proxy.cc:933 -> 6 [Progress Thread]\n",
        (
            f"{before}{_head(rank, 'E', at, 2119)}{_group(rank)}Process group watchdog thread terminated with "
            "exception: "
            f"{failed}\n"
        ),
        *(f"{before}{line}\n" for line in told),
        (
            f"{before}{_head(rank, 'E', at, 744)}[Rank {rank.number}] Some NCCL operations have failed or timed "
            "out. Due to "
            "the asynchronous nature of CUDA kernels, subsequent GPU operations might run on "
            "corrupted/incomplete data.\n"
        ),
        (
            f"{before}{_head(rank, 'E', at, 758)}[Rank {rank.number}] To avoid data inconsistency, we are taking "
            "the entire "
            "process down.\n"
        ),
        f"{before}terminate called after throwing an instance of 'c10::DistBackendError'\n",
        f"{before}  what():  {_group(rank)}Process group watchdog thread terminated with exception: {failed}\n",
    ]


def _torchrun_ends(job: Job, first: Rank, at: dt.datetime, prefix: Prefix) -> list[str]:
    """What the agent of the first failed rank's host writes."""
    before = prefix(first).split("[", 1)[0]
    here = job.ranks[first.number - first.local : first.number - first.local + GPUS]
    agent, stamp = here[0].pid - 40, f"{at:%m%d %H:%M:%S}.{at.microsecond:06d}"
    errors = "/opt/env/lib/python3.12/site-packages/torch/distributed"
    lines = [
        f"W{stamp} {agent} {_AGENT}:1012] Sending process {rank.pid} closing signal SIGTERM"
        for rank in here
        if rank is not first
    ]
    lines += [
        (
            f"E{stamp} {agent} {_AGENT}:986] failed (exitcode: -6) local_rank: {first.local} (pid: {first.pid}) "
            "of binary: "
            "/opt/env/bin/python3"
        ),
        "Traceback (most recent call last):",
        '  File "<frozen runpy>", line 198, in _run_module_as_main',
        '  File "<frozen runpy>", line 88, in _run_code',
        f'  File "{errors}/run.py", line 990, in main',
        "    run(args)",
        f'  File "{errors}/launcher/api.py", line 317, in launch_agent',
        "    raise ChildFailedError(",
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ",
        "=" * 60,
        "/workspace/train.py FAILED",
        "-" * 60,
        "Failures:",
        *(line for rank in here if rank is not first for line in _failed(rank, -15, "15 (SIGTERM)", at)),
        "-" * 60,
        "Root Cause (first observed failure):",
        *_failed(first, -6, "6 (SIGABRT)", at),
        "=" * 60,
    ]
    return [f"{before}{line}\n" for line in lines]


def _failed(rank: Rank, code: int, signal: str, at: dt.datetime) -> list[str]:
    return [
        f"[{rank.local}]:",
        f"  time      : {at:%Y-%m-%d_%H:%M:%S}",
        f"  host      : {rank.host}",
        f"  rank      : {rank.number} (local_rank: {rank.local})",
        f"  exitcode  : {code} (pid: {rank.pid})",
        "  error_file: <N/A>",
        f"  traceback : Signal {signal} received by PID {rank.pid}",
    ]
