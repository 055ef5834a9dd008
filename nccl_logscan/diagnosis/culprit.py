"""Where the failure began: rank, host, process, device, adapter, peer."""

from __future__ import annotations

from nccl_logscan.diagnosis.clocks import Clocks
from nccl_logscan.diagnosis.endings import Endings
from nccl_logscan.diagnosis.findings import Evidence, Finding
from nccl_logscan.diagnosis.identity import Identity
from nccl_logscan.diagnosis.sayer import sayer_of
from nccl_logscan.diagnosis.scene import Scene
from nccl_logscan.diagnosis.verdict import Culprit
from nccl_logscan.diagnosis.victims import rank_of_victim
from nccl_logscan.numbers import whole
from nccl_logscan.taxonomy import Category


def find_culprit(cause: Finding, scene: Scene) -> Culprit:
    """Return the culprit of the deciding finding, as its rule's `blames` says; others may tell its rank, too."""
    captures, identity = cause.captures, scene.identity
    rank = _rank(cause, identity, scene.clocks)
    if rank is None and cause.rule.blames == "observer":
        rank = _by_exit(cause, scene.endings)
    observer = _observer(cause, rank, identity)
    spoke = _points_at_speaker(cause) and (rank is None or _said_by(observer, rank, identity))
    origin = observer.origin
    seen_on = _one(cause.hosts) if cause.rule.blames in {"observer", "captured"} else None
    host = captures.get("host") or (origin.host if spoke else None) or seen_on
    if rank is None and cause.rule.blames == "observer":
        rank = rank_of_victim(cause, host, scene)
    if rank is None and host is not None and _is_of_the_whole_host(cause):
        rank = identity.only_rank_on(host)
    if host is None and rank is not None:
        host = identity.host_of(rank)
    pid = whole(captures.get("pid")) or (origin.pid if spoke else None)
    return Culprit(
        rank=rank,
        host=host or (origin.pod if spoke else None),
        pid=pid if pid is not None or rank is None else identity.pid_of(rank),
        device=whole(captures.get("device")) if "device" in captures else (origin.device if spoke else None),
        adapter=captures.get("adapter"),
        peer=captures.get("peer"),
        process_group=captures.get("process_group"),
    )


def _is_of_the_whole_host(cause: Finding) -> bool:
    """Whether whatever runs on the host is hit: the host was lost to the others, or it, or its launcher, was ended."""
    ended = cause.rule.category is Category.PROCESS_DEATH and cause.rule.blames == "observer"
    return ended or cause.rule.blames == "peer"


def _points_at_speaker(cause: Finding) -> bool:
    """Whether the cited line's host may be the culprit's: not where many were compared and none is the odd one."""
    compared = cause.rule.match.detector is not None and not cause.ranks and not cause.hosts
    return cause.rule.blames == "observer" or (cause.rule.blames == "captured" and not compared)


def _rank(cause: Finding, identity: Identity, clocks: Clocks) -> int | None:
    if cause.rule.blames == "none":
        return None
    told = whole(cause.captures.get("rank"))
    if told is not None and cause.rule.blames != "peer":
        return told
    if cause.rule.blames == "peer":
        return told if told is not None else _by_elimination(cause, identity)
    if cause.rule.blames == "captured":
        return cause.ranks[0] if len(cause.ranks) == 1 else None
    return _first_to_say(cause, identity, clocks)


def _by_elimination(cause: Finding, identity: Identity) -> int | None:
    """The one rank that did not complain of its peer; None if several did not."""
    if not cause.ranks:
        return None
    silent = identity.absent(cause.ranks)
    return silent[0] if len(silent) == 1 else None


def _first_to_say(cause: Finding, identity: Identity, clocks: Clocks) -> int | None:
    """The first rank to say it: by order within one input, by times that can be compared across inputs; else None."""
    said = [(sample, rank) for sample in cause.samples if (rank := _rank_of(sample, identity)) is not None]
    if len(cause.ranks) <= 1 or len({sample.at.source for sample, _ in said}) <= 1:
        return cause.ranks[0] if cause.ranks else None
    timed = [(sample.when, rank) for sample, rank in said if sample.when is not None]
    first = clocks.first(timed) if len(timed) == len(said) else None
    return None if first is None else timed[first][1]


def _rank_of(sample: Evidence, identity: Identity) -> int | None:
    return identity.rank_of(sayer_of(sample.at.source, sample.origin))


def _by_exit(cause: Finding, endings: Endings) -> int | None:
    """The rank that the launcher saw leave first with an error of its own, where the line itself has no rank.

    Before a process group exists nothing marks a process's output, but torchrun says which process failed.
    """
    exits = [event for event in endings.first_exits(cause.first.at.source) if (event.exit_code or 0) > 0]
    own = {event.origin.rank for event in exits}
    first = {event.origin.rank for event in exits if event.root_cause}
    return next(iter(own)) if len(own) == 1 else next(iter(first)) if len(first) == 1 else None


def _observer(cause: Finding, rank: int | None, identity: Identity) -> Evidence:
    for sample in cause.samples:
        if rank is not None and _said_by(sample, rank, identity):
            return sample
    return cause.first


def _said_by(sample: Evidence, rank: int, identity: Identity) -> bool:
    return _rank_of(sample, identity) == rank


def _one(hosts: tuple[str, ...]) -> str | None:
    return hosts[0] if len(hosts) == 1 else None
