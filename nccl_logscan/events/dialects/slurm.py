"""Slurm: how srun says that tasks ended, and what srun, slurmstepd, sbatch and salloc report besides."""

from __future__ import annotations

import re

from nccl_logscan.events.dialects.process import SIGNALS_BY_WORDS, signal_of
from nccl_logscan.events.model import Event, ProcessExit, SlurmEvent, told_by
from nccl_logscan.expressions import deferred
from nccl_logscan.gate import Gate
from nccl_logscan.lines.model import LogLine
from nccl_logscan.position import Origin
from nccl_logscan.records import replace

# `srun: error: n07: task 3: Exited with exit code 1`; several hosts and tasks stand as lists (src/srun/launch.c).
_TASKS_ENDED = deferred(
    r"(?:srun|mpirun): (?:error: )?(?P<hosts>[A-Za-z0-9][\w.\[\],-]{0,400}): tasks? (?P<tasks>\d[\d,\[\] -]{0,400}): "
    r"(?P<how>Exited with exit code (?P<code>\d{1,4})|Out Of Memory|Killed|Terminated|Aborted|Segmentation fault"
    r"|Bus error|Illegal instruction"
    r"|Floating point exception|User defined signal \d|[A-Z][\w -]{2,40}(?: \(core dumped\))?)"
)
_STEP_ENDED = deferred(
    r"\*\*\* (?:STEP|JOB) \S{1,80} (?:ON (?P<host>\S{1,200}) )?"
    r"(?:CANCELLED|FAILED|COMPLETED|STEPD TERMINATED(?: ON (?P<last>\S{1,200}))?)"
)
_SIGNALS = SIGNALS_BY_WORDS | {"out of memory": 9}
_SPEAKER = r"(?:srun|slurmstepd|slurmd|sbatch|salloc|scontrol|slurmctld)(?:-\w{1,40})?(?:\[\d{1,10}\])?: "
_SPEAKS = deferred(
    rf"^{_SPEAKER}\S|\b{_SPEAKER}(?:error|fatal|warning|info): |\b{_SPEAKER}(?:Job step|Force Terminated"
    rf"|interrupt|forcing|\*\*\*)"
    r"|oom[_-]kill event|\bNode failure on \S|Job \d{1,12} has been (?:requeued|preempted|cancelled)"
    r"|JobState=(?:FAILED|NODE_FAIL|TIMEOUT|PREEMPTED|OUT_OF_MEMORY)"
    r"|DUE TO (?:TIME LIMIT|PREEMPTION|NODE FAILURE|JOB REQUEUE)"
    r"|killed by the cgroup out-of-memory handler|Exceeded (?:job|step) memory limit"
)
_NODE_FAILED = deferred(r"\bNode failure on (?P<host>[A-Za-z0-9][\w.-]{0,200})")
_FIRST_TASK = deferred(r"\d{1,8}")
_PREFIX_IN_LIST = deferred(r"(?P<stem>[\w.-]{1,100})\[(?P<first>\d{1,9})")

_GATE = Gate(_TASKS_ENDED, _STEP_ENDED, _SPEAKS)


def read(line: LogLine) -> Event | None:
    """Return how tasks ended, or another report of Slurm; None for any other line.

    `origin.host` and `origin.task` are the first of the lists that srun prints; the message keeps the lists.
    """
    return _read(line, line.text) if _GATE.admits(line.text) else None


def _read(line: LogLine, text: str) -> Event | None:
    if match := _TASKS_ENDED.search(text):
        return _ended(line, match)
    if match := _STEP_ENDED.search(text):
        return _event(line, match["host"] or match["last"])
    if _SPEAKS.search(text):
        failed = _NODE_FAILED.search(text)
        return _event(line, failed["host"] if failed else None)
    return None


def _ended(line: LogLine, match: re.Match[str]) -> ProcessExit:
    code = int(match["code"]) if match["code"] else None
    how = match["how"].removesuffix(" (core dumped)")
    first = _FIRST_TASK.search(match["tasks"])
    who = Origin(host=_first_host(match["hosts"]), task=int(first[0]) if first else None)
    return ProcessExit(
        at=line.at,
        # srun speaks of a task of its own numbering, whatever process printed before it.
        origin=who.completed_by(
            replace(line.origin, host=None, rank=None, local_rank=None, task=None, pid=None, tid=None, device=None)
        ),
        when=line.when,
        message=line.text,
        repeated=line.repeated,
        launcher="srun",
        exit_code=code,
        signal=_SIGNALS.get(how.lower()) or signal_of(code),
    )


def _event(line: LogLine, host: str | None) -> SlurmEvent:
    origin = replace(line.origin, host=host) if host else line.origin
    return SlurmEvent(**told_by(line, origin=origin))


def _first_host(hosts: str) -> str:
    """`n[07-09],m1` → `n07`."""
    if match := _PREFIX_IN_LIST.match(hosts):
        return f"{match['stem']}{match['first']}"
    return hosts.partition(",")[0]
