"""Writes the logs that benchmarks/speed.py scans: the same seed and size give the same bytes.

python benchmarks/logs.py FOLDER [--only a,b,c,f] [--megabytes N] [--seed 1]

a.log    a trainer's log with 3 % NCCL lines (2 GB); all ranks but one run into the watchdog at its end
b.log    the start of 512 ranks with NCCL_DEBUG=INFO, 90 % NCCL lines (1 GB); a link is lost at its end
c/       512 files of 2 MB, one a rank: half start-up, half training; the same failure
f.log    200 lines with a failure
"""

from __future__ import annotations

import argparse
import datetime as dt
import itertools
import random
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import BinaryIO

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.synthetic import failure, training
from benchmarks.synthetic.job import GPUS, KINDS, Alone, Job, Rank
from benchmarks.synthetic.slots import Moment, Pools
from benchmarks.synthetic.startup import Startup

MEGABYTE = 1_000_000
_BEGIN = dt.datetime(2026, 11, 29, 4, 0, 0)
_STEP = dt.timedelta(seconds=17.3)
_CALM_STEPS = 24  # before the failure
_CALM_STEPS_OF_FEW_LINES = 6
_NCCL_SHARE = 0.03
_DIFFERENT_BLOCKS = 48
_LARGE = 100 * MEGABYTE


def write_training(log: BinaryIO, size: int, seed: int, *, ranks: int | None = None, failing: int = 77) -> None:
    """Log (a): `size` bytes of a trainer's log and then the failure of all ranks but `failing` in one collective.

    The share of NCCL lines is three in a hundred from some 20 MB on; below that the start of the processes is more.
    """
    chance = random.Random(f"training {seed}")  # noqa: S311 - no secret
    job = Job((ranks or (128 if size >= _LARGE else 16)) // GPUS, seed)
    startup, pools = Startup(job, chance), Pools(chance)
    forms = training.blocks(chance, job, _DIFFERENT_BLOCKS, min(1 << 18, size // 8))
    opening = _encoded(startup, startup.processes(job.ranks[: min(len(job.ranks), size // 50_000)]))
    log.write(opening)
    written, lines, nccl = len(opening), 0, opening.count(b"\n")
    kinds = itertools.cycle(KINDS)
    burst = b""
    moments = _moments(size // (1 << 18) + 1)
    moment = next(moments)
    while written < size:
        if not burst:
            burst = _encoded(startup, startup.communicators(next(kinds))) + _harmless_warning(job, chance, moment)
        if nccl + burst.count(b"\n") <= _NCCL_SHARE * (lines + nccl):
            part = burst
            nccl, burst = nccl + part.count(b"\n"), b""
        else:
            form, moment = chance.choice(forms), next(moments, moment)
            part = pools.filled(form, moment)
            lines += form.lines
        written += log.write(part)
    log.write(_calm_steps(job, pools, moment))
    ending = moment.end + _CALM_STEPS * _STEP + dt.timedelta(minutes=10)
    missing = job.ranks[failing % len(job.ranks)]
    log.write("".join(failure.rank_missing(job, missing, ending, job.prefix, chance)).encode())


def write_startup(log: BinaryIO, size: int, seed: int, *, ranks: int | None = None, failing: int = 137) -> None:
    """Log (b): the communicators of a job come up one after the other until `size` bytes are written; then a link is
    lost. Nine of ten lines are NCCL's.
    """
    chance = random.Random(f"startup {seed}")  # noqa: S311 - no secret
    job = Job((ranks or (512 if size >= _LARGE else 16)) // GPUS, seed)
    startup = Startup(job, chance)
    at = _BEGIN
    written = log.write(_encoded(startup, startup.processes(job.ranks)))
    for kind in itertools.cycle(KINDS):
        if written >= size:
            break
        at += dt.timedelta(seconds=4)
        of_ranks = startup.communicators(kind)
        for rank, lines in zip(job.ranks, of_ranks, strict=True):
            _mix_in(lines, rank, kind, at, chance)
        written += log.write(_encoded(startup, of_ranks))
    culprit = job.ranks[failing % len(job.ranks)]
    log.write("".join(failure.link_lost(job, culprit, at, lambda _: "", chance)).encode())


def write_rank_files(folder: Path, size: int, seed: int, *, ranks: int = 512, failing: int = 137) -> None:
    """Logs (c): a file a rank of about `size` bytes: its start-up, its training, then its part in the failure."""
    folder.mkdir(parents=True, exist_ok=True)
    job = Job(ranks // GPUS, seed)
    pools = Pools(random.Random(f"ranks {seed}"))  # noqa: S311 - no secret
    for rank in job.ranks:
        with (folder / f"rank_{rank.number:04d}.log").open("wb") as log:
            _write_rank(log, job, rank, size, pools=pools, culprit=job.ranks[failing % ranks])


def write_short(log: BinaryIO, seed: int) -> None:
    """Log (f): 200 lines that end in a failure."""
    chance = random.Random(f"short {seed}")  # noqa: S311 - no secret
    job, pools = Job(1, seed), Pools(chance)
    moment = next(_moments(1))
    last = _calm_steps(job, pools, moment, _CALM_STEPS_OF_FEW_LINES)
    at = moment.end + _CALM_STEPS_OF_FEW_LINES * _STEP + dt.timedelta(minutes=10)
    ending = failure.rank_missing(job, job.ranks[5], at, job.prefix, chance)
    form = training.blocks(chance, job, 1, 60_000)[0]
    rest = 200 - len(ending) - last.count(b"\n")
    steps = pools.filled(form, moment).split(b"\n")[:rest]  # a bar's \r ends no line
    log.write(b"".join(step + b"\n" for step in steps) + last + "".join(ending).encode())


def _write_rank(log: BinaryIO, job: Job, rank: Rank, size: int, *, pools: Pools, culprit: Rank) -> None:
    chance = random.Random(f"rank {rank.number} {job.seed}")  # noqa: S311 - no secret
    startup = Startup(job, chance)
    written = log.write("".join(startup.processes([rank])[0]).encode())
    for kind in itertools.cycle(KINDS):
        if written >= size // 2:
            break
        lines = startup.communicator_of(rank, kind)
        _mix_in(lines, rank, kind, _BEGIN, chance)
        written += log.write("".join(lines).encode())
    alone = Alone(1, job.seed, rank)
    form = training.blocks(chance, alone, 1, min(1 << 16, size // 4))[0]
    for moment in _moments(size // len(form.text) + 1):
        if written >= size:
            break
        written += log.write(pools.filled(form, moment))
    log.write(_calm_steps(alone, pools, moment))
    ending = _BEGIN + dt.timedelta(hours=1)
    log.write("".join(failure.link_lost_on(job, rank, culprit, ending, prefix=lambda _: "", chance=chance)).encode())


def _mix_in(lines: list[str], rank: Rank, kind: str, at: dt.datetime, chance: random.Random) -> None:
    """Put what the training script says between NCCL's lines, one to nine."""
    stamp = f"{at:%Y-%m-%d %H:%M:%S},{chance.randrange(1000):03d} | rank{rank.number} | INFO | "
    for place in range(len(lines), 0, -9):
        lines.insert(
            place,
            f"{stamp}model:{40 + place % 300} - built layers.{place % 96}.{_LAYERS[place % len(_LAYERS)]} on cuda:"
            f"{rank.local} for group {kind}: {chance.randrange(1 << 26)} parameters, {chance.randrange(99)} ms\n",
        )


_LAYERS = ("self_attention.linear_qkv", "self_attention.linear_proj", "mlp.experts", "mlp.router", "input_layernorm")


def _calm_steps(job: Job, pools: Pools, last: Moment, how_many: int = _CALM_STEPS) -> bytes:
    """The next steps, undisturbed: whatever was caught before is seen to have been overcome."""
    step = training.calm_step(job)
    return b"".join(
        pools.filled(
            step, Moment(last.end + n * _STEP, last.end + (n + 1) * _STEP, step=last.step + 1 + n, steps=last.steps)
        )
        for n in range(how_many)
    )


def _harmless_warning(job: Job, chance: random.Random, moment: Moment) -> bytes:
    rank = chance.choice(job.ranks)
    return (
        f"\n[{moment.start:%Y-%m-%d %H:%M:%S}] {rank.host}:{rank.pid}:{rank.pid + 97} [{rank.local}] "
        "transport/net_ib/common.cc:172 (ncclIbAsyncThreadMain) NCCL WARN NET/IB : mlx5_3:1 Got non-fatal async event: "
        "client reregistration(17)\n"
    ).encode()


def _encoded(startup: Startup, of_ranks: list[list[str]]) -> bytes:
    return "".join(startup.interleaved(of_ranks)).encode()


def _moments(blocks: int) -> Iterator[Moment]:
    for n in range(blocks):
        start = _BEGIN + dt.timedelta(minutes=5) + n * _STEP
        yield Moment(start, start + _STEP, step=1 + n, steps=max(blocks, 240_000))


SIZES = {"a": 2000, "b": 1000, "c": 2, "f": 0}  # megabytes; of one file in (c)


def made(folder: Path, letter: str, megabytes: int | None = None, seed: int = 1) -> Path:
    """The log, or the folder of (c), written now unless it is there already.

    A size other than the issue's is in the name: `a256.log`. A log is named only when it is whole.
    """
    size = (megabytes or SIZES[letter]) * MEGABYTE
    name = letter + (str(megabytes) if megabytes and megabytes != SIZES[letter] else "")
    name += (f"-seed{seed}" if seed != 1 else "") + ("" if letter == "c" else ".log")
    path, partial = folder / name, folder / (name + ".partial")
    if path.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    if letter == "c":
        write_rank_files(partial, size, seed)
    else:
        with partial.open("wb") as log:
            if letter == "a":
                write_training(log, size, seed)
            elif letter == "b":
                write_startup(log, size, seed)
            else:
                write_short(log, seed)
    return partial.rename(path)


def made_apart(folder: Path, letter: str, megabytes: int | None = None) -> Path:
    """The same, made by a process of its own.

    The kernel counts the memory of whoever starts a command as the command's own at first; the generator's pools are
    not to stand in a table of memory.
    """
    with ProcessPoolExecutor(1) as apart:
        return apart.submit(made, folder, letter, megabytes).result()


def verdict(folder: Path, name: str) -> Path:
    """Make the folder of the scans' reports: not beside the logs, where the next scan would look for settings."""
    beside = folder.resolve().with_name(f"{folder.resolve().name}-verdicts")
    beside.mkdir(parents=True, exist_ok=True)
    return beside / f"{name}.json"


def main() -> int:
    """Write the logs that were asked for, unless they exist."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="a,b,c,f", help="which logs, by letter")
    parser.add_argument("--megabytes", type=int, help="another size than the issue's; of one file in (c)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for letter in options.only.split(","):
        started = time.perf_counter()
        path = made(options.folder, letter, options.megabytes, options.seed)
        print(f"{path}: {time.perf_counter() - started:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
