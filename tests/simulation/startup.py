"""Faults at the start: a host with another GPU driver, or with another NCCL."""

from __future__ import annotations

from collections.abc import Iterator

from tests.simulation.elastic_words import Exit
from tests.simulation.nccl_words import NcclWords
from tests.simulation.scene import Scene

_TOO_OLD = (
    "RuntimeError: The NVIDIA driver on your system is too old (found version 11040). Please update your GPU driver "
    "by downloading and installing a new version from the URL: http://www.nvidia.com/Download/index.aspx "
    "Alternatively, go to: https://pytorch.org to install a PyTorch version that has been compiled with your version "
    "of the CUDA driver."
)
_FRAMES = [("/workspace/train/train.py", 31, "<module>", "dist.barrier()")]


def fail_at_start(scene: Scene, at: float) -> None:
    """Let the job fail while it makes its communicators."""
    job, scenario = scene.job, scene.scenario
    odd = job.host(scene.culprit)
    other = NcclWords("2.18.3" if scenario.nccl != "2.18.3" else "2.21.5", job, scene.rng)
    raised: dict[int, tuple[float, str, object]] = {}
    scene.folder.now = at
    for rank in range(scenario.ranks):
        ours = job.host(rank) == odd
        words = other if scenario.fault == "mixed_nccl" and ours else scene.nccl
        driver = "11040" if scenario.fault == "mixed_driver" and ours else "12040"
        for text in _begin(scene, words, rank, driver):
            names = "NCCL version" in text or "cudaDriverVersion" in text
            scene.folder.rank(rank, text, ("fact", job.host(rank)) if names else None, nccl=True)
        when = at + 6 + scene.rng.uniform(0, 1)
        if scenario.fault == "mixed_driver" and ours:
            raised[rank] = (when, _TOO_OLD, ("odd",))
        elif scenario.fault == "mixed_nccl" and (ours or rank == 0):
            raised[rank] = (when, _truncated(scene, words, rank, when), ("truncated",))
    scene.folder.now = at + 7
    for rank, (_, error, mark) in raised.items():
        for line in scene.torch.traceback(rank, _FRAMES, error):
            scene.folder.rank(rank, line, mark)
    _launchers(scene, raised)


def _begin(scene: Scene, words: NcclWords, rank: int, driver: str) -> Iterator[str]:
    told = False
    for line in words.start_up(rank, [], driver):
        told |= "NCCL version" in line
        yield line
    if not told and scene.job.local(rank) == 0:  # each host has made a communicator of its own before
        yield f"NCCL version {'.'.join(map(str, words.version))}+cuda12.4"


def _truncated(scene: Scene, words: NcclWords, rank: int, when: float) -> str:
    """Let a rank read a message of another version's size; return the exception's text."""
    got, want = (1192, 988) if scene.job.host(rank) == scene.job.host(scene.culprit) else (64, 8)
    text = f"Message truncated : received {got} bytes instead of {want}"
    for line in words.warn(scene.speaker(rank, when), "bootstrap.cc:87 bootstrapNetRecv", text, 0):
        scene.folder.rank(rank, line, ("truncated",), nccl=True)
    where = "../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1970"
    version = ".".join(map(str, words.version))
    return (
        f"torch.distributed.DistBackendError: NCCL error in: {where}, internal error - please report this issue to the "
        f"NCCL developers, NCCL version {version}\nncclInternalError: Internal check failed.\nLast error:\n{text}"
    )


def _launchers(scene: Scene, raised: dict[int, tuple[float, str, object]]) -> None:
    job, folder = scene.job, scene.folder
    folder.now += 1
    for host in range(job.scenario.hosts) if folder.launched_by != "ray" else ():
        exits = sorted(
            Exit(scene.shown(raised[rank][0] + 0.3, host), rank, job.local(rank), job.pids[rank], 1)
            for rank in job.on_host(host)
            if rank in raised
        )
        if not exits:
            continue
        if folder.launched_by == "srun":
            task = f"{job.host_names[host]}: task {exits[0].rank}"
            folder.launcher(host, f"srun: error: {task}: Exited with exit code 1")
            continue
        agent = scene.agent(host)
        for line in (agent.failed(exits[0].at, exits[0]), *agent.table(exits)):
            folder.launcher(host, line)
