"""Where a scan's processor time goes, by phase: what stands behind the figures of the table of speed.

python -m benchmarks.phases LOG...    prints JSON: seconds by phase, lines of the log, lines that were read, questions

It scans in this process, with a clock around the functions that a phase consists of; the clocks cost some hundredths.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from threading import Lock
from typing import Any

from nccl_logscan import pipeline

START = "start: the interpreter, imports"
REST = "everything else"
PHASES = {
    "kernel": "kernel: lines cut, shapes, classes",
    "fetch": "bytes fetched into windows",
    "ask": "a line of each shape read and probed",
    "prime": "first lines of each file",
    "hand": "lines handed over and put in order",
    "read": "lines read: peeled, tokenised, judged",
    "conclude": "verdict and plan",
}


@dataclass(slots=True)
class Clocks:
    """Processor seconds and calls by phase; what one phase does within another counts for the inner one alone."""

    seconds: dict[str, float] = field(default_factory=dict)
    calls: dict[str, int] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def around(self, owner: Any, name: str, phase: str, within: str | None = None) -> None:
        """Measure a function from now on; its time is taken off the phase `within` which it is called."""
        function: Callable[..., Any] = getattr(owner, name)

        @wraps(function)
        def measured(*given: Any, **named: Any) -> Any:
            started = time.thread_time()
            try:
                return function(*given, **named)
            finally:
                spent = time.thread_time() - started
                with self.lock:
                    self.calls[phase] = self.calls.get(phase, 0) + 1
                    self.seconds[phase] = self.seconds.get(phase, 0.0) + spent
                    if within is not None:
                        self.seconds[within] = self.seconds.get(within, 0.0) - spent

        setattr(owner, name, measured)


def measured(paths: list[str]) -> dict[str, object]:
    """Scan, and return what it cost."""
    start = time.process_time()
    from nccl_logscan.skim import asking, kernel, large, rounds, windows  # noqa: PLC0415 - a small log needs none of it

    imported = time.process_time() - start
    clocks = Clocks()
    clocks.around(kernel.KernelSkimmer, "skim", "kernel")
    clocks.around(asking.Asker, "__call__", "ask", within="kernel")
    clocks.around(windows.FileWindows, "read", "fetch")
    clocks.around(large, "asker_of", "prime")
    clocks.around(kernel.KernelSkimmer, "tell", "hand")
    clocks.around(rounds._Merging, "round", "hand")
    clocks.around(pipeline.Reading, "take_round", "read")
    clocks.around(pipeline.Reading, "take", "read")
    clocks.around(pipeline.Run, "conclude", "conclude")
    clocks.around(pipeline.Reading, "_take", "line")
    result = pipeline.scan(paths)
    total = time.process_time() - imported
    phases = {START: start} | {told: clocks.seconds.get(name, 0.0) for name, told in PHASES.items()}
    phases[REST] = total - sum(phases.values())
    return {
        "phases": phases,
        "processor": total,
        "lines": result.coverage.lines,
        "read": clocks.calls.get("line", 0),
        "asked": clocks.calls.get("ask", 0),
    }


def section(cases: Mapping[str, Sequence[Path]], environment: Mapping[str, str]) -> str:
    """The page's part on phases: a column for each case of which these are the logs, measured now."""
    told = {letter: _told_by_another(paths, environment) for letter, paths in cases.items()}
    lines = [
        "## Where the time goes",
        "",
        "Processor seconds by phase, of a run with clocks in it (`python -m benchmarks.phases LOG`). All but the",
        "kernel and the fetching hold Python's lock: they run one after the other, however many processors there are.",
        "",
        "| phase | " + " | ".join(f"({letter})" for letter in told) + " |",
        "|---|" + "---|" * len(told),
    ]
    rows = [
        (phase, [f"{one['phases'][phase]:.2f}" for one in told.values()]) for phase in (START, *PHASES.values(), REST)
    ]
    counts = (("lines of the log", "lines"), ("lines that were read", "read"), ("questions", "asked"))
    rows += [(name, [f"{one[counted]:,}" for one in told.values()]) for name, counted in counts]
    each = [1e6 * one["phases"][PHASES["read"]] / max(1, one["read"]) for one in told.values()]
    rows.append(("microseconds a line that was read", [f"{micros:.0f}" for micros in each]))
    return "\n".join([*lines, *(f"| {name} | {' | '.join(cells)} |" for name, cells in rows), ""])


def _told_by_another(paths: Sequence[Path], environment: Mapping[str, str]) -> Any:
    command = [sys.executable, "-m", "benchmarks.phases", *map(str, paths)]
    root = Path(__file__).resolve().parents[1]
    told = subprocess.run(command, env=dict(environment), cwd=root, check=True, stdout=subprocess.PIPE)
    return json.loads(told.stdout)


if __name__ == "__main__":
    json.dump(measured(sys.argv[1:]), sys.stdout)
