"""MPI launchers and libraries: Open MPI up to 4 (ORTE), Open MPI 5 (PRRTE), hydra (MPICH, MVAPICH, Intel MPI), UCX."""

from __future__ import annotations

from nccl_logscan.events.dialects.process import signal_of
from nccl_logscan.events.model import Event, MpiEvent, ProcessExit, told_by
from nccl_logscan.expressions import deferred
from nccl_logscan.gate import Gate
from nccl_logscan.lines.model import LogLine
from nccl_logscan.position import Origin
from nccl_logscan.records import replace

_LAUNCHER = r"(?:mpirun|mpiexec|prterun|orterun|prun)"
_PROCESS = r"process rank (?P<task>\d{1,7}) with PID (?P<pid>\d{1,10}) on ?"
_EXITS = tuple(
    deferred(expression)
    for expression in (
        rf"{_LAUNCHER} noticed that {_PROCESS}node (?P<host>\S{{1,200}}) exited on signal (?P<signal>\d{{1,3}})",
        rf"{_LAUNCHER} has exited due to {_PROCESS}(?:node (?P<host>\S{{1,200}}))?",
        rf"{_LAUNCHER} detected that one or more processes exited with non-zero status",
        r"exited on signal (?P<signal>\d{1,3}) \([A-Z]",
        r"BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES",
        r"^=\s{1,8}EXIT CODE: (?P<code>-?\d{1,5})",
        r"^=\s{1,8}KILLED BY SIGNAL: (?P<signal>\d{1,3})",
        r"EXIT STRING: [A-Z][\w ]{2,30} \(signal (?P<signal>\d{1,3})\)",
        r"^=\s{1,8}RANK (?P<task>\d{1,7}) PID (?P<pid>\d{1,10}) RUNNING AT (?P<host>\S{1,200})",
        r"^=\s{1,8}PID (?P<pid>\d{1,10}) RUNNING AT (?P<host>\S{1,200})",
        r"^\s{0,4}Process name: \[(?:\[\d+,\d+\]|prterun-[^\]@]{1,200}@\d+),(?P<task>\d{1,7})\]",
        r"^\s{0,4}Exit code:\s{1,8}(?P<code>-?\d{1,5})\s{0,4}$",
    )
)
_EVENTS = deferred(
    r"\bUCX {1,4}(?:ERROR|FATAL|WARN)\b|MPI_ABORT was invoked on rank (?P<task>\d{1,7})|MPI_Abort\("
    r"|\*\*\* An error occurred in MPI_"
    r"|\*\*\* MPI_ERR(?:ORS)?_|(?:ORTE|PRTE|PMIX|OPAL)[ _]ERROR|(?:ORTE"
    r"|PRTE) has lost communication with a remote daemon"
    r"|(?:ORTE|PRTE) was unable to (?:reliably start|start)|There are not enough slots available in the system"
    r"|An ORTE daemon has unexpectedly failed|Primary job  terminated normally, but|\bHYD[TU]?_[a-z_]{2,60} \("
    r"|\[mpiexec@[^\]]{1,200}\] "
    r"|\[proxy:\d+:\d+@[^\]]{1,200}\] |Abort\(\d{1,12}\) on node (?P<node>\d{1,7})|Fatal error in (?:PMPI"
    r"|MPI)_\w{2,40}"
    r"|^\[[\w.-]{1,200}[:,\d]{1,40}\]\S{0,200} (?:mca_|btl_|orte_|prte_|opal_)"
    r"|WARNING: There was an error initializing an OpenFabrics device"
    r"|By default, for Open MPI 4\.0 and later, infiniband ports on a device are not used"
)
_GATE = Gate(*_EXITS, _EVENTS)


def read(line: LogLine) -> Event | None:
    """Return how a launcher says that a process ended, or an error of MPI itself; None for any other line."""
    return _read(line, line.text) if _GATE.admits(line.text) else None


def _read(line: LogLine, text: str) -> Event | None:
    for expression in _EXITS:
        if match := expression.search(text):
            return _exit(line, match.groupdict())
    if match := _EVENTS.search(text):
        return _event(line, match["task"] or match["node"])
    return None


def _exit(line: LogLine, said: dict[str, str | None]) -> ProcessExit:
    code, pid = _integer(said.get("code")), _integer(said.get("pid"))
    who = Origin(host=said.get("host"), task=_integer(said.get("task")), pid=pid)
    return ProcessExit(
        at=line.at,
        # The launcher speaks of another process than the one whose output this is.
        origin=who.completed_by(
            replace(line.origin, rank=None, local_rank=None, task=None, pid=None, tid=None, device=None)
        ),
        when=line.when,
        message=line.text,
        repeated=line.repeated,
        launcher="mpirun",
        exit_code=code,
        signal=_integer(said.get("signal")) or signal_of(code),
        victim=pid,
    )


def _event(line: LogLine, task: str | None) -> MpiEvent:
    origin = replace(line.origin, task=int(task)) if task else line.origin
    return MpiEvent(**told_by(line, origin=origin))


def _integer(digits: str | None) -> int | None:
    return int(digits) if digits else None
