"""ProcessGroupNCCL and its neighbours: watchdog, heartbeat monitor, dump signals, desync reports, mismatches.

Wordings of PyTorch 1.8 to 2.14. A message's head and its `[PG ID 0 PG GUID 0(default_pg) Rank 7]` are taken off; the
process group is given as `0(default_pg)`: its unique name and, in parentheses, its description, as far as printed. The
default group's name is `0`, as `PG 0 (default_pg)` in logs since 2.4 shows; its ranks are the global ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice
from math import prod
from typing import Any

from nccl_logscan.events.dialects.c10 import C10Line, peel
from nccl_logscan.events.model import (
    Event,
    TorchDesync,
    TorchDumpSignal,
    TorchHeartbeat,
    TorchMismatch,
    TorchMonitoredBarrier,
    TorchProcessGroup,
    TorchWatchdogTimeout,
    TorchWorkStatus,
    told_by,
)
from nccl_logscan.expressions import deferred
from nccl_logscan.lines.model import LogLine
from nccl_logscan.numbers import INT64_MAX, whole
from nccl_logscan.position import Origin
from nccl_logscan.records import dataclass

_FILES = ("ProcessGroup", "NCCLUtils", "TraceUtils", "FlightRecorder", "HeartbeatMonitor", "Utils.hpp", "logger.cpp")
_PREFIX = deferred(
    r"\s?\[(?:PG (?P<group>.{1,300}?) )?[Rr]ank (?P<rank>\d{1,7})\]:? ?"
    r"|\[(?P<bare>\d{1,7})\] (?=caught collective operation timeout)"  # 1.7
)


@dataclass(frozen=True, slots=True)
class _Said:
    """What one line said, its head and process group prefix taken off."""

    line: LogLine
    head: C10Line | None
    process_group: str | None
    group_rank: int | None
    text: str

    def fields(self) -> dict[str, Any]:
        """The fields every event has."""
        head = self.head
        return {
            "at": self.line.at,
            "origin": head.origin if head else self.line.origin,
            "when": head.when if head else self.line.when,
            "message": self.text,
            "repeated": self.line.repeated,
        }

    def group(self) -> dict[str, Any]:
        """Which process group spoke, and its rank there."""
        return {"process_group": self.process_group, "group_rank": self.group_rank}


def read(line: LogLine) -> Event | None:
    """Return the event of a line that ProcessGroupNCCL, its wrapper or its monitors wrote."""
    head = peel(line)
    if head is None:
        return read_headless(line)
    if not head.site.file.rpartition("/")[2].startswith(_FILES):
        return None
    said = _without_group(line, head, head.text)
    for reader in _READERS:
        if event := reader(said):
            return event
    return TorchProcessGroup(**said.fields(), **said.group(), severity=head.severity, site=head.site)


def read_headless(line: LogLine) -> Event | None:
    """Return the event of a line without a C++ log head: part of a longer message, or printed by a program itself."""
    text = line.text
    if "ollective" in text or "arrier" in text or "across ranks" in text:
        if event := collective_fault(line, text):
            return event
        if "aught collective operation timeout" in text:
            return _watchdog_timeout(_without_group(line, None, text))
        return _desync(_Said(line, None, None, None, text))
    if "NCCL operations have failed" in text or "taking the entire process down" in text:
        said = _without_group(line, None, text)
        if said.text.startswith(("Some NCCL operations", "To avoid data")):
            return TorchProcessGroup(**said.fields(), **said.group())
    elif (
        "best knowledge" in text
        or "ed ranks:" in text
        or "anks' latest" in text
        or "] started " in text
        or "] finished " in text
    ):
        return _desync(_Said(line, None, None, None, text))
    return None


def collective_fault(line: LogLine, text: str) -> Event | None:
    """Return the mismatch or the missed barrier that `text` tells of, be it alone or within an exception."""
    if "ollectives on ranks" in text or "across ranks" in text:
        return _mismatch(line, text)
    if "monitoredBarrier" in text:
        return _monitored_barrier(line, text)
    return None


def _without_group(line: LogLine, head: C10Line | None, text: str) -> _Said:
    group: str | None = None
    rank: int | None = None
    start = 0
    # The heartbeat monitor of 2.6 and later puts the prefix twice.
    while found := _PREFIX.match(text, start):
        group = _group_name(found["group"]) if found["group"] else group
        rank = int(found["rank"] or found["bare"])
        start = found.end()
    return _Said(line, head, group, rank, text[start:].strip())


def _group_name(printed: str) -> str:
    """`ID 0 PG GUID 0(default_pg)` (2.6), `0 (default_pg)` (2.4) and `1` (2.2) as `0(default_pg)` and `1`."""
    _, _, name = printed.rpartition("PG GUID ")
    return name.replace(" (", "(", 1)


def _number(expression: re.Pattern[str], text: str) -> int | None:
    found = expression.search(text)
    return int(found[1]) if found else None


def _elements(shape: str) -> int | None:
    """Return how many elements a tensor of a shape (`8, 1024`) has; None where its numbers are none."""
    sizes = [whole(size.strip(), 18) for size in shape.split(",") if size.strip()]
    known = [size for size in sizes if size is not None]
    return min(prod(known), INT64_MAX) if len(known) == len(sizes) else None


_SEQUENCE = deferred(r"SeqNum=(\d{1,18}(?!\d))")
_OPERATION = deferred(r"OpType=(\w+)")
_NUMEL_IN = deferred(r"NumelIn=(\d{1,18}(?!\d))")
_NUMEL_OUT = deferred(r"NumelOut=(\d{1,18}(?!\d))")
_SHAPE = deferred(r"TensorShape=\[([\d, ]{1,200})\]")
_LIMIT = deferred(r"Timeout\(ms\)=(\d{1,18}(?!\d))")
_ELAPSED = deferred(r"ran for (\d{1,18}(?!\d)) milliseconds")


def _watchdog_timeout(said: _Said) -> TorchWatchdogTimeout | None:
    text = said.text
    caught = text.startswith(("Watchdog caught collective", "Caught collective operation", "caught collective op"))
    if not caught and not (text.startswith("Work ") and "timed out in" in text):
        return None
    numel_out = _number(_NUMEL_OUT, text)
    if numel_out is None and (shape := _SHAPE.search(text)):
        # 1.10 to 2.0 print the shape of the first output instead (ProcessGroupNCCL.cpp, operator<<).
        numel_out = _elements(shape[1])
    operation = _OPERATION.search(text)
    return TorchWatchdogTimeout(
        **said.fields(),
        **said.group(),
        collective=operation[1] if operation else None,
        sequence=_number(_SEQUENCE, text),
        numel_in=_number(_NUMEL_IN, text),
        numel_out=numel_out,
        timeout_ms=_number(_LIMIT, text),
        elapsed_ms=_number(_ELAPSED, text),
    )


_ENQUEUED = deferred(r"[Ll]ast enqueued(?: NCCL)? work: (-?\d{1,18}(?!\d))")
_STARTED = deferred(r"[Ll]ast started(?: NCCL)? work: (-?\d{1,18}(?!\d))")
_COMPLETED = deferred(r"[Ll]ast completed(?: NCCL)? work: (-?\d{1,18}(?!\d))")
_FAILED = deferred(r"(?:work sequence id|Timeout at NCCL work|watchdog at work): (-?\d{1,18}(?!\d))")
_FROM_RANK = deferred(r"from\s+rank (\d{1,7})")
_LOCAL_DUMPS = (
    "this local rank",
    "First PG on this rank to signal",
    "First watchdog to set the dump signal",
    "Broadcasting flight",
    "Sending extra dumping signal",
    "from the local rank",
)


def _dump_signal(said: _Said) -> TorchDumpSignal | None:
    text = said.text
    named = "dump" in text and ("signal" in text or text.startswith("Received a "))
    # 2.3 and 2.4 end the process with these instead.
    told = "watchdog detected a" in text and text.startswith("ProcessGroupNCCL's watchdog")
    if not (named or told) or text.startswith("Failed"):
        return None
    initiator = _FROM_RANK.search(text)
    return TorchDumpSignal(
        **said.fields(),
        **said.group(),
        initiator=int(initiator[1]) if initiator else None,
        local=any(words in text for words in _LOCAL_DUMPS),
        last_enqueued=_number(_ENQUEUED, text),
        last_completed=_number(_COMPLETED, text),
    )


def _work_status(said: _Said) -> TorchWorkStatus | None:
    text = said.text
    if "ast enqueued" not in text and "ast completed" not in text:
        return None
    return TorchWorkStatus(
        **said.fields(),
        **said.group(),
        last_enqueued=_number(_ENQUEUED, text),
        last_started=_number(_STARTED, text),
        last_completed=_number(_COMPLETED, text),
        failed_sequence=_number(_FAILED, text),
    )


_HEARTBEAT = (
    "Heartbeat monitor timed out",
    "watchdog got stuck for",
    "monitor thread timeout",
    "monitoring thread detects no heartbeat",
    "no heartbeat of its watchdog",
    "onitor Thread is disabled, but",
    "onitor thread is disabled, but",
    "Terminating the process after attempting to dump",
    "watchdog hang",
)


def _heartbeat(said: _Said) -> TorchHeartbeat | None:
    if any(words in said.text for words in _HEARTBEAT):
        return TorchHeartbeat(**said.fields())
    return None


_RANKS = r"\[(?P<ranks>[\d, ]{1,100000})\]"
_DESYNC_FORMS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "timeout",
        deferred(rf"(?:- )?(?:{_RANKS} )?Timeout at collective: (?P<collective>\w+), #(?P<sequence>\d{{1,18}}(?!\d))"),
    ),
    (
        "missing",
        deferred(
            rf"(?:- )?{_RANKS} finished collective #\d+, but didn't join collective #(?P<sequence>\d{{1,18}}(?!\d))"
        ),
    ),
    ("started", deferred(rf"(?:- )?{_RANKS} joined but didn't finish collective #(?P<sequence>\d{{1,18}}(?!\d))")),
    ("never-joined", deferred(rf"(?:- )?To our best knowledge, ranks {_RANKS} are the lagging ranks")),
    ("never-joined", deferred(rf"(?:- )?{_RANKS}.{{0,40}}never joined")),
    ("report", deferred(r"(?:- )?(?:To our best knowledge, |Snapshot of ranks' latest states)")),
    ("finished", deferred(r"#(?P<sequence>\d{1,18}(?!\d)) finished ranks:")),
    ("started", deferred(r"#(?P<sequence>\d{1,18}(?!\d)) started ranks:")),
    ("finished", deferred(rf"{_RANKS} finished (?P<collective>[A-Z_][A-Z0-9_]*)$")),
    ("started", deferred(rf"{_RANKS} started (?P<collective>[A-Z_][A-Z0-9_]*)$")),
    ("report", deferred(r"Rank \d+$")),
)


def _desync(said: _Said) -> TorchDesync | None:
    """A line of the report that TORCH_NCCL_DESYNC_DEBUG asks for (TraceUtils.h, 1.13 on).

    `Rank N` alone opens it from 2.6 on, and is believed under a head only.
    """
    text = said.text.strip()
    if text[:1] not in ("-", "#", "[", "T", "R", "S") or (text[:5] == "Rank " and said.head is None):
        return None
    for state, expression in _DESYNC_FORMS:
        if found := expression.match(text):
            return _desync_line(said, text, state, found.groupdict())
    return None


def _desync_line(said: _Said, text: str, state: str, fields: dict[str, str | None]) -> TorchDesync:
    return TorchDesync(
        **{**said.fields(), "message": text},
        state=state,
        ranks=_ranks(fields.get("ranks") or ""),
        collective=fields.get("collective"),
        sequence=int(sequence) if (sequence := fields.get("sequence")) else None,
    )


def _ranks(printed: str) -> tuple[int, ...]:
    """The ranks of a list as printed: `0, 1, 2`."""
    return tuple(int(rank) for rank in re.findall(r"\d{1,7}", printed))


_RUNNING = deferred(
    r"[Rr]ank (?P<rank>\d{1,7}) is running (?:inconsistent )?collective: +"
    r"(?:CollectiveFingerPrint\((?:SequenceNumber=(?P<sequence>\d{1,18}(?!\d)),? ?)?OpType=)?(?P<collective>\w+)"
)
_SEQUENCE_TOLD = deferred(r"sequence number is: (\d{1,18}(?!\d))")
_VERIFIED = deferred(r"for collective (?P<collective>\w+) on rank (?P<rank>\d{1,7})")


def _mismatch(line: LogLine, text: str) -> TorchMismatch | None:
    """ProcessGroupWrapper's finding; 1.9 worded it `Mismatch between collective operation types across ranks`."""
    start = text.find("Detected mismatch between collectives on ranks")
    if start < 0:
        return _mismatch_of_1_9(line, text)
    message = text[start:]
    runs = list(islice(_RUNNING.finditer(message), 2))
    first = runs[0] if runs else None
    second = runs[1] if len(runs) > 1 else None
    return TorchMismatch(
        **told_by(line, message, origin=_origin(line)),
        rank=int(first["rank"]) if first else None,
        other_rank=int(second["rank"]) if second else None,
        sequence=int(first["sequence"]) if first and first["sequence"] else _number(_SEQUENCE_TOLD, message),
        other_sequence=int(second["sequence"]) if second and second["sequence"] else None,
        collective=first["collective"] if first else None,
        other_collective=second["collective"] if second else None,
    )


def _mismatch_of_1_9(line: LogLine, text: str) -> TorchMismatch | None:
    if "Mismatch between collective operation types" in text:
        start = text.find("Mismatch between")
    elif "Error when verifying shape tensors" in text:
        start = text.find("Error when verifying")
    else:
        return None
    verified = _VERIFIED.search(text)
    return TorchMismatch(
        **told_by(line, text[start:], origin=_origin(line)),
        rank=int(verified["rank"]) if verified else None,
        collective=verified["collective"] if verified else None,
    )


_MISSED = deferred(r"Ranks? (?P<ranks>\d[\d, ]{0,100000}) failed to pass monitoredBarrier")
_BARRIER = ("failed to pass monitoredBarrier", "successfully reached monitoredBarrier", "monitoredBarrier in")


def _monitored_barrier(line: LogLine, text: str) -> TorchMonitoredBarrier | None:
    if not any(words in text for words in _BARRIER):
        return None
    found = _MISSED.search(text)
    return TorchMonitoredBarrier(
        **told_by(line, text, origin=_origin(line)),
        missing_ranks=_ranks(found["ranks"]) if found else (),
    )


def _origin(line: LogLine) -> Origin:
    head = peel(line)
    return head.origin if head else line.origin


def _fault(said: _Said) -> Event | None:
    return collective_fault(said.line, said.text)


_READERS: tuple[Callable[[_Said], Event | None], ...] = (
    _watchdog_timeout,
    _fault,
    _dump_signal,
    _work_status,
    _heartbeat,
    _desync,
)
