"""Faults at the start: a host with another GPU driver, or with another NCCL."""

from __future__ import annotations

import random

from tests.simulation.folder import Folder
from tests.simulation.job import Job
from tests.simulation.nccl_words import NcclWords
from tests.simulation.torch_words import TorchWords, elastic_failed, elastic_table


def fail_at_start(
    job: Job, culprit: int, folder: Folder, torch: TorchWords, nccl: NcclWords, at: float, rng: random.Random
) -> None:
    """Let the job fail while it makes its communicators."""
    odd, scenario = job.host(culprit), job.scenario
    other = "2.18.3" if scenario.nccl != "2.18.3" else "2.21.5"
    raised = {}
    for rank in range(scenario.ranks):
        ours = job.host(rank) == odd
        driver = "11040" if scenario.fault == "mixed_driver" and ours else "12040"
        version = other if scenario.fault == "mixed_nccl" and ours else scenario.nccl
        for text in _begun(job, nccl, rank, version, driver):
            names = "NCCL version" in text or "cudaDriverVersion" in text
            folder.rank(rank, text, ("fact", job.host(rank)) if names else None, nccl=True)
        when = at + 6 + rng.uniform(0, 1) + job.skews[job.host(rank)]
        if scenario.fault == "mixed_driver" and ours:
            error = (
                "RuntimeError: The NVIDIA driver on your system is too old (found version 11040). Please update your "
                "GPU driver by downloading and installing a new version from the URL: "
                "http://www.nvidia.com/Download/index.aspx Alternatively, go to: https://pytorch.org to install a "
                "PyTorch version that has been compiled with your version of the CUDA driver."
            )
            raised[rank] = (when, error, ("odd",))
        elif scenario.fault == "mixed_nccl" and (ours or rank == 0):
            sizes = (1192, 988) if ours else (64, 8)
            text = f"Message truncated : received {sizes[0]} bytes instead of {sizes[1]}"
            for line in nccl.warn(rank, when, "bootstrap.cc:87", "bootstrapNetRecv", text):
                folder.rank(rank, line, ("truncated",), nccl=True)
            where = "../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1970"
            error = (
                f"torch.distributed.DistBackendError: NCCL error in: {where}, internal error - please report this issue "
                f"to the NCCL developers, NCCL version {version}\nncclInternalError: Internal check failed.\nLast "
                f"error:\n{text}"
            )
            raised[rank] = (when, error, ("truncated",))
    frames = [("/workspace/train/train.py", 31, "<module>", "dist.barrier()")]
    for rank, (_, error, mark) in raised.items():
        for line in torch.traceback(rank, frames, error):
            folder.rank(rank, line, mark)
    _launchers(job, folder, torch, raised)


def _begun(job: Job, nccl: NcclWords, rank: int, version: str, driver: str) -> list[str]:
    lines = list(nccl.start_up(rank, [], version, driver, "INFO"))
    if not any("NCCL version" in line for line in lines) and job.local(rank) == 0:
        lines.append(f"NCCL version {version}+cuda12.4")  # every host runs a first communicator of its own
    return lines


def _launchers(job: Job, folder: Folder, torch: TorchWords, raised: dict[int, tuple[float, str, object]]) -> None:
    for host in range(job.scenario.hosts):
        ends = [
            (raised[rank][0] + 0.3, rank, job.local(rank), job.pids[rank], 1, "<N/A>")
            for rank in job.on_host(host)
            if rank in raised
        ]
        if not ends or folder.launched_by == "ray":
            continue
        ends.sort()
        first = ends[0]
        if folder.launched_by == "srun":
            folder.launcher(host, f"srun: error: {job.host_names[host]}: task {first[1]}: Exited with exit code 1")
            continue
        folder.launcher(host, elastic_failed(first[0], first[3] - 50, 1, first[2], first[3], torch.release < (2, 2)))
        for line in elastic_table(ends, job.host_names[host]):
            folder.launcher(host, line)
