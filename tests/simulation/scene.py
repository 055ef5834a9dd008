"""Scene: one job's ranks, files and words in one place."""

from __future__ import annotations

import random
from dataclasses import dataclass

from tests.simulation.elastic_words import Agent
from tests.simulation.folder import Folder
from tests.simulation.job import Job
from tests.simulation.nccl_words import NcclWords
from tests.simulation.scenario import Scenario
from tests.simulation.torch_words import Speaker, TorchWords


@dataclass(frozen=True, slots=True)
class Scene:
    """What the parts of the simulator share."""

    job: Job
    culprit: int
    folder: Folder
    torch: TorchWords
    nccl: NcclWords
    rng: random.Random

    @property
    def scenario(self) -> Scenario:
        """What the job is made of."""
        return self.job.scenario

    def shown(self, at: float, host: int) -> float:
        """A moment by a host's clock."""
        return at + self.job.skews[host]

    def speaker(self, rank: int, at: float) -> Speaker:
        """A rank at a moment, by the clock of its host."""
        return Speaker(rank, self.shown(at, self.job.host(rank)))

    def agent(self, host: int) -> Agent:
        """torchrun's agent of a host."""
        first = min(self.job.pids[rank] for rank in self.job.on_host(host))
        return Agent(self.torch.release, self.job.host_names[host], first - 50)

    def tells_rank(self, by_itself: bool) -> bool:
        """Whether a reader can say whose a rank's line is: by the line, by its file's name or by what else is there."""
        scenario = self.scenario
        if by_itself or scenario.layout in {"rank_files", "slurm"} or scenario.prefix == "srun":
            return True
        if scenario.layout in {"torchelastic", "ray"}:
            numbered = scenario.layout == "torchelastic" and scenario.hosts == 1
            return numbered or scenario.style == "logging" or scenario.nccl_debug == "INFO"
        return scenario.prefix in {"tee", "role"} and scenario.hosts == 1

    def needs_nccl(self, by_itself: bool) -> bool:
        """Whether only NCCL's lines about a process tell whose its file is."""
        scenario = self.scenario
        numbered = scenario.layout == "torchelastic" and scenario.hosts == 1
        named = by_itself or numbered or scenario.style == "logging"
        return scenario.layout in {"torchelastic", "ray"} and not named

    def tells_rank_of_pid(self) -> bool:
        """Whether a reader can say which rank a process was that only a kernel names."""
        named = self.scenario.layout == "ray" and self.scenario.style == "logging"
        return self.scenario.nccl_debug == "INFO" or named
