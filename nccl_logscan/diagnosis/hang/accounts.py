"""Accounts: what each rank's watchdog said of its process groups, kept until who is who is known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from nccl_logscan.diagnosis.excerpts import Excerpt, Site
from nccl_logscan.diagnosis.groups import guid_of
from nccl_logscan.diagnosis.hang.progress import UNKNOWN, WORLD, Progress, Standing, Wait
from nccl_logscan.diagnosis.identity import LARGEST_WORLD, Identity
from nccl_logscan.diagnosis.sayer import Who, who
from nccl_logscan.events.model import TorchDumpSignal, TorchWatchdogTimeout, TorchWorkStatus
from nccl_logscan.records import dataclass, field, replace

_LIMIT = 65_536
_GROUPS = 64
# Of how many ranks the lines around their account are kept; of the rest the line alone.
_WITH_CONTEXT = 256
_EXCERPTS = 3
_BRIEF = 400
_MANY = 5
_COMMUNICATOR = "communicator "

Told = TorchWatchdogTimeout | TorchWorkStatus | TorchDumpSignal


@dataclass(slots=True)
class Account:
    """What one process's watchdogs said: its time-outs and its standings, by process group as printed ("" where none
    was; time-outs of unnamed groups are kept apart by their numbers), the order of its first line, the rank that told
    it of a time-out, and the lines themselves. `printed` is the rank that unlabelled lines give, `times` how many
    time-outs without a group they tell. `in_subgroup`: an unnamed group gave it another rank than the world's.
    """

    order: int
    printed: int | None = None
    times: int = 0
    group_ranks: dict[str, int] = field(default_factory=dict)
    timeouts: dict[str, TorchWatchdogTimeout] = field(default_factory=dict)
    unnamed: list[TorchWatchdogTimeout] = field(default_factory=list)
    in_subgroup: bool = False
    standings: dict[str, Standing] = field(default_factory=dict)
    notified_by: int | None = None
    excerpts: list[Excerpt] = field(default_factory=list)

    def learn(self, event: Told) -> None:
        """Take in one line."""
        group = event.process_group or ""
        if len(self.timeouts) + len(self.unnamed) + len(self.standings) >= _GROUPS:
            return
        if event.process_group is not None and event.group_rank is not None:
            self.group_ranks.setdefault(group, event.group_rank)
        if isinstance(event, TorchWatchdogTimeout):
            self._time_out(event, group)
            return
        if isinstance(event, TorchDumpSignal) and self.notified_by is None:
            self.notified_by = event.initiator
        if isinstance(event, TorchWorkStatus) and group:
            self._name_group(event, group)
        standing = Standing(_count(event.last_enqueued), _count(event.last_completed))
        known = self.standings.get(group)
        self.standings[group] = standing if known is None else known.or_else(standing)

    def _time_out(self, event: TorchWatchdogTimeout, group: str) -> None:
        if group:
            self.timeouts.setdefault(group, event)
            return
        self.times += 1
        rank = event.origin.rank
        self.in_subgroup = self.in_subgroup or (rank is not None and event.group_rank not in {None, rank})
        # A line that was logged twice is no second time-out, though the first has got its group's name meanwhile.
        if any((event.message, event.when) == (other.message, other.when) for other in self.timeouts.values()):
            return
        if all(event.sequence != other.sequence for other in self.unnamed):
            self.unnamed.append(event)

    def _name_group(self, event: TorchWorkStatus, group: str) -> None:
        """From 2.5 on a time-out is printed without its group, which the status line after it names."""
        for timeout in self.unnamed:
            if event.failed_sequence in {None, timeout.sequence}:
                self.timeouts.setdefault(group, timeout)
                self.unnamed.remove(timeout)
                return

    def joined(self, other: Account) -> Account:
        """Return what both accounts of one rank say: in two inputs, or by the ranks that two groups gave it."""
        return Account(
            order=min(self.order, other.order),
            group_ranks={**other.group_ranks, **self.group_ranks},
            timeouts={**other.timeouts, **self.timeouts},
            unnamed=[*self.unnamed, *other.unnamed],
            in_subgroup=self.in_subgroup or other.in_subgroup or self.printed != other.printed,
            printed=self.printed,
            standings={**other.standings, **self.standings},
            notified_by=self.notified_by if self.notified_by is not None else other.notified_by,
            excerpts=[*self.excerpts, *other.excerpts][:_EXCERPTS],
        )

    @property
    def timed_out(self) -> bool:
        """Whether it ran out of time itself."""
        return bool(self.timeouts or self.unnamed)

    def all_timeouts(self) -> Iterator[tuple[str, TorchWatchdogTimeout]]:
        """Yield every time-out with the group as printed."""
        yield from self.timeouts.items()
        yield from (("", timeout) for timeout in self.unnamed)


def _count(number: int | None) -> int | None:
    """A sequence number; PyTorch prints -1 before the first."""
    return None if number is None else max(number, 0)


class Accounts:
    """Collects the accounts of all processes; bounded."""

    def __init__(self) -> None:
        self._accounts: dict[tuple[Who, int | None], Account] = {}
        self._sources: set[str] = set()

    def feed(self, event: Told, site: Site) -> None:
        """Note what a process says of its work."""
        sayer = who(event)
        labelled = sayer.rank is not None or sayer.local_rank is not None or sayer.task is not None
        key = (sayer, None if labelled else event.group_rank)
        account = self._accounts.get(key)
        if account is None:
            if len(self._accounts) >= _LIMIT:
                return
            account = self._accounts[key] = Account(site.order, key[1])
            self._sources.add(event.at.source)
        account.learn(event)
        if len(account.excerpts) < _EXCERPTS:
            whole = len(self._accounts) <= _WITH_CONTEXT
            account.excerpts.append(
                site.excerpts.take(event.at, site.text, event.origin, event.when, None)
                if whole
                else Excerpt(event.at, site.text[:_BRIEF], event.origin, event.when, None, ())
            )

    @property
    def sources(self) -> frozenset[str]:
        """The inputs in which some watchdog spoke."""
        return frozenset(self._sources)

    def speaks_in(self, source: str) -> bool:
        """Whether some watchdog has spoken in a source yet."""
        return source in self._sources

    def by_rank(self, identity: Identity) -> dict[int, Account]:
        """Return the accounts by global rank; those of nobody in particular are left out."""
        by_rank: dict[int, Account] = {}
        shared = shared_sources(
            ((sayer.source, printed) for sayer, printed in self._accounts), identity.stated_world or 0
        )
        shared -= {
            sayer.source
            for (sayer, printed), account in self._accounts.items()
            if printed is not None and account.times > 1
        }
        for (sayer, printed), account in self._accounts.items():
            rank = _rank_of(sayer, printed if sayer.source in shared else None, account, identity)
            if rank is None or not 0 <= rank < LARGEST_WORLD:
                continue
            known = by_rank.get(rank)
            by_rank[rank] = account if known is None else known.joined(account)
        return by_rank

    @staticmethod
    def unnamed_group(by_rank: Mapping[int, Account]) -> str:
        """Return which group time-outs without a name are of: the world's, unless some are seen to be of others."""
        several = any(account.in_subgroup or len(account.unnamed) > 1 for account in by_rank.values())
        return UNKNOWN if several else WORLD

    def progress(self, by_rank: Mapping[int, Account], identity: Identity) -> Progress:
        """Return every rank's standings as told, with groups by the name that their members share."""
        progress = Progress()
        names = GroupNames(identity, self.unnamed_group(by_rank))
        for rank, account in by_rank.items():
            progress.meet(rank)
            for group, standing in _standings(rank, account, names):
                progress.note(rank, group, standing)
        for group in {group for groups in progress.standings.values() for group in groups}:
            if members := names.members(group):
                progress.members[group] = members
        return progress


@dataclass(frozen=True, slots=True)
class GroupNames:
    """Gives process groups the names that all their members share. `unnamed` is which group time-outs without a name
    are of: the world's, or UNKNOWN.
    """

    identity: Identity
    unnamed: str

    def key(self, group: str, rank: int, group_rank: int | None) -> str:
        """Return the shared name of a group as one rank printed it, with that rank's rank there.

        Where what is printed counts within the process, the communicator that the rank set up with that rank tells, if
        there is but one; else the group is UNKNOWN.
        """
        if "(" in group or group == WORLD:
            return guid_of(group)
        if not group and self.unnamed == WORLD:
            return WORLD
        found = [name for name, within in self.identity.communicators_of(rank).items() if within == group_rank]
        return f"{_COMMUNICATOR}{found[0]}" if len(found) == 1 else UNKNOWN

    def members(self, group: str) -> tuple[int, ...]:
        """Return the global ranks of a group as far as known, but for the world's."""
        if group in {WORLD, UNKNOWN}:
            return ()
        if group.startswith(_COMMUNICATOR):
            return tuple(self.identity.communicator(group.removeprefix(_COMMUNICATOR)).values())
        return tuple(self.identity.members(group).values())


def _standings(rank: int, account: Account, names: GroupNames) -> Iterator[tuple[str, Standing]]:
    timed_out = set()
    for group, timeout in account.all_timeouts():
        timed_out.add(group)
        known = account.standings.get(group, Standing())
        enqueued = known.enqueued if known.enqueued is not None else timeout.sequence
        wait = Wait(timeout.sequence, timeout.collective)
        yield names.key(group, rank, timeout.group_rank), replace(known, enqueued=enqueued, wait=wait)
    for group, standing in account.standings.items():
        if group not in timed_out:
            yield names.key(group, rank, account.group_ranks.get(group)), standing


def shared_sources(printed: Iterable[tuple[str, int | None]], world: int) -> set[str]:
    """Return the sources in which the rank that an unlabelled line gives itself is the global one.

    One process prints its rank in each of its groups, but of those it has few; and files of one process each that give
    most of the world's ranks once give the world's.
    """
    by_source: dict[str, set[int | None]] = {}
    for source, rank in printed:
        by_source.setdefault(source, set()).add(rank)
    lone = [next(iter(ranks)) for ranks in by_source.values() if len(ranks) == 1]
    distinct = len(lone) == len(by_source) == len(set(lone)) and 2 * len(lone) > world > 0
    if distinct:
        return set(by_source)
    most = [source for source, ranks in by_source.items() if 2 * len(ranks) > world / len(by_source)]
    return {source for source in most if len(by_source) == 1 or len(by_source[source]) >= _MANY}


def _rank_of(sayer: Who, printed: int | None, account: Account, identity: Identity) -> int | None:
    """The global rank of an account: its process's; else what its groups tell; else the rank that the watchdog prints,
    which before PyTorch 2.2 is all there is (None where a process may have several).
    """
    rank = identity.rank_of(sayer)
    if rank is not None:
        return rank
    told = {identity.global_of(group, group_rank) for group, group_rank in account.group_ranks.items()} - {None}
    if len(told) == 1:
        return told.pop()
    named = any(group and "default" not in group for group in account.group_ranks)
    return None if named else printed
