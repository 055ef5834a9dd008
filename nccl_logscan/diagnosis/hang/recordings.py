"""Recordings: the dumps of all ranks, folded into numbers, so that thousands of them fit into memory."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from nccl_logscan.diagnosis.hang.progress import Progress, Standing, Wait
from nccl_logscan.recorder.model import Call, Dump, Frame, State

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
        "_reduce_scatter_base",
        "reduce_scatter_tensor",
    }
)
_NO_CALL = 0
_GAP = 64
_FRAMES = 4
_INSTALLED = ("site-packages/", "dist-packages/", "/torch/", "torch/", "<frozen ", "<string>")


@dataclass(frozen=True, slots=True)
class Signature:
    """What ranks must agree on in one call: the operation, and sizes and types where they may not differ."""

    operation: str
    sizes: tuple[tuple[int, ...], ...] = ()
    dtypes: tuple[str, ...] = ()

    def __str__(self) -> str:
        sizes = " and ".join("x".join(map(str, size)) or "1" for size in self.sizes[:2])
        what = " ".join(part for part in (sizes, "/".join(self.dtypes[:2])) if part)
        return f"{self.operation}({what})" if what else self.operation


@dataclass(slots=True)
class History:
    """One rank's collectives in one group, from number `start` on: indexes into the recordings' tables; 0: none."""

    start: int = 0
    signatures: array[int] = field(default_factory=lambda: array("I"))
    sites: array[int] = field(default_factory=lambda: array("I"))

    @property
    def end(self) -> int:
        """The number after the last one."""
        return self.start + len(self.signatures)

    def add(self, sequence: int, signature: int, site: int) -> None:
        """Enter a call; what goes back in number, or leaps, begins the history anew."""
        if not self.signatures or not self.end <= sequence < self.end + _GAP:
            if self.signatures and self.start <= sequence < self.end:
                self.signatures[sequence - self.start] = signature
                return
            self.start, self.signatures, self.sites = sequence, array("I"), array("I")
        skipped = [_NO_CALL] * (sequence - self.end)
        self.signatures.extend([*skipped, signature])
        self.sites.extend([*skipped, site])

    def signature_at(self, sequence: int) -> int:
        """The signature of a number; 0 where the ring no longer, or not yet, holds it."""
        return self.signatures[sequence - self.start] if self.start <= sequence < self.end else _NO_CALL

    def site_at(self, sequence: int) -> int:
        """The call site of a number; 0 where it is not known."""
        return self.sites[sequence - self.start] if self.start <= sequence < self.end else _NO_CALL


@dataclass(frozen=True, slots=True)
class LastCall:
    """The last call that a rank issued, in whatever group."""

    group: str
    operation: str
    sequence: int | None
    site: int
    state: State


@dataclass(slots=True)
class _Recorded:
    """One rank's dump, folded. `peer_waits` are unfinished point-to-point calls: ends, group and place in the order."""

    source: str
    order: int
    calls: int
    newest_ns: int = 0
    histories: dict[str, History] = field(default_factory=dict)
    standings: dict[str, Standing] = field(default_factory=dict)
    peer_waits: list[tuple[str, tuple[int, int], Call]] = field(default_factory=list)
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
        self._open_ends: set[tuple[bool, tuple[int, int]]] = set()
        self.nameless: list[str] = []
        self.doubled: list[str] = []

    def __bool__(self) -> bool:
        return bool(self._by_rank)

    @property
    def ranks(self) -> tuple[int, ...]:
        """The ranks that left a dump."""
        return tuple(sorted(self._by_rank))

    @property
    def at_rest(self) -> bool:
        """Whether every member of every group left a dump, and none of them waits for anything."""
        members = {rank for ranks in self._members.values() for rank in ranks}
        return bool(members) and members <= self._by_rank.keys() and not self.progress().waiting()

    @property
    def members(self) -> Mapping[str, tuple[int, ...]]:
        """The global ranks of each group, in the order of their group ranks."""
        return self._members

    def take(self, dump: Dump, order: int) -> None:
        """Fold a dump in. Of two dumps of one rank the later one stands. `order`: of reading, as a finding's."""
        if dump.rank is None:
            self.nameless.append(dump.source)
            return
        newest = max((call.created_ns or 0 for call in dump.calls), default=0)
        known = self._by_rank.get(dump.rank)
        if known is not None:
            self.doubled.append(dump.source)
            if (newest, len(dump.calls)) <= (known.newest_ns, known.calls):
                return
        for name, group in dump.groups.items():
            self._descriptions.setdefault(name, group.description)
            if group.ranks:
                self._members.setdefault(name, group.ranks)
        recorded = self._by_rank[dump.rank] = _Recorded(dump.source, order, len(dump.calls), newest)
        for call in dump.calls:
            self._enter(recorded, call)
        self._stand(recorded, dump)

    def _enter(self, recorded: _Recorded, call: Call) -> None:
        site = self._site(call.frames)
        recorded.last = LastCall(call.group, call.operation, call.sequence, site, call.state)
        if site:
            recorded.last_from_python = recorded.last
        if call.peers is not None:
            self._enter_peers(recorded, call, call.peers)
        elif call.sequence is not None:
            history = recorded.histories.setdefault(call.group, History())
            history.add(call.sequence, self._signature(call), site)

    def _enter_peers(self, recorded: _Recorded, call: Call, peers: tuple[int, int]) -> None:
        if call.state is State.COMPLETED or len(recorded.peer_waits) >= _GAP:
            return
        members = self._members.get(call.group, ())
        if members and max(peers) < len(members):
            peers = (members[peers[0]], members[peers[1]])
        self._open_ends.add((_sends(call), peers))
        recorded.peer_waits.append((call.group, peers, call))

    def _signature(self, call: Call) -> int:
        even = call.operation in _EVEN
        known = Signature(call.operation, call.input_sizes if even else (), call.input_dtypes if even else ())
        number = self._signatures.get(known)
        if number is None:
            number = self._signatures[known] = len(self._signatures) + 1
            self._signature_list.append(known)
        return number

    def _site(self, frames: tuple[Frame, ...]) -> int:
        if not frames:
            return _NO_CALL
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
            enqueued = max((number for number in (told, seen) if number is not None), default=None)
            held_up = unfinished.get(group)
            wait = None if held_up is None else Wait(held_up.sequence, held_up.operation, held_up.record)
            recorded.standings[group] = Standing(enqueued, completed.get(group), wait)

    def progress(self) -> Progress:
        """Return every recorded rank's standings."""
        progress = Progress(members=dict(self._members), whole=set(self._by_rank))
        for rank, recorded in self._by_rank.items():
            progress.meet(rank)
            for group, standing in recorded.standings.items():
                progress.note(rank, group, standing)
            for group, wait in self._peer_waits(rank, recorded):
                held = progress.standings[rank].get(group, Standing())
                if held.wait is None or (held.wait.issued or 0) > (wait.issued or 0):
                    progress.standings[rank][group] = Standing(held.enqueued, held.completed, wait)
        return progress

    def _peer_waits(self, rank: int, recorded: _Recorded) -> Iterator[tuple[str, Wait]]:
        """The first unfinished point-to-point call in each group: to whom, and whether that one has done its part."""
        groups = set()
        for group, (sender, receiver), call in recorded.peer_waits:
            if group in groups:
                continue
            groups.add(group)
            peer = receiver if rank == sender else sender
            answered = (not _sends(call), (sender, receiver)) in self._open_ends
            met = answered if answered or peer in self._by_rank else None
            yield group, Wait(None, call.operation, call.record, peer, met)

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

    def source(self, rank: int) -> str | None:
        """Return the name of the input that holds a rank's dump."""
        recorded = self._by_rank.get(rank)
        return None if recorded is None else recorded.source

    def order(self, rank: int) -> int:
        """Return the order of reading of a recorded rank's dump."""
        return self._by_rank[rank].order

    def says(self, rank: int, group: str, sequence: int | None) -> str:
        """Return what a recorded rank's dump says of a call, or of the rank's last one where it has not issued that."""
        recorded = self._by_rank[rank]
        standing = recorded.standings.get(group, Standing())
        history = recorded.histories.get(group)
        number = history.signature_at(sequence) if history and sequence is not None else _NO_CALL
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

    def description(self, group: str) -> str:
        """Return a group's description, as `default_pg`; empty where there is none."""
        return self._descriptions.get(group, "")


def _sends(call: Call) -> bool:
    return call.operation.startswith("send")


def _users(frames: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """The innermost frames of the user's own files; of any files where there are none."""
    own = [frame for frame in frames if not any(part in frame.file for part in _INSTALLED)]
    return tuple((own or frames)[:_FRAMES])
