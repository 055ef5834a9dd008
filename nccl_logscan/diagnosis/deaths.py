"""Which failures of connections follow from a process that died by a cause of its own.

Who died is reached by nobody: the transfers to it fail, and whoever waits for them says so more often and more loudly
than the launcher that saw it die. How plainly either is said does not tell which came first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from nccl_logscan.diagnosis.addresses import is_address
from nccl_logscan.diagnosis.findings import Finding
from nccl_logscan.diagnosis.host_names import short_host
from nccl_logscan.diagnosis.identity import Identity
from nccl_logscan.taxonomy import Category, Role

_OWN_CAUSES = frozenset(
    {Category.USER_CODE, Category.GPU_OOM, Category.HOST_OOM, Category.GPU_HARDWARE, Category.PROCESS_DEATH}
)
# What ends a process from outside, or tells of another's end, is no cause of its own.
_TOLD_TO_END = "told-to-end"
_LEFT = "host-left-first"
_TIME_OUT = "torch.watchdog-timeout"
_COMPARED = frozenset({"transfers-one-end", "transfers-undecided", "connections-one-end", "connections-undecided"})
_UNANSWERED = "unanswered-transfer"
# A launcher ends a dead worker's neighbours first, for up to 30 s, and then tells of the death (torch's elastic agent).
_TOLD_BY_LAUNCHERS = frozenset({"elastic.exit", "process.exit", "process.signal", "kernel.oom", "ray.event"})


class _Order(Protocol):
    def __call__(self, one: Finding, other: Finding) -> int | None: ...


def fallen(candidates: Sequence[Finding], identity: Identity, order: _Order) -> frozenset[int]:
    """Return the ids (`id()`) of the candidates that follow from another one's death, whatever their rules' strengths.

    `order` tells -1 or 1 where the order of two findings is known.
    """
    deaths = [finding for finding in candidates if _is_death(finding)]
    lost = [
        finding
        for finding in candidates
        if finding.kind in _COMPARED and any(_explains(death, finding, identity, order) for death in deaths)
    ]
    if not any(finding.kind in _COMPARED for finding in candidates):
        lost += [
            finding
            for finding in candidates
            if _UNANSWERED in finding.rule.groups
            and any(_explains(death, finding, identity, order) for death in deaths)
        ]
    elif lost and len(lost) == sum(finding.kind in _COMPARED for finding in candidates):
        lost += [finding for finding in candidates if finding.rule.category in {one.rule.category for one in lost}]
    left = [finding for finding in candidates if finding.kind == _LEFT]
    told = [finding for finding in candidates if _TOLD_TO_END in finding.rule.groups]
    lost += [one for one in left if any(_not_after(death, one, order) for death in deaths)]
    lost += [one for one in left if any(order(end, one) == -1 for end in told)]
    trouble = [*left, *(finding for finding in candidates if finding.kind == _TIME_OUT)]
    lost += [end for end in told if any(order(one, end) == -1 for one in trouble)]
    return frozenset(map(id, lost))


def _is_death(finding: Finding) -> bool:
    rule = finding.rule
    if rule.role is not Role.CAUSE or rule.category not in _OWN_CAUSES or finding.kind == _LEFT:
        return False
    return _TOLD_TO_END not in rule.groups


def _explains(death: Finding, lost: Finding, identity: Identity, order: _Order) -> bool:
    """Whether a death on one host is why nobody reached that host.

    Where no line tells the host of the rank that died, it may be any that only its address names.
    """
    host = _only_host(death, identity)
    if not _not_after(death, lost, order):
        return False
    if host is None:
        somewhere = not any(True for _ in _hosts(death, identity)) and len(death.ranks) == 1
        return somewhere and lost.captures.get("peer") is not None and not set(death.ranks) & set(lost.ranks)
    ends = set(map(short_host, lost.hosts)) if lost.kind in _COMPARED else set()
    if host in ends:
        return True
    peer = lost.captures.get("peer")
    unknown = any(map(is_address, ends)) or (lost.kind not in _COMPARED and peer is not None)
    return unknown and host not in _observers(lost, identity)


def _not_after(death: Finding, lost: Finding, order: _Order) -> bool:
    return death.kind in _TOLD_BY_LAUNCHERS or order(death, lost) != 1


def _only_host(finding: Finding, identity: Identity) -> str | None:
    hosts = set(_hosts(finding, identity))
    return hosts.pop() if len(hosts) == 1 else None


def _hosts(finding: Finding, identity: Identity) -> Iterable[str]:
    for host in (*finding.hosts, *map(identity.host_of, finding.ranks)):
        if host is not None:
            yield short_host(host)


def _observers(lost: Finding, identity: Identity) -> set[str]:
    """The hosts that complained: those whose lines are cited, or all of whom a rule's lines are."""
    said = {short_host(sample.origin.host) for sample in lost.samples if sample.origin.host is not None}
    return said if lost.kind in _COMPARED else said | set(_hosts(lost, identity))
