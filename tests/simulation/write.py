"""simulate: run a scenario's model and write what the job leaves behind."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.simulation import evidence
from tests.simulation.failure import Failure
from tests.simulation.folder import Folder
from tests.simulation.job import Job, choose_culprit
from tests.simulation.nccl_words import NcclWords
from tests.simulation.scenario import FINE, PRECISION, STARTUP, Scenario, Truth, draw
from tests.simulation.startup import fail_at_start
from tests.simulation.torch_words import TorchWords, elastic_closing
from tests.simulation.training import Training

_START = 1_772_323_200.0  # 2026-03-01 00:00 UTC


def simulate(seed: int, folder: str | os.PathLike[str], **overrides: Any) -> Truth:
    """Write a job's files into `folder` and return the right answer; the same arguments write the same bytes.

    `overrides` fixes fields of the Scenario that the seed would draw.
    """
    return _Simulation(draw(seed, **overrides), Path(folder)).run()


class _Simulation:
    """One run of the simulator."""

    def __init__(self, scenario: Scenario, root: Path) -> None:
        self.scenario = scenario
        self.rng = random.Random(f"job {scenario.seed} {scenario.fault}")
        self.job = Job(scenario, self.rng)
        root.mkdir(parents=True, exist_ok=True)
        self.folder = Folder(root, self.job, self.rng)
        self.torch = TorchWords(scenario.torch, self.rng)
        self.nccl = NcclWords(scenario.nccl, self.job, self.rng)
        self.training = Training(self.job, self.folder, self.rng)
        self.clock = _START + self.rng.randrange(240 * 86_400)
        self.culprit = choose_culprit(self.job, self.rng)
        self.failure: Failure | None = None

    def run(self) -> Truth:
        """Write all files."""
        scenario = self.scenario
        if scenario.restarts:
            self._attempt_that_is_preempted()
        if scenario.fault in STARTUP:
            fail_at_start(self.job, self.culprit, self.folder, self.torch, self.nccl, self.clock, self.rng)
        else:
            self._start_up()
            self._train()
        left = self.folder.lose(scenario.lost)
        return evidence.truth_of(self.job, self.culprit, self.folder, left, self.failure)

    def _start_up(self) -> None:
        job, scenario = self.job, self.scenario
        for rank in range(scenario.ranks):
            self.training.banner(rank, self._at(rank, self.clock))
        self.clock += 8
        if scenario.nccl_debug != "NONE":
            for rank, text in interleaved(job, self._nccl_lines, self.rng):
                self.folder.rank(rank, text, nccl=True)
        self.clock += 10

    def _nccl_lines(self, rank: int) -> Iterator[str]:
        groups = [self.job.group(kind, rank) for kind in self.job.kinds()]
        return self.nccl.start_up(rank, groups, self.scenario.nccl, "12040", self.scenario.nccl_debug)

    def _train(self) -> None:
        scenario = self.scenario
        fine = scenario.fault in FINE or scenario.fault in PRECISION
        last = scenario.steps if fine else scenario.fault_step - 1
        for step in range(1, last + 1):
            self.clock = self.training.step(step, self.clock, self.culprit)
        if fine:
            self.training.end(self.clock)
        else:
            self.failure = Failure(self.job, self.culprit, self.folder, self.torch, self.nccl, self.clock, self.rng)
            self.failure.write()

    def _attempt_that_is_preempted(self) -> None:
        self._start_up()
        for step in range(1, 4):
            self.clock = self.training.step(step, self.clock, None)
        for host in range(self.scenario.hosts):
            at = self.clock + self.job.skews[host]
            if self.folder.launched_by == "torchrun":
                for rank in self.job.on_host(host):
                    self.folder.launcher(
                        host,
                        elastic_closing(at, self.job.pids[rank] - 50, self.job.pids[rank], self.torch.release < (2, 2)),
                    )
                self.folder.launcher(
                    host,
                    "torch.distributed.elastic.multiprocessing.api.SignalException: Process "
                    f"{self.job.pids[host * self.scenario.gpus] - 50} got signal: 15",
                )
            else:
                self.folder.launcher(
                    host,
                    f"slurmstepd: error: *** STEP 4711.0 ON {self.job.host_names[host]} CANCELLED"
                    f" AT {evidence.iso(at)} DUE TO PREEMPTION ***",
                )
        self.clock += 600
        self.folder.attempt = 1
        self.job.pids = [pid + 5_000 for pid in self.job.pids]

    def _at(self, rank: int, at: float) -> float:
        return at + self.job.skews[self.job.host(rank)]


def interleaved(job: Job, lines: Any, rng: random.Random) -> Iterator[tuple[int, str]]:
    """Mix the ranks' lines, a window of ranks at a time, each rank's own in order."""
    ranks = list(range(job.scenario.ranks))
    rng.shuffle(ranks)
    for start in range(0, len(ranks), 64):
        open_ = [(rank, lines(rank)) for rank in ranks[start : start + 64]]
        while open_:
            at = rng.randrange(len(open_))
            rank, rest = open_[at]
            for _ in range(rng.randint(1, 4)):
                text = next(rest, None)
                if text is None:
                    open_.pop(at)
                    break
                yield rank, text
