"""Whom a kernel's word hit: it names a host, a process or a GPU and no rank, and others tell of the same death.

The kernel numbers processes as the host does, and so does a launcher that runs on the host; in a container they differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from nccl_logscan.diagnosis.endings import Endings
from nccl_logscan.diagnosis.findings import Finding
from nccl_logscan.diagnosis.identity import Identity, short_host
from nccl_logscan.events.model import ElasticExit, ProcessExit

_OOM = "kernel.oom"
_XID = "kernel.xid"
_SIGKILL = 9
_DIGITS = 10
# What a process prints when its GPU fails, and PyTorch raises.
_OF_THE_PROCESS = frozenset({"python.exception", "cuda.error"})
_ABSENT = "rank-absent"


def rank_of_victim(
    cause: Finding, host: str | None, findings: Iterable[Finding], identity: Identity, endings: Endings
) -> int | None:
    """Return the rank that a cause which only the kernel tells of fell on; None where it can't be told."""
    if cause.kind not in {_OOM, _XID}:
        return None
    told = list(findings)
    sure = _by_pid(cause, host, told, identity, endings) if cause.kind == _OOM else _raised(cause, told)
    for ranks in (sure, _killed(endings) if cause.kind == _OOM else (), _absent(told)):
        there = {rank for rank in ranks if _may_be_on(rank, host, identity)}
        if there:
            return there.pop() if len(there) == 1 else None
    return None


def _by_pid(
    cause: Finding, host: str | None, findings: Iterable[Finding], identity: Identity, endings: Endings
) -> Iterator[int]:
    same = (one for one in findings if one.kind == _OOM and set(one.hosts) == set(cause.hosts))
    told = (one.captures.get("pid") for one in (cause, *same))
    pids = {int(pid) for pid in told if pid is not None and len(pid) < _DIGITS}
    for pid in pids:
        rank = identity.rank_of_process(host, pid)
        if rank is not None:
            yield rank
    for event in endings.failures:
        if isinstance(event, ElasticExit) and event.origin.pid in pids and event.origin.rank is not None:
            yield event.origin.rank


def _killed(endings: Endings) -> Iterator[int]:
    for event in endings.failures:
        rank = event.origin.rank
        if rank is None or not isinstance(event, ElasticExit | ProcessExit):
            continue
        if event.signal == _SIGKILL or event.exit_code in {-_SIGKILL, 128 + _SIGKILL}:
            yield rank


def _raised(cause: Finding, findings: Iterable[Finding]) -> Iterator[int]:
    for finding in findings:
        if finding.kind in _OF_THE_PROCESS and finding.rule.category is cause.rule.category:
            yield from finding.ranks


def _absent(findings: Iterable[Finding]) -> Iterator[int]:
    """Who waits for nothing while all others wait."""
    for finding in findings:
        if finding.kind == _ABSENT and len(finding.ranks) == 1:
            yield from finding.ranks


def _may_be_on(rank: int, host: str | None, identity: Identity) -> bool:
    known = identity.host_of(rank)
    return host is None or known is None or short_host(known) == short_host(host)
