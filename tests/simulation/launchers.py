"""Launchers: what torchrun, srun and Ray say as ranks end."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from tests.simulation.elastic_words import Exit
from tests.simulation.evidence import iso
from tests.simulation.scenario import DEATHS

if TYPE_CHECKING:
    from tests.simulation.failure import Failure

_SRUN = {
    -6: "Aborted (core dumped)",
    -9: "Killed",
    -11: "Segmentation fault (core dumped)",
    -15: "Terminated",
    1: "Exited with exit code 1",
}
_RAY_DIED = (
    "The actor is dead because its worker process has died. Worker exit type: SYSTEM_ERROR Worker exit detail: Worker "
    "unexpectedly exits with a connection error code 2. End of file. There are some potential root causes. (1) The "
    "process is killed by SIGKILL by OOM killer due to high memory usage. (2) ray stop --force is called. (3) The "
    "worker is crashed unexpectedly due to SIGSEGV or other unexpected errors."
)

Ends = list[tuple[float, int, int]]


class Launchers:
    """The launchers of a job that fails."""

    def __init__(self, failure: Failure) -> None:
        self.failure, self.scene, self.job = failure, failure.scene, failure.job

    def write(self) -> None:
        """Let the launcher speak."""
        by, hosts = self.scene.folder.launched_by, self.failure.by_host()
        if by == "torchrun":
            for host, ends in hosts.items():
                self._torchrun(host, ends)
            return
        ends = sorted(end for mine in hosts.values() for end in mine)
        if by == "srun" and self.job.scenario.fault == "peer_vanishes":
            name = self.job.host_names[self.job.host(self.failure.culprit)]
            self.failure.launch(0, self.failure.begin + 1, f"srun: error: Node failure on {name}", ("node_failure",))
        if ends:
            (self._srun if by == "srun" else self._ray)(ends)

    def _mark(self, rank: int, code: int) -> object:
        died = rank == self.failure.culprit and self.job.scenario.fault in DEATHS
        return ("launcher", code) if died else None

    def _torchrun(self, host: int, ends: Ends) -> None:
        failure, agent = self.failure, self.scene.agent(host)
        at, rank, code = ends[0]
        at += failure.rng.uniform(0.01, 0.1)
        shown, mark = self.scene.shown(at, host), self._mark(rank, code)
        exits = [self._exit(host, end) for end in ends]
        for one in exits[1:]:
            if one.code == -15:
                failure.launch(host, at, agent.closing(shown, one.pid))
        failure.launch(host, at + 0.5, agent.failed(shown + 0.5, exits[0]), mark)
        for line in agent.table(exits):
            failure.launch(host, at + 0.8, line, mark)

    def _exit(self, host: int, end: tuple[float, int, int]) -> Exit:
        at, rank, code = end
        local = self.job.local(rank)
        one = Exit(self.scene.shown(at, host), rank, local, self.job.pids[rank], code)
        if rank not in self.failure.error_files:
            return one
        return Exit(*(one.at, rank, local, one.pid, code), f"/tmp/run_x/attempt_0/{local}/error.json")  # noqa: S108

    def _srun(self, ends: Ends) -> None:
        failure, job = self.failure, self.job
        first, rank, code = ends[0]
        oom = job.scenario.fault == "host_oom"
        words = "Out Of Memory" if oom else _SRUN[code]
        mark = ("launcher", words) if oom else self._mark(rank, code)
        failure.launch(0, first + 0.2, f"srun: error: {job.host_names[job.host(rank)]}: task {rank}: {words}", mark)
        failure.launch(0, first + 0.3, "srun: Terminating StepId=4711.0")
        step = f"STEP 4711.0 ON {job.host_names[0]} CANCELLED AT {iso(self.scene.shown(first, 0))}"
        failure.launch(0, first + 0.4, f"slurmstepd: error: *** {step} ***")
        rest: dict[tuple[int, int], list[int]] = defaultdict(list)
        for _, one, ended in ends[1:]:
            rest[job.host(one), ended].append(one)
        for (host, ended), ranks in rest.items():
            tasks = f"tasks {_ranges(ranks)}" if len(ranks) > 1 else f"task {ranks[0]}"
            failure.launch(0, ends[-1][0] + 0.5, f"srun: error: {job.host_names[host]}: {tasks}: {_SRUN[ended]}")

    def _ray(self, ends: Ends) -> None:
        job, rng = self.job, self.failure.rng
        at, rank, code = ends[0]
        pid, address = job.pids[rank], job.addresses[job.host(rank)]
        lines = [
            "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.",
            "\tclass_name: TrainWorker",
            f"\tactor_id: {rng.getrandbits(128):032x}",
            f"\tpid: {pid}",
            "\tnamespace: 6f0b1f7e-0d5a-4f5e-9a4e-0d3c1c2b7a11",
            f"\tip: {address}",
            _RAY_DIED,
        ]
        if code == 1:
            lines = [f"ray.exceptions.RayTaskError: ray::TrainWorker.fit() (pid={pid}, ip={address})"]
        for line in lines:
            self.failure.launch(0, at + 1, line, ("ray", code) if self._mark(rank, code) else None)


def _ranges(ranks: list[int]) -> str:
    """Print 0, 1, 2, 5 as Slurm does: 0-2,5."""
    parts: list[list[int]] = []
    for rank in sorted(ranks):
        if parts and rank == parts[-1][-1] + 1:
            parts[-1].append(rank)
        else:
            parts.append([rank])
    return ",".join(str(part[0]) if len(part) == 1 else f"{part[0]}-{part[-1]}" for part in parts)
