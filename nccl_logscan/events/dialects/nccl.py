"""NCCL's own lines, and those of plugins that log through it: `HOST:PID:TID [DEV] FILE:LINE (FUNC) NCCL LEVEL MESSAGE`.

Read in NCCL 2.3.5 to 2.32.3. The header names the process; the rank is never in it, and a rank inside a message is one
within some communicator, so neither becomes `origin.rank` here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple, TypedDict

from nccl_logscan.events.model import (
    CallSite,
    Event,
    NcclAbort,
    NcclAttn,
    NcclCall,
    NcclChannel,
    NcclDiag,
    NcclDriver,
    NcclEnv,
    NcclInfo,
    NcclInit,
    NcclNetwork,
    NcclTrail,
    NcclVersion,
    NcclWarn,
    told_by,
)
from nccl_logscan.expressions import deferred
from nccl_logscan.lines.model import LogLine
from nccl_logscan.position import NOBODY, Instant, Origin, Position

_MARK = " NCCL "
_FREQUENT = ("INFO ", "WARN ")
_INFORMATIVE = ("INFO", "VERSION")
_LEVEL = deferred(r"(?:^| )NCCL (WARN|INFO|ATTN|DIAG|CALL|TRACE|ABORT|VERSION)(?: |$)")

# A host is cut at its first dot by NCCL, but logs are anonymised and plugins differ: anything but these ends it.
_NAME = r"(?<![^\s:|\[\]()])([^\s:|\[\]()]{1,255})"
_PROCESS = deferred(_NAME + r":(\d{1,10}):(\d{1,10}) \[(-?\d{1,10})\]", re.ASCII)
_PROCESS_WITHOUT_DEVICE = deferred(_NAME + r":(\d{1,10}):(\d{1,10})$", re.ASCII)
_DIAGNOSTICS = deferred(_NAME + r":(\d{1,10})$", re.ASCII)
_HEADER_END = deferred(r"(?:\d\]|\S:\d{1,9}(?: \(\S{1,255}\))?|^\d{0,10}\]?)$", re.ASCII)
_DEVICE_LEFT = deferred(r"[^\[\]]{0,255}\[(-?\d{1,10})\](?: |$)", re.ASCII)
_LONGEST_HEADER = 2000
_DEVICES_OF_A_PROCESS = 1024

_STAMP = deferred(
    r"(\d{4})[-/](\d\d)[-/](\d\d)[ T_](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(?: ?[+-]\d\d:?\d\d|Z)?[\]\s]{0,3}$",
    re.ASCII,
)


class _Header(NamedTuple):
    """What stood before ` NCCL LEVEL `."""

    origin: Origin
    site: CallSite | None
    when: Instant | None


class _Common(TypedDict):
    """The fields that every event has."""

    at: Position
    origin: Origin
    when: Instant | None
    message: str
    repeated: int


def read(line: LogLine) -> Event | None:
    """Return the event of a line that NCCL or a plugin wrote through NCCL's logger; None for any other line.

    Host, pid, tid and device are those of the header; what only the launcher's prefix says is kept from `line`.
    """
    text = line.text
    at = text.find(_MARK)
    if at < 0:
        return _read_without_mark(line)
    level = text[at + 6 : at + 11]
    if level not in _FREQUENT:
        return _read_level(line)
    header = _header(text[:at] if at < _LONGEST_HEADER else text[at - _LONGEST_HEADER : at], _prefixes(line))
    if header is None:
        return _read_level(line)
    message = text[at + 11 :]
    if level == "WARN ":
        return NcclWarn(**_common(line, header, message), site=header.site)
    if message.startswith(_BULK):
        return _read_channel(line, header, message)
    return _read_info(line, header, message)


def _read_level(line: LogLine) -> Event | None:
    """Read a line of any level, wherever in it the level stands."""
    text = line.text
    said = _LEVEL.search(text)
    if said is None:
        return _read_version(line)
    head = text[max(0, said.start() - _LONGEST_HEADER) : said.start()]
    header = (_diagnostics_header if said[1] == "DIAG" else _header)(head, _prefixes(line))
    if header is None:
        return None
    message = text[said.end() :]
    if said[1] in _INFORMATIVE:
        return _read_info(line, header, message)
    return _BY_LEVEL[said[1]](_common(line, header, message), header.site)


def _common(line: LogLine, header: _Header, message: str) -> _Common:
    return {
        "at": line.at,
        "origin": header.origin,
        "when": header.when or line.when,
        "message": message,
        "repeated": line.repeated,
    }


# --- Header ----------------------------------------------------------------------------------------------


@lru_cache(maxsize=8192)
def _header(head: str, prefixes: Origin | None) -> _Header | None:
    """Parse what stands before ` NCCL LEVEL`; None if NCCL's logger did not write it.

    A header whose beginning was torn off still counts: a call site or `[DEV]` before the level is NCCL's.
    """
    process = _last(_PROCESS, head) or _PROCESS_WITHOUT_DEVICE.search(head)
    if process is None:
        return _torn_header(head, prefixes) if _HEADER_END.search(head) else None
    host, pid, tid, *device = process.groups()
    own = Origin(host=host, pid=int(pid), tid=int(tid), device=_device(*device))
    return _Header(_merged(own, prefixes), _site(head[process.end() :]), printed_time(head[: process.start()], host))


def _torn_header(head: str, prefixes: Origin | None) -> _Header:
    """What is left after another process wrote over the start, or someone took the host's name out of the log."""
    device = _DEVICE_LEFT.match(head)
    if device is None:
        return _Header(prefixes or NOBODY, _site(head), None)
    return _Header(_merged(Origin(device=_device(device[1])), prefixes), _site(head[device.end() :]), None)


def _diagnostics_header(head: str, prefixes: Origin | None) -> _Header | None:
    """Parse the `HOST:PID` before ` NCCL DIAG` (2.31 on)."""
    process = _DIAGNOSTICS.search(head)
    if process is None:
        return _header(head, prefixes)
    own = Origin(host=process[1], pid=int(process[2]))
    return _Header(_merged(own, prefixes), None, printed_time(head[: process.start()], process[1]))


def _last(expression: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return the last match: where a line was torn, the last header is the one that its message belongs to."""
    last = None
    for found in expression.finditer(text):
        last = found
    return last


def _prefixes(line: LogLine) -> Origin | None:
    """What the launcher said, or None for nothing: a key that costs no hashing on logs without prefixes."""
    return None if line.origin is NOBODY else line.origin


def _merged(own: Origin, prefixes: Origin | None) -> Origin:
    return own if prefixes is None else own.completed_by(prefixes)


def _device(printed: str = "") -> int | None:
    """NCCL before 2.23.4 prints an uninitialised number when it cannot ask for the device."""
    device = int(printed or -1)
    return device if 0 <= device < _DEVICES_OF_A_PROCESS else None


def _site(text: str) -> CallSite | None:
    """`FILE:LINE` or `FILE:LINE (FUNC)`; FILE may hold blanks and colons, as aws-ofi-nccl gives a whole signature."""
    text = text.strip()
    function = None
    if text.endswith(")"):
        text, _, function = text.rpartition(" (")
    file, _, number = text.rpartition(":")
    if not file or not _is_number(number):
        return None
    return CallSite(file, int(number), function[:-1] if function else None)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 10


@lru_cache(maxsize=1024)
def printed_time(stamp: str, host: str) -> Instant | None:
    """Return the date and time at the end of `stamp`, on the clock of `host`; None if there is none.

    NCCL (2.26.2 on) and SHARP print local time without a zone.
    """
    found = _STAMP.search(stamp[-80:])
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(field) for field in found.groups()[:6])
    microsecond = int(f"{found[7] or 0:0<6}"[:6])
    try:
        value = datetime(year, month, day, hour, minute, second, microsecond)
    except ValueError:
        return None
    return Instant(value, host)


# --- Lines without a level -------------------------------------------------------------------------------

_VERSION = deferred(
    r"NCCL version (\d{1,3}\.\d{1,3}(?:\.\d{1,3})?[\w.~-]{0,40})"
    r"(?:(?:\+cuda| compiled with CUDA )(\d{1,3}(?:\.\d{1,3}){0,2}))?\s{0,8}$"
    # RCCL counts as NCCL does and says which HIP, branch and commit it was built with: `2.18.3+hip6.0 HEAD:2a0b7b3+`.
    r"|RCCL version (\d{1,3}\.\d{1,3}\.\d{1,3})\+hip\d{1,3}\.\d{1,3}(?: [\w./-]{1,100}:[0-9a-f]{4,40}\+?)?\s{0,8}$",
    re.ASCII,
)
_DOCA = deferred(
    r"(?:^|\s)\[(EMERG|ALERT|CRIT|ERR|WARNING|NOTICE|INFO|DEBUG)\] "
    r"\[([^\[\]\s]{1,255})\]: (\d{1,9}): (\S{1,255})\(\): ",
    re.ASCII,
)
_DOCA_ERRORS = frozenset(("EMERG", "ALERT", "CRIT", "ERR"))
_STRAY = "WARN -> INFO"  # NCCL 2.5.6 and 2.5.7 print it whenever they silence a WARN


def _read_without_mark(line: LogLine) -> Event | None:
    text = line.text
    if text.startswith("NCCL "):
        return _read_level(line)
    if text.startswith(_STRAY):
        return NcclInfo(**told_by(line, text))
    if "doca" in text:
        return _read_doca(line)
    if "RCCL version " in text:
        return _read_version(line)
    return None


def _read_version(line: LogLine) -> Event | None:
    """The banner. Bare, it may lack its CUDA version; inside other text only the CUDA version tells it from the
    `NCCL version 2.21.5` with which PyTorch ends its exceptions.
    """
    found = _VERSION.search(line.text)
    if found is None:
        return None
    before = line.text[: found.start()]
    if before.strip() and not (found[2] or found[3]) and not _STAMP.search(before[-80:]):
        return None
    header = _Header(line.origin, None, None)
    return NcclVersion(**_common(line, header, found[0].rstrip()), version=found[1] or found[3], cuda=found[2])


def _read_doca(line: LogLine) -> Event | None:
    """`CTIME [LEVEL] [FILE]: LINE: FUNC(): MESSAGE` of DOCA GPUNetIO inside NCCL (2.28.7 on)."""
    said = _DOCA.search(line.text)
    if said is None:
        return None
    level, file, number, function = said.groups()
    common = _common(line, _Header(line.origin, None, None), line.text[said.end() :])
    if level in _DOCA_ERRORS:
        return NcclWarn(**common, site=CallSite(file, int(number), function))
    return NcclInfo(**common)


# --- INFO messages ---------------------------------------------------------------------------------------

_BULK = ("Channel ", "Ring ", "Tree", "Connected all ", "CollNet", "Collnet ", "Coll ")
_TRAIL = deferred(
    r"((?:[A-Za-z]:)?[^\s:]{1,1000}):(\d{1,9}) (?:\((\S{1,500})\) )?"
    r"-> (-?\d{1,9})(?: \[([^\]]{0,200})\]?)?(?: \(|\s{0,8}$)",
    re.ASCII,
)
_LONGEST_TRAIL = 2000
_ENV = deferred(
    r"(?:[A-Z]{3,8}(?:/\w{1,20})? ?: ?)?([A-Z][A-Z0-9]{0,40}_[A-Z0-9_]{1,80}) set (?:(?:by|from) environment )?to (.*)",
    re.ASCII,
)
_CONFIG = deferred(r"Comm config \w{1,40} reset to (?:(-?\d{1,20}) by )?([A-Z][A-Z0-9_]{1,80})=(.*)", re.ASCII)
_PARSED = deferred(r"Parsed environment variable ([A-Z][A-Z0-9_]{1,80})=(.*) to -?\d{1,20}$", re.ASCII)
_DRIVER = deferred(r"cudaDriverVersion (\d{1,9})\b", re.ASCII)
_FOUND = deferred(r"NET/([\w.+-]{1,40}) ?: (?:Using((?: \[.*| ?;.*)?)$|No device found)", re.ASCII)
_FOUND_SOCKET = deferred(r"NET : Using interface (\S+)", re.ASCII)
_FOUND_PORT = deferred(r"NET/(\w{1,40}): \[\d{1,4}\] (\S{1,255}/\S{1,40})\s{0,8}$", re.ASCII)
_DEVICE = deferred(r"\[\d{1,4}\] ?([^\s\[\]{},;=]{1,255})", re.ASCII)
_CHOSEN = deferred(r"(?:Using (?:internal N|n)etwork|Assigned NET plugin) (.{1,80}?)(?: to comm)?\s{0,8}$", re.ASCII)
_INIT_STARTS = ("comm ", "nccl", "[Rank ", "Destroyed comm ", "CommRevoke")
_INIT_FIELD = deferred(
    r"\b(comm|rank|nranks|nRanks|cudaDev|nvmlDev|busId|commId) (0x[0-9a-fA-F]{1,32}|[0-9a-fA-F]{1,32})\b", re.ASCII
)
_INIT_PHASE = deferred(r"- ?(?:(\w{1,20}) )?(START|COMPLETE)(?:, result -?\d{1,9})?\s{0,8}$", re.ASCII)
# NCCL 2.3.5 to 2.4.2 print no word for the start.
_INIT_OLD = deferred(
    r"comm \S{1,40} rank \d{1,9} nranks \d{1,9}(?: cudaDev -?\d{1,9} nvmlDev -?\d{1,9})?\s{0,8}$", re.ASCII
)
_PHASES = {
    ("Init", "START"): "start",
    ("Init", "COMPLETE"): "complete",
    (None, "COMPLETE"): "complete",
    ("Abort", "START"): "abort",
    ("Abort", "COMPLETE"): "abort",
    ("Destroy", "START"): "destroy",
    ("Destroy", "COMPLETE"): "destroy",
    ("Finalize", "START"): "finalize",
    ("Finalize", "COMPLETE"): "finalize",
    ("Revoke", "START"): "revoke",
    ("Revoke", "COMPLETE"): "revoke",
}


def _read_channel(line: LogLine, header: _Header, message: str) -> Event:
    """A line of the bulk, most of a start-up; `Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM` names its transport."""
    _, _, transport = message.partition(" via ")
    return NcclChannel(
        at=line.at,
        origin=header.origin,
        when=header.when or line.when,
        message=message,
        repeated=line.repeated,
        transport=transport.rstrip() or None,
    )


def _read_info(line: LogLine, header: _Header, message: str) -> Event:
    reader = _BY_FIRST.get(message[:1])
    event = reader(_common(line, header, message)) if reader is not None else None
    if event is None and " -> " in message:
        event = _trail(_common(line, header, message))
    if event is not None:
        return event
    return NcclInfo(
        at=line.at, origin=header.origin, when=header.when or line.when, message=message, repeated=line.repeated
    )


def _trail(common: _Common) -> Event | None:
    step = _trail_step(common["message"][:_LONGEST_TRAIL])
    return NcclTrail(**common, site=step.site, code=step.code, thread=step.thread) if step else None


class _Step(NamedTuple):
    site: CallSite
    code: int
    thread: str | None


@lru_cache(maxsize=4096)
def _trail_step(message: str) -> _Step | None:
    """Every rank's trail goes through the same few sites, so their parts are kept."""
    found = _TRAIL.match(message)
    if found is None:
        return None
    file, line, function, code, thread = found.groups()
    return _Step(CallSite(file, int(line), function), int(code), thread)


def _starting_with_capital_c(common: _Common) -> Event | None:
    return _configuration(common) if common["message"].startswith("Comm config ") else _init(common)


def _starting_with_n(common: _Common) -> Event | None:
    message = common["message"]
    if message.startswith("NET"):
        return _network(common) or _environment(common)
    if message.startswith("NCCL version "):
        return _version(common)
    return _environment(common)


def _starting_with_c(common: _Common) -> Event | None:
    found = _DRIVER.match(common["message"])
    return NcclDriver(**common, cuda_driver=int(found[1])) if found else _init(common)


def _version(common: _Common) -> Event | None:
    found = _VERSION.match(common["message"])
    return NcclVersion(**common, version=found[1] or found[3], cuda=found[2]) if found else None


def _environment(common: _Common) -> Event | None:
    found = _ENV.match(common["message"]) or _PARSED.match(common["message"])
    if found is None:
        return None
    # Numbers are printed with a full stop, and 2.31 goes on with advice after it.
    value = found[2].rstrip().partition(". ")[0].removesuffix(".")
    return NcclEnv(**common, name=found[1], value=value)


def _configuration(common: _Common) -> Event | None:
    """`Comm config maxCTAs reset to NCCL_MAX_CTAS=8`: a variable that overrides the program's own setting."""
    found = _CONFIG.match(common["message"])
    return NcclEnv(**common, name=found[2], value=found[3].rstrip()) if found else None


def _network(common: _Common) -> Event | None:
    message = common["message"]
    if found := _FOUND.match(message):
        devices, _, _ = (found[2] or "").partition(";")
        return NcclNetwork(**common, network=found[1], devices=tuple(_DEVICE.findall(devices)))
    if found := _FOUND_SOCKET.match(message):
        return NcclNetwork(**common, network="Socket", devices=(found[1],))
    if found := _FOUND_PORT.match(message):
        return NcclNetwork(**common, network=found[1], devices=(found[2],))
    return None


def _chosen_network(common: _Common) -> Event | None:
    found = _CHOSEN.match(common["message"])
    return NcclNetwork(**common, network=found[1], chosen=True) if found else None


def _init(common: _Common) -> Event | None:
    message = common["message"]
    if not message.startswith(_INIT_STARTS):
        return None
    phase = _phase(message)
    if phase is None:
        return None
    said = dict(reversed(_INIT_FIELD.findall(message)))
    return NcclInit(
        **common,
        phase=phase,
        comm=said.get("comm"),
        comm_id=said.get("commId"),
        rank=_integer(said.get("rank")),
        nranks=_integer(said.get("nranks", said.get("nRanks"))),
        cuda_device=_integer(said.get("cudaDev")),
        nvml_device=_integer(said.get("nvmlDev")),
        bus_id=said.get("busId"),
    )


def _phase(message: str) -> str | None:
    if found := _INIT_PHASE.search(message):
        return _PHASES.get((found[1], found[2]))
    if message.startswith("Destroyed comm "):
        return "destroy"
    if message.startswith("CommRevokeAsync START "):
        return "revoke"
    return "start" if _INIT_OLD.match(message) else None


def _integer(text: str | None) -> int | None:
    return int(text) if text is not None and _is_number(text) else None


_BY_FIRST: dict[str, Callable[[_Common], Event | None]] = {
    "A": _chosen_network,
    "C": _starting_with_capital_c,
    "D": _init,
    "N": _starting_with_n,
    "P": _environment,
    "R": _version,
    "T": _environment,
    "U": _chosen_network,
    "[": _init,
    "c": _starting_with_c,
    "n": _init,
}


# --- Other levels ----------------------------------------------------------------------------------------


def _warn(common: _Common, site: CallSite | None) -> Event:
    return NcclWarn(**common, site=site)


def _attn(common: _Common, site: CallSite | None) -> Event:
    return NcclAttn(**common, site=site)


def _abort(common: _Common, site: CallSite | None) -> Event:
    return NcclAbort(**common, site=site)


def _call(common: _Common, _site: CallSite | None) -> Event:
    return NcclCall(**common)


def _diag(common: _Common, _site: CallSite | None) -> Event:
    return NcclDiag(**common)


_BY_LEVEL: dict[str, Callable[[_Common, CallSite | None], Event]] = {
    "WARN": _warn,
    "ATTN": _attn,
    "DIAG": _diag,
    "CALL": _call,
    "TRACE": _call,
    "ABORT": _abort,
}
