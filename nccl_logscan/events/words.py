"""The words of which every line holds one that any dialect may know, or that may be torn.

What a gate asks for is proved from its expressions. What the dialects ask of a line without a gate is listed here; a
test holds the list to every line and every wording that is shipped.
"""

from __future__ import annotations

from functools import cache

from nccl_logscan.events.dialects import (
    cuda,
    horovod,
    jax,
    kernel,
    kubernetes,
    loss_scaler,
    mpi,
    nvidia_smi,
    process,
    ras,
    ray,
    rdma_tools,
    slurm,
    torch_elastic,
    torch_process_group,
    torch_store,
    training,
)
from nccl_logscan.gate import Gate

Needs = tuple[frozenset[str], ...]

START = "\x02"
"""Stands in a word for the start of what was said."""
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_WITHOUT_GATES = frozenset(
    {
        # c10 and other C++ logs, NCCL, plugins
        "pp:", ".h:", ".cc:", ".cu:", "nccl", "sharp", "coll]", "] - ", "[c10d]",
        # torchrun
        "root cause", "failures:", "failed (exitcode", "torch", "signal sig",
        # process groups and stores
        "ollective", "arrier", "across ranks", "best knowledge", "snapshot of", "loss", "socket", "store",
        "taking the entire process down",
        # tracebacks, exceptions and warnings
        "traceback", "exception", "error", "interrupt", "systemexit", "timeout", "killed", "expired", "exit", 'file "',
        "what():", "terminate called", "ray::", "-- process ", "warning: ", "during handling",
        # the kernel's stamps, where no prefix was peeled
        " kernel: ", *(f"{START}[{first}" for first in (" ", *"0123456789", *_DAYS)),
        # Ray's daemons
        "raylet", "gcs_server", "autoscaler",
        # what is no event
        START + "frame #",
        # what begins a line in the middle of another one, and what Ray puts at the end of one
        "]:", " | ", "]<std", " torch/", "across cluster]",
    }
)  # fmt: skip


_DIALECTS = (
    cuda, horovod, jax, kernel, kubernetes, loss_scaler, mpi, process, ray, slurm, torch_elastic, torch_process_group,
    torch_store,
)  # fmt: skip


@cache
def needs_of_dialects() -> frozenset[Needs]:
    """Return what a line needs to be more than text to some dialect, by itself; in lower case.

    One of the alternatives: and of each of its sets a member.
    """
    gates = [gate for dialect in _DIALECTS for gate in vars(dialect).values() if isinstance(gate, Gate)]
    gated = (needs for gate in (*gates, training.FIRST_GATE) for needs in gate.needs)
    heads = (START + head.lower() for kind in (ras, nvidia_smi, rdma_tools) for head in kind.HEADS)
    return frozenset({*gated, *((frozenset({word}),) for word in (*heads, *_WITHOUT_GATES))})
