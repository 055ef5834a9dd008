"""Votes of the network's victims: each failed transfer accuses two ends, and the end that all of them share is bad.

Who reports a failed transfer is as often its victim as its cause. Pairs of hosts are counted once each, however many
lines, ranks and channels repeat them; one pair alone accuses nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar, NamedTuple

from nccl_logscan.diagnosis.addresses import AddressBook, Ends, is_address, prints_addresses
from nccl_logscan.diagnosis.detectors.detection import Detection, brief_excerpt_of
from nccl_logscan.diagnosis.detectors.ports import listed
from nccl_logscan.diagnosis.excerpts import Site
from nccl_logscan.diagnosis.findings import Finding
from nccl_logscan.diagnosis.heed import Heed
from nccl_logscan.diagnosis.pairs import Pair, Vote, bad_end, pairs_of, with_hosts
from nccl_logscan.diagnosis.routes import ProcessChannels, Routes
from nccl_logscan.diagnosis.sayer import who
from nccl_logscan.diagnosis.scene import Scene
from nccl_logscan.events.model import Event, NcclChannel, NcclNetwork, NcclTrail
from nccl_logscan.events.transfers import FailedTransfer, Manner, failed_transfer
from nccl_logscan.position import Instant
from nccl_logscan.records import dataclass, field, replace

_LIMIT = 65_536
_INFORMING = ("Bootstrap", "NET/IB: WQE stall")
_PARTNERS = 256
_SHOWN = 5
_ON_A_RAIL = 3
_LOST = "lost-peer"


class _Seen(NamedTuple):
    """What makes two lines the same vote."""

    source: str
    host: str | None
    pid: int | None
    transfer: FailedTransfer


class Transfers:
    """Collects failed transfers and the addresses of hosts; names the bad end where the pairs single one out."""

    names: ClassVar[tuple[str, ...]] = (
        "transfers-one-end",
        "transfers-one-adapter",
        "transfers-undecided",
        "connections-one-end",
        "connections-undecided",
        "hung-up-one-end",
        "host-left-first",
    )
    kinds: ClassVar[frozenset[str]] = frozenset(
        {
            "nccl.warn",
            "nccl.last-error",
            "nccl.attn",
            "nccl.trail",
            "nccl.network",
            "nccl.info",
            "nccl.channel",
            "python.exception",
            "torch.process-group",
            "torch.c10",
            "torch.watchdog-timeout",
            "mpi.event",
        }
    )

    def __init__(self) -> None:
        self._book = AddressBook()
        self._votes: dict[_Seen, Vote] = {}
        self._latest: dict[tuple[str, int | None], _Seen] = {}
        self._adapters: dict[str, set[str]] = {}
        self._routes = Routes()
        self._voices = Voices()

    def heeds(self, event: Event) -> Heed:
        """See `Heed`: the addresses of hosts and stalled transfers; whom a rank sends to."""
        if isinstance(event, NcclChannel):
            return Heed.WORDS
        is_stall = event.message.startswith("NET")
        is_told = event.message.startswith(_INFORMING) and (is_stall or prints_addresses(event.message))
        return Heed.TEXT if is_told else Heed.SAYER

    def feed(self, event: Event, site: Site) -> None:
        """Note a failed transfer, which addresses and adapters a host has, or whom a rank sends to."""
        if isinstance(event, NcclChannel):
            if event.transport is not None and event.transport.startswith("NET/"):
                self._routes.learn(event)
        elif event.kind == "nccl.info":
            if event.message.startswith(_INFORMING):
                self._informed(event, site)
        elif isinstance(event, NcclNetwork):
            self._network(event)
        elif isinstance(event, NcclTrail):
            self._trail(event)
        else:
            self._failed(event, site)

    def learn_unread(self, channels: ProcessChannels) -> None:
        """Learn where to ask for channels of which not every line was read."""
        self._routes.learn_unread(channels)

    def _informed(self, event: Event, site: Site) -> None:
        if event.message.startswith("NET"):
            self._failed(event, site)
        elif event.origin.host is not None:
            self._book.learn_printed(event.message, event.origin.host)

    def _network(self, event: NcclNetwork) -> None:
        host = event.origin.host
        if host is None or event.chosen:
            return
        self._book.learn_printed(event.message, host)
        if event.network == "Socket" or (host not in self._adapters and len(self._adapters) >= _LIMIT):
            return
        adapters = self._adapters.setdefault(host, set())
        if len(adapters) < 64:
            adapters.update(device.partition(":")[0] for device in event.devices[:64])

    def _failed(self, event: Event, site: Site) -> None:
        self._voices.learn(event)
        transfer = failed_transfer(event.message)
        if transfer is None:
            return
        origin = event.origin
        seen = _Seen(event.at.source, origin.host, origin.pid, transfer)
        if len(self._latest) < _LIMIT or (seen.source, seen.pid) in self._latest:
            self._latest[seen.source, seen.pid] = seen
        if seen not in self._votes and len(self._votes) < _LIMIT:
            self._votes[seen] = Vote(brief_excerpt_of(event, site), who(event), transfer, site.order)

    def _trail(self, event: NcclTrail) -> None:
        """RAS, NCCL's monitoring, has connections of its own whose loss fails no job: its trail follows the line."""
        if "ras/" in event.site.file:
            self._votes.pop(self._latest.get((event.at.source, event.origin.pid), _NONE), None)

    def conclude(self, scene: Scene) -> Iterator[Detection]:
        """Yield the bad end, adapter or undecided ends of each kind of failure."""
        if not self._votes:
            return
        votes = with_hosts(self._votes.values(), scene)
        ends = self._ends(votes, scene)
        rdma = [said for said in votes if said[0].transfer.rdma and said[0].transfer.manner in _OF_THE_FABRIC]
        tcp = [said for said in votes if not said[0].transfer.rdma and said[0].transfer.manner is Manner.UNANSWERED]
        closed = [said for said in votes if said[0].transfer.manner is Manner.CLOSED]
        if any(vote.transfer.manner is Manner.UNANSWERED for vote, _ in rdma):
            yield from self._of_the_fabric(pairs_of(rdma, ends, scene), scene)
        yield from _of_connections(pairs_of(tcp, ends, scene), scene)
        yield from _of_processes(pairs_of(closed, ends, scene), self._voices, scene)

    def _ends(self, votes: Iterable[tuple[Vote, str | None]], scene: Scene) -> Ends:
        for vote, host in votes:
            transfer = vote.transfer
            if transfer.peer_alias is not None:
                self._book.same(transfer.peer, transfer.peer_alias)
            for own in (transfer.own_address, transfer.own_alias):
                if own is not None and host is not None:
                    self._book.claim(own, host)
        self._book.learn_hosts(scene.identity.hosts)
        return self._book.ends(scene.identity.hosts)

    # --- InfiniBand, RoCE, EFA ---------------------------------------------------------------------------

    def _of_the_fabric(self, pairs: list[Pair], scene: Scene) -> Iterator[Detection]:
        bad = bad_end(pairs, scene.identity.hosts)
        if bad is not None:
            rank = _only_rank(bad, scene)
            if rank is None:
                against = (vote.sayer for pair in pairs if bad in pair.ends for vote in pair.votes)
                rank = self._routes.rank_at(bad, against, scene)
            yield _accusation("transfers-one-end", bad, pairs, scene, rank=rank, adapter=self._adapter_of(bad, pairs))
            return
        adapter = self._rail(pairs, scene)
        if adapter is not None:
            hosts = {end for pair in pairs for end in pair.ends}
            captures = {"adapter": adapter, "hosts": str(len(hosts)), "pairs": str(len(pairs))}
            yield _detection("transfers-one-adapter", pairs, captures)
        elif pairs:
            yield _undecided("transfers-undecided", pairs)

    def _adapter_of(self, bad: str, pairs: Iterable[Pair]) -> str | None:
        """The one adapter of the bad end that failed: by its own lines, or by those of all its peers.

        NCCL prints the reporter's adapter; the far one has the same name where rails are kept, so peers must agree.
        """
        votes = [vote for pair in pairs if bad in pair.ends for vote in pair.votes]
        own = {vote.transfer.adapter for vote in votes if vote.sayer.host == bad}
        peers = {vote.transfer.adapter for vote in votes if vote.sayer.host != bad}
        named = own or peers
        adapter = next(iter(named)) if len(named) == 1 else None
        has = self._adapters.get(bad)
        return adapter if own or not has or adapter in has else None

    def _rail(self, pairs: list[Pair], scene: Scene) -> str | None:
        """The adapter through which all failed transfers went, on most hosts of the job, which have others too."""
        adapter = _common_adapter(pairs)
        hosts = {end for pair in pairs for end in pair.ends}
        few = len(hosts) <= _ON_A_RAIL or len(pairs) < _ON_A_RAIL or 2 * len(hosts) < len(scene.identity.hosts)
        if adapter is None or few:
            return None
        has = [self._adapters[host] for host in hosts if host in self._adapters]
        return adapter if all(adapter in known and len(known) > 1 for known in has) else None


_NONE = _Seen("", None, None, FailedTransfer(Manner.CLOSED, rdma=False, peer=""))
_OF_THE_FABRIC = frozenset({Manner.UNANSWERED, Manner.STALLED, Manner.REJECTED})


# --- TCP -------------------------------------------------------------------------------------------------


def _of_connections(pairs: list[Pair], scene: Scene) -> Iterator[Detection]:
    bad = bad_end(pairs, scene.identity.hosts)
    if bad is not None:
        yield _accusation("connections-one-end", bad, pairs, scene, rank=_only_rank(bad, scene))
    elif len({observer for pair in pairs for observer in pair.observers}) > 1:
        yield _undecided("connections-undecided", pairs)


def _of_processes(pairs: list[Pair], voices: Voices, scene: Scene) -> Iterator[Detection]:
    """Who died first is hung up on by nobody's fault but its own; those who follow it hang up too."""
    bad = bad_end(pairs, scene.identity.hosts) or _silent_end(pairs, scene) or _other_host(pairs, scene)
    if bad is None:
        return
    rank = _only_rank(bad, scene)
    if rank is None:
        rank = _quiet(bad, pairs, scene)
    hung_up = _accusation("hung-up-one-end", bad, pairs, scene, rank=rank)
    yield replace(hung_up, detector="host-left-first") if _before_time_outs(hung_up, pairs, voices, scene) else hung_up


@dataclass(slots=True)
class Voices:
    """Which sources hold PyTorch's words at all, and which tell of a time-out."""

    heard: set[str] = field(default_factory=set)
    timed_out: set[str] = field(default_factory=set)

    def learn(self, event: Event) -> None:
        """Note an event of PyTorch's."""
        if event.kind == "torch.watchdog-timeout" and len(self.timed_out) < _LIMIT:
            self.timed_out.add(event.at.source)
        elif event.kind == "torch.process-group" and len(self.heard) < _LIMIT:
            self.heard.add(event.at.source)

    def never_waited(self, sources: set[str]) -> bool:
        """Whether others of several files tell of time-outs, and of these, which hold PyTorch's words, none does."""
        return len(self.timed_out) > 1 and bool(sources & self.heard) and not sources & self.timed_out


def _before_time_outs(hung_up: Detection, pairs: Iterable[Pair], voices: Voices, scene: Scene) -> bool:
    """Whether the end was gone before ranks gave up waiting, who hang up, too.

    It was if the order of one file or times say so, or if those who saw it leave had no time-out of their own, while
    others had one: ranks that wait for each other give up at about the same time.
    """
    time_outs = [finding for finding in scene.findings if finding.kind == "torch.watchdog-timeout"]
    if not time_outs:
        return False
    gone = [finding for finding in scene.findings if _LOST in finding.rule.groups and finding.rule.blames == "peer"]
    gave_up = {rank for finding in time_outs for rank in finding.ranks}
    saw = {scene.identity.rank_of(vote.sayer) for pair in pairs for vote in pair.votes}
    saw |= {rank for finding in gone for rank in finding.ranks}
    if gave_up and saw - {None} and not saw & gave_up:
        return True
    if voices.never_waited({sample.at.source for finding in gone for sample in finding.samples}):
        return True
    saw_it = [(hung_up.excerpts[0].at.source, hung_up.order, excerpt.when) for excerpt in hung_up.excerpts]
    saw_it += [(finding.first.at.source, finding.order, finding.first.when) for finding in gone]
    return any(all(_is_before_waiting(one, finding, scene) for finding in time_outs) for one in saw_it)


def _is_before_waiting(one: tuple[str, int, Instant | None], waited: Finding, scene: Scene) -> bool:
    """Whether a line (its source, order and time) is known to be before all that are cited of a time-out."""
    source, order, when = one
    if all(sample.at.source == source for sample in waited.samples):
        return order < waited.order
    ends = [sample.when for sample in waited.samples]
    return when is not None and all(end is not None and scene.clocks.order(when, end) == -1 for end in ends)


def _silent_end(pairs: list[Pair], scene: Scene) -> str | None:
    """Of the ends that others saw leave, the one that saw nobody leave, where each end is one process.

    Where a host has several processes, others of it may complain of the first to die; where a file is missing, so may
    have done whoever would have written it.
    """
    said: dict[str, set[str]] = {}
    for pair in pairs:
        for observer in pair.observers:
            said.setdefault(pair.other(observer), set()).add(observer)
    observers = {observer for pair in pairs for observer in pair.observers}
    silent = [end for end in said if end not in observers]
    if len(silent) != 1 or len(said[silent[0]]) < 2:
        return None
    single = all(_only_rank(end, scene) is not None for end in {*said, *observers})
    return silent[0] if single else None


def _other_host(pairs: list[Pair], scene: Scene) -> str | None:
    """In a job of two hosts, the one that hung up while the other complained; None if both did."""
    if len(pairs) != 1 or set(pairs[0].ends) != set(scene.identity.hosts) or len(pairs[0].observers) != 1:
        return None
    (observer,) = pairs[0].observers
    return pairs[0].other(observer)


def _quiet(end: str, pairs: Iterable[Pair], scene: Scene) -> int | None:
    """The one rank of the job that did not complain of another, if it is of this end."""
    said = (scene.identity.rank_of(vote.sayer) for pair in pairs for vote in pair.votes)
    silent = scene.identity.absent(rank for rank in said if rank is not None)
    return silent[0] if len(silent) == 1 and silent[0] in scene.gpus.ranks_on(end) else None


def _only_rank(end: str, scene: Scene) -> int | None:
    ranks = scene.gpus.ranks_on(end)
    return ranks[0] if len(ranks) == 1 else None


# --- Words -----------------------------------------------------------------------------------------------


def _accusation(
    name: str, bad: str, pairs: list[Pair], scene: Scene, *, rank: int | None, adapter: str | None = None
) -> Detection:
    against = [pair for pair in pairs if bad in pair.ends]
    place = f"the host at {bad}" if is_address(bad) else f"host {bad}"
    end = f"adapter {adapter} of {place}" if adapter is not None else place
    captures = {"end": end, "voters": _voters(against, bad, scene)}
    captures["host"] = bad
    if is_address(bad):
        captures["peer"] = bad
    if adapter is not None:
        captures["adapter"] = adapter
    if rank is not None:
        captures["rank"] = str(rank)
    return _detection(name, against, captures, () if rank is None else (rank,))


def _voters(pairs: Iterable[Pair], bad: str, scene: Scene) -> str:
    """`5 ranks of 3 hosts`."""
    votes = [vote for pair in pairs for vote in pair.votes]
    hosts = {pair.other(bad) for pair in pairs}
    ranks = {scene.identity.rank_of(vote.sayer) for vote in votes if vote.sayer.host != bad} - {None}
    told = f"{len(ranks)} rank{'s' if len(ranks) != 1 else ''} of " if ranks else ""
    return f"{told}{len(hosts)} host{'s' if len(hosts) != 1 else ''}"


def _undecided(name: str, pairs: list[Pair]) -> Detection:
    ends = list(dict.fromkeys(end for pair in pairs for end in pair.ends))
    adapter = _common_adapter(pairs)
    captures = {"ends": listed(ends)} | ({} if adapter is None else {"adapter": adapter})
    return replace(_detection(name, pairs, captures), hosts=tuple(ends[:_PARTNERS]))


def _common_adapter(pairs: Iterable[Pair]) -> str | None:
    """The adapter through which all the transfers went that failed; None if several did, or a line names none."""
    adapters = {vote.transfer.adapter for pair in pairs for vote in pair.votes}
    return adapters.pop() if len(adapters) == 1 else None


def _detection(name: str, pairs: list[Pair], captures: Mapping[str, str], ranks: tuple[int, ...] = ()) -> Detection:
    """The evidence is one line a pair, those first read first."""
    votes = sorted((vote for pair in pairs for vote in pair.votes), key=lambda vote: vote.order)
    firsts = sorted((pair.first for pair in pairs), key=lambda vote: vote.order)
    host = captures.get("host")
    return Detection(
        name,
        tuple(vote.excerpt for vote in firsts[:_SHOWN]),
        votes[0].order,
        votes[-1].order,
        captures,
        ranks,
        (host,) if host is not None else (),
        count=len(votes),
    )
