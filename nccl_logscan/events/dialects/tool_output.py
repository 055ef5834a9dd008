"""What people put beside a log: outputs of ncclras, nvidia-smi, ibstat, ibstatus, ibv_devinfo, show_gids.

Their lines mean little alone: a reader for each kind of output is opened by a heading and keeps its place in the table.
"""

from __future__ import annotations

import re
from collections import deque
from pathlib import PurePosixPath

from nccl_logscan.events.dialects import nvidia_smi, ras, rdma_tools
from nccl_logscan.events.dialects.table import Reader
from nccl_logscan.events.model import Event
from nccl_logscan.expressions import deferred
from nccl_logscan.lines.model import LogLine
from nccl_logscan.position import Origin
from nccl_logscan.records import replace

_KINDS = (ras, nvidia_smi, rdma_tools)
_HEADS = tuple(head for kind in _KINDS for head in kind.HEADS)
_BEFORE = 4
"""Lines before an output that may name its host: a prompt, dshbak's and pdsh's headings."""

_PROMPT = deferred(
    r"^\s{0,8}(?:\([^)\s]{1,60}\) )?\[?[\w.-]{1,64}@([A-Za-z0-9][\w.-]{0,200})[:\s][^#$]{0,200}[#$] ?\S"
    r"|^\$?\s{0,4}(?:ssh|pdsh -w|clush -w|srun -w) ([A-Za-z0-9][\w.-]{0,200}) \S"
    r"|^(?:[=#*>-]{2,20} ?)?(?:[Hh]ost(?:name)?|[Nn]ode)[:=] ?([A-Za-z0-9][\w.-]{0,200})\s{0,4}[=#*<-]{0,20}$"
    r"|^[=#*>-]{2,20} ?([A-Za-z][\w.-]{0,60}\d[\w.-]{0,60}) ?[=#*<-]{2,20}$"
)
_RULER = deferred(r"^-{4,40}$")
_BARE = deferred(r"^([A-Za-z][\w.-]{0,60}\d[\w.-]{0,60})$")
_TOOL_IN_NAME = deferred(
    r"nvidia[-_.]?smi|(?<![a-z])smi(?![a-z])|ibstat(?:us)?|ibv[-_]?devinfo|devinfo|show[-_]?gids|(?<![a-z])gids?(?![a-z])"
    r"|nccl[-_]?ras|(?<![a-z])topo(?![a-z])",
    re.IGNORECASE,
)
_NO_HOST = deferred(
    r"(?:rank|attempt|run|job|task|step|log|out|err|gpu|mlx|v|day|part|try)s?[-_]?\d*|q|x|m|l|v|a|verbose|before|after"
    r"|\d[\d.T:_-]*",
    re.IGNORECASE,
)


class ToolOutput:
    """Reads tables line by line; make one for each source. At most `limit` tables of different origins are open."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._open: dict[Origin, Reader] = {}
        self._recent: deque[str] = deque(maxlen=_BEFORE)

    @property
    def is_open(self) -> bool:
        """Whether lines that follow may stand in a table."""
        return bool(self._open)

    def read(self, line: LogLine) -> tuple[Event, ...] | None:
        """Return the events of a line that stands in a table or opens one; None for any other line."""
        text = line.text
        if self._open:
            events = self._continued(line)
            if events is not None:
                return events
        if not text.startswith(_HEADS):
            self._recent.append(text)
            return None
        return self._opened(line)

    def _continued(self, line: LogLine) -> tuple[Event, ...] | None:
        reader = self._open.get(line.origin)
        if reader is None:
            return None
        events = reader.read(line)
        if events is None:
            del self._open[line.origin]
            return None
        return _on(reader.host, events)

    def _opened(self, line: LogLine) -> tuple[Event, ...] | None:
        for kind in _KINDS:
            reader = kind.opened_by(line) if line.text.startswith(kind.HEADS) else None
            if reader is None:
                continue
            reader.host = self._host(line)
            events = reader.read(line)
            if events is None:
                return None
            if len(self._open) >= self._limit:
                del self._open[next(iter(self._open))]
            self._open[line.origin] = reader
            return _on(reader.host, events)
        return None

    def _host(self, line: LogLine) -> str | None:
        """The host whose table begins: by the line's prefix, by what was written above it, by the file's name."""
        return line.origin.host or _host_above(list(self._recent)) or host_of_file(line.at.source)


def _on(host: str | None, events: tuple[Event, ...]) -> tuple[Event, ...]:
    if host is None:
        return events
    return tuple(
        event if event.origin.host else replace(event, origin=replace(event.origin, host=host)) for event in events
    )


def _host_above(lines: list[str]) -> str | None:
    for number, text in reversed(list(enumerate(lines))):
        if len(text) > 400:
            continue
        if found := _PROMPT.match(text):
            return next(name for name in found.groups() if name)
        ruled = 0 < number < len(lines) - 1 and _RULER.match(lines[number - 1]) and _RULER.match(lines[number + 1])
        if ruled and (found := _BARE.match(text)):
            return found[1]
    return None


def host_of_file(name: str) -> str | None:
    """Return the host that the name of a tool's output tells, as in `node07.ibstat.txt` or `n7/nvidia-smi-q.log`."""
    path = PurePosixPath(name.rpartition("!")[2])
    if not _TOOL_IN_NAME.search(path.name):
        return None
    stem = _TOOL_IN_NAME.sub("\0", path.name.split(".txt")[0].split(".log")[0].split(".out")[0].split(".json")[0])
    for part in (*stem.split("\0"), path.parent.name):
        host = part.strip("-_. ")
        pieces = [piece for piece in re.split(r"[-_]", host) if piece and not _NO_HOST.fullmatch(piece)]
        if pieces and any(letter.isdigit() for letter in host) and host[:1].isalpha() and not _NO_HOST.fullmatch(host):
            return host
    return None
