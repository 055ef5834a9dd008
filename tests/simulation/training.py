"""Training: a healthy program's lines, in the manner of several frameworks."""

from __future__ import annotations

import random

from tests.simulation.folder import Folder
from tests.simulation.job import Job
from tests.simulation.torch_words import local_time


class Training:
    """Writes banners and steps."""

    def __init__(self, job: Job, folder: Folder, rng: random.Random) -> None:
        self.job, self.folder, self.rng = job, folder, rng
        scenario = job.scenario
        self.style, self.speakers = scenario.style, range(scenario.ranks)
        if scenario.chatter == 1 and self.style in {"print", "deepspeed"}:
            self.speakers = range(1)
        if scenario.chatter == 1 and self.style == "megatron":
            self.speakers = range(scenario.ranks - 1, scenario.ranks)
        self.loss = 9.0 + rng.random()
        self.scale = 65536.0

    def banner(self, rank: int, at: float) -> None:
        """A rank's first words."""
        scenario = self.job.scenario
        if self.style == "logging":
            self.folder.rank(
                rank,
                f"{_comma(at)} | rank{rank} | INFO | trainer:28 - world_size={scenario.ranks} "
                f"torch={scenario.torch}.0+cu124 device=NVIDIA H100 80GB HBM3",
            )
        elif self.style == "deepspeed":
            self.folder.rank(rank, f"[{_comma(at)}] [INFO] [comm.py:637:init_distributed] cdb=None")
        elif rank == 0:
            self.folder.rank(
                rank,
                f"using world size: {scenario.ranks}, data-parallel size: {self.job.data}, "
                f"tensor-model-parallel size: {scenario.tensor}, pipeline-model-parallel size: "
                f"{scenario.pipeline} ",
            )

    def step(self, step: int, at: float, culprit: int | None) -> float:
        """All ranks' lines of a step; return when it ended."""
        scenario, rng = self.job.scenario, self.rng
        broken = scenario.fault == "overflow" and step >= scenario.fault_step and culprit is not None
        slow = scenario.fault == "straggler" and step % 4 == 0
        took = rng.uniform(0.6, 0.9) * (6.0 if slow else 1.0)
        self.loss += (2.0 - self.loss) * 0.03 + rng.uniform(-0.02, 0.02)
        for rank in self.speakers:
            own = took - (rng.uniform(0, 0.05) if not slow or rank == culprit else rng.uniform(0.01, 0.02))
            self.folder.now = at + took + rng.uniform(0, 0.05)
            when = self.folder.now + self.job.skews[self.job.host(rank)]
            if broken:
                self._overflow(rank, when)
            for part in range(scenario.chatter):
                text = self._line(rank, step, when, own, broken)
                self.folder.rank(
                    rank, text if part == 0 else f"{text} micro_batch={part}", ("nan",) if broken else None
                )
        return at + took

    def _line(self, rank: int, step: int, at: float, took: float, broken: bool) -> str:
        scenario = self.job.scenario
        loss = "nan" if broken else f"{self.loss:.5f}"
        if self.style == "logging":
            return (
                f"{_comma(at)} | rank{rank} | INFO | trainer:125 - step: {step}/{scenario.steps} loss={loss} "
                f"grad_norm={'nan' if broken else '0.412'} time={took:.3f}s mem=61.07GiB"
            )
        if self.style == "deepspeed":
            return (
                f"[{_comma(at)}] [INFO] [logging.py:96:log_dist] [Rank {rank}] step={step}, skipped=0, loss={loss}, "
                f"lr=[0.0003], mom=[(0.9, 0.95)], time={took:.3f}"
            )
        if self.style == "megatron":
            return (
                f" iteration {step:8d}/{scenario.steps:8d} | consumed samples: {step * 512:12d} | elapsed time per "
                f"iteration (ms): {took * 1000:.1f} | learning rate: 3.000E-04 | global batch size:   512 | lm loss:"
                f" {loss if broken else f'{self.loss:.6E}'} | loss scale: {self.scale:.1f} | grad norm: "
                f"{'nan' if broken else '0.412'} | number of skipped iterations: {1 if broken else 0} | number of nan "
                f"iterations: {1 if broken else 0} |"
            )
        return f"step {step} | loss {loss} | lr 3.0e-04 | {took:.3f} s/it"

    def _overflow(self, rank: int, at: float) -> None:
        old, self.scale = self.scale, max(self.scale / (2 if rank == self.speakers[0] else 1), 2.0**-20)
        if self.style == "deepspeed":
            self.folder.rank(
                rank,
                f"[{_comma(at)}] [INFO] [loss_scaler.py:190:update_scale] [deepspeed] OVERFLOW! Rank "
                f"{rank} Skipping step. Attempted loss scale: {old:g}, reducing to {self.scale:g}",
                ("nan",),
            )
        elif self.style == "logging":
            self.folder.rank(
                rank,
                f"{_comma(at)} | rank{rank} | WARNING | trainer:106 - Gradient overflow. Skipping step,"
                f" reducing loss scale from {old} to {self.scale}",
                ("nan",),
            )

    def end(self, at: float) -> None:
        """The last words of a program that ran to its end."""
        for rank in self.speakers:
            when = at + self.job.skews[self.job.host(rank)]
            text = "training finished"
            self.folder.rank(
                rank, f"{_comma(when)} | rank{rank} | INFO | trainer:115 - {text}" if self.style == "logging" else text
            )


def _comma(at: float) -> str:
    when = local_time(at)
    return f"{when:%Y-%m-%d %H:%M:%S},{when.microsecond // 1000:03d}"
