"""The words of PyTorch's NCCL back end and of torchrun, by release (from the message catalogue and recorded logs)."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import datetime, timezone

from tests.simulation.job import Call, Group, Op
from tests.simulation.scenario import numbers

_TYPES = {
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
_ABORTS = (
    "Some NCCL operations have failed or timed out. Due to the asynchronous nature of CUDA kernels, subsequent "
    "GPU operations might run on corrupted/incomplete data.",
    "To avoid data inconsistency, we are taking the entire process down.",
)


def local_time(seconds: float) -> datetime:
    """The wall clock, which the simulated hosts keep in UTC."""
    return datetime.fromtimestamp(seconds, tz=timezone.utc)


class TorchWords:
    """One release's words."""

    def __init__(self, release: str, rng: random.Random) -> None:
        self.release = numbers(release)
        self.rng = rng

    @property
    def dumps(self) -> bool:
        """Whether a time-out makes all ranks dump what they recorded."""
        return self.release >= (2, 4)

    def c10(self, rank: int, at: float, severity: str, text: str, line: int, file: str = "ProcessGroupNCCL.cpp") -> str:
        """A line of the C++ log."""
        if self.release < (2, 2):
            return f"[{severity} {file}:{line}] {text}"
        if self.release < (2, 4):
            return f"[rank{rank}]:[{severity} {file}:{line}] {text}"
        when = local_time(at)
        fraction = self.rng.randrange(10**9)
        stamp = f"{severity}{when.month}{when.day:02d} {when:%H:%M:%S}.{fraction:09d}"
        return f"[rank{rank}]:[{stamp} {file}:{line}] {text}"

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

    def work(self, call: Call, timeout_s: int) -> str:
        """A work's description."""
        kind, size = _TYPES[call.op.name], call.op.numel
        out = size * len(call.group.ranks) if kind == "_ALLGATHER_BASE" else size
        if kind == "_REDUCE_SCATTER_BASE":
            size, out = size * len(call.group.ranks), size
        shape = f"TensorShape=[{size}]" if self.release < (2, 1) else f"NumelIn={size}, NumelOut={out}"
        return f"WorkNCCL(SeqNum={call.seq}, OpType={kind}, {shape}, Timeout(ms)={timeout_s * 1000})"

    def timeout(
        self, rank: int, call: Call, at: float, timeout_s: int, status: tuple[int, int], frames: list[str]
    ) -> Iterator[str]:
        """What a rank's watchdog says when a call's time has run out; `status`: last enqueued, last completed."""
        inner = call.group.ranks.index(rank)
        ran = timeout_s * 1000 + self.rng.randint(3, 99)
        head = f"[Rank {inner}] Watchdog caught collective operation timeout: "
        self._said = f"{head}{self.work(call, timeout_s)} ran for {ran} milliseconds before timing out."
        yield self.c10(
            rank,
            at,
            "E",
            self._said,
            {1: 821, 2: 475}.get(self.release[0], 629)
            if self.release < (2, 2)
            else 523
            if self.release < (2, 4)
            else 607
            if self.release < (2, 5)
            else 632,
        )
        who = self.group(call.group, rank)
        if (2, 4) <= self.release < (2, 6):
            yield self.c10(
                rank,
                at,
                "E",
                f"{who}Exception (either an error or timeout) detected by watchdog at work: "
                f"{call.seq}, last enqueued NCCL work: {status[0]}, last completed NCCL work: {status[1]}.",
                1664,
            )
        elif self.release >= (2, 6):
            yield self.c10(
                rank,
                at,
                "E",
                f"{who} failure detected by watchdog at work sequence id: {call.seq} PG status"
                f": last enqueued work: {status[0]}, last completed work: {status[1]}",
                2268,
            )
            if frames:
                yield self.c10(rank, at, "E", "Stack trace of the failed collective: ", 670)
                yield from frames
                yield ""
            else:
                yield self.c10(
                    rank,
                    at,
                    "E",
                    "Stack trace of the failed collective not found, potentially because "
                    "FlightRecorder is disabled. You can enable it by setting TORCH_NCCL_TRACE_BUFFER_SIZE "
                    "to a non-zero value.",
                    681,
                )
            if self.release >= (2, 7):
                yield self.c10(rank, at, "E", f"{who}First PG on this rank to signal dumping.", 2573)

    def notified(self, rank: int, world: Group, at: float, status: tuple[int, int], by: int) -> Iterator[str]:
        """What a rank says that another one's signal made dump; `status`: of the world."""
        if self.release >= (2, 5):
            who = self.group(world, rank)
            yield self.c10(
                rank, at, "E", f"{who}Observed flight recorder dump signal from another rank via TCPStore.", 1682
            )
        yield from self.signal(rank, world, at, status, by)

    def signal(self, rank: int, group: Group, at: float, status: tuple[int, int], by: int | None) -> Iterator[str]:
        """What the monitor of the world's group says as it starts to dump, whichever group's watchdog asked for it."""
        who = self.group(group, rank)
        works = f"Last enqueued NCCL work: {status[0]}, last completed NCCL work: {status[1]}."
        if self.release < (2, 5):
            source = "dump signal from this local rank and" if by is None else f"global dump signal from rank {by}, and"
            yield self.c10(rank, at, "E", f"{who}Received a {source} will start to dump the debug info. {works}", 1288)
            whose = (
                "an exception from the local rank"
                if by is None
                else (f"a dump signal from rank {by} and notified the current rank")
            )
            yield self.c10(
                rank,
                at,
                "E",
                f"{who}ProcessGroupNCCL's watchdog detected {whose}. {_CAUSES}We tried our best "
                "to dump the debug info into the storage to help you debug the issue.",
                1299,
            )
            yield self.c10(rank, at, "E", f"{who}ProcessGroupNCCL preparing to dump debug info.", 1174)
            return
        source = "this local rank" if by is None else f" rank {by}"
        yield self.c10(
            rank,
            at,
            "E",
            f"{who}Received a dump signal due to a collective timeout from {source} and we will "
            f"try our best to dump the debug info. {works}{_CAUSES}",
            1743,
        )
        tail = (
            ""
            if self.release < (2, 6)
            else " Include stack trace: 1" + ("" if self.release < (2, 8) else ", only active collectives: 0")
        )
        yield self.c10(rank, at, "E", f"{who}ProcessGroupNCCL preparing to dump debug info.{tail}", 1533)

    def abort(self, rank: int, group: Group, at: float, dumped: bool) -> Iterator[str]:
        """A rank's last words after its watchdog's time-out."""
        who = self.group(group, rank)
        if dumped and self.release >= (2, 7) and self.rng.random() < 0.6:
            yield self.c10(
                rank,
                at,
                "F",
                f"{who}{who}Terminating the process after attempting to dump debug info, due to "
                "collective timeout or exception.",
                1557,
            )
            return
        prefix = who if self.release >= (2, 1) else ""
        for text, line in zip(_ABORTS, (630, 636), strict=True):
            yield self.c10(rank, at, "E", prefix + text, line)
        kind = "std::runtime_error" if self.release < (2, 2) else "c10::DistBackendError"
        if self.release >= (2, 1):
            thread = "NCCL watchdog thread" if self.release < (2, 3) else "Process group watchdog thread"
            said = f"{who}{thread} terminated with exception: {self._said}"
            yield self.c10(rank, at, "E", said, 1895)
            if self.release >= (2, 4):
                where = "checkTimeout at ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:632"
                yield f"Exception raised from {where} (most recent call first):"
                yield "frame #0: c10::Error::Error(c10::SourceLocation, std::string) + 0x96 (0x7f2c1d56c1b6 in /opt/venv/lib/python3.11/site-packages/torch/lib/libc10.so)"
                yield "frame #1: c10d::ProcessGroupNCCL::WorkNCCL::checkTimeout(std::optional<std::chrono::duration<long, std::ratio<1l, 1000l> > >) + 0x2b4 (0x7f2bd2e19c74 in /opt/venv/lib/python3.11/site-packages/torch/lib/libtorch_cuda.so)"
                yield "frame #2: c10d::ProcessGroupNCCL::watchdogHandler() + 0x890 (0x7f2bd2e1b7d0 in /opt/venv/lib/python3.11/site-packages/torch/lib/libtorch_cuda.so)"
                yield ""
        else:
            said = self._said
        yield f"terminate called after throwing an instance of '{kind}'"
        yield f"  what():  {said}"

    def async_error(self, rank: int, call: Call, at: float, timeout_s: int, nccl: str, said: str) -> Iterator[str]:
        """What a rank's watchdog says when NCCL reports an error."""
        who = self.group(call.group, rank)
        kind = "ncclRemoteError" if numbers(nccl) >= (2, 13) else "ncclSystemError"
        error = (
            f"NCCL error: remote process exited or there was a network error, NCCL version {nccl}\n{kind}: A call "
            f"failed possibly due to a network error or a remote process exiting prematurely.\nLast error:\n{said}"
        )
        if self.release >= (2, 5):
            head = f"{who}Collective {self.work(call, timeout_s)} raised the following async exception: {error}"
        else:
            head = f"{who}found async exception when checking for NCCL errors: {error}"
        yield from self.c10(rank, at, "E", head, 1973).splitlines()
        self._said = error
        yield from "\n".join(self.abort(rank, call.group, at, dumped=False)).splitlines()

    def traceback(self, rank: int, frames: list[tuple[str, int, str, str]], error: str) -> Iterator[str]:
        """An uncaught exception, as the hook of the release prints it; frames: file, line, function, source."""
        hook = f"[rank{rank}]: " if self.release >= (2, 3) else ""
        yield f"{hook}Traceback (most recent call last):"
        for file, line, function, source in frames:
            yield f'{hook}  File "{file}", line {line}, in {function}'
            yield f"{hook}    {source}"
        for line_ in error.splitlines():
            yield hook + line_


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


def elastic_failed(at: float, agent: int, code: int, local: int, pid: int, old: bool) -> str:
    """The line of torchrun's agent that a worker has failed."""
    text = f"failed (exitcode: {code}) local_rank: {local} (pid: {pid}) of binary: /opt/venv/bin/python3"
    return _agent(at, agent, "E", "ERROR", text, 869, old)


def elastic_closing(at: float, agent: int, pid: int, old: bool) -> str:
    """The line of torchrun's agent that it stops a worker."""
    return _agent(at, agent, "W", "WARNING", f"Sending process {pid} closing signal SIGTERM", 897, old)


def _agent(at: float, agent: int, severity: str, level: str, text: str, line: int, old: bool) -> str:
    if old:
        return f"{level}:torch.distributed.elastic.multiprocessing.api:{text}"
    when = local_time(at)
    stamp = f"{severity}{when.month:02d}{when.day:02d} {when:%H:%M:%S}.{when.microsecond // 1000:03d}000"
    return f"{stamp} {agent} torch/distributed/elastic/multiprocessing/api.py:{line}] {text}"


def elastic_table(exits: list[tuple[float, int, int, int, int, str]], host: str) -> Iterator[str]:
    """torchrun's table of failures: (time, rank, local rank, pid, exit code, traceback) in order of time."""
    yield "Traceback (most recent call last):"
    yield '  File "/opt/venv/bin/torchrun", line 8, in <module>'
    yield "    sys.exit(main())"
    yield '  File "/opt/venv/lib/python3.11/site-packages/torch/distributed/launcher/api.py", line 264, in launch_agent'
    yield "    raise ChildFailedError("
    yield "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: "
    yield "=" * 60
    yield "/workspace/train/train.py FAILED"
    yield "-" * 60
    yield "Failures:"
    if len(exits) == 1:
        yield "  <NO_OTHER_FAILURES>"
    for number, one in enumerate(exits[1:], 1):
        yield from _failure(number, one, host)
    yield "-" * 60
    yield "Root Cause (first observed failure):"
    yield from _failure(0, exits[0], host)
    yield "=" * 60


def _failure(number: int, exited: tuple[float, int, int, int, int, str], host: str) -> Iterator[str]:
    at, rank, local, pid, code, error_file = exited
    names = {-6: "SIGABRT", -9: "SIGKILL", -11: "SIGSEGV", -15: "SIGTERM"}
    yield f"[{number}]:"
    yield f"  time      : {local_time(at):%Y-%m-%d_%H:%M:%S}"
    yield f"  host      : {host}"
    yield f"  rank      : {rank} (local_rank: {local})"
    yield f"  exitcode  : {code} (pid: {pid})"
    yield f"  error_file: {error_file}"
    if code < 0:
        yield f"  traceback : Signal {-code} ({names[code]}) received by PID {pid}"
    else:
        yield "  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html"
