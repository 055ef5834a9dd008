"""Lines of SHARP, the library under NCCL's CollNet plugin, which have a header of their own.

What the plugins themselves say (aws-ofi-nccl, nccl-rdma-sharp-plugins, gIB, tcpx) goes through NCCL's logger:
`nccl.py` reads it.
"""

from __future__ import annotations

import re

from nccl_logscan.events.dialects.nccl import printed_time
from nccl_logscan.events.model import CallSite, Event, NcclInfo, NcclWarn
from nccl_logscan.expressions import deferred
from nccl_logscan.lines.model import LogLine
from nccl_logscan.position import Origin

# `[HOST:N:PID - FILE:LINE][2024-09-24 16:15:29] LEVEL text` and `[HOST:N:PID unique id JOB] LEVEL text`: SHARP 2 and 3
# as in NVIDIA/nccl issues 1219 and 1460, Mellanox/nccl-rdma-sharp-plugins issue 151; the time came with SHARP 3.8 at
# the latest. N counts processes within SHARP's own job.
_COLLECTIVE = deferred(
    r"\[([^\s:\[\]]{1,255}):-?\d{1,10}:(\d{1,10}) (?:- ([^\s:\[\]]{1,255}):(\d{1,9})|unique id \d{1,20})\]"
    r"(?:\[([^\[\]]{1,60})\])?\s{1,8}(FATAL|ERROR|WARN|WARNING|INFO|DEBUG|TRACE)\s{1,8}",
    re.ASCII,
)
# `[HOST][Sep 24 16:15:29 847428][GENERAL][TID][warn ] - text` (SHARP 3.8, NVIDIA/nccl issue 1460).
_DAEMON = deferred(
    r"\[([^\s:\[\]]{1,255})\]\[\w{3} [ \d]\d [\d:]{8} \d{1,9}\]\[\w{1,40}\]\[(\d{1,10})\]\[(\w{4,8}) {0,8}\] - ",
    re.ASCII,
)
_ERRORS = frozenset(("FATAL", "ERROR", "error", "fatal", "crit"))


def read(line: LogLine) -> Event | None:
    """Return a `nccl.warn` for an error of SHARP, with its call site where one is printed, and a `nccl.info` for the
    rest of what it says; None for any other line.
    """
    text = line.text
    if not text.startswith("["):
        return None
    if said := _COLLECTIVE.match(text):
        host, pid, file, number, _, level = said.groups()
        site = CallSite(file, int(number)) if file else None
        return _event(line, said, Origin(host=host, pid=int(pid)), level, site)
    if said := _DAEMON.match(text):
        return _event(line, said, Origin(host=said[1], tid=int(said[2])), said[3], None)
    return None


def _event(line: LogLine, said: re.Match[str], own: Origin, level: str, site: CallSite | None) -> Event:
    at, origin, message = line.at, own.completed_by(line.origin), line.text[said.end() :]
    when = (printed_time(said[5] or "", said[1]) if said.re.pattern == _COLLECTIVE.pattern else None) or line.when
    if level in _ERRORS:
        return NcclWarn(at=at, origin=origin, when=when, message=message, repeated=line.repeated, site=site)
    return NcclInfo(at=at, origin=origin, when=when, message=message, repeated=line.repeated)
