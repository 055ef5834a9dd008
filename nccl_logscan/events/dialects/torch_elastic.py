"""torchrun's agent (torchelastic): its log lines, and the block in which it tells how each worker ended.

    ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: 1) local_rank: 0 ...          to 1.13
    [2024-05-08 08:47:31,877] torch.distributed.elastic.multiprocessing.api: [ERROR] failed ...         2.0 to 2.3
    E1130 05:41:55.166000 779 torch/distributed/elastic/multiprocessing/api.py:986] failed ...          since 2.4

Stamp and level may have been taken off already; the module's name, by dots or by slashes, is what tells these lines.
"""

from __future__ import annotations

import signal as signals
from datetime import datetime

from nccl_logscan.events.model import ElasticAgent, ElasticExit, told_by
from nccl_logscan.expressions import deferred
from nccl_logscan.lines.model import LogLine
from nccl_logscan.position import Instant, Origin
from nccl_logscan.records import dataclass, field, replace

# The module's name may stand behind a stamp or a level that no prefix of the lines layer knows.
_LOGGER = deferred(
    r"(?:.{0,80}?[\s:\]|])?torch[./]distributed[./](?:elastic|run|launch|launcher|agent)\b[a-z0-9_./]*?"
    r"(?:\.py:\d{1,6}\] ?"
    r"|(?: ?[:|-] ?\[?(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)\]?)(?: ?[:|-] ?| )"
    r"|: ?| - | \| ?)"
)
_FAILED = deferred(
    r"failed \(exitcode: (?P<code>-?\d{1,10})\)(?: local_rank: (?P<local>\d{1,6}))?(?: \(pid: (?P<pid>\d{1,10})\))?"
)
_CLOSING = deferred(
    r"Sending process \d+ closing signal (?P<name>SIG\w+)|Closing process \d+ via signal (?P<name2>SIG\w+)"
)
_SIGNALLED = deferred(r"(?:via signal|exiting via|via|closing signal) (?:Signals\.)?(SIG[A-Z0-9]+|\d{1,2}\b)")
_STAMP = deferred(r"(\d{4})-(\d\d?)-(\d\d?)_(\d\d?):(\d\d?):(\d\d?)")
_DEATH = deferred(r"Received (?:Signals\.)?(\w+) death signal")


def read(line: LogLine) -> ElasticAgent | ElasticExit | None:
    """Return the event of a line that torchrun or its agent logged; the text from the module's name on is taken off."""
    text = line.text
    if "failed (exitcode: " in text:
        return _exit(line)
    named = "torch" in text and ("distributed" in text) and (found := _LOGGER.match(text))
    if not named and not (_CLOSING.search(text) if "closing signal SIG" in text or "via signal SIG" in text else None):
        return None
    message = text[found.end() :] if named and found else text
    return ElasticAgent(
        **told_by(line, message.strip()),
        signal=_signal(message),
    )


def _exit(line: LogLine) -> ElasticExit | None:
    """`failed (exitcode: -9) local_rank: 0 (pid: 204) of binary: ...`: the worker's pid; its rank is not said."""
    found = _FAILED.search(line.text)
    if found is None:
        return None
    code = int(found["code"])
    local_rank = int(found["local"]) if found["local"] else None
    return ElasticExit(
        **told_by(
            line,
            line.text[found.start() :].strip(),
            origin=replace(
                line.origin, rank=None, local_rank=local_rank, pid=int(found["pid"]) if found["pid"] else None
            ),
        ),
        exit_code=code,
        signal=-code if code < 0 else None,
        local_rank=local_rank,
    )


def _signal(message: str) -> int | None:
    """The signal that the agent got or sent. Of two that it names, the last was the one that it turned to."""
    if "death signal" in message:
        found = _DEATH.search(message)
        return signal_number(found[1]) if found else None
    names = _SIGNALLED.findall(message) if "signal" in message or " via " in message else ()
    return signal_number(names[-1]) if names else None


def signal_number(name: str) -> int | None:
    """Return the number of `SIGTERM` or `15`; None for what is no signal of Linux."""
    if name.isdecimal():
        return int(name) if len(name) <= 2 else None
    try:
        return signals.Signals[name].value
    except KeyError:
        return None


@dataclass(slots=True)
class _Entry:
    """What the block has said so far of one worker."""

    when: datetime | None = None
    host: str | None = None
    rank: int | None = None
    local_rank: int | None = None
    pid: int | None = None


_FIELD = deferred(r"\s{1,8}(?P<name>time|host|rank|exitcode|error_file|traceback|msg)\s{0,8}: (?P<value>.*)")
_RANK = deferred(r"(\d{1,7})(?: \(local_rank: (\d{1,6})\))?")
_EXIT = deferred(r"(-?\d{1,10})(?: \(pid: (\d{1,10})\))?")
_ENTRY = deferred(r"\[\d{1,7}\]:\s*$")


@dataclass(slots=True)
class FailureBlock:
    """Reads the block `Root Cause (first observed failure):` line by line; one for each stream of lines.

    An entry's event comes at its `exitcode` line. `worker` is whose entry is being read: a traceback that stands in the
    block is that worker's.
    """

    _root_cause: bool = False
    _open: bool = False
    _entry: _Entry = field(default_factory=_Entry)

    @property
    def is_open(self) -> bool:
        """Is the end of the block still to come?"""
        return self._open

    @property
    def worker(self) -> Origin | None:
        """Who the entry being read is about; None outside of the block."""
        entry = self._entry
        if not self._open or entry.pid is None:
            return None
        return Origin(host=entry.host, rank=entry.rank, local_rank=entry.local_rank, pid=entry.pid)

    def read(self, line: LogLine) -> ElasticExit | None:
        """Return the event of an `exitcode` line; None for every other line, of the block or not."""
        text = line.text
        if text.startswith(("Root Cause", "Failures:", "Other Failures:")):
            self._open, self._root_cause, self._entry = True, text.startswith("Root"), _Entry()
        elif not self._open:
            return None
        elif _ENTRY.match(text):
            self._entry = _Entry()
        elif found := _FIELD.match(text):
            return self._field(line, found["name"], found["value"].strip())
        elif text.startswith("====="):
            self._open = False
        return None

    def _field(self, line: LogLine, name: str, value: str) -> ElasticExit | None:
        entry = self._entry
        if name == "time":
            entry.when = _time(value)
        elif name == "host":
            # The name of every host names none.
            entry.host = value if value != "localhost" else None
        elif name == "rank" and (rank := _RANK.match(value)):
            entry.rank = int(rank[1])
            entry.local_rank = int(rank[2]) if rank[2] else None
        elif name == "exitcode" and (code := _EXIT.match(value)):
            entry.pid = int(code[2]) if code[2] else None
            return self._exit(line, int(code[1]))
        return None

    def _exit(self, line: LogLine, code: int) -> ElasticExit:
        entry = self._entry
        host = entry.host or line.origin.host
        worker = Origin(host=host, rank=entry.rank, local_rank=entry.local_rank, pid=entry.pid)
        # Whole seconds, so that the clock is named apart from the host's: it does not order within a second.
        when = Instant(entry.when, clock=f"{host or line.at.source}:torchrun") if entry.when else line.when
        return ElasticExit(
            at=line.at,
            origin=worker.completed_by(replace(line.origin, tid=None, device=None, task=None)),
            when=when,
            message=line.text.strip(),
            repeated=line.repeated,
            exit_code=code,
            signal=-code if code < 0 else None,
            local_rank=entry.local_rank,
            root_cause=self._root_cause,
        )


def _time(printed: str) -> datetime | None:
    """`2026-11-30_05:42:35`, by the agent's clock; the zone is not printed."""
    found = _STAMP.fullmatch(printed)
    if found is None:
        return None
    try:
        return datetime(*map(int, found.groups()))  # type: ignore[arg-type] # six numbers
    except ValueError:
        return None
