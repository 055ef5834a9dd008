"""What each column tells, for people; docs/events.md is made from this.

A test holds that every column has an entry and every entry a column.
"""

from __future__ import annotations

from typing import NamedTuple


class Meaning(NamedTuple):
    """A column's unit (empty: it has none) and what it tells."""

    unit: str
    text: str


MEANINGS: dict[str, Meaning] = {
    # --- of every row ---
    "order": Meaning("rows", "number of the row in the table, from 0: inputs in the order given, lines as they stand"),
    "source": Meaning("", "input as it was named; `archive!member` for a member of an archive, `-` for standard input"),
    "line": Meaning("lines", "number of the line in its source, from 1, by line feeds alone"),
    "byte_offset": Meaning("bytes", "where the line begins in its source, unpacked, from 0"),
    "kind": Meaning("", "what the line is; null for a line that tells nothing by itself (a frame of a traceback)"),
    "message": Meaning("", "what was said, prefixes, header and colours removed, secrets replaced by `[redacted]`"),
    "when": Meaning("", "date and time as the log printed it, without its zone; see Times"),
    "utc_offset": Meaning("seconds", "how far the printed zone is east of UTC; null where the log printed no zone"),
    "clock": Meaning("", "whose clock `when` is of: a host, a source, a collector; never compare two without care"),
    "host": Meaning("", "host, as the line or its prefix names it"),
    "rank": Meaning(
        "", "global rank that wrote the line, where its prefix or text says so; NCCL's own lines rarely do"
    ),
    "local_rank": Meaning("", "rank within the node that wrote the line"),
    "task": Meaning("", "the launcher's number (Slurm task, MPI rank); the rank only where one task runs per GPU"),
    "pid": Meaning("", "process that wrote the line"),
    "tid": Meaning("", "thread that wrote the line"),
    "device": Meaning("", "index of the CUDA device within the process"),
    "pod": Meaning("", "Kubernetes pod or container"),
    "actor": Meaning("", "Ray actor or task"),
    "address": Meaning("", "network address of the node, where a prefix gives that and no name"),
    "level": Meaning("", "level of the logging library in the line's prefix; NCCL's own level is in `kind`"),
    "repeated": Meaning("lines", "how many lines of the job the row stands for (Ray's de-duplication); mostly 1"),
    "prefixes": Meaning("", "names of the prefixes that were taken off, outermost first"),
    "not_finite": Meaning("", "which numbers of the row are NaN or infinite, as `loss=NaN`; JSON cannot say it else"),
    # --- NCCL ---
    "site_file": Meaning("", "source file of the program that wrote the line"),
    "site_line": Meaning("", "line in `site_file`"),
    "site_function": Meaning("", "function in `site_file`"),
    "code": Meaning("", "result on its way up: a ncclResult_t, in an async thread or of `cuda.error` a cudaError_t"),
    "thread": Meaning("", "what NCCL calls the thread that an error came through (`[Async thread]`)"),
    "version": Meaning("", "version of NCCL, or of the NCCL that RCCL follows"),
    "cuda": Meaning("", "version of CUDA (or HIP) that NCCL was built with"),
    "cuda_driver": Meaning("major*1000 + minor*10", "highest version of CUDA that the host's driver supports"),
    "name": Meaning("", "name of a variable that NCCL read, or of a fact of a host's hardware or driver"),
    "value": Meaning("", "value of `name`; `[redacted]` where the name says that it is a secret"),
    "nccl_env_source": Meaning("", "where NCCL read the variable: `environment` or a configuration file's path"),
    "phase": Meaning("", "of a communicator: start, complete, nonblocking, finalize, destroy, abort, revoke"),
    "comm": Meaning("", "communicator: its address in the process, or with `nccl.ras` its hash; hexadecimal"),
    "comm_id": Meaning("", "identifier of the communicator, equal on all its ranks; hexadecimal"),
    "nccl_init_rank": Meaning("", "rank within the communicator"),
    "nranks": Meaning("ranks", "size of the communicator"),
    "cuda_device": Meaning("", "index of the CUDA device that the communicator uses"),
    "nvml_device": Meaning("", "index of the same device in NVML's order, that of nvidia-smi"),
    "bus_id": Meaning("", "PCI address of the device as NCCL prints it; hexadecimal"),
    "network": Meaning("", "network that was found or chosen: IB, Socket, AWS Libfabric"),
    "devices": Meaning("", "the network's devices, as NCCL lists them (`mlx5_0:1/RoCE`, `eth0:10.0.0.1<0>`)"),
    "chosen": Meaning("", "true for `Using network`, false for one that was only found"),
    "transport": Meaning("", "how a channel connects two ranks: P2P/CUMEM, SHM/direct, NET/IB/0/GDRDMA"),
    "state": Meaning("", "state of a communicator or rank in RAS's report, or of a rank in a desync report"),
    "nccl_ras_rank": Meaning("", "rank within the communicator that RAS tells of"),
    "count": Meaning("ranks or processes", "how many RAS's line stands for; 0 for a member of a group told before"),
    "operation": Meaning("", "collective that RAS counts; null: all of them together"),
    "launched": Meaning("operations", "operations launched so far, as RAS counts them"),
    "said": Meaning("", "error, status or event in RAS's words"),
    "peer": Meaning("", "address of the node that RAS tells of"),
    "peer_pid": Meaning("", "process on `peer`"),
    "gpu": Meaning("", "CUDA device of the process on `peer`"),
    # --- PyTorch ---
    "collective": Meaning("", "collective operation (ALLREDUCE, ...)"),
    "sequence": Meaning("", "number of the collective within its process group"),
    "numel_in": Meaning("elements", "input of the collective"),
    "numel_out": Meaning("elements", "output of the collective"),
    "timeout_ms": Meaning("milliseconds", "time that the collective had"),
    "elapsed_ms": Meaning("milliseconds", "time that it had run when it was given up"),
    "group_rank": Meaning("", "rank within `process_group`"),
    "process_group": Meaning("", "process group, by number, name or description as printed"),
    "last_enqueued": Meaning("", "sequence number of the last collective enqueued"),
    "last_started": Meaning("", "sequence number of the last collective started"),
    "last_completed": Meaning("", "sequence number of the last collective completed"),
    "failed_sequence": Meaning("", "sequence number of the collective that failed"),
    "initiator": Meaning("", "global rank that asked for the debug dump; null: this one, or not said"),
    "local": Meaning("", "true where the rank's own time-out asked for the dump"),
    "ranks": Meaning("", "global ranks that a line of a desync report names"),
    "torch_mismatch_rank": Meaning("", "one of the two ranks whose collectives differ"),
    "other_rank": Meaning("", "the other one"),
    "other_sequence": Meaning("", "sequence number of the collective that `other_rank` ran"),
    "other_collective": Meaning("", "collective that `other_rank` ran"),
    "missing_ranks": Meaning("", "ranks that did not come to monitoredBarrier"),
    "severity": Meaning("", "severity that a C++ log line begins with: I, W, E or F"),
    # --- launchers and programs ---
    "signal": Meaning("", "number of a signal"),
    "exit_code": Meaning("", "exit code; of torchrun's workers negative for a signal"),
    "elastic_exit_local_rank": Meaning("", "local rank of the worker that torchrun says has ended"),
    "root_cause": Meaning("", "true in torchrun's block `Root Cause`: the first to exit, which is not the cause"),
    "launcher": Meaning("", "program that tells of the end: mpirun, srun, spawn, DeepSpeed, Ray"),
    "victim": Meaning("", "pid of the process that ended or was killed"),
    "exception": Meaning("", "class of the exception; `TracebackCutOff` for a traceback that the log ends in"),
    "text": Meaning("", "text of the exception"),
    "file": Meaning("", "file of the innermost frame"),
    "python_exception_line": Meaning("", "line in `file`"),
    "function": Meaning("", "function of the innermost frame"),
    "user_file": Meaning("", "file of the innermost frame outside of installed packages"),
    "user_line": Meaning("", "line in `user_file`"),
    "chained": Meaning("", "true where the traceback says that it arose during another or because of it"),
    "warning": Meaning("", "class of the Python warning"),
    # --- training ---
    "step": Meaning("steps", "number of the training step or iteration, as printed"),
    "loss": Meaning("", "loss; may be NaN or infinite"),
    "grad_norm": Meaning("", "norm of the gradient; may be NaN or infinite"),
    "loss_scale": Meaning("", "loss scale in use"),
    "skipped": Meaning("steps", "steps skipped since the start"),
    "skipped_lately": Meaning("steps", "steps skipped since the line before (Megatron)"),
    "nan_iterations": Meaning("steps", "steps with NaN since the line before (Megatron)"),
    "framework": Meaning("", "framework whose loss scaler speaks: apex, deepspeed, fairseq, megatron, torch"),
    "scale_before": Meaning("", "loss scale before the overflow"),
    "scale_after": Meaning("", "loss scale after it"),
    "at_minimum": Meaning("", "true where the scaler says that it can go no lower"),
    "gave_up": Meaning("", "true where it raised because of that"),
    "by_exit_code": Meaning("", "true where the end is known by an exit code of 0 alone"),
    # --- cluster ---
    "xid": Meaning("", "number of an NVIDIA Xid or SXid"),
    "pci": Meaning("", "PCI address of the GPU or switch"),
    "sxid": Meaning("", "true for an SXid: the fault is an NVSwitch's"),
    "program": Meaning("", "name of the process that the kernel killed"),
    "tool": Meaning("", "tool that printed the fact: nvidia-smi, ibstat, ..."),
    "host_fact_device": Meaning("", "GPU or adapter that the fact is of, as printed"),
    "port": Meaning("", "port of the adapter"),
    "number": Meaning("count, or Gb/s of a rate", "`value` where it is a number"),
}
"""By name of the column."""
