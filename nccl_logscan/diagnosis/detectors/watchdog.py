"""Who was late, and who called something else: from the watchdogs' lines of all ranks."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from nccl_logscan.diagnosis.detectors.detection import Detection, Scene, brief_excerpt_of, excerpt_of
from nccl_logscan.diagnosis.excerpts import TEXT_LIMIT, Excerpt, Site
from nccl_logscan.diagnosis.identity import Who, who
from nccl_logscan.events.model import (
    Event,
    LogText,
    TorchDumpSignal,
    TorchWatchdogTimeout,
    TorchWorkStatus,
    TrainStep,
)

_LIMIT = 16_384
# Of how many ranks the lines around their account are kept; of the rest the line alone.
_WITH_CONTEXT = 256

# Collectives whose element count must be the same on every rank; in the others ranks may rightly differ (send, recv,
# gather, scatter, all-to-all and the list forms with uneven parts).
_EVEN = frozenset({"ALLREDUCE", "BROADCAST", "REDUCE", "_ALLGATHER_BASE", "_REDUCE_SCATTER_BASE", "ALLREDUCE_SPARSE"})
_POINT_TO_POINT = frozenset({"SEND", "RECV", "RECVANYSOURCE", "COALESCED", "UNKNOWN"})


@dataclass(slots=True)
class _Account:
    """What one rank's watchdog said."""

    timeout: TorchWatchdogTimeout | None = None
    group: str | None = None
    enqueued: int | None = None
    completed: int | None = None
    order: int = 0
    excerpts: list[Excerpt] = field(default_factory=list)

    def learn(self, enqueued: int | None, completed: int | None) -> None:
        if self.enqueued is None:
            self.enqueued = enqueued
        if self.completed is None:
            self.completed = completed


class Watchdog:
    """Compares the ranks' accounts of a time-out: names those that never entered, and those that differ."""

    names: ClassVar[tuple[str, ...]] = ("rank-behind", "rank-absent", "watchdog-mismatch")
    kinds: ClassVar[frozenset[str]] = frozenset(
        {"torch.watchdog-timeout", "torch.work-status", "torch.dump-signal", "log.text", "train.step"}
    )

    def __init__(self) -> None:
        self._accounts: dict[Who, _Account] = {}
        self._last_words: dict[int, tuple[Event, str]] = {}

    def feed(self, event: Event, site: Site) -> None:
        """Note what a rank says of its work, and its last line before the first time-out."""
        if isinstance(event, LogText | TrainStep):
            self._hear(event, site)
            return
        sayer = _global(event)
        account = self._accounts.get(sayer)
        if account is None:
            if len(self._accounts) >= _LIMIT:
                return
            account = self._accounts[sayer] = _Account(order=site.order)
        if isinstance(event, TorchWatchdogTimeout):
            if account.timeout is not None:
                return
            account.timeout = event
            account.order = site.order
        elif isinstance(event, TorchWorkStatus):
            account.group = account.group or event.process_group
            account.learn(event.last_enqueued, event.last_completed)
        elif isinstance(event, TorchDumpSignal):
            account.learn(event.last_enqueued, event.last_completed)
        if len(account.excerpts) < 3:
            whole = len(self._accounts) <= _WITH_CONTEXT
            account.excerpts.append(excerpt_of(event, site) if whole else brief_excerpt_of(event, site))

    def _hear(self, event: Event, site: Site) -> None:
        rank = event.origin.rank
        if rank is None or self._accounts or not event.message.strip():
            return
        if rank in self._last_words or len(self._last_words) < _LIMIT:
            self._last_words[rank] = (event, site.text)

    def conclude(self, scene: Scene) -> Iterator[Detection]:
        """Yield mismatches first, then the ranks that were behind or absent."""
        by_rank = self._by_rank(scene)
        timed_out = {rank: account for rank, account in by_rank.items() if account.timeout is not None}
        if not timed_out:
            return
        mismatch = list(_mismatches(timed_out))
        yield from mismatch
        if not mismatch:
            yield from _late(by_rank, timed_out, self._last_words, scene)

    def _by_rank(self, scene: Scene) -> dict[int, _Account]:
        by_rank: dict[int, _Account] = {}
        for sayer, account in self._accounts.items():
            rank = scene.identity.rank_of(sayer)
            if rank is not None:
                by_rank.setdefault(rank, account)
        return by_rank


def _global(event: Event) -> Who:
    """Who said it; before PyTorch 2.2 a watchdog names its rank only as `[Rank N]`, mostly in the default group."""
    sayer = who(event)
    group_rank = getattr(event, "group_rank", None)
    group = getattr(event, "process_group", None)
    known = sayer.rank is not None or sayer.local_rank is not None or sayer.task is not None
    if known or group_rank is None or (group is not None and "default" not in group):
        return sayer
    return Who(sayer.source, sayer.host, sayer.pid, group_rank, None, None)


def _mismatches(timed_out: dict[int, _Account]) -> Iterator[Detection]:
    calls: dict[tuple[str | None, int], list[int]] = defaultdict(list)
    for rank, account in timed_out.items():
        assert account.timeout is not None
        if account.timeout.sequence is not None and account.timeout.collective not in _POINT_TO_POINT:
            calls[account.group, account.timeout.sequence].append(rank)
    for (group, sequence), ranks in calls.items():
        shapes = {rank: _shape(timed_out[rank]) for rank in ranks}
        if len(set(shapes.values())) < 2:
            continue
        odd = _odd_ones(shapes, timed_out)
        apart = set(odd)
        ordered = (*odd, *(rank for rank in ranks if rank not in apart))
        accounts = [timed_out[rank] for rank in ordered]
        first = odd[0] if len(odd) == 1 else None
        yield Detection(
            "watchdog-mismatch",
            tuple(account.excerpts[0] for account in accounts[:5]),
            min(account.order for account in accounts),
            max(account.order for account in accounts),
            captures={
                "sequence": str(sequence),
                "calls": "; ".join(f"rank {rank}: {_call(timed_out[rank])}" for rank in ordered[:4]),
                **({"process_group": group} if group else {}),
            },
            ranks=tuple(odd) if first is not None else (),
            count=len(ranks),
        )


def _shape(account: _Account) -> tuple[str | None, int | None]:
    timeout = account.timeout
    assert timeout is not None
    return timeout.collective, timeout.numel_in if timeout.collective in _EVEN else None


def _call(account: _Account) -> str:
    assert account.timeout is not None
    numel = account.timeout.numel_in
    return f"{account.timeout.collective}" + (f" of {numel} elements" if numel is not None else "")


def _odd_ones(shapes: dict[int, tuple[str | None, int | None]], timed_out: dict[int, _Account]) -> list[int]:
    """The minority by shape; of two ranks, the one that has enqueued fewer calls, since it left one out."""
    counts = Counter(shapes.values())
    (_, most), *rest = counts.most_common()
    if all(count < most for _, count in rest):
        return [rank for rank, shape in shapes.items() if counts[shape] < most]
    enqueued = {rank: timed_out[rank].enqueued for rank in shapes}
    known = [value for value in enqueued.values() if value is not None]
    if len(known) == len(enqueued) and len(set(known)) > 1:
        fewest = min(known)
        behind = [rank for rank, value in enqueued.items() if value == fewest]
        if len(behind) * 2 <= len(shapes):
            return behind
    return []


def _late(
    by_rank: dict[int, _Account],
    timed_out: dict[int, _Account],
    last_words: dict[int, tuple[Event, str]],
    scene: Scene,
) -> Iterator[Detection]:
    waiting = [timed_out[rank] for rank in sorted(timed_out)]
    sequences = [account.timeout.sequence for account in waiting if account.timeout and account.timeout.sequence]
    failing = min(sequences, default=None)
    behind = [
        rank
        for rank, account in by_rank.items()
        if rank not in timed_out and account.enqueued is not None and _is_behind(account, failing)
    ]
    if behind:
        proof = [by_rank[behind[0]].excerpts[-1], *_heard(behind, last_words)]
        proof += [by_rank[rank].excerpts[-1] for rank in behind[1:3]]
        yield _waited_for("rank-behind", behind, waiting, failing, (proof, last_words))
        return
    absent = _absent(timed_out, scene)
    if absent and len(absent) <= len(timed_out):
        yield _waited_for("rank-absent", absent, waiting, failing, (_heard(absent, last_words), last_words))


def _waited_for(
    name: str,
    ranks: list[int],
    waiting: list[_Account],
    failing: int | None,
    told: tuple[list[Excerpt], dict[int, tuple[Event, str]]],
) -> Detection:
    """Return the detection of ranks that others waited for; one alone is accused, several are named."""
    proof, last_words = told
    shown = ", ".join(str(rank) for rank in ranks[:8]) + (", ..." if len(ranks) > 8 else "")
    return Detection(
        name,
        (*proof, *(account.excerpts[0] for account in waiting[:4])),
        min(account.order for account in waiting),
        max(account.order for account in waiting),
        {
            "waiting": str(len(waiting)),
            "collective": _collective(waiting),
            "sequence": str(failing or "?"),
            "ranks": shown,
        }
        | ({"rank": shown} if len(ranks) == 1 else {}),
        tuple(ranks) if len(ranks) <= 8 else (),
        count=len(ranks),
        notes=tuple(_told(ranks, last_words)),
    )


def _absent(timed_out: dict[int, _Account], scene: Scene) -> list[int]:
    """The ranks of the world that did not time out; none where a sub-group did, whose members the log does not list."""
    if any(account.group is not None and not account.group.startswith("0") for account in timed_out.values()):
        return []
    world = max(scene.identity.world_size or 0, max(timed_out) + 1)
    return [rank for rank in range(world) if rank not in timed_out]


def _heard(ranks: list[int], last_words: dict[int, tuple[Event, str]]) -> list[Excerpt]:
    """The last line of the first late rank, as evidence."""
    return [
        Excerpt(event.at, text[:TEXT_LIMIT], event.origin, event.when, None, ())
        for event, text in (last_words[rank] for rank in ranks[:1] if rank in last_words)
    ]


def _told(ranks: list[int], last_words: dict[int, tuple[Event, str]]) -> Iterator[str]:
    for rank in ranks[:1]:
        if rank in last_words:
            event, _ = last_words[rank]
            yield f"The last that rank {rank} said before was: {event.message.strip()[:120]} ({event.at})."


def _is_behind(account: _Account, failing: int | None) -> bool:
    if failing is not None and account.enqueued is not None:
        return account.enqueued < failing
    return account.enqueued == account.completed


def _collective(waiting: list[_Account]) -> str:
    names = Counter(account.timeout.collective for account in waiting if account.timeout and account.timeout.collective)
    return str(names.most_common(1)[0][0]) if names else "collective"
