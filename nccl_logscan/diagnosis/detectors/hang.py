"""Who was late, who called something else, who waits for whom: from watchdogs' lines and flight-recorder dumps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from typing import ClassVar, NamedTuple

from nccl_logscan.diagnosis.detectors.detection import Detection, captured
from nccl_logscan.diagnosis.excerpts import TEXT_LIMIT, Excerpt, Site
from nccl_logscan.diagnosis.hang.accounts import Account, Accounts, GroupNames
from nccl_logscan.diagnosis.hang.blame import Blame, Fault, Roll, find_blame
from nccl_logscan.diagnosis.hang.lateness import find_late
from nccl_logscan.diagnosis.hang.mismatch import Mismatch, find_mismatches, lone_caller, told_mismatches
from nccl_logscan.diagnosis.hang.progress import Progress, Standing
from nccl_logscan.diagnosis.hang.recordings import Recordings
from nccl_logscan.diagnosis.heed import Heed
from nccl_logscan.diagnosis.identity import Identity
from nccl_logscan.diagnosis.sayer import who
from nccl_logscan.diagnosis.scene import Scene
from nccl_logscan.diagnosis.verdict import RankStanding, TimelineEntry
from nccl_logscan.events.model import (
    Event,
    LogText,
    TorchDumpSignal,
    TorchWatchdogTimeout,
    TorchWorkStatus,
    TrainStep,
)
from nccl_logscan.position import NOBODY, Position
from nccl_logscan.records import dataclass, replace

_LIMIT = 65_536
_NAMED = 8

_DETECTORS = {
    Fault.BEHIND: "rank-behind",
    Fault.ABSENT: "rank-absent",
    Fault.ORDER: "collective-order",
    Fault.SKIPPED: "call-left-out",
    Fault.UNMET: "peer-call-missing",
    Fault.ALONE: "alone-in-call",
    Fault.NOT_STARTED: "not-started",
    Fault.ENTERED: "all-entered",
}


class _LastWords(NamedTuple):
    """A process's last line before some watchdog spoke in its source."""

    event: Event
    text: str
    order: int


@dataclass(frozen=True, slots=True)
class _Stage:
    """All that is known of a hang: accounts by rank, their groups' names, the inputs that hold them, dumps, and each
    rank's last words before some watchdog spoke.
    """

    accounts: dict[int, Account]
    names: GroupNames
    told_in: frozenset[str]
    recordings: Recordings
    last_words: dict[int, _LastWords]


class Hang:
    """Compares the ranks' accounts and dumps: names those that never entered, those that differ, and the rings."""

    names: ClassVar[tuple[str, ...]] = (*_DETECTORS.values(), "watchdog-mismatch", "rank-late")
    kinds: ClassVar[frozenset[str]] = frozenset(
        {"torch.watchdog-timeout", "torch.work-status", "torch.dump-signal", "log.text", "train.step"}
    )

    def __init__(self) -> None:
        self._accounts = Accounts()
        self._last_words: dict[tuple[int, str], _LastWords] = {}

    def heeds(self, event: Event) -> Heed:  # noqa: ARG002 - of bulk kinds alike
        """See `Heed`: what a rank says last, in the end and before a watchdog speaks."""
        return Heed.SAYER

    def feed(self, event: Event, site: Site) -> None:
        """Note what a rank says of its work, and its last line before the first time-out."""
        if isinstance(event, LogText | TrainStep):
            self._hear(event, site)
        elif isinstance(event, TorchWatchdogTimeout | TorchWorkStatus | TorchDumpSignal):
            self._accounts.feed(event, site)

    def _hear(self, event: Event, site: Site) -> None:
        """Keep each process's last line: the layers below share one origin among its lines."""
        if self._accounts.speaks_in(event.at.source) or not event.message.strip():
            return
        key = (id(event.origin), event.at.source)
        if key in self._last_words or len(self._last_words) < _LIMIT:
            self._last_words[key] = _LastWords(event, site.text, site.order)

    def _last_by_rank(self, identity: Identity) -> dict[int, _LastWords]:
        by_rank: dict[int, _LastWords] = {}
        for words in sorted(self._last_words.values(), key=lambda words: words.order):
            rank = identity.rank_of(who(words.event))
            if rank is not None:
                by_rank[rank] = words
        return by_rank

    def conclude(self, scene: Scene) -> Iterator[Detection]:
        """Yield mismatches first, then what the waits end in."""
        accounts = self._accounts.by_rank(scene.identity)
        stage = _Stage(
            accounts,
            GroupNames(scene.identity, self._accounts.unnamed_group(accounts)),
            self._accounts.sources,
            scene.recordings,
            self._last_by_rank(scene.identity),
        )
        told = self._accounts.progress(stage.accounts, scene.identity)
        recorded = scene.recordings.progress()
        if not told.waiting() and not recorded.waiting():
            return
        mismatches = (
            find_mismatches(scene.recordings)
            or [*told_mismatches(stage.accounts, stage.names)]
            or [*_lone_callers(stage, scene.identity.stated_world or 0)]
        )
        for mismatch in mismatches:
            yield _mismatched(mismatch, stage)
        if not mismatches:
            waited = [*_waited_for(recorded.completed_by(told), (told, recorded), stage, scene)]
            yield from waited or _came_late(stage)

    def standings(self, identity: Identity, recordings: Recordings) -> tuple[RankStanding, ...]:
        """Return where every rank stood in each group, by rank; empty where nobody waited."""
        recorded = recordings.progress()
        progress = recorded.completed_by(self._accounts.progress(self._accounts.by_rank(identity), identity))
        if not progress.waiting():
            return ()
        ranks = sorted({*progress.standings, *identity.ranks})
        return tuple(
            _row(rank, group, standing, identity, recorded=rank in recorded.whole)
            for rank in ranks
            for group, standing in _by_group(progress.standings.get(rank))
        )


def _by_group(standings: Mapping[str, Standing] | None) -> list[tuple[str | None, Standing]]:
    """A rank's standings; of one that tells none, one without a group."""
    return [*standings.items()] if standings else [(None, Standing())]


def _row(rank: int, group: str | None, standing: Standing, identity: Identity, *, recorded: bool) -> RankStanding:
    seen, host, wait = identity.last_seen(rank), identity.host_of(rank), standing.wait
    return RankStanding(
        rank=rank,
        host=host,
        process_group=group,
        last_enqueued=standing.enqueued,
        last_completed=standing.completed,
        waits_in=None if wait is None else wait.operation,
        waits_at=None if wait is None else wait.sequence,
        recorded=recorded,
        last_words=None if seen is None else TimelineEntry(seen.when, rank, host, "last words", seen.text, seen.at),
    )


# --- Mismatches -------------------------------------------------------------------------------------------


def _lone_callers(stage: _Stage, world: int) -> Iterator[Mismatch]:
    """The rank that waits alone, asked for only where no dump tells more."""
    lone = None if stage.recordings else lone_caller(stage.accounts, world)
    if lone is not None:
        yield lone


def _mismatched(mismatch: Mismatch, stage: _Stage) -> Detection:
    apart = set(mismatch.odd)
    ordered = [*mismatch.odd, *(rank for rank in mismatch.calls if rank not in apart)]
    excerpts, orders = _proof(ordered, stage, mismatch.group, mismatch.sequence)
    return Detection(
        "watchdog-mismatch",
        tuple(excerpts[:_NAMED]),
        min(orders),
        max(orders),
        captures={
            "sequence": str(mismatch.sequence),
            "calls": "; ".join(f"rank {rank}: {mismatch.calls[rank]}" for rank in ordered[:4]),
            **({"process_group": mismatch.group} if mismatch.group else {}),
        },
        ranks=() if mismatch.accused is None else (mismatch.accused,),
        count=len(mismatch.calls),
        notes=tuple(_sites_of_mismatch(mismatch, ordered, stage.recordings)),
    )


def _sites_of_mismatch(mismatch: Mismatch, ordered: list[int], recordings: Recordings) -> Iterator[str]:
    seen: set[str] = set()
    for rank in ordered:
        call = mismatch.calls[rank]
        site = recordings.site_of(rank, mismatch.group, mismatch.sequence)
        if site and call not in seen and len(seen) < 4:
            seen.add(call)
            yield f"Rank {rank} called {call} at {site}."


# --- Waits ------------------------------------------------------------------------------------------------


def _waited_for(
    progress: Progress, sides: tuple[Progress, Progress], stage: _Stage, scene: Scene
) -> Iterator[Detection]:
    roll = _roll(progress, stage, scene.identity)
    blame = find_blame(progress, roll, stage.recordings)
    denied = _denied(blame, sides[0])
    if denied:
        blame = find_blame(sides[0], roll)
        if blame is not None and blame.fault is Fault.ABSENT:
            blame = replace(blame, accused=None)
    if blame is None or (blame.fault is Fault.ABSENT and len(blame.ranks) > blame.needed):
        return
    accounts, orders = _proof(
        [*blame.ranks[:3], *blame.waiting[:4]], stage, blame.group, blame.wait.sequence, heard=blame.ranks[:1]
    )
    yield Detection(
        _DETECTORS[blame.fault],
        tuple(accounts),
        min(orders),
        max(orders),
        captured(
            waiting=blame.needed,
            collective=_operation(blame, progress),
            sequence="?" if blame.wait.sequence is None else blame.wait.sequence,
            ranks=", ".join(map(str, blame.ranks[:_NAMED])) + (", ..." if len(blame.ranks) > _NAMED else ""),
            rank=blame.accused,
        ),
        blame.ranks if len(blame.ranks) <= _NAMED and (blame.accused is not None or len(blame.ranks) > 1) else (),
        count=max(len(blame.ranks), 1),
        notes=(*_notes(blame, stage), *(denied or _agreement(sides, roll))),
    )


def _roll(progress: Progress, stage: _Stage, identity: Identity) -> Roll:
    """Who there is, as far as inputs tell, and whose silence in the watchdogs' inputs would mean something."""
    world = max(identity.world_size or 0, max(progress.standings) + 1)
    return Roll(
        world,
        stated=(identity.stated_world or 0) >= world,
        heard=lambda rank: identity.hears(rank, stage.told_in),
    )


def _denied(blame: Blame | None, told: Progress) -> tuple[str, ...]:
    """Say so where a rank's own watchdog waited in the very call that the rank's dump does not hold.

    A dump may be of another time than the log; the line that names the call is of the log's.
    """
    if blame is None or blame.fault is not Fault.BEHIND or blame.wait.sequence is None:
        return ()
    waits = {rank: told.waits(rank).get(blame.group) for rank in blame.ranks}
    call = (blame.wait.sequence, _bare(blame.wait.operation))
    denied = [rank for rank, own in waits.items() if own is not None and (own.sequence, _bare(own.operation)) == call]
    shown = ", ".join(str(rank) for rank in denied[:_NAMED])
    return (
        (f"The dumps lack the call in which, by the log, ranks waited (rank {shown}): only the log was counted.",)
        if denied
        else ()
    )


def _bare(operation: str | None) -> str:
    """ALLREDUCE and all_reduce → allreduce: the watchdog's name for a call, and the recorder's."""
    return (operation or "").replace("_", "").lower()


def _came_late(stage: _Stage) -> Iterator[Detection]:
    """The rank that came in the end, later than the others' time-out; only the dumps' times tell."""
    late = find_late(stage.recordings)
    if late is None:
        return
    others = [rank for rank in stage.recordings.ranks if rank != late.rank]
    excerpts, orders = _proof([late.rank, *others[:3]], stage, late.group, late.sequence)
    yield Detection(
        "rank-late",
        tuple(excerpts),
        min(orders),
        max(orders),
        captured(
            rank=late.rank,
            collective=late.operation,
            sequence=late.sequence,
            seconds=f"{late.seconds:.1f}",
            timeout=f"{late.timeout:g}",
            process_group=late.group,
        ),
        (late.rank,),
    )


def _operation(blame: Blame, progress: Progress) -> str:
    names = Counter(
        wait.operation
        for rank in blame.waiting
        for group, wait in progress.waits(rank).items()
        if group == blame.group and wait.operation
    )
    return names.most_common(1)[0][0] if names else blame.wait.operation or "collective"


def _notes(blame: Blame, stage: _Stage) -> Iterator[str]:
    one = blame.ranks[0] if len(blame.ranks) == 1 else None
    if one is not None and one in stage.last_words:
        event = stage.last_words[one].event
        yield f"The last that rank {one} said before was: {event.message.strip()[:120]} ({event.at})."
    if one is not None:
        yield from _last_calls(one, stage.recordings)
    for rank in blame.waiting[:1]:
        if blame.wait.sequence is not None and (
            site := stage.recordings.site_of(rank, blame.group, blame.wait.sequence)
        ):
            yield f"The others wait in the call at {site}."
    yield from _began(blame, stage)
    if blame.through:
        passed = ", ".join(str(rank) for rank in blame.through[:_NAMED])
        yield f"Ranks that wait themselves pass the stall on to others: {passed}."


def _last_calls(rank: int, recordings: Recordings) -> Iterator[str]:
    """The last call of a late rank, and where its program last called anything."""
    last, from_python = recordings.last_call(rank), recordings.last_from_python(rank)
    if last is not None:
        number = "" if last.sequence is None else f" (number {last.sequence} of group {last.group})"
        site = recordings.site(last.site)
        yield f"Rank {rank}'s last call was {last.operation}{number}" + (f", at {site}." if site else ".")
    if from_python is not None and from_python is not last:
        site = recordings.site(from_python.site)
        yield f"The last that its recorder saw come from Python was {from_python.operation}, at {site}."


def _began(blame: Blame, stage: _Stage) -> Iterator[str]:
    """When the wait began, by the clock of a rank that waited; who was told of the time-out by whom."""
    timeouts = [timeout for rank in blame.waiting if (timeout := _timeout_of(rank, blame.group, stage)) is not None]
    for timeout in timeouts[:1]:
        waited = timeout.elapsed_ms if timeout.elapsed_ms is not None else timeout.timeout_ms
        if timeout.when is not None and waited is not None:
            began = timeout.when.value - timedelta(milliseconds=waited)
            yield f"The wait began {waited / 1000:g} s before its time ran out, at {began:%H:%M:%S} by its clock."
    notified = {
        rank: account.notified_by
        for rank, account in stage.accounts.items()
        if account.notified_by is not None and not account.timed_out
    }
    if notified and len(notified) <= _NAMED:
        told = "; ".join(f"rank {rank} by rank {by}" for rank, by in sorted(notified.items()))
        yield f"Told of the time-out by another rank, and not out of time themselves: {told}."


def _timeout_of(rank: int, group: str, stage: _Stage) -> TorchWatchdogTimeout | None:
    account = stage.accounts.get(rank)
    if account is None:
        return None
    named = (
        timeout for name, timeout in account.all_timeouts() if stage.names.key(name, rank, timeout.group_rank) == group
    )
    return next(named, None)


def _agreement(sides: tuple[Progress, Progress], roll: Roll) -> Iterator[str]:
    """Whether the log and the dumps, each alone, point at the same ranks."""
    if not all(side.waiting() for side in sides):
        return
    told, recorded = (find_blame(side, roll) for side in sides)
    if told is None or recorded is None:
        return
    if (told.fault, told.ranks) == (recorded.fault, recorded.ranks):
        yield "The log's watchdogs and the flight recorder's dumps say the same."
    elif told.fault is Fault.BEHIND and recorded.fault is Fault.BEHIND and told.ranks != recorded.ranks:
        names = " or ".join(f"rank {rank}" for rank in told.ranks[:_NAMED])
        yield f"The log's watchdogs alone would point at {names}; the dumps, which hold more, contradict that."


# --- Evidence ---------------------------------------------------------------------------------------------


def _proof(
    ranks: Iterable[int], stage: _Stage, group: str, sequence: int | None, heard: Iterable[int] = ()
) -> tuple[list[Excerpt], list[int]]:
    """The lines that speak for a detection and the orders of reading; of a rank without lines, its dump."""
    excerpts: list[Excerpt] = []
    orders: list[int] = []
    for rank in ranks:
        account = stage.accounts.get(rank)
        if account is not None:
            excerpts.append(account.excerpts[0] if rank not in heard and account.timed_out else account.excerpts[-1])
            orders.append(account.order)
        if rank in heard and rank in stage.last_words:
            event, text, _ = stage.last_words[rank]
            excerpts.append(Excerpt(event.at, text[:TEXT_LIMIT], event.origin, event.when, None, ()))
        recorded = _recorded(rank, stage.recordings, group, sequence)
        if recorded is not None:
            excerpts.append(recorded)
            orders.append(stage.recordings.order(rank))
    lines = [excerpt for excerpt in excerpts if excerpt.at.line]
    if lines:  # a line of a log in front, since its place and time are what other findings are ordered by
        excerpts.remove(lines[0])
        excerpts.insert(0, lines[0])
    return excerpts, orders or [0]


def _recorded(rank: int, recordings: Recordings, group: str, sequence: int | None) -> Excerpt | None:
    """A dump has no lines: what it says of a rank, in words."""
    source = recordings.source(rank)
    if source is None:
        return None
    text = recordings.says(rank, group, sequence)
    return Excerpt(Position(source, 0, 0), text, NOBODY, None, None, ())
