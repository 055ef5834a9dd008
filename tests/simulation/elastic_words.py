"""torchrun's words, by release."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.simulation.torch_words import local_time

_SIGNALS = {-6: "SIGABRT", -9: "SIGKILL", -11: "SIGSEGV", -15: "SIGTERM"}


@dataclass(frozen=True, slots=True, order=True)
class Exit:
    """A worker's end, by its host's clock; a negative code is a signal."""

    at: float
    rank: int
    local: int
    pid: int
    code: int
    error_file: str = "<N/A>"


@dataclass(frozen=True, slots=True)
class Agent:
    """torchrun's agent of a host."""

    release: tuple[int, ...]
    host: str
    pid: int

    def failed(self, at: float, one: Exit) -> str:
        """A worker has failed."""
        text = (
            f"failed (exitcode: {one.code}) local_rank: {one.local} (pid: {one.pid}) of binary: /opt/venv/bin/python3"
        )
        return self._log(at, "ERROR", text, 869)

    def closing(self, at: float, pid: int) -> str:
        """A worker is being stopped."""
        return self._log(at, "WARNING", f"Sending process {pid} closing signal SIGTERM", 897)

    def _log(self, at: float, level: str, text: str, line: int) -> str:
        name, when = "torch.distributed.elastic.multiprocessing.api", local_time(at)
        if self.release < (2, 1):
            return f"{level}:{name}:{text}"
        if self.release < (2, 3):
            return f"[{when:%Y-%m-%d %H:%M:%S},{when.microsecond // 1000:03d}] {name}: [{level}] {text}"
        stamp = f"{level[0]}{when.month:02d}{when.day:02d} {when:%H:%M:%S}.{when.microsecond // 1000:03d}000"
        return f"{stamp} {self.pid} {name.replace('.', '/')}.py:{line}] {text}"

    def table(self, exits: Sequence[Exit]) -> Iterator[str]:
        """The table of a host's failures, the first one last."""
        yield "Traceback (most recent call last):"
        yield '  File "/opt/venv/bin/torchrun", line 8, in <module>'
        yield "    sys.exit(main())"
        yield '  File "/opt/venv/lib/python3.11/site-packages/torch/distributed/run.py", line 879, in run'
        yield "    raise ChildFailedError("
        yield "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: "
        yield from ("=" * 60, "/workspace/train/train.py FAILED", "-" * 60, "Failures:")
        if len(exits) == 1:
            yield "  <NO_OTHER_FAILURES>"
        for number, one in enumerate(exits[1:], 1):
            yield from self._row(number, one)
        yield "-" * 60
        yield "Root Cause (first observed failure):"
        yield from self._row(0, exits[0])
        yield "=" * 60

    def _row(self, number: int, one: Exit) -> Iterator[str]:
        yield f"[{number}]:"
        yield f"  time      : {local_time(one.at):%Y-%m-%d_%H:%M:%S}"
        yield f"  host      : {self.host}"
        yield f"  rank      : {one.rank} (local_rank: {one.local})"
        yield f"  exitcode  : {one.code} (pid: {one.pid})"
        yield f"  error_file: {one.error_file}"
        if one.code < 0:
            yield f"  traceback : Signal {-one.code} ({_SIGNALS[one.code]}) received by PID {one.pid}"
        else:
            yield "  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html"


def error_json(message: str, at: float) -> str:
    """The error.json of a worker whose main function is recorded."""
    stack = f'Traceback (most recent call last):\n  File "/workspace/train/train.py", line 77, in main\n{message}\n'
    return json.dumps(
        {"message": {"message": message, "extraInfo": {"py_callstack": stack, "timestamp": str(int(at))}}}
    )
