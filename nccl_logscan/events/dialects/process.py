"""Processes that end: signals as the C library, the shell and Python tell them, exits as launchers tell them."""

from __future__ import annotations

import re

from nccl_logscan.events.model import Event, ProcessExit, ProcessSignal, told_by
from nccl_logscan.expressions import deferred
from nccl_logscan.gate import Gate
from nccl_logscan.lines.model import LogLine
from nccl_logscan.position import Origin

# Linux numbers, whatever this program runs on: the log is from a Linux host.
_BY_NAME = {
    "SIGHUP": 1,
    "SIGINT": 2,
    "SIGQUIT": 3,
    "SIGILL": 4,
    "SIGTRAP": 5,
    "SIGABRT": 6,
    "SIGBUS": 7,
    "SIGFPE": 8,
    "SIGKILL": 9,
    "SIGUSR1": 10,
    "SIGSEGV": 11,
    "SIGUSR2": 12,
    "SIGPIPE": 13,
    "SIGALRM": 14,
    "SIGTERM": 15,
    "SIGXCPU": 24,
    "SIGSYS": 31,
}
SIGNALS_BY_WORDS = {
    "hangup": 1,
    "interrupt": 2,
    "illegal instruction": 4,
    "aborted": 6,
    "bus error": 7,
    "floating point exception": 8,
    "killed": 9,
    "segmentation fault": 11,
    "terminated": 15,
    "user defined signal 1": 10,
    "user defined signal 2": 12,
}
_WORDS = r"Segmentation fault|Bus error|Killed|Aborted|Illegal instruction|Floating point exception|Terminated|Hangup"

_HOST_AND_PID = deferred(
    r"\[(?P<host>[A-Za-z][\w.-]{0,120}):(?P<pid>\d{1,10})(?::\d+:\d+)?\] {1,4}(?:\*\*\*|Signal|Caught)"
)
_SIGNALS = tuple(
    deferred(expression)
    for expression in (
        rf"^(?P<words>{_WORDS})(?:: \d{{1,2}})? ?(?:\(core dumped\))?\.?\s{{0,4}}$",
        rf"^\S{{1,200}}: line \d{{1,7}}: {{1,8}}(?P<victim>\d{{1,10}}) (?P<words>{_WORDS})\b",
        rf"Signal: (?:{_WORDS}|[A-Z][\w ]{{1,40}}) \((?P<number>\d{{1,2}})\)",
        r"Caught signal (?P<number>\d{1,2}) \(",
        r"\*\*\* Process received signal \*\*\*",
        rf"Fatal Python error: (?:(?P<words>{_WORDS})|\S)",
        r"Segfault encountered(?P<segv>)",
        (
            r"(?P<abort>)(?:double free or corruption \(|corrupted size vs\. prev_size|corrupted double-linked list"
            r"|stack smashing detected"
            r"|buffer overflow detected \*\*\*|terminate called (?:without an active|after throwing|recursively))"
        ),
        r"(?P<abort>)(?:malloc|free|realloc|calloc|malloc_consolidate|munmap_chunk|mremap_chunk)\(\): [a-z]",
        r"[Tt]erminating process (?P<victim>\d{1,10}) via signal (?P<name>SIG[A-Z0-9]{2,5})",
        r"Signal (?P<number>\d{1,2}) \(SIG[A-Z0-9]{2,5}\) received by PID (?P<victim>\d{1,10})",
        r"Received (?P<name>SIG(?:TERM|INT|USR1|USR2|HUP|CONT))\b",
        (
            rf"DataLoader worker \(pid\(?s?\)? ?(?P<victim>\d{{1,10}})\) is killed by signal: (?:(?P<words>{_WORDS})"
            rf"|[A-Z])"
        ),
        r"Killing subprocess (?P<victim>\d{1,10})",
        r"(?P<abort>)\bMemory access fault by GPU node-\d",
        r"\(core dumped\)\s{0,4}$",
    )
)
_EXITS = tuple(
    (launcher, deferred(expression))
    for launcher, expression in (
        ("spawn", r"\bprocess \d{1,6} terminated with signal (?P<name>SIG[A-Z0-9]{2,5})"),
        ("spawn", r"\bprocess \d{1,6} terminated with exit code (?P<code>-?\d{1,4})"),
        ("deepspeed", r"exits with return code = (?P<code>-?\d{1,4})"),
        ("deepspeed", r"\bProcess (?P<victim>\d{1,10}) exits (?P<well>successfully)"),
        ("subprocess", r"died with <Signals\.(?P<name>SIG[A-Z0-9]{2,5}): \d"),
        ("subprocess", r"returned non-zero exit status (?P<code>\d{1,4})"),
        ("github-actions", r"Process completed with exit code (?P<code>\d{1,4})"),
        ("github-actions", r"^The (?:runner has received a shutdown signal|(?:operation|job) was cancell?ed)"),
        ("systemd", r"Main process exited, code=exited, status=(?P<code>\d{1,3})/"),
        ("systemd", r"Main process exited, code=(?:killed|dumped), status=\d{1,3}/(?P<name>[A-Z0-9]{2,5})"),
        ("skypilot", r"\bJob \d{1,9} failed with return code list: \[(?:0, ){0,9999}(?P<code>-?\d{1,4})"),
        ("hydra", r"^Error executing job with overrides: \["),
        ("lsf", r"^TERM_(?:MEMLIMIT|RUNLIMIT|OWNER|ADMIN|PREEMPT|SWAP|EXTERNAL_SIGNAL|UNKNOWN)\b"),
        ("pbs", r"=>> PBS: job killed: "),
    )
)
_EXIT_GATE = Gate(*(expression for _, expression in _EXITS))
_SIGNAL_GATE = Gate(*_SIGNALS)
_LAUNCHER_OF = {expression.pattern: launcher for launcher, expression in _EXITS}


def read(line: LogLine) -> Event | None:
    """Return a signal or an exit that the line tells of; None for any other line."""
    if match := _EXIT_GATE.search(line.text):
        return _exit(line, match)
    match = _SIGNAL_GATE.search(line.text)
    return _signal(line, match) if match else None


def _exit(line: LogLine, match: re.Match[str]) -> ProcessExit:
    said = match.groupdict()
    code = 0 if said.get("well") else _integer(said.get("code"))
    return ProcessExit(
        **told_by(line),
        launcher=_LAUNCHER_OF[match.re.pattern],
        exit_code=code,
        signal=_named(said) or signal_of(code),
        victim=_integer(said.get("victim")),
    )


def _signal(line: LogLine, match: re.Match[str]) -> ProcessSignal:
    said = match.groupdict()
    return ProcessSignal(
        **told_by(line, origin=line.origin.completed_by(_writer(line.text))),
        signal=_number(said),
        victim=_integer(said.get("victim")),
    )


def _writer(text: str) -> Origin:
    """Return the host and pid that Open MPI and UCX put before a crash report."""
    match = _HOST_AND_PID.search(text)
    return Origin(host=match["host"], pid=int(match["pid"])) if match else Origin()


def _number(said: dict[str, str | None]) -> int | None:
    if said.get("number"):
        return _integer(said["number"])
    if said.get("abort") is not None:
        return 6
    if said.get("segv") is not None:
        return 11
    return _named(said) or SIGNALS_BY_WORDS.get((said.get("words") or "").lower())


def _named(said: dict[str, str | None]) -> int | None:
    """Return the number of a signal by its name; systemd leaves out the SIG."""
    return _BY_NAME.get("SIG" + (said.get("name") or "").removeprefix("SIG"))


def _integer(digits: str | None) -> int | None:
    return int(digits) if digits else None


def signal_of(exit_code: int | None) -> int | None:
    """Return the signal that an exit code stands for: -9 in Python's manner, 137 in a shell's."""
    if exit_code is None:
        return None
    if exit_code < 0:
        return -exit_code
    return exit_code - 128 if 129 <= exit_code <= 159 else None
