"""Do all ranks run one NCCL? From version banners, and from how each process words its start-up.

Up to 2.21.5 only rank 0 prints the banner, so a second version in the job never names itself. But each version words
its start-up lines in its own way: what one process prints narrows its version down to a range, and two ranges without a
common version are two versions.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import ClassVar

from nccl_logscan.diagnosis.comparison import Compared, Holder
from nccl_logscan.diagnosis.detectors.detection import Detection, brief_excerpt_of, captured
from nccl_logscan.diagnosis.excerpts import Excerpt, Site
from nccl_logscan.diagnosis.heed import Heed
from nccl_logscan.diagnosis.identity import Identity
from nccl_logscan.diagnosis.sayer import Who, who
from nccl_logscan.diagnosis.scene import Scene
from nccl_logscan.events.model import Event, NcclVersion
from nccl_logscan.expressions import deferred
from nccl_logscan.records import dataclass, field

_Version = tuple[int, ...]
_Marks = tuple[str, int | None, int | None, int | None]
"""A source, and what a launcher wrote before a line: rank, local rank, task."""
_LIMIT = 16_384
_NEWEST: _Version = (99,)
_OLDEST: _Version = (0,)

# Start-up wordings and the first and last release that has them (None: still in the newest), read from the format
# strings of NVIDIA/nccl's tags v2.3.5-5 to v2.30.7-1.
_WORDINGS: tuple[tuple[str, str, str | None], ...] = (
    ("Bootstrap : Using ", "2.4.2", "2.23.4"),
    ("Bootstrap: Using ", "2.24.3", None),
    ("NET/Plugin : Plugin load returned ", "2.4.2", "2.20.5"),
    ("NET/Plugin : Plugin load (", "2.17.1", "2.18.6"),
    ("NET/Plugin : No plugin found (libnccl-net.so), ", "2.5.6", "2.16.5"),
    ("NET/Plugin : No plugin found, using internal", "2.17.1", "2.18.6"),
    ("NET/Plugin : dlerror=", "2.19.1", "2.20.5"),
    ("NET/Plugin: Plugin load returned ", "2.21.5", "2.21.5"),
    ("NET/Plugin: Using internal network plugin.", "2.21.5", "2.25.1"),
    ("NET/Plugin: Could not find:", "2.22.3", None),
    ("Using non-device net plugin version ", "2.19.1", "2.21.5"),
    ("Initialized NET plugin ", "2.27.3", None),
    ("Assigned NET plugin ", "2.27.3", None),
    ("TUNER/Plugin: ", "2.21.5", None),
    ("PROFILER/Plugin: ", "2.23.4", None),
    ("ENV/Plugin: ", "2.28.7", None),
    ("ncclOsDlopen(", "2.30.3", None),
    ("Connection to proxy localRank ", "2.12.7", "2.18.6"),
    ("Connected to proxy localRank ", "2.19.1", "2.30.4"),
    ("[Proxy Service] Device ", "2.23.4", None),
    ("Bootstrap timings total ", "2.23.4", None),
    ("RAS client listening socket at ", "2.24.3", None),
    ("Init timings: rank ", "2.22.3", "2.22.3"),
    ("Init timings - ", "2.23.4", None),
    ("Comm config ", "2.17.1", None),
    ("comm 0x", "2.4.2", "2.22.3"),
    ("ncclCommInitRank comm 0x", "2.21.5", None),
    ("ncclCommInitRankConfig comm 0x", "2.23.4", None),
    ("[Rank ", "2.29.2", None),
)
_RAISED = frozenset({"python.exception", "torch.process-group"})
_TEXT = 2_000
_IN_ERROR = deferred(r"\bNCCL version (2\.\d{1,2}\.\d{1,2})\b", re.ASCII)
_INIT_START = deferred(r"comm 0x[0-9a-f]+ rank \d+ nranks \d+ .* - Init START$")


@dataclass(slots=True)
class _Process:
    """The range of versions that what a process printed allows, and the lines that narrowed it.

    `pid` is None where its lines tell no process: then a rank, or a launcher's label, stands for it.
    """

    host: str | None
    pid: int | None
    sayer: Who
    low: _Version = _OLDEST
    high: _Version = _NEWEST
    order: int = 0
    lines: int = 0
    excerpts: list[Excerpt] = field(default_factory=list)

    def narrow(self, low: _Version, high: _Version) -> bool:
        """Take in one line's range; return whether it told something new."""
        new = (max(self.low, low), min(self.high, high))
        if new == (self.low, self.high):
            return False
        self.low, self.high = new
        return True

    def place(self, identity: Identity) -> str:
        """Its host, as far as the log tells; else the source of its lines."""
        rank = None if self.host is not None else identity.rank_of(self.sayer)
        known = self.host or identity.host_of_sayer(self.sayer) or (None if rank is None else identity.host_of(rank))
        return known or self.sayer.source

    def named(self, identity: Identity) -> str:
        """`host:pid`, as NCCL's own lines begin; the host alone where no process is told."""
        return self.place(identity) if self.pid is None else f"{self.place(identity)}:{self.pid}"

    @property
    def told(self) -> str:
        """The version or range in words."""
        low, high = _shown(self.low), _shown(self.high)
        if low == high:
            return low
        return f"{low} or later" if self.high == _NEWEST else f"{low} to {high}"


class NcclVersions:
    """Narrows down each process's version and compares them."""

    names: ClassVar[tuple[str, ...]] = ("nccl-versions-differ",)
    kinds: ClassVar[frozenset[str]] = frozenset(
        {
            "nccl.version",
            "nccl.info",
            "nccl.init",
            "nccl.network",
            "nccl.driver",
            "nccl.env",
            "python.exception",
            "torch.process-group",
        }
    )

    def __init__(self) -> None:
        self._processes: dict[tuple[str, int] | Who, _Process] = {}
        self._latest: dict[_Marks, _Process] = {}
        self._by_first: dict[str, list[tuple[str, _Version, _Version]]] = {}
        for wording, first, last in _WORDINGS:
            entry = (wording, _parsed(first), _parsed(last) if last else _NEWEST)
            self._by_first.setdefault(wording[0], []).append(entry)

    def heeds(self, event: Event) -> Heed:
        """See `Heed`: the words that some versions alone have, once of each process."""
        return Heed.WORDS if any(self._ranges(event.message)) else Heed.SAYER

    def feed(self, event: Event, site: Site) -> None:
        """Take in a line of NCCL's start-up."""
        if event.kind in _RAISED:
            self._raised(event, site)
            return
        process = self._process(event)
        if process is None:
            return
        if isinstance(event, NcclVersion):
            exact = _parsed(event.version)
            self._narrow(process, exact, exact, event, site)
            return
        for low, high in self._ranges(event.message):
            self._narrow(process, low, high, event, site)

    def _raised(self, event: Event, site: Site) -> None:
        """Take the loaded version from PyTorch's text of an error of NCCL (torch/csrc/distributed/c10d/NCCLUtils.hpp).

        Versions of PyTorch that do not know NCCL's later numbering write 2.10.3 as 21.0.3, which is left out.
        """
        found = _IN_ERROR.search(event.message[:_TEXT]) if "NCCL error" in event.message[:_TEXT] else None
        process = self._without_pid(event) if found else None
        if found and process is not None:
            exact = _parsed(found[1])
            self._narrow(process, exact, exact, event, site)

    def _process(self, event: Event) -> _Process | None:
        """The process that wrote a line; a bare banner is taken for the process that wrote just before it, of those
        with the banner's mark where it has one (`[1,0]<stdout>:`).
        """
        origin = event.origin
        marks = event.at.source, origin.rank, origin.local_rank, origin.task
        if origin.pid is None:
            return self._latest.get(marks) or self._without_pid(event)
        key = (origin.host or event.at.source, origin.pid)
        process = self._processes.get(key)
        if process is None:
            if len(self._processes) >= _LIMIT:
                return None
            process = self._processes[key] = _Process(key[0], origin.pid, who(event))
        self._latest[marks] = self._latest[event.at.source, None, None, None] = process
        return process

    def _without_pid(self, event: Event) -> _Process | None:
        """Who wrote a line without a process, where anything tells it from others in the same source."""
        sayer = who(event)
        process = self._processes.get(sayer)
        if process is None and len(self._processes) < _LIMIT:
            process = self._processes[sayer] = _Process(event.origin.host, None, sayer)
        return process

    def _ranges(self, message: str) -> Iterator[tuple[_Version, _Version]]:
        for wording, low, high in self._by_first.get(message[:1], ()):
            if message.startswith(wording):
                yield low, high
        if message.startswith("comm 0x") and _INIT_START.match(message[:400]):
            yield _parsed("2.18.3"), _parsed("2.20.5")

    @staticmethod
    def _narrow(process: _Process, low: _Version, high: _Version, event: Event, site: Site) -> None:
        process.lines += 1
        if process.narrow(low, high):
            process.order = process.order or site.order
            if len(process.excerpts) < 3:
                process.excerpts.append(brief_excerpt_of(event, site))

    def conclude(self, scene: Scene) -> Iterator[Detection]:
        """Yield a detection where two processes can't have the same version."""
        known = [process for process in self._processes.values() if process.low <= process.high and process.excerpts]
        hosts = {process.host for process in known if process.host is not None and process.lines > 1}
        known = [process for process in known if not _is_torn(process, hosts)]
        if not known:
            return
        oldest = min(known, key=lambda process: process.high)
        newest = max(known, key=lambda process: process.low)
        if oldest.high >= newest.low:
            return
        excerpts = [*oldest.excerpts, *newest.excerpts]
        rank, host = _odd(known, oldest, newest, scene)
        old, new = (f"{process.told} on {process.named(scene.identity)}" for process in (oldest, newest))
        captures = {"values": f"{old}; {new}"}
        captures |= captured(host=host, rank=rank)
        yield Detection(
            "nccl-versions-differ",
            tuple(excerpts),
            min(oldest.order, newest.order),
            max(oldest.order, newest.order),
            captures,
            () if rank is None else (rank,),
            () if host is None else (host,),
            count=2,
        )


def _is_torn(process: _Process, hosts: Collection[str]) -> bool:
    """Whether a process was told by one line of which the host has another line's end before it: `0xf4b5cnode-1`."""
    return process.lines == 1 and any(process.host != host and str(process.host).endswith(host) for host in hosts)


def _odd(known: list[_Process], oldest: _Process, newest: _Process, scene: Scene) -> tuple[int | None, str | None]:
    """Rank and host of the one that has another version than all others; None for what is not one.

    Processes of which no line tells the host count for none.
    """
    known = [process for process in known if process.place(scene.identity) != process.sayer.source]
    old = [process for process in known if process.high < newest.low]
    new = [process for process in known if process.low > oldest.high]
    processes = Compared()
    for value, group in (("old", old), ("new", new)):
        for process in group:
            processes.note(value, Holder(process.place(scene.identity), process.pid), process.sayer)
    return processes.odd(scene.identity)


def _parsed(version: str) -> _Version:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def _shown(version: _Version) -> str:
    return ".".join(str(part) for part in version)
