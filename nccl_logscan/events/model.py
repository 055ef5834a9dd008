"""The events: a closed set of frozen types, one per kind of thing that a log can say.

`kind` is the name by which rules ask for an event; the fields below are the ones `where:` may test.
`message` is what was said, prefixes and header removed. None always means: the log did not say.
"""

from __future__ import annotations

from typing import ClassVar, TypedDict

from nccl_logscan.lines.model import LogLine
from nccl_logscan.position import NOBODY, Instant, Origin, Position
from nccl_logscan.records import dataclass


@dataclass(frozen=True, slots=True)
class CallSite:
    """The place in a program's source that wrote a line."""

    file: str
    line: int | None = None
    function: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What every event has. `repeated` is how many lines it stands for (Ray's de-duplication)."""

    kind: ClassVar[str] = ""

    at: Position
    origin: Origin = NOBODY
    when: Instant | None = None
    message: str = ""
    repeated: int = 1


class Told(TypedDict):
    """The fields of every event that come from the line that tells of it."""

    at: Position
    origin: Origin
    when: Instant | None
    message: str
    repeated: int


def told_by(line: LogLine, message: str | None = None, *, origin: Origin | None = None) -> Told:
    """Return what a line gives to its event; `message` where that is not all its text, `origin` where it says more."""
    return {
        "at": line.at,
        "origin": line.origin if origin is None else origin,
        "when": line.when,
        "message": line.text if message is None else message,
        "repeated": line.repeated,
    }


def file_of(event: Event) -> str:
    """Return the source file that wrote or raised an event, as the log names it; "" where it does not."""
    site: CallSite | None = getattr(event, "site", None)
    file: str | None = getattr(event, "file", None) if site is None else site.file
    return file or ""


# --- NCCL ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class NcclWarn(Event):
    """An explicit error of NCCL or of a plugin that logs through it."""

    kind = "nccl.warn"
    site: CallSite | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NcclAttn(Event):
    """NCCL 2.32's level between WARN and INFO."""

    kind = "nccl.attn"
    site: CallSite | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NcclLastError(Event):
    """NCCL's last WARN as PyTorch repeats it under `Last error:`, or in its one-line form."""

    kind = "nccl.last-error"


@dataclass(frozen=True, slots=True, kw_only=True)
class NcclInfo(Event):
    """An INFO line that no more special event below describes."""

    kind = "nccl.info"


@dataclass(frozen=True, slots=True, kw_only=True)
class NcclDiag(Event):
    """A line of NCCL's own diagnostics (2.31 on)."""

    kind = "nccl.diag"


@dataclass(frozen=True, slots=True, kw_only=True)
class NcclCall(Event):
    """A CALL or TRACE line: one API call."""

    kind = "nccl.call"


@dataclass(frozen=True, slots=True, kw_only=True)
class NcclAbort(Event):
    """NCCL's ABORT line (up to 2.6.4)."""

    kind = "nccl.abort"
    site: CallSite | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NcclTrail(Event):
    """`FILE:LINE -> CODE`: an error on its way up. `code` is a ncclResult_t or, in an async thread, a CUDA error."""

    kind = "nccl.trail"
    site: CallSite
    code: int
    thread: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NcclVersion(Event):
    """`NCCL version 2.x.y+cudaA.B`, from the banner, an INFO line, or a program that prints it.

    Also RCCL's `RCCL version 2.x.y+hipA.B BRANCH:COMMIT`: it bears the number of the NCCL that it follows.
    """

    kind = "nccl.version"
    version: str
    cuda: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NcclDriver(Event):
    """`cudaDriverVersion N`: the highest CUDA version this host's driver supports, as major*1000 + minor*10."""

    kind = "nccl.driver"
    cuda_driver: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NcclEnv(Event):
    """A variable that NCCL says it read. `source` is `environment` or a configuration file's path."""

    kind = "nccl.env"
    name: str
    value: str
    source: str = "environment"


@dataclass(frozen=True, slots=True, kw_only=True)
class NcclInit(Event):
    """A communicator's set-up or end. `phase`: start, complete, abort, destroy, nonblocking.

    `rank` and `nranks` are within the communicator `comm_id` (hex text; older NCCL does not print it).
    """

    kind = "nccl.init"
    phase: str
    comm: str | None = None
    comm_id: str | None = None
    rank: int | None = None
    nranks: int | None = None
    cuda_device: int | None = None
    nvml_device: int | None = None
    bus_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NcclNetwork(Event):
    """Which network was found or chosen. `network`: IB, Socket, AWS Libfabric, ...; `devices`: as NCCL lists them
    (`mlx5_0:1/RoCE`, `eth0:10.0.0.1<0>`); `chosen`: True for `Using network X`.
    """

    kind = "nccl.network"
    network: str
    devices: tuple[str, ...] = ()
    chosen: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NcclChannel(Event):
    """A bulk set-up line: channel, ring, tree, transport. `transport`: P2P/CUMEM, SHM/direct, NET/IB/0/GDRDMA, ..."""

    kind = "nccl.channel"
    transport: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NcclRas(Event):
    """What NCCL's RAS service (2.24 on) tells of the job: the text or JSON of `ncclras`.

    `state`: summary (of like communicators), missing (RAS has no data of it), unresponsive (it does not answer), dead
    (RAS gave it up), error, counts (how many operations were launched), status, timeout, event (monitoring). `comm` is
    the communicator's hash (hex text with 0x), `nranks` its size, `rank` the rank within it. `count` is how many ranks
    or processes the line stands for; a line that names a member of a group told before stands for none. `operation`:
    AllReduce, ...; None: all of them together. `launched`: operations so far. `said`: the error, status or event in
    RAS's words. `peer`: the node's address, `peer_pid` and `gpu`: the process there and its CUDA device.
    """

    kind = "nccl.ras"
    state: str
    comm: str | None = None
    nranks: int | None = None
    rank: int | None = None
    count: int = 1
    operation: str | None = None
    launched: int | None = None
    said: str | None = None
    peer: str | None = None
    peer_pid: int | None = None
    gpu: int | None = None


# --- PyTorch distributed ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class TorchWatchdogTimeout(Event):
    """A collective that ran out of time: `Watchdog caught collective operation timeout: WorkNCCL(...)`.

    `group_rank` is the rank within `process_group`; `origin.rank` the global one where it was printed. Times in
    milliseconds; `elapsed_ms` is None in wordings that do not print it.
    """

    kind = "torch.watchdog-timeout"
    collective: str | None = None
    sequence: int | None = None
    numel_in: int | None = None
    numel_out: int | None = None
    timeout_ms: int | None = None
    elapsed_ms: int | None = None
    group_rank: int | None = None
    process_group: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TorchWorkStatus(Event):
    """Last work enqueued, started and completed by one rank, as the watchdog or the dump says it."""

    kind = "torch.work-status"
    last_enqueued: int | None = None
    last_started: int | None = None
    last_completed: int | None = None
    failed_sequence: int | None = None
    group_rank: int | None = None
    process_group: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TorchDumpSignal(Event):
    """A debug dump was asked for. `initiator` is the global rank that asked; None: this rank itself or not said.

    `local` is True where this rank's own time-out asked for it.
    """

    kind = "torch.dump-signal"
    initiator: int | None = None
    local: bool = False
    last_enqueued: int | None = None
    last_completed: int | None = None
    group_rank: int | None = None
    process_group: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TorchHeartbeat(Event):
    """The heartbeat monitor: the watchdog thread itself is stuck, or the process is killed for it."""

    kind = "torch.heartbeat"


@dataclass(frozen=True, slots=True, kw_only=True)
class TorchDesync(Event):
    """One line of a desync report. `state`: timeout, missing, never-joined, started, finished, mismatch, report."""

    kind = "torch.desync"
    state: str
    ranks: tuple[int, ...] = ()
    collective: str | None = None
    sequence: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TorchMismatch(Event):
    """`Detected mismatch between collectives on ranks`: what each of two ranks ran."""

    kind = "torch.mismatch"
    rank: int | None = None
    other_rank: int | None = None
    sequence: int | None = None
    other_sequence: int | None = None
    collective: str | None = None
    other_collective: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TorchMonitoredBarrier(Event):
    """monitoredBarrier names the ranks that did not come."""

    kind = "torch.monitored-barrier"
    missing_ranks: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TorchProcessGroup(Event):
    """Another line of ProcessGroupNCCL. `severity` is I, W, E or F."""

    kind = "torch.process-group"
    severity: str | None = None
    site: CallSite | None = None
    process_group: str | None = None
    group_rank: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TorchStore(Event):
    """The TCPStore or a rendezvous on it: connect, wait, time out."""

    kind = "torch.store"
    severity: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TorchC10(Event):
    """A c10 or c10d C++ log line that none of the above describes."""

    kind = "torch.c10"
    severity: str | None = None
    site: CallSite | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ElasticAgent(Event):
    """A line of torchrun's agent: restarts, rendezvous, closing signals."""

    kind = "elastic.agent"
    signal: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ElasticExit(Event):
    """A worker that torchrun says has ended. `exit_code` is negative for a signal. `root_cause` is True in the block
    headed `Root Cause`: the first to exit as seen by the agent, which is not the cause.
    """

    kind = "elastic.exit"
    exit_code: int | None = None
    signal: int | None = None
    local_rank: int | None = None
    root_cause: bool = False


# --- Programs --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonException(Event):
    """The exception that ends a traceback, or one printed alone. `message` is `Type: text`.

    `file`, `line`, `function`: the innermost frame. `user_file`, `user_line`: the innermost frame outside of
    installed packages. `chained`: the traceback says that it arose during another or because of it.
    """

    kind = "python.exception"
    exception: str
    text: str = ""
    file: str | None = None
    line: int | None = None
    function: str | None = None
    user_file: str | None = None
    user_line: int | None = None
    chained: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonWarning(Event):
    """`file.py:12: UserWarning: text`."""

    kind = "python.warning"
    warning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CudaError(Event):
    """A CUDA, cuBLAS or cuDNN error outside of a Python exception. `code` is a cudaError_t where printed."""

    kind = "cuda.error"
    code: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LossScale(Event):
    """A loss scaler skipped a step or changed its scale. `framework`: apex, deepspeed, fairseq, megatron, torch, ...

    `at_minimum`: the scaler says that it can go no lower. `gave_up`: it raised because of that.
    """

    kind = "scaler.overflow"
    framework: str
    scale_before: float | None = None
    scale_after: float | None = None
    at_minimum: bool = False
    gave_up: bool = False
    step: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainStep(Event):
    """A line of training progress. Numbers may be NaN or infinite, as printed.

    `skipped` counts the steps skipped since the start, `skipped_lately` and `nan_iterations` those since the line
    before (Megatron sets both to 0 after each line: core_v0.13.0, megatron/training/training.py).
    """

    kind = "train.step"
    step: int | None = None
    loss: float | None = None
    grad_norm: float | None = None
    loss_scale: float | None = None
    skipped: int | None = None
    skipped_lately: int | None = None
    nan_iterations: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainEnd(Event):
    """The program says that its work is done. `by_exit_code`: it says no more than that a process exited with 0."""

    kind = "train.end"
    by_exit_code: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessSignal(Event):
    """A process died by a signal or was told to. `signal` is its number, `victim` a pid."""

    kind = "process.signal"
    signal: int | None = None
    victim: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessExit(Event):
    """A launcher (mpirun, srun, spawn, DeepSpeed, Ray) says how a process ended."""

    kind = "process.exit"
    launcher: str
    exit_code: int | None = None
    signal: int | None = None
    victim: int | None = None


# --- Cluster ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelXid(Event):
    """NVRM: Xid or SXid. `pci` is the GPU's or switch's address."""

    kind = "kernel.xid"
    xid: int
    pci: str | None = None
    sxid: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelOom(Event):
    """The kernel killed a process for memory. `victim` is its pid, `program` its name."""

    kind = "kernel.oom"
    victim: int | None = None
    program: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelEvent(Event):
    """Another kernel line: NVRM, PCIe AER, mlx5_core, nfs, lustre, links."""

    kind = "kernel.event"


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFact(Event):
    """A value that a tool printed of a host's hardware or driver: a cell of nvidia-smi's, ibstat's, ... tables.

    `message` is the line with its place in the table before it: `GPU 00000000:19:00.0: Fabric: State : Completed`.
    `name` is ours, the same for all tools (see `events/dialects/nvidia_smi.py` and `rdma_tools.py`); `device` is the
    GPU's or the adapter's name as printed, `number` the value where it is one: counts as they are, rates in Gb/s.
    """

    kind = "host.fact"
    tool: str
    name: str
    value: str
    device: str | None = None
    port: int | None = None
    number: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmEvent(Event):
    """srun, slurmstepd, sbatch, scontrol."""

    kind = "slurm.event"


@dataclass(frozen=True, slots=True, kw_only=True)
class RayEvent(Event):
    """Ray's daemons and its error messages (actor died, worker crashed, memory monitor)."""

    kind = "ray.event"


@dataclass(frozen=True, slots=True, kw_only=True)
class KubernetesEvent(Event):
    """Kubernetes: pod status, events, exit reasons."""

    kind = "kubernetes.event"


@dataclass(frozen=True, slots=True, kw_only=True)
class MpiEvent(Event):
    """mpirun, PRRTE, UCX, hydra."""

    kind = "mpi.event"


@dataclass(frozen=True, slots=True, kw_only=True)
class HorovodEvent(Event):
    """Horovod: stall inspector, operation errors."""

    kind = "horovod.event"


@dataclass(frozen=True, slots=True, kw_only=True)
class JaxEvent(Event):
    """JAX, XLA, TensorFlow C++ lines: coordination service, NCCL ops, rendezvous."""

    kind = "jax.event"
    severity: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LogText(Event):
    """A line that no dialect knows. Rules may still ask for it."""

    kind = "log.text"


def _leaves(base: type[Event]) -> tuple[type[Event], ...]:
    return tuple(sorted(base.__subclasses__(), key=lambda type_: type_.kind))


EVENT_TYPES: dict[str, type[Event]] = {type_.kind: type_ for type_ in _leaves(Event)}
"""Every event type by the name rules use."""
