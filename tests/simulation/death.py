"""Deaths: a rank that ends by itself or is ended, what it says, and whom it takes along."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.simulation.elastic_words import error_json

if TYPE_CHECKING:
    from tests.simulation.failure import Failure

_SITE = "/opt/venv/lib/python3.11/site-packages"
_FRAMES = [
    ("/workspace/train/train.py", 77, "<module>", "main()"),
    ("/workspace/train/loop.py", 212, "train_step", "loss = model(batch)"),
]
_EXCEPTIONS = (
    (("/workspace/train/data.py", 41, "collate", "labels = batch['labels']"), "KeyError: 'labels'"),
    (
        ("/workspace/train/model.py", 133, "forward", "x = x.view(b, s, self.heads, -1)"),
        "RuntimeError: shape '[4, 2048, 32, -1]' is invalid for input of size 33423360",
    ),
    (("/workspace/train/data.py", 88, "__getitem__", "return self.rows[index]"), "IndexError: list index out of range"),
    (("/workspace/train/loop.py", 230, "check", "assert loss.item() < 50, loss"), "AssertionError: tensor(51.3)"),
)
_ECC = "An uncorrectable double bit error (DBE) has been detected on GPU in the framebuffer at partition 6."
_XIDS = (
    (79, "GPU has fallen off the bus.", "CUDA error: unknown error"),
    (48, _ECC, "CUDA error: uncorrectable ECC error encountered"),
    (94, "Contained: SM (0x1). RST: No, D-RST: No", "CUDA error: uncorrectable ECC error encountered"),
    (
        119,
        "Timeout after 6s of waiting for RPC response from GPU3 GSP! Expected function 76 (GSP_RM_CONTROL).",
        "CUDA error: unspecified launch failure",
    ),
    (
        74,
        "NVLink: fatal error detected on link 9(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)",
        "CUDA error: uncorrectable NVLink error detected during the execution",
    ),
)
_CUDA_HINT = (
    "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be "
    "incorrect.\nFor debugging consider passing CUDA_LAUNCH_BLOCKING=1\n"
)
_SEGFAULT = (
    "Fatal Python error: Segmentation fault",
    "",
    "Current thread 0x00007f3c1d7fa740 (most recent call first):",
    f'  File "{_SITE}/torch/autograd/graph.py", line 825 in _engine_run_backward',
    '  File "/workspace/train/loop.py", line 215 in train_step',
    '  File "/workspace/train/train.py", line 77 in <module>',
    "",
    "Extension modules: numpy.core._multiarray_umath, torch._C, yaml._yaml (total: 3)",
)


def die(failure: Failure) -> None:
    """Let the culprit die of the scenario's fault."""
    fault, culprit, at = failure.job.scenario.fault, failure.culprit, failure.begin
    code = {"sigkill": -9, "host_oom": -9, "sigsegv": -11}.get(fault, 1)
    if fault == "host_oom":
        _kernel_kills(failure)
    elif fault == "sigsegv":
        if failure.rng.random() < 0.5:
            failure.say(culprit, at, _SEGFAULT, ("own", failure.scene.tells_rank(by_itself=False)))
    elif code == 1:
        _raise(failure)
    end = at + (0.4 if code == 1 else 0.02)
    failure.natural[culprit] = (end, code)
    _take_along(failure, end)


def _kernel_kills(failure: Failure) -> None:
    job, rank, at = failure.job, failure.culprit, failure.begin
    host, pid = job.host(rank), job.pids[rank]
    memory = "total-vm:921840144kB, anon-rss:502114304kB, file-rss:0kB, shmem-rss:18912kB, UID:1000 pgtables:984404kB"
    limits = "nodemask=(null),cpuset=/,mems_allowed=0-1,global_oom,task_memcg=/user.slice"
    for text in (
        "python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0",
        f"oom-kill:constraint=CONSTRAINT_NONE,{limits},task=python3,pid={pid},uid=1000",
        f"Out of memory: Killed process {pid} (python3) {memory} oom_score_adj:0",
    ):
        failure.kernel(host, at, text, ("kernel",))
    if failure.scene.folder.launched_by == "srun":
        some = "Some of the step tasks have been OOM Killed."
        detected = f"slurmstepd: error: Detected 1 oom_kill event in StepId=4711.0. {some}"
        failure.launch(host, at + 0.5, detected, ("oom_kill",))


def _raise(failure: Failure) -> None:
    scene, rank, at, fault = failure.scene, failure.culprit, failure.begin, failure.job.scenario.fault
    if fault == "exception":
        frame, error = failure.rng.choice(_EXCEPTIONS)
    elif fault == "gpu_oom":
        frame, error = _out_of_memory(failure)
    else:
        frame, error = _xid(failure)
    known = scene.tells_rank(scene.torch.hooks)
    failure.say(rank, at + 0.3, scene.torch.traceback(rank, [*_FRAMES, frame], error), ("traceback", known))
    if scene.folder.layout == "torchelastic" and failure.rng.random() < 0.5:
        failure.error_files[rank] = error_json(error.splitlines()[0], scene.speaker(rank, at).at)


def _out_of_memory(failure: Failure) -> tuple[tuple[str, int, str, str], str]:
    name = "torch.OutOfMemoryError" if failure.torch.release >= (2, 5) else "torch.cuda.OutOfMemoryError"
    frame = (f"{_SITE}/torch/nn/functional.py", 2900, "layer_norm", "return torch.layer_norm(input, shape)")
    return frame, (
        f"{name}: CUDA out of memory. Tried to allocate 4.52 GiB. GPU {failure.job.local(failure.culprit)} has a total "
        "capacity of 79.11 GiB of which 1.61 GiB is free. Including non-PyTorch memory, this process has 77.48 GiB "
        "memory in use. Of the allocated memory 71.08 GiB is allocated by PyTorch, and 3.49 GiB is reserved by PyTorch "
        "but unallocated."
    )


def _xid(failure: Failure) -> tuple[tuple[str, int, str, str], str]:
    job, rank, at = failure.job, failure.culprit, failure.begin
    xid, text, cuda = failure.rng.choice(_XIDS)
    pci = f"0000:{job.bus[job.local(rank)]:02x}:00"
    who = failure.rng.choice((f"pid={job.pids[rank]}, name=python3", "pid='<unknown>', name=<unknown>"))
    failure.kernel(job.host(rank), at, f"NVRM: Xid (PCI:{pci}): {xid}, {who}, {text}", ("kernel",))
    frame = ("/workspace/train/loop.py", 216, "train_step", "torch.cuda.synchronize()")
    return frame, f"RuntimeError: {cuda}\n{_CUDA_HINT}"


def _take_along(failure: Failure, end: float) -> None:
    """Let the ranks of other hosts that spoke with the dead one, or with those its launcher ended, find it gone."""
    job, rng = failure.job, failure.rng
    if failure.scene.folder.launched_by == "srun" or job.scenario.hosts == 1:
        return
    if job.scenario.network == "socket":
        for peer in failure.neighbours(failure.culprit):
            failure.peer_gone(peer, failure.culprit, end + rng.uniform(0.1, 1.0))
        _spread(failure, end)
    elif rng.random() < 0.5:
        for peer in failure.neighbours(failure.culprit):
            failure.transfer_fails(peer, failure.culprit, end + rng.uniform(8, 15))


def _spread(failure: Failure, end: float) -> None:
    """Each host that was brought down closes its sockets to the next one."""
    job, first = failure.job, failure.job.host(failure.culprit)
    down = {first, *(job.host(rank) for rank in failure.natural)}
    at = end
    for step in range(1, job.scenario.hosts):
        for host in ((first + step) % job.scenario.hosts, (first - step) % job.scenario.hosts):
            if host in down:
                continue
            down.add(host)
            at += failure.rng.uniform(0.5, 2.0)
            speaker = job.on_host(host)[0]
            for other in failure.neighbours(speaker):
                if job.host(other) in down:
                    failure.peer_gone(speaker, other, at)
