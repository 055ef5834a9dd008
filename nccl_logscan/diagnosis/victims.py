"""Whom a death fell on, where its own lines name no rank: launchers, and who is missing, tell of the same death.

The kernel names a host, a process or a GPU. It numbers processes as the host does, and so does a launcher that runs on
the host; in a container they differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from nccl_logscan.diagnosis.findings import Finding
from nccl_logscan.diagnosis.host_names import short_host
from nccl_logscan.diagnosis.identity import Identity
from nccl_logscan.diagnosis.sayer import who
from nccl_logscan.diagnosis.scene import Scene
from nccl_logscan.events.model import ElasticExit, ProcessExit
from nccl_logscan.numbers import whole
from nccl_logscan.taxonomy import Category

_OOM = "kernel.oom"
_XID = "kernel.xid"
_OF_SIGNALS = 128
# What a process prints when its GPU fails, and PyTorch raises.
_OF_THE_PROCESS = frozenset({"python.exception", "cuda.error"})
_ABSENT = "rank-absent"
_ENDED = frozenset({"end-of-a-worker", "lost-peer"})


def rank_of_victim(cause: Finding, host: str | None, scene: Scene) -> int | None:
    """Return the rank that a cause fell on whose lines tell none; None where others do not tell it either."""
    codes = _codes(cause)
    if codes is None:
        return None
    sure: Iterable[int] = ()
    if cause.kind == _OOM:
        sure = _by_pid(cause, host, scene)
    elif cause.kind == _XID:
        sure = _raised(cause, scene.findings)
    absent = _absent(scene.findings) if cause.kind in {_OOM, _XID} else ()
    for ranks in (sure, _ended_so(codes, scene), absent):
        there = {rank for rank in ranks if _may_be_on(rank, host, scene.identity)}
        if there:
            return there.pop() if len(there) == 1 else None
    return None


def _codes(cause: Finding) -> Callable[[int], bool] | None:
    """How a process that dies so leaves, by its exit code (negative: a signal); None for what need not end one."""
    rule = cause.rule
    if rule.category is Category.HOST_OOM:
        return {-9, 128 + 9}.__contains__ if cause.kind != "python.exception" else _is_own_error
    if rule.category in {Category.USER_CODE, Category.GPU_OOM, Category.GPU_HARDWARE}:
        return _is_own_error
    if rule.category is Category.PROCESS_DEATH and "segfault" in rule.id:
        return {-11, 128 + 11}.__contains__
    return None


def _is_own_error(code: int) -> bool:
    return 0 < code < _OF_SIGNALS


def _by_pid(cause: Finding, host: str | None, scene: Scene) -> Iterator[int]:
    same = (one for one in scene.findings if one.kind == _OOM and set(one.hosts) == set(cause.hosts))
    told = (one.captures.get("pid") for one in (cause, *same))
    pids = {pid for text in told if (pid := whole(text)) is not None}
    for pid in pids:
        rank = scene.identity.rank_of_process(host, pid)
        if rank is not None:
            yield rank
    for event in scene.endings.failures:
        if isinstance(event, ElasticExit) and event.origin.pid in pids and event.origin.rank is not None:
            yield event.origin.rank


def _ended_so(codes: Callable[[int], bool], scene: Scene) -> Iterator[int]:
    for event in scene.endings.failures:
        if not isinstance(event, ElasticExit | ProcessExit):
            continue
        code = -event.signal if event.signal is not None else event.exit_code
        if code is not None and codes(code) and (rank := scene.identity.rank_of(who(event))) is not None:
            yield rank


def _raised(cause: Finding, findings: Iterable[Finding]) -> Iterator[int]:
    for finding in findings:
        if finding.kind in _OF_THE_PROCESS and finding.rule.category is cause.rule.category:
            yield from finding.ranks


def _absent(findings: Sequence[Finding]) -> Iterator[int]:
    """Who waits for nothing while all others wait, without those who are seen to have ended over another's end."""
    ended = {rank for finding in findings if _ENDED & set(finding.rule.groups) for rank in finding.ranks}
    for finding in findings:
        if finding.kind == _ABSENT:
            yield from (rank for rank in finding.ranks if rank not in ended)


def _may_be_on(rank: int, host: str | None, identity: Identity) -> bool:
    known = identity.host_of(rank)
    return host is None or known is None or short_host(known) == short_host(host)
