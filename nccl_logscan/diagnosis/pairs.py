"""Pairs of ends between which transfers failed: each accuses two, and the end that all of them share is bad."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import timedelta

from nccl_logscan.diagnosis.addresses import Ends, is_address
from nccl_logscan.diagnosis.excerpts import Excerpt
from nccl_logscan.diagnosis.sayer import Who
from nccl_logscan.diagnosis.scene import Scene
from nccl_logscan.events.transfers import FailedTransfer
from nccl_logscan.position import Instant
from nccl_logscan.records import dataclass, field

# A third of a bad end's pairs may be other pairs: processes that leave break connections of their own.
_STRAY = 3
_CERTAIN = 3
_FEW = 5
# What fails at once is reported within seconds; a neighbour of who gave up finds out after time-outs of its own.
_LATER = timedelta(seconds=10)


@dataclass(slots=True)
class Vote:
    """A failed transfer as one process reported it first."""

    excerpt: Excerpt
    sayer: Who
    transfer: FailedTransfer
    order: int


@dataclass(slots=True)
class Pair:
    """Two ends between which transfers failed, the names in order, with who says so."""

    ends: tuple[str, str]
    votes: list[Vote] = field(default_factory=list)
    observers: set[str] = field(default_factory=set)

    def other(self, end: str) -> str:
        """Return the end that is not `end`."""
        return self.ends[1] if self.ends[0] == end else self.ends[0]

    @property
    def first(self) -> Vote:
        """The vote that was read first: a file's own lines are in order."""
        return min(self.votes, key=lambda vote: vote.order)


def pairs_of(votes: Iterable[tuple[Vote, str | None]], ends: Ends, scene: Scene) -> list[Pair]:
    """Return the pairs of hosts; a vote whose ends are not known, or are of one host, is none."""
    pairs: dict[tuple[str, str], Pair] = {}
    for vote, host in votes:
        peer = ends.named(vote.transfer.peer)
        if host is None or peer is None or peer == host:
            continue
        both = (host, peer) if host < peer else (peer, host)
        pair = pairs.setdefault(both, Pair(both))
        pair.votes.append(vote)
        pair.observers.add(host)
    known = list(pairs.values())
    return _joined(known, scene)


def _joined(pairs: list[Pair], scene: Scene) -> list[Pair]:
    """Give the one address that several hosts accuse the name of the one host that accuses nothing but other addresses.

    Without NCCL's INFO lines no address has a host, so that a bad end is two: the host that could reach nobody, and the
    address that nobody could reach. Of three hosts it must be so. Of a few more, that host may be the neighbour of both
    who gave up over a silent one, unless it complained before them.
    """
    accused: dict[str, set[str]] = {}
    for pair in pairs:
        for observer in pair.observers:
            accused.setdefault(pair.other(observer), set()).add(observer)
    shared = [end for end, by in accused.items() if len(by) > 1]
    observers = set[str]().union(*accused.values())
    if len(shared) != 1 or not is_address(shared[0]):
        return pairs
    if not all(is_address(end) or end in accused[shared[0]] for end in accused):
        return pairs
    alone = observers - accused[shared[0]]
    others = accused.keys() - {shared[0]}
    mutual = bool(others) and others <= accused[shared[0]]
    if len(alone) != 1 or (len(others) != len(accused[shared[0]]) and not mutual):
        return pairs
    host = alone.pop()
    if _CERTAIN < len(scene.identity.hosts) <= _FEW and not _complained_first(host, pairs, scene):
        return pairs
    return [_renamed(pair, shared[0], host) for pair in pairs]


def _complained_first(host: str, pairs: Sequence[Pair], scene: Scene) -> bool:
    own = [pair.first for pair in pairs if host in pair.observers]
    others = [pair.first for pair in pairs if host not in pair.observers]
    return any(all(_is_before(mine, other, scene) for other in others) for mine in own)


def _is_before(one: Vote, other: Vote, scene: Scene) -> bool:
    mine, its = one.excerpt, other.excerpt
    if mine.at.source == its.at.source:
        return one.order < other.order
    return mine.when is not None and its.when is not None and scene.clocks.order(mine.when, its.when) == -1


def _renamed(pair: Pair, address: str, host: str) -> Pair:
    if address not in pair.ends:
        return pair
    other = pair.other(address)
    return Pair((host, other) if host < other else (other, host), pair.votes, pair.observers)


def with_hosts(votes: Iterable[Vote], scene: Scene) -> list[tuple[Vote, str | None]]:
    """Return votes with the host of who cast them; None where neither the line nor the rank tells."""
    by_rank: dict[int, str | None] = {}
    said: list[tuple[Vote, str | None]] = []
    for vote in votes:
        host = vote.sayer.host
        rank = scene.identity.rank_of(vote.sayer) if host is None else None
        if rank is not None:
            if rank not in by_rank:
                by_rank[rank] = scene.identity.host_of(rank)
            host = by_rank[rank]
        said.append((vote, host))
    return said


def bad_end(pairs: list[Pair], spoke: Iterable[str]) -> str | None:
    """Return the end that the pairs have in common; None if one pair, or no end, or more than one stands out.

    At least two of the others must have spoken, or their silence about each other would say nothing.
    """
    others: dict[str, set[str]] = {}
    for pair in pairs:
        for end in pair.ends:
            others.setdefault(end, set()).add(pair.other(end))
    told = set(spoke)
    bad = [end for end, met in others.items() if len(met & told) > 1 and _follow_from(end, pairs)]
    return bad[0] if len(bad) == 1 else None


def _follow_from(bad: str, pairs: list[Pair]) -> bool:
    """Whether pairs without this end are few and apart, or known to have failed long after those with it."""
    stray = [pair for pair in pairs if bad not in pair.ends]
    if not stray:
        return True
    touched = Counter(end for pair in stray for end in pair.ends)
    accused = len(pairs) - len(stray)
    if len(stray) * _STRAY <= accused and max(touched.values()) == 1:
        return True
    firsts = [pair.first.excerpt.when for pair in pairs if bad in pair.ends]
    return all(_long_after(pair.first.excerpt.when, first) for pair in stray for first in firsts)


def _long_after(when: Instant | None, first: Instant | None) -> bool:
    """Whether a pair is known to have failed so much later that it is no part of one outage."""
    if when is None or first is None or first.order_to(when) != -1:
        return False
    return when.value - first.value >= _LATER
