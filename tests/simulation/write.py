"""simulate: run a scenario's model and write what the job leaves behind."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.simulation.evidence import iso, truth_of
from tests.simulation.failure import Failure
from tests.simulation.folder import Folder
from tests.simulation.job import Job
from tests.simulation.nccl_words import NcclWords
from tests.simulation.scenario import FINE, PRECISION, STARTUP, Scenario, Truth, draw
from tests.simulation.scene import Scene
from tests.simulation.startup import fail_at_start
from tests.simulation.torch_words import TorchWords
from tests.simulation.training import Training

_START = 1_772_323_200.0  # 2026-03-01 00:00 UTC
_WINDOW = 64  # ranks whose start-up lines are mixed at a time


def simulate(seed: int, folder: str | os.PathLike[str], **overrides: Any) -> Truth:
    """Write a job's files into `folder` and return the right answer; the same arguments write the same bytes.

    `overrides` fixes fields of the Scenario that the seed would draw.
    """
    return Simulation(draw(seed, **overrides), Path(folder)).run()


class Simulation:
    """One run of the simulator."""

    def __init__(self, scenario: Scenario, root: Path) -> None:
        rng = random.Random(f"job {scenario.seed} {scenario.fault}")  # noqa: S311 - no secret
        job = Job(scenario, rng)
        root.mkdir(parents=True, exist_ok=True)
        folder = Folder(root, job, rng)
        self.clock = _START + rng.randrange(240 * 86_400)
        culprit = scenario.culprit if scenario.culprit is not None else rng.randrange(scenario.ranks)
        torch, nccl = TorchWords(scenario, rng), NcclWords(scenario.nccl, job, rng)
        self.scene = Scene(job, culprit, folder, torch, nccl, rng)
        self.training = Training(job, folder, rng)
        self.failure: Failure | None = None

    def run(self) -> Truth:
        """Write all files."""
        scenario = self.scene.scenario
        if scenario.restarts:
            self._run_till_preempted()
        if scenario.fault in STARTUP:
            fail_at_start(self.scene, self.clock)
        else:
            self._start_up()
            self._train()
        left = self.scene.folder.lose(scenario.lost)
        return truth_of(self.scene, left, self.failure)

    def _start_up(self) -> None:
        scene = self.scene
        scene.folder.now = self.clock
        for rank in range(scene.scenario.ranks):
            self.training.banner(rank, scene.speaker(rank, self.clock).at)
        self.clock += 18
        if scene.scenario.nccl_debug != "NONE":
            scene.folder.now = self.clock - 4
            for rank, text in self._interleaved():
                scene.folder.rank(rank, text, nccl=True)

    def _interleaved(self) -> Iterator[tuple[int, str]]:
        """NCCL's lines of all ranks, mixed, each rank's own in order."""
        job, rng = self.scene.job, self.scene.rng
        ranks = list(range(job.scenario.ranks))
        rng.shuffle(ranks)
        for start in range(0, len(ranks), _WINDOW):
            speaking = [(rank, self._nccl_lines(rank)) for rank in ranks[start : start + _WINDOW]]
            while speaking:
                at = rng.randrange(len(speaking))
                rank, lines = speaking[at]
                for _ in range(rng.randint(1, 4)):
                    text = next(lines, None)
                    if text is None:
                        speaking.pop(at)
                        break
                    yield rank, text

    def _nccl_lines(self, rank: int) -> Iterator[str]:
        job = self.scene.job
        return self.scene.nccl.start_up(rank, [job.group(kind, rank) for kind in job.kinds()])

    def _train(self) -> None:
        scenario = self.scene.scenario
        fine = scenario.fault in {*FINE, *PRECISION}
        for step in range(1, (scenario.steps if fine else scenario.fault_step - 1) + 1):
            self.clock = self.training.step(step, self.clock, self.scene.culprit)
        if fine:
            self.training.end(self.clock)
            return
        self.failure = Failure(self.scene, self.clock)
        self.failure.write()

    def _run_till_preempted(self) -> None:
        """A first attempt that is well until the cluster takes its hosts away."""
        scene, job = self.scene, self.scene.job
        self._start_up()
        for step in range(1, 4):
            self.clock = self.training.step(step, self.clock, None)
        scene.folder.now = self.clock
        for host in range(scene.scenario.hosts):
            at = scene.shown(self.clock, host)
            if scene.folder.launched_by == "torchrun":
                agent = scene.agent(host)
                for rank in job.on_host(host):
                    scene.folder.launcher(host, agent.closing(at, job.pids[rank]))
                got = f"Process {agent.pid} got signal: 15"
                scene.folder.launcher(host, f"torch.distributed.elastic.multiprocessing.api.SignalException: {got}")
            else:
                step_id = f"STEP 4711.0 ON {job.host_names[host]} CANCELLED AT {iso(at)} DUE TO PREEMPTION"
                scene.folder.launcher(host, f"slurmstepd: error: *** {step_id} ***")
        self.clock += 600
        scene.folder.attempt = 1
        job.pids = [pid + 5_000 for pid in job.pids]
