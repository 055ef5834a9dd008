"""What NCCL's RAS service says of the job: who is dead, who does not answer, who is behind, who reports an error.

RAS counts ranks within communicators and names nodes by address. A process's id leads to its global rank, NCCL's own
lines (`Bootstrap: Using eth0:10.0.0.1<0>`) from an address to a host.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from nccl_logscan.diagnosis.addresses import AddressBook, prints_addresses
from nccl_logscan.diagnosis.detectors.detection import Detection, captured, excerpt_of
from nccl_logscan.diagnosis.excerpts import Excerpt, Site
from nccl_logscan.diagnosis.heed import Heed
from nccl_logscan.diagnosis.sayer import Who
from nccl_logscan.diagnosis.scene import Scene
from nccl_logscan.events.model import Event, NcclInfo, NcclNetwork, NcclRas
from nccl_logscan.records import dataclass, field, replace
from nccl_logscan.taxonomy import Role

_LIMIT = 1_024
_REMOTE = "Remote process error"
_TROUBLE = frozenset({Role.CAUSE, Role.SYMPTOM, Role.ECHO})


@dataclass(frozen=True, slots=True)
class _Told:
    """An event of RAS and the line to cite for it."""

    event: NcclRas
    excerpt: Excerpt
    order: int


@dataclass(slots=True)
class _Counts:
    """Operations of one kind launched on one communicator: how many ranks stand at each number, and who is named."""

    shares: dict[int, int] = field(default_factory=dict)
    members: dict[int, _Told] = field(default_factory=dict)

    @property
    def usual(self) -> int:
        """Where most ranks stand; of two numbers as frequent, the higher."""
        return max(self.shares, key=lambda launched: (self.shares[launched], launched), default=0)


class Ras:
    """Collects what RAS tells; the last report counts where there are several."""

    names: ClassVar[tuple[str, ...]] = (
        "ras-process-dead",
        "ras-process-silent",
        "ras-rank-behind",
        "ras-collectives-differ",
        "ras-error",
    )
    kinds: ClassVar[frozenset[str]] = frozenset({"nccl.ras", "nccl.network", "nccl.info"})

    def __init__(self) -> None:
        self._book = AddressBook()
        self._told: dict[str, dict[tuple[str | None, int | None, int | None], _Told]] = {}
        self._counts: dict[tuple[str | None, str | None], _Counts] = {}
        self._largest = 0

    def heeds(self, event: Event) -> Heed:
        """See `Heed`: the addresses of hosts."""
        is_told = event.message.startswith("Bootstrap") and prints_addresses(event.message)
        return Heed.TEXT if is_told else Heed.SAYER

    def feed(self, event: Event, site: Site) -> None:
        """Note an event of RAS, or which host an address is of."""
        if isinstance(event, NcclRas):
            self._largest = max(self._largest, event.nranks or 0)
            if event.state == "counts":
                self._count(event, site)
            elif event.rank is not None or event.peer_pid is not None:
                self._note(event, site)
        elif isinstance(event, NcclNetwork):
            if event.origin.host is not None:
                self._book.learn_printed(event.message, event.origin.host)
        elif isinstance(event, NcclInfo) and event.message.startswith("Bootstrap") and event.origin.host is not None:
            self._book.learn_printed(event.message, event.origin.host)

    def _note(self, event: NcclRas, site: Site) -> None:
        told = self._told.setdefault(event.state, {})
        key = (event.comm if event.peer_pid is None else None, event.rank, event.peer_pid)
        if len(told) < _LIMIT:
            told[key] = _Told(event, excerpt_of(event, site), site.order)

    def _count(self, event: NcclRas, site: Site) -> None:
        key = (event.comm, event.operation)
        if event.launched is None:
            # The heading of a report: of two reports the later one counts.
            self._counts.pop(key, None)
            return
        if key not in self._counts and len(self._counts) >= _LIMIT:
            return
        counts = self._counts.setdefault(key, _Counts())
        if event.count:
            counts.shares[event.launched] = counts.shares.get(event.launched, 0) + event.count
        if event.rank is not None and len(counts.members) < _LIMIT:
            counts.members[event.rank] = _Told(event, excerpt_of(event, site), site.order)

    def conclude(self, scene: Scene) -> Iterator[Detection]:
        """Yield what RAS says of processes, of errors, and of ranks that are behind or call something else."""
        for state, name in (("dead", "ras-process-dead"), ("unresponsive", "ras-process-silent")):
            processes = [told for told in self._told.get(state, {}).values() if told.event.peer_pid is not None]
            if processes:
                yield self._of(name, [self._with_rank(told) for told in processes], scene)
        failed = [told for told in self._told.get("error", {}).values() if told.event.said != _REMOTE]
        if failed:
            yield self._of("ras-error", failed, scene, error=failed[0].event.said or "an error")
        yield from self._out_of_step(scene)

    def _out_of_step(self, scene: Scene) -> Iterator[Detection]:
        """A running job's counts differ for a moment too: they say something only where something else is wrong."""
        troubled = any(finding.rule.role in _TROUBLE for finding in scene.findings) or scene.endings.failed
        if not troubled and scene.endings.stepped:
            return
        for comm in dict.fromkeys(comm for comm, _ in self._counts):
            behind, other = self._sorted_out(comm)
            if other:
                calls = "; ".join(sorted({told.event.operation or "collectives" for told in other}))
                yield self._of("ras-collectives-differ", other, scene, operations=calls)
            elif behind:
                yield self._of("ras-rank-behind", behind, scene, launched=str(behind[0].event.launched))

    def _sorted_out(self, comm: str | None) -> tuple[list[_Told], list[_Told]]:
        """Ranks that launched fewer operations than others; those that launched more of one kind, less of another."""
        ahead: dict[int, list[_Told]] = {}
        behind: dict[int, list[_Told]] = {}
        for (of, _), counts in self._counts.items():
            if of != comm:
                continue
            usual = counts.usual
            for rank, told in counts.members.items():
                launched = told.event.launched or 0
                if launched != usual and counts.shares.get(launched, 0) < counts.shares[usual]:
                    (ahead if launched > usual else behind).setdefault(rank, []).append(told)
        both = [told for rank in ahead if rank in behind for told in (*ahead[rank], *behind[rank])]
        return [told for tolds in behind.values() for told in tolds[:1]], both

    def _with_rank(self, told: _Told) -> _Told:
        """Give a process the rank that RAS's list of missing ranks tells of it."""
        if told.event.rank is not None:
            return told
        missing = self._told.get("missing", {}).values()
        same = [other for other in missing if other.event.peer_pid == told.event.peer_pid]
        if not same:
            whole = [other for other in missing if other.event.peer_pid is None and self._is_world(other.event)]
            processes = sum(len(self._told.get(state, ())) for state in ("dead", "unresponsive"))
            same = whole if len(whole) == processes == 1 else []
        same.sort(key=lambda other: -(other.event.nranks or 0))
        if not same:
            return told
        named = same[0].event
        event = replace(told.event, comm=named.comm, nranks=named.nranks, rank=named.rank)
        return _Told(event, told.excerpt, told.order)

    def _is_world(self, event: NcclRas) -> bool:
        return event.nranks is not None and event.nranks >= self._largest

    def _of(self, name: str, tolds: list[_Told], scene: Scene, **captures: str) -> Detection:
        who = [self._who(told.event, scene) for told in tolds]
        ranks = tuple(dict.fromkeys(rank for rank, _ in who if rank is not None))
        hosts = tuple(dict.fromkeys(host for _, host in who if host is not None))
        captures["who"] = "; ".join(
            dict.fromkeys(_shown(told.event, *found) for told, found in zip(tolds, who, strict=True))
        )[:400]
        processes = {told.event.peer_pid for told in tolds if told.event.peer_pid is not None}
        one = len(processes) == 1
        captures |= captured(
            rank=ranks[0] if len(ranks) == 1 else None,
            host=hosts[0] if len(hosts) == 1 else None,
            pid=processes.pop() if one else None,
            device=tolds[0].event.gpu if one else None,
        )
        orders = [told.order for told in tolds]
        excerpts = tuple(told.excerpt for told in tolds[:5])
        return Detection(name, excerpts, min(orders), max(orders), captures, ranks, hosts, count=len(tolds))

    def _who(self, event: NcclRas, scene: Scene) -> tuple[int | None, str | None]:
        """The global rank and the host of whom an event is about."""
        host = self._book.ends(scene.identity.hosts).host(event.peer) if event.peer else None
        rank = None
        if event.peer_pid is not None:
            rank = scene.identity.rank_of(Who("", host, event.peer_pid, None, None, None))
        world = scene.identity.stated_world
        if rank is None and self._is_world(event) and (world is None or world == event.nranks):
            rank = event.rank
        if host is None and rank is not None:
            host = scene.identity.host_of(rank)
        return rank, host or event.peer


def _shown(event: NcclRas, rank: int | None, host: str | None) -> str:
    named = f"rank {rank}" if rank is not None else f"process {event.peer_pid}"
    if rank is None and event.peer_pid is None:
        named = f"rank {event.rank} of communicator {event.comm}"
    return f"{named} on {host}" if host else named
