"""NCCL's RAS service, as `ncclras` prints it: text from 2.24 on, JSON from 2.28.7 on, monitoring from 2.29 on.

Formats: NVIDIA/nccl, src/ras/client_support.cc at v2.24.3-1, v2.26.2-1, v2.28.7-1 and v2.30.7-1, and the chapter RAS of
the user guide. A communicator is `#GROUP-NUMBER (HASH)`; its size stands in the summary's row of the group.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from nccl_logscan.events.dialects.table import Reader
from nccl_logscan.events.model import Event, NcclDriver, NcclRas, NcclVersion, told_by
from nccl_logscan.expressions import deferred
from nccl_logscan.lines.model import LogLine
from nccl_logscan.numbers import whole
from nccl_logscan.position import Position
from nccl_logscan.records import dataclass, field, replace

HEADS = (
    "Job summary",
    "Communicators...",
    "Group     Comms ",
    "#",
    "DEAD",
    "INCOMPLETE",
    "MISMATCH",
    "  Missing communicator data from ",
    "  Communicator ranks have different ",
    "PEER_",
    "[20",
    '{"nccl_version"',
    '{ "nccl_version"',
    '  "nccl_version"',
    '{"timestamp"',
    '{ "timestamp"',
    '  "group": "LIFECYCLE"',
    '  "group": "TRACE"',
)
# A lone `{` may begin anything, so that what NCCL prints is known by the second line of it.
_JSON = deferred(r'\{ ?"(?:nccl_version"|timestamp"\s?: ?"[^"]{8,40}",\s{0,8}"group"\s?: ?"(?:LIFECYCLE|TRACE)")')
_COMM = deferred(r"#(\d{1,6})-(\d{1,6}) \(([0-9a-f]{1,16})\) (INCOMPLETE|ERROR|MISMATCH)")
_GROUP = deferred(
    r"\s{0,8}(\d{1,6})\s{1,12}\d{1,9}\s{1,12}\d{1,9}\s{1,12}[\d-]{1,15}\s{1,12}(\d{1,9})\s{1,12}\d{1,9}\s{1,12}([A-Z]{2,16}\s{1,12}[A-Z,]{2,40})\s{0,8}$"
)
_PROCESS = deferred(r"\s{0,4}Process (\d{1,10}) on node (\S{1,255}) managing GPUs? (\d{1,4})")
_MEMBER = deferred(
    r"\s{0,4}Rank (\d{1,9})"
    r"(?: has launched up to operation (\d{1,18})| has not launched any operations()| has status (\w{1,20})"
    r"| reported (.{1,60}?))?"
    r"(?: -- (?:GPU (\d{1,4})(?: \(NVML \d{1,4}\))? managed by process (\d{1,10}) on node (\S{1,255})|\[process).*)?$"
)
_SHARE = deferred(
    r"\s{0,4}(\d{1,9}) ranks (?:have launched up to operation (\d{1,18})|have not launched any operations()"
    r"|have status (\w{1,20})|reported (.{1,60}))$"
)
_LACKING = deferred(r"\s{0,4}Missing communicator data from (\d{1,9}) (job process(?:es)?|ranks?)")
_DEAD = deferred(r"\s{0,4}(\d{1,9}) job process(?:es)? (?:are|is) considered dead")
_THE_RANKS = deferred(r"\s{0,4}The (missing|unknown) ranks?: ([\d,]{1,4000})$")
_DIFFERENT = deferred(
    r"\s{0,4}Communicator ranks have different (?:(\w{1,40}) operation counts|collective operation counts|(status))"
)
_TIMEOUT = deferred(r"\s{0,4}Encountered (\d{1,9}) communication timeouts? while gathering")
_PEER_EVENT = deferred(
    r"(?:\[[\d :-]{8,40}\] )?(PEER_[A-Z_]{2,40}): (?:Process (\d{1,10}) on node (\S{1,255}) managing GPUs? (\d{1,4}))?"
)
_OTHER = deferred(
    r"Job summary|Communicators\.\.\.|={4,40}$|[\d\s()-]{1,120}$|#\d{1,6}-\d|CUDA runtime version "
    r"|Gathering data about |The outlier node|No communicator data |Group {2,8}Comms"
    r"|\s{0,16}(?:#  in group|\(total\)|Nodes  Processes|Processes  |per (?:node|process))"
    r"|\s{1,4}(?:Asynchronous|Initialization) errors? on "
    r"|\s{1,4}(?:Warning: |Collected data |Travel times |obtained a result |indicating that |Ordering of events "
    r"|Minimum |From node |The (?:missing|affected) |Node \S|\[could not )"
)
_SECTIONS = frozenset(("Errors", "Warnings", "INCOMPLETE", "DEAD", "TIMEOUT", "MISMATCH", "ERROR"))
_FEW = 64
_RESULTS = {
    1: "Unhandled CUDA error",
    2: "System error",
    3: "Internal error",
    4: "Invalid argument",
    5: "Invalid usage",
    6: "Remote process error",
}
_IN_PROGRESS = 7


def opened_by(line: LogLine) -> Reader | None:
    """Return a reader for the output that a line begins; None where it begins none."""
    text = line.text
    if text.startswith('  "'):
        return RasJson.inside(line)
    if text.startswith("{"):
        return RasJson() if _JSON.match(text) else None
    if text.startswith("#") and not _COMM.match(text):
        return None
    if text.startswith(("PEER_", "[20")) and not _PEER_EVENT.match(text):
        return None
    if text.startswith(("DEAD", "INCOMPLETE", "MISMATCH")) and text.rstrip() not in _SECTIONS:
        return None
    return RasText()


@dataclass(slots=True)
class _Group:
    """What the lines that name members are about: the last heading."""

    state: str = ""
    comm: str | None = None
    nranks: int | None = None
    operation: str | None = None
    launched: int | None = None
    said: str | None = None


@dataclass(slots=True)
class RasText:
    """Reads the text, which `-v` only makes longer."""

    host: str | None = None
    _sizes: dict[str, int] = field(default_factory=dict)
    _of: _Group = field(default_factory=_Group)

    def read(self, line: LogLine) -> tuple[Event, ...] | None:
        """Return the events of a line of the output; None for another."""
        text = line.text.rstrip()
        if comm := _COMM.match(text):
            state = {"INCOMPLETE": "missing", "ERROR": "error", "MISMATCH": "counts"}[comm[4]]
            self._of = _Group(state, f"0x{comm[3]}", self._sizes.get(comm[1]))
            return ()
        for expression, reader in _READERS:
            if (found := expression.match(text)) is not None:
                return reader(self, line, found)
        return () if self._is_of_the_output(text) else None

    def _is_of_the_output(self, text: str) -> bool:
        if text in _SECTIONS:
            self._of = _Group()
            return True
        return _OTHER.match(text) is not None

    def _row(self, line: LogLine, found: re.Match[str]) -> tuple[Event, ...]:
        if len(self._sizes) < _FEW:
            self._sizes[found[1]] = int(found[2])
        self._of = _Group(nranks=int(found[2]), said=found[3])
        return (self._event(line, "summary", count=int(found[2])),)

    def _process(self, line: LogLine, found: re.Match[str]) -> tuple[Event, ...]:
        state = self._of.state if self._of.state in {"dead", "unresponsive"} else "unresponsive"
        return (self._event(line, state, count=0, peer=found[2], peer_pid=int(found[1]), gpu=int(found[3])),)

    def _dead(self, line: LogLine, found: re.Match[str]) -> tuple[Event, ...]:
        self._of = _Group("dead")
        return (self._event(line, "dead", count=int(found[1])),)

    def _lacking(self, line: LogLine, found: re.Match[str]) -> tuple[Event, ...]:
        if found[2].startswith("job"):
            self._of = _Group("unresponsive")
        return (self._event(line, self._of.state or "missing", count=int(found[1])),)

    def _the_ranks(self, line: LogLine, found: re.Match[str]) -> tuple[Event, ...]:
        ranks = [int(rank) for rank in found[2].split(",")[:_FEW] if whole(rank) is not None]
        state = "missing" if found[1] == "missing" else "status"
        return tuple(self._event(line, state, count=0, rank=rank) for rank in ranks)

    def _different(self, line: LogLine, found: re.Match[str]) -> tuple[Event, ...]:
        of = self._of
        of.state = "status" if found[2] else "counts"
        of.operation = found[1] if found[1] not in {None, "collective"} else None
        of.launched = of.said = None
        return (self._event(line, of.state, count=0),)

    def _share(self, line: LogLine, found: re.Match[str]) -> tuple[Event, ...]:
        self._take(found)
        return (self._event(line, self._of.state or "counts", count=int(found[1])),)

    def _member(self, line: LogLine, found: re.Match[str]) -> tuple[Event, ...]:
        alone = any(part is not None for part in found.groups()[1:5])
        if alone:
            self._take(found)
        return (
            self._event(
                line,
                self._of.state or "missing",
                count=int(alone),
                rank=int(found[1]),
                gpu=int(found[6]) if found[6] else None,
                peer_pid=int(found[7]) if found[7] else None,
                peer=found[8],
            ),
        )

    def _take(self, found: re.Match[str]) -> None:
        """What a share of the ranks, or one rank, has in common: operations launched, status or error."""
        _, launched, none, status, error = found.groups()[:5]
        self._of.launched = int(launched) if launched else 0 if none is not None else None
        self._of.said = status or error
        if error:
            self._of.state = "error"
        elif status:
            self._of.state = "status"

    def _timeout(self, line: LogLine, found: re.Match[str]) -> tuple[Event, ...]:
        return (self._event(line, "timeout", count=int(found[1])),)

    def _peer_event(self, line: LogLine, found: re.Match[str]) -> tuple[Event, ...]:
        state = "dead" if found[1].endswith("_DEAD") else "event"
        process = {"peer": found[3], "peer_pid": whole(found[2] or ""), "gpu": whole(found[4] or "")}
        return (NcclRas(**told_by(line), state=state, said=found[1], **process),)  # type: ignore[arg-type]

    def _event(self, line: LogLine, state: str, *, count: int, **of: Any) -> NcclRas:
        group = self._of
        return NcclRas(
            **told_by(line),
            state=state,
            count=count,
            comm=group.comm,
            nranks=group.nranks,
            operation=group.operation,
            launched=group.launched,
            said=group.said,
            **of,
        )


_READERS: tuple[tuple[re.Pattern[str], Callable[[RasText, LogLine, re.Match[str]], tuple[Event, ...]]], ...] = (
    (_PROCESS, RasText._process),
    (_MEMBER, RasText._member),
    (_SHARE, RasText._share),
    (_LACKING, RasText._lacking),
    (_DEAD, RasText._dead),
    (_THE_RANKS, RasText._the_ranks),
    (_DIFFERENT, RasText._different),
    (_TIMEOUT, RasText._timeout),
    (_PEER_EVENT, RasText._peer_event),
    (_GROUP, RasText._row),
)


# --- JSON ------------------------------------------------------------------------------------------------

_TOKEN = deferred(
    r'"(?P<key>[^"\\]{1,80})"\s{0,8}:\s{0,8}(?P<value>"[^"\\]{0,300}"|-?\d{1,20}(?:\.\d{1,9})?|true|false|null)?'
    r"|(?P<mark>[{}\[\]])"
)
_DEEPEST = 12
_INT64_DIGITS = 18


@dataclass(slots=True)
class _Member:
    """A rank as the object that is open tells it."""

    at: Position
    told: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Share:
    """The ranks of a communicator that have launched as many operations of one kind."""

    count: int = 0
    first: list[_Member] = field(default_factory=list)


@dataclass(slots=True)
class RasJson:
    """Reads the JSON token by token, whatever its line breaks; keeps one communicator's counts, no ranks."""

    host: str | None = None
    _stack: list[str] = field(default_factory=list)
    _key: str = ""
    _comm: dict[str, str] = field(default_factory=dict)
    _member: _Member | None = None
    _shares: dict[str, dict[int, _Share]] = field(default_factory=dict)
    _begun: bool = False

    @classmethod
    def inside(cls, line: LogLine) -> RasJson:
        """Return a reader for what follows a `{` on the line before."""
        return cls(_stack=[""], _member=_Member(line.at), _begun=True)

    def read(self, line: LogLine) -> tuple[Event, ...] | None:
        """Return what the objects tell that end in the line; None for a line behind the end or of another kind."""
        text = line.text
        if self._begun and not self._stack and text[:1] != "{":
            return None
        events: list[Event] = []
        known = False
        for token in _TOKEN.finditer(text):
            known = True
            if token["mark"]:
                events.extend(self._mark(line, token["mark"]))
            elif token["value"] is None:
                self._key = token["key"]
            else:
                events.extend(self._value(line, token["key"], token["value"].strip('"')))
        return tuple(events) if known or not text.strip(" ,\t") else None

    def _mark(self, line: LogLine, mark: str) -> tuple[Event, ...]:
        if mark in "{[":
            if len(self._stack) < _DEEPEST:
                self._stack.append(self._key)
            self._begun = True
            self._open(line, mark)
            self._key = ""
            return ()
        closed = self._stack.pop() if self._stack else ""
        return self._close(line, mark, closed)

    def _open(self, line: LogLine, mark: str) -> None:
        stack = self._stack
        if mark == "{" and stack[-2:-1] == ["communicators"]:
            self._comm, self._shares, self._member = {}, {}, None
        elif (mark == "{" and stack[-2:-1] in (["ranks"], ["missing_ranks"])) or (mark == "{" and len(stack) == 1):
            self._member = _Member(line.at)

    def _value(self, line: LogLine, key: str, value: str) -> tuple[Event, ...]:
        member, stack = self._member, self._stack
        if stack[-1:] == ["collective_counts"] and member is not None:
            if len(member.counts) < _FEW and (count := whole(value, _INT64_DIGITS)) is not None:
                member.counts[key] = count
        elif member is not None and len(member.told) < _FEW:
            member.told[key] = value
        elif len(self._comm) < _FEW:
            self._comm[key] = value
        return _versions(line, key, value) if len(stack) == 1 else ()

    def _close(self, line: LogLine, mark: str, closed: str) -> tuple[Event, ...]:
        if mark != "}" or closed in {"status", "collective_counts", "peer", "ras"}:
            return ()
        within = self._stack[-1:]
        member, self._member = self._member, None
        if within == ["missing_ranks"] and member is not None:
            return self._missing(line, member)
        if within == ["ranks"] and member is not None:
            self._count(member)
            return self._failed(line, member)
        if within == ["communicators"]:
            return self._compared(line)
        if not self._stack and member is not None and "event" in member.told:
            return self._monitored(line, member)
        return ()

    def _missing(self, line: LogLine, member: _Member) -> tuple[Event, ...]:
        told = member.told
        state = "dead" if told.get("considered_dead") == "true" else "missing"
        if told.get("unresponsive") == "true" and state != "dead":
            state = "unresponsive"
        return (self._event(line, member, state),)

    def _failed(self, line: LogLine, member: _Member) -> tuple[Event, ...]:
        codes = (whole(member.told.get(name, "0"), _INT64_DIGITS) or 0 for name in ("init_state", "async_error"))
        return tuple(
            self._event(line, member, "error", said=_RESULTS.get(code, f"error {code}"))
            for code in codes
            if code not in {0, _IN_PROGRESS}
        )

    def _count(self, member: _Member) -> None:
        for operation, count in member.counts.items():
            if len(self._shares) >= _FEW and operation not in self._shares:
                continue
            shares = self._shares.setdefault(operation, {})
            if len(shares) < 4_096 or count in shares:
                share = shares.setdefault(count, _Share())
                share.count += 1
                if len(share.first) < 16:
                    share.first.append(member)

    def _compared(self, line: LogLine) -> tuple[Event, ...]:
        """The counts that differ within a communicator: each share of ranks, and the members of small ones."""
        size = whole(self._comm.get("size", ""), _INT64_DIGITS) or 1
        events: list[Event] = [self._event(line, _Member(line.at, dict(self._comm)), "summary", count=size)]
        for operation, shares in self._shares.items():
            if len(shares) < 2:
                continue
            for launched, share in sorted(shares.items(), key=lambda entry: -entry[1].count)[:_FEW]:
                blank = _Member(share.first[0].at)
                events.append(
                    self._event(line, blank, "counts", operation=operation, launched=launched, count=share.count)
                )
                if share.count <= 16:
                    events.extend(
                        self._event(line, member, "counts", operation=operation, launched=launched, count=0)
                        for member in share.first
                    )
        self._comm, self._shares = {}, {}
        return tuple(events)

    def _monitored(self, line: LogLine, member: _Member) -> tuple[Event, ...]:
        said = member.told["event"]
        return (self._event(line, member, "dead" if said.endswith("_DEAD") else "event", said=said),)

    def _event(self, line: LogLine, member: _Member, state: str, **more: Any) -> NcclRas:
        told, comm = member.told, self._comm
        event = NcclRas(
            **told_by(line),
            state=state,
            comm=comm.get("hash"),
            nranks=whole(comm.get("size", ""), _INT64_DIGITS),
            rank=whole(told.get("rank", ""), _INT64_DIGITS),
            peer=told.get("host"),
            peer_pid=whole(told.get("pid", ""), _INT64_DIGITS),
            gpu=whole(told.get("cuda_dev", ""), _INT64_DIGITS),
            **more,
        )
        said = ", ".join(f'"{name}": {value}' for name, value in (told or comm).items())
        return replace(event, at=member.at, message=said)


def _versions(line: LogLine, key: str, value: str) -> tuple[Event, ...]:
    if key == "nccl_version":
        return (NcclVersion(**told_by(line), version=value),)
    if key == "cuda_driver_version" and (version := whole(value)) is not None:
        return (NcclDriver(**told_by(line), cuda_driver=version),)
    return ()
