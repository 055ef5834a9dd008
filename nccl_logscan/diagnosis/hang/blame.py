"""Blame: follow the waits to the ranks at their end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple, Protocol

from nccl_logscan.diagnosis.hang.progress import UNKNOWN, WORLD, Progress, Wait, in_order
from nccl_logscan.records import dataclass


class Call(NamedTuple):
    """A collective of a group by its number."""

    group: str
    sequence: int


class Fault(StrEnum):
    """What the waits end in.

    behind: a rank that waits in nothing and has not issued a call that others wait in. absent: a rank that is not
    heard of. order: ranks that wait for each other in a ring. skipped: a ring that a rank closed which left out a call
    and went on. unmet: one that left out its part of a point-to-point call. alone: a call that all its ranks have
    issued and all but one completed. not-started: one that has not begun on some ranks' devices. entered: a call that
    all its ranks have issued.
    """

    BEHIND = "behind"
    ABSENT = "absent"
    ORDER = "order"
    SKIPPED = "skipped"
    UNMET = "unmet"
    ALONE = "alone"
    NOT_STARTED = "not-started"
    ENTERED = "entered"


@dataclass(frozen=True, slots=True)
class Blame:
    """The end of the waits: `ranks` it points at, the call (`group`, `wait`) that `waiting` ranks wait in for them.

    `accused` is the one rank that the evidence singles out, or None. `through` are ranks that wait and are waited for:
    they pass the stall on. `needed` is how many ranks wait in all.
    """

    fault: Fault
    ranks: tuple[int, ...]
    accused: int | None
    group: str
    wait: Wait
    waiting: tuple[int, ...]
    through: tuple[int, ...]
    needed: int


@dataclass(frozen=True, slots=True)
class _Missing:
    """Whom a call waits for: who has not issued it, of whom nothing is told, and whose own is queued behind another.

    A rank runs what it issues in order, so that a call that stands behind one that has not ended has not begun.
    """

    behind: frozenset[int]
    unseen: frozenset[int]
    held: frozenset[int] = frozenset()

    @property
    def all(self) -> frozenset[int]:
        return self.behind | self.unseen | self.held

    def __bool__(self) -> bool:
        return bool(self.behind or self.unseen or self.held)

    def has_any(self, ranks: set[int]) -> bool:
        """Whether one of some ranks is among them."""
        return not all(map(ranks.isdisjoint, (self.behind, self.unseen, self.held)))


# How many ranks that wait in the same call are asked for the order in which they issued theirs.
_WITNESSES = 64
# Members to be asked over all calls: beyond this it is seconds of work for waits that are each in another call.
_QUESTIONS = 4_000_000
# In these the rank that does not end may be the one that all others took for another: records do not hold the root.
_ROOTED = frozenset({"broadcast", "_broadcast_oop", "reduce", "_reduce_oop", "gather", "scatter"})
# So many ranks that wait make it no chance that of all inputs just the silent rank's is missing.
_NO_CHANCE = 31


class _Edge(NamedTuple):
    """A call that a rank waits in, and whom that call waits for."""

    group: str
    wait: Wait
    missing: _Missing


@dataclass(frozen=True, slots=True)
class Roll:
    """Who there is: `world` is the number of ranks at least, `stated` whether an input says that there are no more.

    `heard(rank)` says whether a rank's output is among the inputs, so that its silence means something.
    """

    world: int
    stated: bool
    heard: Callable[[int], bool]


class Order(Protocol):
    """What records tell of the order in which ranks issue their calls."""

    def habit(self, one: Call, other: Call) -> int | None:
        """Return in which order ranks issue two calls, -1 or 1; None where that is not recorded."""

    def passed(self, rank: int, call: Call) -> int:
        """Return how many other ranks show that a rank has gone past the place of a call that it has not issued."""


class _Unrecorded:
    """Of what watchdogs tell no order follows."""

    def habit(self, one: Call, other: Call) -> int | None:  # noqa: ARG002 - nothing is recorded of any call
        return None

    def passed(self, rank: int, call: Call) -> int:  # noqa: ARG002 - nothing is recorded of any call
        return 0


def find_blame(progress: Progress, roll: Roll, order: Order | None = None) -> Blame | None:
    """Return what the waits end in; None if nobody waits, or the evidence does not tell who has to come."""
    waiting = progress.waiting()
    if not waiting or _questions(progress, roll) > _QUESTIONS:
        return None
    return _Search(progress, roll, waiting, order or _Unrecorded()).end()


def _questions(progress: Progress, roll: Roll) -> int:
    """How many members are to be asked for some call: where thousands of ranks wait in as many calls, too many."""
    calls = {
        (group, standing.wait.sequence)
        for groups in progress.standings.values()
        for group, standing in groups.items()
        if standing.wait is not None and standing.wait.peer is None
    }
    everyone = max(len(progress.standings), roll.world)
    return sum(len(progress.members.get(group, ())) or everyone for group, _ in calls)


class _Search:
    """One walk along all waits at once: every edge starts at a rank that waits."""

    def __init__(self, progress: Progress, roll: Roll, waiting: list[int], order: Order) -> None:
        self._order = order
        self._progress = progress
        self._roll = roll
        self._waiting = waiting
        self._waits = {rank: progress.waits(rank) for rank in waiting}
        self._known: dict[tuple[str, int | None], _Missing] = {}
        self._edges: dict[int, list[_Edge]] = {
            rank: [_Edge(group, wait, self._missing(rank, group, wait)) for group, wait in in_order(self._waits[rank])]
            for rank in waiting
        }

    def _missing(self, rank: int, group: str, wait: Wait) -> _Missing:
        if wait.peer is not None:
            return self._ask_peer(rank, wait.peer, wait)
        key = (group, wait.sequence)
        if key not in self._known:
            self._known[key] = self._ask_members(group, wait)
        return self._known[key]

    def _ask_peer(self, rank: int, peer: int, wait: Wait) -> _Missing:
        """Whether the other end has done its part, and if it has, whether something before that holds it up."""
        one, none = frozenset({peer}), frozenset[int]()
        if wait.met is not True:
            return _Missing(one if wait.met is False else none, one if wait.met is None else none)
        first = next(iter(self._waits.get(peer, {}).values()), None)
        return _Missing(none, none, one if first is not None and first.peer != rank else none)

    def _ask_members(self, group: str, wait: Wait) -> _Missing:
        if group == UNKNOWN:
            return _Missing(frozenset(), frozenset())
        behind, unseen, held = set(), set(), set()
        members = self._members(group)
        for rank in self._progress.standings if members is None else members:
            standing = self._progress.standings.get(rank, {}).get(group)
            if standing is not None:
                reached = standing.reached(wait)
            else:
                reached = None if members is None or rank not in self._progress.whole else False
            if reached is False:
                behind.add(rank)
            elif reached is None:
                unseen.add(rank)
            elif self._is_held(rank, group, wait):
                held.add(rank)
        return _Missing(frozenset(behind), frozenset(unseen) if members is not None else frozenset(), frozenset(held))

    def _is_held(self, rank: int, group: str, wait: Wait) -> bool:
        """Whether a rank's collective in a group stands behind an unfinished call that it issued before."""
        own = self._waits.get(rank, {}).get(group)
        if own is None:
            return False
        earlier = own.sequence is not None and wait.sequence is not None and own.sequence < wait.sequence
        return earlier or own.peer is not None or self._issued_later(rank, group)

    def _members(self, group: str) -> tuple[int, ...] | range | None:
        members = self._progress.members.get(group)
        if members:
            return members
        return range(self._roll.world) if group == WORLD and self._roll.world else None

    def end(self) -> Blame | None:
        """Return the end of all waits; None where it is not told who takes part in the calls."""
        waits = set(self._waiting)
        # Thousands of ranks wait in few calls: each call's missing ranks are gone through once.
        asked = {id(edge.missing): edge.missing for edge in self._all()}.values()
        behind = {rank for missing in asked for rank in missing.behind}
        unseen = {rank for missing in asked for rank in missing.unseen}
        needed = {rank for missing in asked for rank in missing.all}
        through = tuple(sorted(waits & needed))
        if (late := behind - waits) and 2 * len(late) <= len(self._waits) + len(late):
            return self._blame(Fault.BEHIND, self._latest(late), through)
        if through and len(self._out_of_step(through)) == 1:
            return self._ring(through)
        if idle := self._not_started():
            return self._blame_idle(idle, through)
        if absent := unseen - waits:
            accused = next(iter(absent)) if len(absent) == 1 and self._is_telling(*absent) else None
            return self._blame(Fault.ABSENT, sorted(absent), through, accused)
        stuck = [rank for rank in self._waiting if not any(edge.missing for edge in self._edges[rank])]
        if not stuck and through:
            return self._ring(through) if self._is_proven() else None
        told = [rank for rank in stuck if all(self._is_told(group, wait) for group, wait, _ in self._edges[rank])]
        return self._entered(told, through) if told else self._left_over(through)

    def _not_started(self) -> dict[tuple[str, int | None], list[int]]:
        """The calls that some ranks' devices have begun, with the ranks that are held up there and whose have not."""
        first: dict[tuple[str, int | None], dict[int, bool | None]] = {}
        for rank, ((group, wait, _), *_) in self._edges.items():
            first.setdefault((group, wait.sequence), {})[rank] = wait.started
        return {
            call: [rank for rank, began in started.items() if began is False]
            for call, started in first.items()
            if True in started.values() and False in started.values()
        }

    def _blame_idle(self, idle: dict[tuple[str, int | None], list[int]], through: tuple[int, ...]) -> Blame:
        (group, _), ranks = min(idle.items(), key=lambda item: len(item[1]))
        waiting = tuple(rank for rank in self._waiting if self._edges[rank][0][0] == group and rank not in ranks)
        wait = self._edges[waiting[0]][0][1]
        accused = ranks[0] if len(ranks) == 1 else None
        return Blame(Fault.NOT_STARTED, tuple(ranks), accused, group, wait, waiting, through, len(self._waiting))

    def _is_telling(self, rank: int) -> bool:
        """Whether the silence of the only silent rank tells something: it would have been read, or is one of so many
        that it is no chance that its input alone is missing.
        """
        return self._roll.heard(rank) or len(self._waiting) >= _NO_CHANCE

    def _left_over(self, through: tuple[int, ...]) -> Blame | None:
        """The one rank of the world that waits in nothing, where it is not told who belongs to the groups.

        It is named and not accused: where ranks of one group called different things, all of them wait.
        """
        if any(edges[0].group != UNKNOWN for edges in self._edges.values()):
            return None
        rest = [rank for rank in range(self._roll.world) if rank not in self._waits]
        if len(rest) != 1 or not self._roll.stated or not self._is_telling(rest[0]):
            return None
        rank = self._waiting[0]
        group, wait, _ = self._edges[rank][0]
        return Blame(Fault.ABSENT, (rest[0],), None, group, wait, tuple(self._waiting), through, len(self._waiting))

    def _is_told(self, group: str, wait: Wait) -> bool:
        """Whether it is known of all ranks that have to issue a call, and that there are several."""
        if wait.peer is not None:
            return True
        members = self._members(group)
        whole = group in self._progress.listed or (group == WORLD and self._roll.stated)
        return whole and members is not None and len(members) > 1

    def _all(self) -> list[_Edge]:
        return [edge for edges in self._edges.values() for edge in edges]

    def _is_proven(self) -> bool:
        """Whether each edge of the waits is told, none only guessed from silence."""
        return not any(edge.missing.unseen for edge in self._all())

    def _latest(self, late: set[int]) -> list[int]:
        """The late ranks without those that came further than another late one in a group that waits for both."""
        ahead: set[int] = set()
        for group in {group for group, _, missing in self._all() if not late.isdisjoint(missing.behind)}:
            members = self._members(group)
            reached = {rank: self._reached(rank, group) for rank in late if members is None or rank in members}
            least = min(reached.values())
            ahead.update(rank for rank, number in reached.items() if number > least)
        return sorted(late - ahead) or sorted(late)

    def _reached(self, rank: int, group: str) -> int:
        standing = self._progress.standings.get(rank, {}).get(group)
        return -1 if standing is None or standing.enqueued is None else standing.enqueued

    def _blame(self, fault: Fault, ranks: list[int], through: tuple[int, ...], accused: int | None = None) -> Blame:
        if fault is Fault.BEHIND and len(ranks) == 1:
            accused = ranks[0]
        blamed = set(ranks)
        direct = [
            (rank, group, wait)
            for rank, edges in self._edges.items()
            for group, wait, missing in edges
            if missing.has_any(blamed)
        ]
        _, group, wait = min(direct, key=lambda edge: (edge[2].sequence or 0, edge[0]))
        waiting = tuple(dict.fromkeys(rank for rank, *_ in direct))
        return Blame(fault, tuple(ranks), accused, group, wait, waiting, through, len(self._waiting))

    def _entered(self, stuck: list[int], through: tuple[int, ...]) -> Blame:
        """All ranks of a call have issued it and it did not end; where there are several, the most waited-in."""
        calls = Counter((group, wait.sequence) for rank in stuck for group, wait, _ in self._edges[rank])
        (group, sequence), _ = calls.most_common(1)[0]
        waiting, wait = [], None
        for rank in stuck:
            for its_group, its_wait, _ in self._edges[rank]:
                if (its_group, its_wait.sequence) == (group, sequence):
                    waiting.append(rank)
                    wait = wait or its_wait
        assert wait is not None
        fault, ranks = self._odd_in(group, wait, waiting)
        told = fault is not Fault.ALONE or (wait.operation or "").lower() not in _ROOTED
        accused = ranks[0] if len(ranks) == 1 and told else None
        return Blame(fault, tuple(ranks), accused, group, wait, tuple(waiting), through, len(self._waiting))

    def _odd_in(self, group: str, wait: Wait, waiting: list[int]) -> tuple[Fault, list[int]]:
        """Who alone has not completed what all others have."""
        members = self._members(group) or ()
        others = [rank for rank in members if rank not in waiting]
        done = [self._completed(rank, group, wait.sequence) for rank in others]
        return (Fault.ALONE, waiting) if len(waiting) == 1 and len(others) > 1 and all(done) else (Fault.ENTERED, [])

    def _completed(self, rank: int, group: str, sequence: int | None) -> bool:
        standing = self._progress.standings.get(rank, {}).get(group)
        done = standing.completed if standing is not None else None
        return done is not None and sequence is not None and done >= sequence

    def _ring(self, through: tuple[int, ...]) -> Blame:
        """Ranks that wait for each other: they called two groups in different orders; the odd ones are named."""
        unmet = sorted({rank for _, wait, missing in self._all() if wait.peer is not None for rank in missing.behind})
        skipped = [] if unmet else self._passed_by(through)
        odd = unmet or skipped or self._out_of_step(through) or self._in_the_rarer_group(through)
        accused = odd[0] if len(odd) == 1 else None
        if skipped:
            return self._blame(Fault.SKIPPED, skipped, through, accused)
        fault = Fault.UNMET if unmet else Fault.ORDER
        waiting = [rank for rank in self._waiting if rank not in odd] or list(through)
        group, wait, _ = self._edges[waiting[0]][0]
        return Blame(fault, tuple(odd), accused, group, wait, tuple(waiting), through, len(self._waiting))

    def _out_of_step(self, through: tuple[int, ...]) -> list[int]:
        return self._passed_by(through) or self._against_habit(through) or self._out_of_order(through)

    def _passed_by(self, through: tuple[int, ...]) -> list[int]:
        """The ranks that left out a call which others wait in: of two that each miss the other's, the lonelier one.

        One witness alone may itself be the one that left something out.
        """
        ranks = set(through)
        shown: dict[int, int] = {}
        for group, wait, missing in self._distinct():
            if wait.sequence is not None:
                call = Call(group, wait.sequence)
                shown |= {rank: self._order.passed(rank, call) for rank in missing.behind & ranks}
        most = max(shown.values(), default=0)
        return sorted(rank for rank, witnesses in shown.items() if witnesses == most > 1)

    def _distinct(self) -> list[_Edge]:
        """One edge for each call that ranks wait in."""
        return list({(edge.group, edge.wait.sequence, edge.wait.peer): edge for edge in self._all()}.values())

    def _against_habit(self, through: tuple[int, ...]) -> list[int]:
        """The ranks that wait in a call without having issued another, which ranks are used to issue before it."""
        odd = []
        for rank in through:
            mine = self._edges[rank][0]
            for group, wait, missing in self._all():
                if rank in missing.behind and mine.wait.sequence is not None and wait.sequence is not None:
                    if self._order.habit(Call(group, wait.sequence), Call(mine.group, mine.wait.sequence)) == -1:
                        odd.append(rank)
                    break
        return odd

    def _out_of_order(self, through: tuple[int, ...]) -> list[int]:
        """The ranks that wait in a call without having issued another, which those that wait in that issued before."""
        waiters: dict[_Missing, list[int]] = {}
        for rank in self._waiting:
            same = waiters.setdefault(self._edges[rank][0].missing, [])
            if len(same) < _WITNESSES:
                same.append(rank)
        return [
            rank
            for rank in through
            if any(
                self._issued_later(one, self._edges[rank][0].group)
                for missing, others in waiters.items()
                if rank in missing.behind
                for one in others
            )
        ]

    def _issued_later(self, rank: int, group: str) -> bool:
        """Whether a rank issued an unfinished call of a group after the one that holds it up."""
        wait = self._waits[rank].get(group)
        return wait is not None and wait.issued is not None and next(iter(self._waits[rank])) != group

    def _in_the_rarer_group(self, through: tuple[int, ...]) -> list[int]:
        """Of a ring over groups of the same ranks those in the one in which fewer wait; else all of them."""
        by_group: dict[str, list[int]] = {}
        for rank in through:
            by_group.setdefault(self._edges[rank][0].group, []).append(rank)
        fewest, *others = sorted(by_group.values(), key=len)
        same = len({frozenset(self._members(group) or (group,)) for group in by_group}) == 1
        return fewest if same and others and len(fewest) < len(others[0]) else list(through)
