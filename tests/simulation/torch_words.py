"""The words of PyTorch's NCCL back end, by release (from the message catalogue and recorded logs)."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from tests.simulation.job import Call, Group, Op
from tests.simulation.scenario import Scenario, numbers

OP_TYPES = {
    "all_reduce": "ALLREDUCE",
    "broadcast": "BROADCAST",
    "_reduce_scatter_base": "_REDUCE_SCATTER_BASE",
    "_all_gather_base": "_ALLGATHER_BASE",
    "send": "SEND",
    "recv": "RECV",
}
_CAUSES = (
    "This is most likely caused by incorrect usages of collectives, e.g., wrong sizes used across ranks, the order "
    "of collectives is not same for all ranks or the scheduled collective, for some reason, didn't run. "
    "Additionally, this can be caused by GIL deadlock or other reasons such as network errors or bugs in the "
    "communications library (e.g. NCCL), etc. "
)
_DUMPED = "We tried our best to dump the debug info into the storage to help you debug the issue."
_ABORTS = (
    (
        "Some NCCL operations have failed or timed out. Due to the asynchronous nature of CUDA kernels, subsequent GPU "
        "operations might run on corrupted/incomplete data."
    ),
    "To avoid data inconsistency, we are taking the entire process down.",
)
_NO_STACK = (
    "Stack trace of the failed collective not found, potentially because FlightRecorder is disabled. You can enable it "
    "by setting TORCH_NCCL_TRACE_BUFFER_SIZE to a non-zero value."
)
_LIBRARIES = "/opt/venv/lib/python3.11/site-packages/torch/lib"
_CHECK = "c10d::ProcessGroupNCCL::WorkNCCL::checkTimeout(std::optional<std::chrono::duration<long> >)"
_CPP_FRAMES = (
    f"frame #0: c10::Error::Error(c10::SourceLocation, std::string) + 0x96 (0x7f2c1d56c1b6 in {_LIBRARIES}/libc10.so)",
    f"frame #1: {_CHECK} + 0x2b4 (0x7f2bd2e19c74 in {_LIBRARIES}/libtorch_cuda.so)",
    f"frame #2: c10d::ProcessGroupNCCL::watchdogHandler() + 0x890 (0x7f2bd2e1b7d0 in {_LIBRARIES}/libtorch_cuda.so)",
    "",
)
_STUCK = (
    "ProcessGroupNCCL's watchdog got stuck for 480 seconds without making progress in monitoring enqueued collectives. "
    "This typically indicates a NCCL/CUDA API (e.g., CudaEventDestroy) hang blocking the watchdog, and could be "
    "triggered by another thread holding the GIL inside a CUDA api (for example, CudaEventDestroy), or other "
    "deadlock-prone behaviors.If you suspect the watchdog is not actually stuck and a longer timeout would help, you "
    "can either increase the timeout (TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC) to a larger value or disable the heartbeat "
    "monitor (TORCH_NCCL_ENABLE_MONITORING=0).If either of aforementioned helps, feel free to file an issue to PyTorch "
    "about the short timeout or false positive abort; otherwise, please attempt to debug the hang. "
)


def local_time(seconds: float) -> datetime:
    """The wall clock, which the simulated hosts keep in UTC."""
    return datetime.fromtimestamp(seconds, tz=UTC)


@dataclass(frozen=True, slots=True)
class Status:
    """How far a rank came in a group: the numbers of the last calls enqueued and completed."""

    enqueued: int
    completed: int


@dataclass(frozen=True, slots=True)
class Speaker:
    """A rank at a moment by its own clock."""

    rank: int
    at: float


class TorchWords:
    """One release's words."""

    def __init__(self, scenario: Scenario, rng: random.Random) -> None:
        self.release, self.timeout_s, self.nccl = scenario.torch_version, scenario.timeout_s, scenario.nccl
        self.rng = rng
        self._reasons: dict[int, str] = {}

    @property
    def dumps(self) -> bool:
        """Whether a time-out makes all ranks dump what they recorded."""
        return self.release >= (2, 4)

    @property
    def names_ranks(self) -> bool:
        """Whether the C++ log names the global rank."""
        return self.release >= (2, 2)

    @property
    def hooks(self) -> bool:
        """Whether an uncaught exception names the global rank."""
        return self.release >= (2, 3)

    def c10(self, who: Speaker, severity: str, text: str, line: int) -> str:
        """A line of the C++ log."""
        file = f"ProcessGroupNCCL.cpp:{line}"
        if not self.names_ranks:
            return f"[{severity} {file}] {text}"
        if self.release < (2, 4):
            return f"[rank{who.rank}]:[{severity} {file}] {text}"
        when = local_time(who.at)
        # The fraction is that of a clock since boot, not of the second.
        stamp = f"{severity}{when.month}{when.day:02d} {when:%H:%M:%S}.{self.rng.randrange(10**9):09d}"
        return f"[rank{who.rank}]:[{stamp} {file}] {text}"

    def group(self, group: Group, rank: int) -> str:
        """How a process group names itself: by the rank's number within it."""
        inner = group.ranks.index(rank)
        if self.release < (2, 3):
            return f"[Rank {inner}] "
        desc = "" if group.desc == "undefined" else group.desc
        if self.release < (2, 5):
            named = f" ({desc})" if desc and self.release >= (2, 4) else ""
            return f"[PG {group.name}{named} Rank {inner}] "
        named = f"({desc})" if desc else ""
        return f"[PG ID {group.local} PG GUID {group.name}{named} Rank {inner}] "

    def work(self, call: Call) -> str:
        """A work's description."""
        kind, size = OP_TYPES[call.op.name], call.op.numel
        out = size
        if kind == "_REDUCE_SCATTER_BASE":
            size *= len(call.group.ranks)
        shape = f"TensorShape=[{size}]" if self.release < (2, 1) else f"NumelIn={size}, NumelOut={out}"
        return f"WorkNCCL(SeqNum={call.seq}, OpType={kind}, {shape}, Timeout(ms)={self.timeout_s * 1000})"

    def timeout(self, who: Speaker, call: Call, status: Status, frames: list[str], desync: str) -> Iterator[str]:
        """What a rank's watchdog says when a call's time has run out; `desync`: PyTorch's own report of it."""
        inner = call.group.ranks.index(who.rank)
        ran = self.timeout_s * 1000 + self.rng.randint(3, 99)
        said = (
            f"[Rank {inner}] Watchdog caught collective operation timeout: {self.work(call)} ran for {ran} "
            "milliseconds before timing out."
        )
        self._reasons.setdefault(who.rank, said)
        lines: dict[tuple[int, ...], int] = {(1, 13): 821, (2, 1): 475, (2, 3): 523, (2, 4): 607}
        yield from self.c10(who, "E", said + desync, lines.get(self.release, 632)).split("\n")
        group = self.group(call.group, who.rank)
        works = f"last enqueued NCCL work: {status.enqueued}, last completed NCCL work: {status.completed}."
        if self.release in {(2, 4), (2, 5)}:
            detected = (
                f"{group}Exception (either an error or timeout) detected by watchdog at work: {call.seq}, {works}"
            )
            yield self.c10(who, "E", detected, 1664)
        elif self.release == (2, 3):
            yield self.c10(who, "E", f"{group}Timeout at NCCL work: {call.seq}, {works}", 1101)
        elif self.release >= (2, 6):
            yield from self._failure(who, group, call, status, frames)

    def _failure(self, who: Speaker, group: str, call: Call, status: Status, frames: list[str]) -> Iterator[str]:
        failed = (
            f"{group} failure detected by watchdog at work sequence id: {call.seq} PG status: last enqueued work: "
            f"{status.enqueued}, last completed work: {status.completed}"
        )
        yield self.c10(who, "E", failed, 2268)
        if frames:
            yield self.c10(who, "E", "Stack trace of the failed collective: ", 670)
            yield from [*frames, ""]
        else:
            yield self.c10(who, "E", _NO_STACK, 681)
        if self.release >= (2, 7):
            yield self.c10(who, "E", f"{group}First PG on this rank to signal dumping.", 2573)

    def signal(self, who: Speaker, world: Group, status: Status, by: int | None) -> Iterator[str]:
        """What the monitor of the world's group says as a rank dumps; `by`: the rank that asked for it, None: itself.

        The monitor speaks of the world's calls, whichever group's watchdog asked.
        """
        group = self.group(world, who.rank)
        works = f"Last enqueued NCCL work: {status.enqueued}, last completed NCCL work: {status.completed}."
        if self.release < (2, 5):
            source = "dump signal from this local rank and" if by is None else f"global dump signal from rank {by}, and"
            yield self.c10(who, "E", f"{group}Received a {source} will start to dump the debug info. {works}", 1288)
            own = "an exception from the local rank"
            other = f"a dump signal from rank {by} and notified the current rank"
            watchdog = f"ProcessGroupNCCL's watchdog detected {own if by is None else other}. {_CAUSES}{_DUMPED}"
            yield self.c10(who, "E", group + watchdog, 1299)
            yield self.c10(who, "E", f"{group}ProcessGroupNCCL preparing to dump debug info.", 1174)
            return
        if by is not None:
            observed = f"{group}Observed flight recorder dump signal from another rank via TCPStore."
            yield self.c10(who, "E", observed, 1682)
        source = "this local rank" if by is None else f" rank {by}"
        received = (
            f"{group}Received a dump signal due to a collective timeout from {source} and we will try our best to dump "
            f"the debug info. {works}{_CAUSES}"
        )
        yield self.c10(who, "E", received, 1743)
        tail = " Include stack trace: 1" if self.release >= (2, 6) else ""
        active = ", only active collectives: 0" if self.release >= (2, 8) else ""
        yield self.c10(who, "E", f"{group}ProcessGroupNCCL preparing to dump debug info.{tail}{active}", 1533)

    def abort(self, who: Speaker, group: Group, dumped: bool) -> Iterator[str]:
        """A rank's last words after its watchdog's time-out or error."""
        named = self.group(group, who.rank)
        if dumped and self.release >= (2, 7) and self.rng.random() < 0.6:
            due = "Terminating the process after attempting to dump debug info, due to collective timeout or exception."
            yield self.c10(who, "F", f"{named}{named}{due}", 1557)
            return
        for text, line in zip(_ABORTS, (630, 636), strict=True):
            yield self.c10(who, "E", (named if self.release >= (2, 1) else "") + text, line)
        said = self._reasons[who.rank]
        if self.release >= (2, 1):
            thread = "NCCL watchdog thread" if self.release < (2, 3) else "Process group watchdog thread"
            said = f"{named}{thread} terminated with exception: {said}"
            yield from self.c10(who, "E", said, 1895).split("\n")
        if self.release >= (2, 4):
            where = "checkTimeout at ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:632"
            yield f"Exception raised from {where} (most recent call first):"
            yield from _CPP_FRAMES
        kind = "std::runtime_error" if self.release < (2, 2) else "c10::DistBackendError"
        yield f"terminate called after throwing an instance of '{kind}'"
        yield from f"  what():  {said}".split("\n")

    def stuck(self, who: Speaker, world: Group) -> Iterator[str]:
        """What the monitor says of a watchdog that hangs, for instance in aborting a communicator."""
        group = self.group(world, who.rank)
        if self.release >= (2, 5):
            yield self.c10(who, "E", group + _STUCK, 1484)
            due = "Terminating the process after attempting to dump debug info, due to ProcessGroupNCCL watchdog hang."
            yield self.c10(who, "F", f"{group}{group}{due}", 1557)
        elif self.release >= (2, 3):
            ended = "Heartbeat monitor timed out! Process will be terminated after dumping debug info."
            yield self.c10(who, "E", f"{group}{ended} workMetaList_.size()=2", 1254)

    def async_error(self, who: Speaker, call: Call, said: str) -> Iterator[str]:
        """What a rank's watchdog says when NCCL reports an error."""
        kind = "ncclRemoteError" if numbers(self.nccl) >= (2, 13) else "ncclSystemError"
        error = (
            f"NCCL error: remote process exited or there was a network error, NCCL version {self.nccl}\n{kind}: A call "
            f"failed possibly due to a network error or a remote process exiting prematurely.\nLast error:\n{said}"
        )
        self._reasons[who.rank] = error
        group = self.group(call.group, who.rank)
        found = f"{group}found async exception when checking for NCCL errors: {error}"
        if self.release >= (2, 5):
            found = f"{group}Collective {self.work(call)} raised the following async exception: {error}"
        yield from self.c10(who, "E", found, 1973).split("\n")
        yield from self.abort(who, call.group, dumped=False)

    def traceback(self, rank: int, frames: list[tuple[str, int, str, str]], error: str) -> Iterator[str]:
        """An uncaught exception, as the hook of the release prints it; frames: file, line, function, source."""
        hook = f"[rank{rank}]: " if self.hooks else ""
        yield f"{hook}Traceback (most recent call last):"
        for file, line, function, source in frames:
            yield f'{hook}  File "{file}", line {line}, in {function}'
            yield f"{hook}    {source}"
        for text in error.splitlines():
            yield hook + text


def desync_report(group: Group, missing: int, seq: int, op: Op) -> str:
    """What TORCH_NCCL_DESYNC_DEBUG adds: the member that did not join a call, and each one's last state."""
    inner, last = group.ranks.index(missing), seq - 1
    kind = OP_TYPES[op.name]
    others = ", ".join(str(rank) for rank in range(len(group.ranks)) if rank != inner)
    return (
        f"\n\t - [{0 if inner else 1}] Timeout at collective: {kind}, #{seq}"
        "\n\t - To our best knowledge, the lagging/dead/mismatched ranks that caused the desync are:"
        f"\n\t     [{inner}] finished collective #{last}, but didn't join collective #{seq} (count from 1)"
        "\n\t - Snapshot of ranks' latest states:"
        f"\n\t   #{last} finished ranks:\n\t     [{inner}] finished {kind}"
        f"\n\t   #{seq} started ranks:\n\t     [{others}] started {kind}"
    )


def op_frames(op: Op) -> list[tuple[str, str, int]]:
    """(function, file, line) of the Python stack that issues a call, innermost first."""
    library = "/opt/venv/lib/python3.11/site-packages/torch/distributed"
    where = {
        "tp": ("_reduce", "/workspace/megatron/core/tensor_parallel/mappings.py", 27),
        "dp": ("start_grad_sync", "/workspace/megatron/core/distributed/param_and_grad_buffer.py", 158),
        "pp": ("_communicate", "/workspace/megatron/core/pipeline_parallel/p2p_communication.py", 324),
        "world": ("clip_grad_norm", "/workspace/train/optim.py", 88),
    }[op.kind]
    name = op.name.removeprefix("_").removesuffix("_base")
    return [
        (name, f"{library}/distributed_c10d.py", 2501),
        ("wrapper", f"{library}/c10d_logger.py", 81),
        where,
        ("train_step", "/workspace/train/loop.py", 212),
        ("<module>", "/workspace/train/train.py", 77),
    ]
