"""Runs shell commands and says what they cost: wall clock, processor, memory of all processes, and who disturbed."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

_PERIOD = 0.01  # seconds between two looks at a command's memory
_TICKS = os.sysconf("SC_CLK_TCK")
_DISTURBED = 0.1  # processors that others had on average, from which a run is marked


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a command: seconds by the clock and of the processors, and processors that others used meanwhile."""

    wall: float
    processor: float
    others: float
    code: int

    @property
    def disturbed(self) -> bool:
        """Others had more than a tenth of a processor."""
        return self.others > _DISTURBED


@dataclass(frozen=True, slots=True)
class Memory:
    """Largest memory of a command, in bytes.

    `together` sums the proportional set sizes of all its processes at one time, so that a shared page counts once;
    `anonymous` is that part of it which no file backs; `largest` is the kernel's own account of its largest process.
    """

    together: int
    anonymous: int
    largest: int


def run(command: str, environment: Mapping[str, str]) -> Run:
    """Run a shell's command line to its end. What it prints goes into a file: grep stops early on /dev/null."""
    busy, started = _busy(), time.perf_counter()
    with tempfile.TemporaryFile() as printed:
        process = subprocess.Popen(["bash", "-c", command], stdout=printed, env=dict(environment))
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - started
    own = usage.ru_utime + usage.ru_stime
    return Run(wall, own, max(0.0, (_busy() - busy - own) / wall), process.returncode)


def memory(command: str, environment: Mapping[str, str]) -> Memory:
    """Run it once more and look at its processes' memory all the while, which slows it: such a run is not timed."""
    with tempfile.TemporaryFile() as printed:
        process = subprocess.Popen(["bash", "-c", command], stdout=printed, env=dict(environment))
        ended = Event()
        peaks = [0, 0]
        looker = Thread(target=_look, args=(process.pid, ended, peaks))
        looker.start()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        ended.set()
        looker.join()
    return Memory(peaks[0], peaks[1], _resident(usage))


def _look(root: int, ended: Event, peaks: list[int]) -> None:
    while not ended.wait(_PERIOD):
        sizes = [_proportional(process) for process in _family(root)]
        peaks[0] = max(peaks[0], sum(size for size, _ in sizes))
        peaks[1] = max(peaks[1], sum(anonymous for _, anonymous in sizes))


def _family(root: int) -> Iterator[int]:
    yield root
    try:
        threads = [thread.name for thread in Path(f"/proc/{root}/task").iterdir()]
    except OSError:  # ended
        return
    for thread in threads:
        try:
            children = Path(f"/proc/{root}/task/{thread}/children").read_text("ascii")
        except OSError:
            continue
        for child in children.split():
            yield from _family(int(child))


def _proportional(process: int) -> tuple[int, int]:
    try:
        text = Path(f"/proc/{process}/smaps_rollup").read_text("ascii")
    except OSError:
        return 0, 0
    sizes = {
        name: int(rest.split()[0]) << 10 for name, _, rest in (line.partition(":") for line in text.splitlines()[1:])
    }
    return sizes.get("Pss", 0), sizes.get("Pss_Anon", 0)


def _resident(usage: resource.struct_rusage) -> int:
    return usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _busy() -> float:
    """Seconds that this machine's processors have worked for anybody, since it started; 0 where the kernel hides it."""
    try:
        fields = Path("/proc/stat").read_text("ascii").split("\n", 1)[0].split()[1:]
    except OSError:
        return 0.0
    user, nice, system, _, _, irq, soft, *_ = map(int, fields)
    return (user + nice + system + irq + soft) / _TICKS
