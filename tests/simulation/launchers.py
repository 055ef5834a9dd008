"""Launchers: what torchrun, srun and Ray say as ranks end."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from tests.simulation.evidence import iso
from tests.simulation.torch_words import elastic_closing, elastic_failed, elastic_table

if TYPE_CHECKING:
    from tests.simulation.failure import Failure

_SRUN = {
    -6: "Aborted (core dumped)",
    -9: "Killed",
    -11: "Segmentation fault (core dumped)",
    -15: "Terminated",
    1: "Exited with exit code 1",
}


class Launchers:
    """The launchers of a job that fails."""

    def __init__(self, failure: Failure) -> None:
        self.failure, self.job, self.rng = failure, failure.job, failure.rng

    def write(self) -> None:
        """Let the launcher speak."""
        by = self.failure.folder.launched_by
        ends = self.failure.by_host()
        if by == "torchrun":
            for host, mine in ends.items():
                self._torchrun(host, mine)
        elif by == "srun":
            self._srun(ends)
        else:
            self._ray(ends)

    def _mark(self, rank: int, code: int) -> object:
        if rank != self.failure.culprit or self.job.scenario.fault not in {
            "sigkill",
            "sigsegv",
            "exception",
            "gpu_oom",
            "xid",
            "host_oom",
        }:
            return None
        return ("launcher", code)

    def _torchrun(self, host: int, ends: list[tuple[float, int, int]]) -> None:
        failure, job = self.failure, self.job
        at, rank, code = ends[0]
        old = failure.torch.release < (2, 2)
        agent = min(job.pids[one] for one in job.on_host(host)) - 50
        at += self.rng.uniform(0.01, 0.1)
        shown = failure.shown(at, host)
        mark = self._mark(rank, code)
        for _, other, other_code in ends[1:]:
            if other_code == -15:
                failure.launch(host, at, elastic_closing(shown, agent, job.pids[other], old))
        failure.launch(
            host, at + 0.5, elastic_failed(shown + 0.5, agent, code, job.local(rank), job.pids[rank], old), mark
        )
        table = [
            (
                failure.shown(when, host),
                one,
                job.local(one),
                job.pids[one],
                ended,
                f"/tmp/torchelastic_x/attempt_0/{job.local(one)}/error.json" if one in failure.error_files else "<N/A>",
            )
            for when, one, ended in ends
        ]
        for line in elastic_table(table, job.host_names[host]):
            failure.launch(host, at + 0.8, line, mark)

    def _srun(self, hosts: dict[int, list[tuple[float, int, int]]]) -> None:
        failure, job = self.failure, self.job
        if job.scenario.fault == "peer_vanishes":
            host = job.host(failure.culprit)
            failure.launch(
                0, failure.begin + 60, f"srun: error: Node failure on {job.host_names[host]}", ("node_failure",)
            )
        ends = sorted(end for mine in hosts.values() for end in mine)
        if not ends:
            return
        first, rank, code = ends[0]
        words = "Out Of Memory" if job.scenario.fault == "host_oom" else _SRUN[code]
        mark = ("launcher", "Out Of Memory") if job.scenario.fault == "host_oom" else self._mark(rank, code)
        name = job.host_names[job.host(rank)]
        failure.launch(0, first + 0.2, f"srun: error: {name}: task {rank}: {words}", mark)
        failure.launch(0, first + 0.3, "srun: Terminating StepId=4711.0")
        failure.launch(
            0,
            first + 0.4,
            f"slurmstepd: error: *** STEP 4711.0 ON {job.host_names[0]} CANCELLED AT "
            f"{iso(failure.shown(first, 0))} ***",
        )
        rest: dict[tuple[int, int], list[int]] = defaultdict(list)
        for _, one, ended in ends[1:]:
            rest[job.host(one), ended].append(one)
        last = ends[-1][0]
        for (host, ended), ranks in rest.items():
            tasks = f"tasks {_ranges(ranks)}" if len(ranks) > 1 else f"task {ranks[0]}"
            failure.launch(0, last + 0.5, f"srun: error: {job.host_names[host]}: {tasks}: {_SRUN[ended]}")

    def _ray(self, hosts: dict[int, list[tuple[float, int, int]]]) -> None:
        failure, job = self.failure, self.job
        ends = sorted(end for mine in hosts.values() for end in mine)
        if not ends:
            return
        at, rank, code = ends[0]
        mark = self._mark(rank, code)
        address = job.addresses[job.host(rank)]
        if code == 1:
            lines = [f"ray.exceptions.RayTaskError: ray::TrainWorker.fit() (pid={job.pids[rank]}, ip={address})"]
        else:
            lines = [
                "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.",
                "\tclass_name: TrainWorker",
                f"\tactor_id: {self.rng.getrandbits(128):032x}",
                f"\tpid: {job.pids[rank]}",
                "\tnamespace: 6f0b1f7e-0d5a-4f5e-9a4e-0d3c1c2b7a11",
                f"\tip: {address}",
                "The actor is dead because its worker process has died. Worker exit type: SYSTEM_ERROR Worker exit "
                "detail: Worker unexpectedly exits with a connection error code 2. End of file. There are some potential"
                " root causes. (1) The process is killed by SIGKILL by OOM killer due to high memory usage. (2) ray stop "
                "--force is called. (3) The worker is crashed unexpectedly due to SIGSEGV or other unexpected errors.",
            ]
        for line in lines:
            failure.launch(0, at + 1, line, ("ray", code) if mark else None)


def _ranges(ranks: list[int]) -> str:
    """Print 0,1,2,5 as Slurm does: 0-2,5."""
    parts: list[list[int]] = []
    for rank in sorted(ranks):
        if parts and rank == parts[-1][-1] + 1:
            parts[-1].append(rank)
        else:
            parts.append([rank])
    return ",".join(str(part[0]) if len(part) == 1 else f"{part[0]}-{part[-1]}" for part in parts)
