"""Every dialect reads a line in time that grows with its length, whatever the line repeats."""

import time

import pytest
from lines_of import line

from nccl_logscan.events.dialects import (
    horovod,
    jax,
    kernel,
    kubernetes,
    loss_scaler,
    mpi,
    process,
    ray,
    slurm,
    training,
)

DIALECTS = (horovod, jax, kernel, kubernetes, loss_scaler, mpi, process, ray, slurm, training)
PIECES = (
    "loss ",
    "step 1 loss ",
    "scale overflow ",
    "Xid (PCI:0000:",
    "kernel: ",
    "oom-kill:constraint=",
    "Killed process ",
    "srun: error: n[",
    "*** STEP ",
    "Process name: [",
    "reason: Pod ",
    "horovod/",
    "external/xla/",
    "This thread has been waiting for ",
    "(raylet, ip=",
    "NFS: ",
    "{'eval_",
    "train ",
)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.__name__.rpartition(".")[2])
@pytest.mark.parametrize("piece", PIECES)
def test_a_line_of_one_repeated_piece_is_read_in_linear_time(dialect, piece):
    long = line(piece * (200_000 // len(piece)))

    started = time.process_time()
    dialect.read(long)

    # A quadratic expression takes minutes here; the slowest linear one a tenth of a second.
    assert time.process_time() - started < 5
