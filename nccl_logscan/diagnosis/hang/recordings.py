"""Recordings: the dumps of all ranks, folded into numbers, so that thousands of them fit into memory."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator

from nccl_logscan.diagnosis.hang.history import NO_CALL, History, Signature
from nccl_logscan.diagnosis.hang.peers import Ends, PeerCall, Peers, UnlikeEnds
from nccl_logscan.diagnosis.hang.progress import Progress, Standing, Wait
from nccl_logscan.diagnosis.hang.recent import RecentCalls, TimedCall
from nccl_logscan.numbers import median_high
from nccl_logscan.recorder.model import Call, Dump, Frame, State, Status
from nccl_logscan.records import dataclass, field, replace

# Collectives whose operands must be the same on every rank; in the others ranks may rightly differ (gather and scatter
# lists exist on the root alone, all-to-all and the list forms take uneven parts).
_EVEN = frozenset(
    {
        "all_reduce",
        "all_reduce_barrier",
        "barrier",
        "broadcast",
        "reduce",
        "_all_gather_base",
        "_allgather_base",
        "all_gather_into_tensor",
        "all_gather_into_tensor_coalesced",
        "_reduce_scatter_base",
        "reduce_scatter_tensor",
        "reduce_scatter_tensor_coalesced",
        "all_reduce_coalesced",
    }
)
_JOINT = 256
_PEER_CALLS = 256
_UNMET_FIRST = {False: 0, None: 1, True: 2}
_FRAMES = 4
_STALE_NS = 3600 * 10**9
_INSTALLED = ("site-packages/", "dist-packages/", "/torch/", "torch/", "<frozen ", "<string>")


@dataclass(frozen=True, slots=True)
class LastCall:
    """The last call that a rank issued, in whatever group."""

    group: str
    operation: str
    sequence: int | None
    record: int
    site: int
    state: State


@dataclass(slots=True)
class _Recorded:
    """One rank's dump, folded. `peer_calls` are the latest unfinished point-to-point calls, each with its number on its
    side; `whole` says that the ring has not lost its beginning, `torn` that the dump has lost something else.
    """

    source: str
    order: int
    calls: int
    newest_ns: int = 0
    histories: dict[str, History] = field(default_factory=dict)
    standings: dict[str, Standing] = field(default_factory=dict)
    peer_calls: deque[PeerCall] = field(default_factory=lambda: deque(maxlen=_PEER_CALLS))
    whole: bool = True
    torn: bool = False
    last: LastCall | None = None
    last_from_python: LastCall | None = None


class Recordings:
    """Takes dumps one by one; answers what each rank did and where it stands."""

    def __init__(self) -> None:
        self._by_rank: dict[int, _Recorded] = {}
        self._members: dict[str, tuple[int, ...]] = {}
        self._descriptions: dict[str, str] = {}
        self._signatures: dict[Signature, int] = {}
        self._signature_list: list[Signature] = []
        self._sites: dict[tuple[Frame, ...], int] = {}
        self._site_list: list[tuple[Frame, ...]] = []
        self._timeouts: dict[str, int] = {}
        self._peers = Peers()
        self._recent = RecentCalls()
        self.nameless: list[str] = []
        self.doubled: list[str] = []

    def __bool__(self) -> bool:
        return bool(self._by_rank)

    @property
    def ranks(self) -> tuple[int, ...]:
        """The ranks that left a dump."""
        return tuple(sorted(self._by_rank))

    @property
    def newest_ns(self) -> int:
        """When the last call was issued, in ns since 1970; 0 where no dump tells."""
        return max((recorded.newest_ns for recorded in self._by_rank.values()), default=0)

    def leave_out_stale(self, stepped_at: float | None = None) -> Iterator[str]:
        """Leave out, and yield, dumps whose last call lies so far before the others' that it is of an earlier run.

        Ranks of one run that hangs issue their last calls together: the others cannot get far without a late one, and
        the job makes no more steps; `stepped_at` is when it made the last, in seconds since 1970.
        """
        told = {rank: recorded.newest_ns for rank, recorded in self._by_rank.items() if recorded.newest_ns}
        usual = max(median_high(told.values()) if told else 0, int((stepped_at or 0) * 10**9))
        for rank, newest in told.items():
            if usual - newest > _STALE_NS:
                self._recent.forget(rank)
                yield self._by_rank.pop(rank).source

    @property
    def at_rest(self) -> bool:
        """Whether every member of every group left a whole dump, some with calls, and none waits for anything."""
        members = {rank for ranks in self._members.values() for rank in ranks}
        dumps = self._by_rank.values()
        complete = members <= self._by_rank.keys() and not any(recorded.torn for recorded in dumps)
        recorded_any = any(recorded.calls or recorded.standings for recorded in dumps)
        return bool(members) and complete and recorded_any and not self.progress().waiting()

    def take(self, dump: Dump, order: int) -> None:
        """Fold a dump in. Of two dumps of one rank the later one stands. `order`: of reading, as a finding's."""
        if dump.rank is None:
            self.nameless.append(dump.source)
            return
        newest = max((call.created_ns or 0 for call in dump.calls), default=0)
        rank = dump.rank
        known = self._by_rank.get(rank)
        if known is not None:
            is_older = (newest, len(dump.calls)) <= (known.newest_ns, known.calls)
            self.doubled.append(dump.source if is_older else known.source)
            if is_older:
                return
        dump = self._told_apart(dump)
        for name, group in dump.groups.items():
            self._descriptions.setdefault(name, group.description)
            if group.ranks:
                self._members.setdefault(name, group.ranks)
        recorded = self._by_rank[rank] = _Recorded(dump.source, order, len(dump.calls), newest)
        recorded.torn = not dump.whole
        recorded.whole = dump.whole and (not dump.calls or dump.calls[0].record == 0)
        for call in dump.calls:
            self._enter(recorded, call)
        self._recent.take(rank, dump)
        self._stand(recorded, dump)

    def _told_apart(self, dump: Dump) -> Dump:
        """Return the dump with other names for groups whose names others of other ranks have.

        PyTorch up to 2.5 numbers the groups that split_group makes within each process, so that all the parts of one
        split have one name.
        """
        names: dict[str, str] = {}
        for name, group in dump.groups.items():
            if group.ranks and self._members.get(name, group.ranks) != group.ranks:
                own = f"{name} (with rank {group.ranks[0]})"
                taken = self._members.get(own, group.ranks) != group.ranks
                names[name] = f"{own} {len(self._members)}" if taken else own
        if not names:
            return dump
        return replace(
            dump,
            groups={names.get(name, name): group for name, group in dump.groups.items()},
            statuses={names.get(name, name): status for name, status in dump.statuses.items()},
            calls=tuple(replace(call, group=names[call.group]) if call.group in names else call for call in dump.calls),
        )

    def _enter(self, recorded: _Recorded, call: Call) -> None:
        site = self._site(call.frames)
        recorded.last = LastCall(call.group, call.operation, call.sequence, call.record, site, call.state)
        if site:
            recorded.last_from_python = recorded.last
        if call.peers is not None:
            self._enter_peers(recorded, call, call.peers)
        elif call.operation == "coalesced" and recorded.peer_calls:
            self._close_batch(recorded, call)
        elif call.sequence is not None:
            history = recorded.histories.setdefault(call.group, History())
            history.add(call, self._joint_signature(call, history.signature_at(call.sequence)), site)
            if call.timeout_ms:
                self._timeouts[call.group] = call.timeout_ms

    def _enter_peers(self, recorded: _Recorded, call: Call, peers: Ends) -> None:
        members = self._members.get(call.group, ())
        if members and max(peers) >= len(members):
            # A damaged name, since the group has no such member: with whom the call was is not known.
            recorded.torn, recorded.whole = True, False
            return
        ends = (members[peers[0]], members[peers[1]]) if members else peers
        unfinished = self._peers.enter(call, ends)
        if unfinished is not None:
            recorded.peer_calls.append(unfinished)

    def _close_batch(self, recorded: _Recorded, batch: Call) -> None:
        """The calls of a batch stay as they were entered; the entry that closes it tells that they have ended."""
        if batch.state is not State.COMPLETED:
            return
        before = batch.record
        while recorded.peer_calls and recorded.peer_calls[-1].call.record == before - 1:
            entered = recorded.peer_calls.pop()
            self._peers.end(entered)
            before = entered.call.record

    def _joint_signature(self, call: Call, before: int) -> int:
        """The signature of a call; of several under one number, coalesced, that of all of them."""
        even = call.operation in _EVEN
        mine = Signature(call.operation, call.input_sizes if even else (), call.input_dtypes if even else ())
        earlier = self.signature(before)
        if earlier is None:
            return self._number_of(mine)
        if call.operation == "coalesced" or len(earlier.sizes) > _JOINT:
            return before
        return self._number_of(Signature(earlier.operation, earlier.sizes + mine.sizes, earlier.dtypes + mine.dtypes))

    def _number_of(self, known: Signature) -> int:
        number = self._signatures.get(known)
        if number is None:
            number = self._signatures[known] = len(self._signatures) + 1
            self._signature_list.append(known)
        return number

    def _site(self, frames: tuple[Frame, ...]) -> int:
        if not frames:
            return NO_CALL
        shown = _users(frames)
        number = self._sites.get(shown)
        if number is None:
            number = self._sites[shown] = len(self._sites) + 1
            self._site_list.append(shown)
        return number

    @staticmethod
    def _stand(recorded: _Recorded, dump: Dump) -> None:
        """Work out where the rank stands in each group: its counters, and the first call that has not ended."""
        unfinished: dict[str, Call] = {}
        completed = {group: status.last_completed for group, status in dump.statuses.items()}
        for call in dump.calls:
            if call.sequence is None or call.peers is not None:
                continue
            done = completed.get(call.group)
            if call.state is State.COMPLETED or (done is not None and call.sequence <= done):
                completed[call.group] = call.sequence if done is None else max(call.sequence, done)
            else:
                unfinished.setdefault(call.group, call)
        for group in {*recorded.histories, *dump.statuses}:
            history, status = recorded.histories.get(group), dump.statuses.get(group)
            told = status.last_enqueued if status is not None else None
            seen = history.end - 1 if history is not None else None
            if told is None and recorded.torn:
                seen = None  # it may have issued more
            enqueued = max((number for number in (told, seen) if number is not None), default=None)
            held_up = unfinished.get(group)
            wait = None if held_up is None else _wait_in(held_up, status)
            recorded.standings[group] = Standing(enqueued, completed.get(group), wait)

    def progress(self) -> Progress:
        """Return every recorded rank's standings."""
        progress = Progress(
            members=dict(self._members),
            whole={rank for rank in self._by_rank if not self.is_torn(rank)},
            listed=set(self._members),
        )
        for rank, recorded in self._by_rank.items():
            progress.meet(rank)
            for group, standing in recorded.standings.items():
                progress.note(rank, group, standing)
            for group, wait in self._peer_waits(recorded):
                held = progress.standings[rank].get(group, Standing())
                if held.wait is None or (held.wait.issued or 0) > (wait.issued or 0):
                    progress.standings[rank][group] = Standing(held.enqueued, held.completed, wait)
        return progress

    def _peer_waits(self, recorded: _Recorded) -> Iterator[tuple[str, Wait]]:
        """In each group the first unfinished point-to-point call, of a batch the one that the other end left out.

        Calls of a pair match in their order, as long as neither ring has lost its beginning.
        """
        batches: dict[str, list[Wait]] = {}
        for entered in recorded.peer_calls:
            call = entered.call
            batch = batches.setdefault(call.group, [])
            if batch and call.record != (batch[-1].issued or 0) + 1:
                continue
            batch.append(Wait(None, call.operation, call.record, entered.awaited, self._is_met(recorded, entered)))
        for group, batch in batches.items():
            yield group, min(batch, key=lambda wait: (_UNMET_FIRST[wait.met], wait.issued))

    def _is_met(self, recorded: _Recorded, entered: PeerCall) -> bool | None:
        """Whether the other end has issued its part of a call of a pair; None if no whole dump of it tells."""
        other = self._by_rank.get(entered.awaited)
        if other is None:
            return None
        met = self._peers.is_met(entered, whole=recorded.whole and other.whole)
        return None if other.torn and not met else met

    def unlike_ends(self) -> Iterator[UnlikeEnds]:
        """Yield the pairs whose ends do not move the same, of those whose rings both hold their beginning."""
        for unlike in self._peers.unlike():
            both = [self._by_rank.get(rank) for rank in unlike.ends]
            if all(one is not None and one.whole for one in both):
                yield unlike

    def issued(self, ends: Ends) -> tuple[int, int]:
        """Return how many sends and receives the two ends of a pair have issued."""
        return self._peers.issued(ends)

    def histories(self, group: str) -> dict[int, History]:
        """Return the recorded ranks' calls in a group."""
        return {
            rank: recorded.histories[group]
            for rank, recorded in sorted(self._by_rank.items())
            if group in recorded.histories
        }

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups in which calls were recorded."""
        return tuple(dict.fromkeys(group for recorded in self._by_rank.values() for group in recorded.histories))

    def timeout_ms(self, group: str) -> int | None:
        """Return the time-out of a group's calls in milliseconds; None if no dump tells."""
        return self._timeouts.get(group)

    def siblings(self, group: str) -> list[str]:
        """Return the groups of the same description and size: the other tensor-parallel groups of a mesh, say."""
        kind = (self._descriptions.get(group), len(self._members.get(group, ())))
        return [
            name
            for name, ranks in self._members.items()
            if name != group and kind[0] and (self._descriptions.get(name), len(ranks)) == kind
        ]

    def habit(self, one: tuple[str, int], other: tuple[str, int]) -> int | None:
        """Return in which order (-1 or 1) most ranks issued two calls, or those of that number in sibling groups."""
        votes = Counter(
            -1 if first < second else 1
            for recorded in self._by_rank.values()
            if (first := self._record_of(recorded, *one)) is not None
            and (second := self._record_of(recorded, *other)) is not None
        )
        return None if votes[-1] == votes[1] else max(votes, key=votes.__getitem__)

    def passed(self, rank: int, call: tuple[str, int]) -> int:
        """Return how many ranks show that one has issued as many calls as it would have with one that it lacks.

        Where that one stands in its own order is taken from the others: as far behind the group's last call as there.
        """
        group, sequence = call
        recorded = self._by_rank.get(rank)
        mine = recorded.histories.get(group) if recorded is not None else None
        before = mine.record_at(sequence - 1) if mine is not None else None
        if recorded is None or recorded.last is None or before is None:
            return 0
        gaps = [
            at - its_before
            for history in self.histories(group).values()
            if (at := history.record_at(sequence)) is not None
            and (its_before := history.record_at(sequence - 1)) is not None
        ]
        return len(gaps) if gaps and recorded.last.record >= before + max(gaps) else 0

    def _record_of(self, recorded: _Recorded, group: str, sequence: int) -> int | None:
        for name in (group, *self.siblings(group)):
            history = recorded.histories.get(name)
            if history is not None:
                return history.record_at(sequence)
        return None

    def source(self, rank: int) -> str | None:
        """Return the name of the input that holds a rank's dump."""
        recorded = self._by_rank.get(rank)
        return None if recorded is None else recorded.source

    def is_torn(self, rank: int) -> bool:
        """Whether a rank's dump has lost calls, so that what it does not hold may have been issued."""
        recorded = self._by_rank.get(rank)
        return recorded is not None and recorded.torn

    def order(self, rank: int) -> int:
        """Return the order of reading of a recorded rank's dump."""
        return self._by_rank[rank].order

    def says(self, rank: int, group: str, sequence: int | None) -> str:
        """Return what a recorded rank's dump says of a call, or of the rank's last one where it has not issued that."""
        recorded = self._by_rank[rank]
        standing = recorded.standings.get(group, Standing())
        history = recorded.histories.get(group)
        number = history.signature_at(sequence) if history and sequence is not None else NO_CALL
        if history is not None and number and sequence is not None:
            done = standing.completed is not None and standing.completed >= sequence
            site = self.site(history.site_at(sequence))
            state = "completed" if done else "not completed"
            return f"rank {rank}: {self.signature(number)}, number {sequence} of group {group}: {state}" + (
                f"; {site}" if site else ""
            )
        last = recorded.last
        if last is None:
            return f"rank {rank}: no call was recorded"
        number_told = "" if last.sequence is None else f", number {last.sequence} of group {last.group}"
        site = self.site(last.site)
        return f"rank {rank}: the last call is {last.operation}{number_told}: {last.state}" + (
            f"; {site}" if site else ""
        )

    def recent_calls(self) -> tuple[dict[int, tuple[TimedCall, ...]], int]:
        """Return the latest calls of each rank with their times, in order, and how many were left out."""
        return self._recent.conclude()

    def description(self, group: str) -> str:
        """Return what a group is for, as its makers say; empty where they do not."""
        return self._descriptions.get(group, "")

    def last_call(self, rank: int) -> LastCall | None:
        """Return the last call that a rank issued."""
        recorded = self._by_rank.get(rank)
        return None if recorded is None else recorded.last

    def last_from_python(self, rank: int) -> LastCall | None:
        """Return the last call of a rank whose Python stack was recorded: those of autograd's threads have none."""
        recorded = self._by_rank.get(rank)
        return None if recorded is None else recorded.last_from_python

    def signature(self, number: int) -> Signature | None:
        """Return a signature by its number in a history; None for 0."""
        return self._signature_list[number - 1] if number else None

    def site(self, number: int) -> str:
        """Return a call site in words, innermost frame first; empty for 0."""
        if not number:
            return ""
        frames = self._site_list[number - 1]
        return ", called from ".join(f"{frame.file}:{frame.line} in {frame.function}" for frame in frames)

    def site_of(self, rank: int, group: str, sequence: int) -> str:
        """Return where a rank issued a call, in words; empty where that was not recorded."""
        recorded = self._by_rank.get(rank)
        history = recorded.histories.get(group) if recorded else None
        return self.site(history.site_at(sequence)) if history else ""


def _wait_in(call: Call, status: Status | None) -> Wait:
    """The wait in an unfinished collective; a ring tells who started only where calls are timed on the device."""
    timed = call.state is State.STARTED or (status is not None and status.last_started is not None)
    return Wait(call.sequence, call.operation, call.record, started=call.state is State.STARTED if timed else None)


def _users(frames: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """The innermost frames of the user's own files; of any files where there are none."""
    own = [frame for frame in frames if not any(part in frame.file for part in _INSTALLED)]
    return tuple((own or frames)[:_FRAMES])
