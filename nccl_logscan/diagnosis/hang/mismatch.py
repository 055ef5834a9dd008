"""Mismatch: the first call in which ranks of one group did not do the same."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

from nccl_logscan.diagnosis.groups import guid_of
from nccl_logscan.diagnosis.hang.accounts import Account, GroupNames
from nccl_logscan.diagnosis.hang.history import History
from nccl_logscan.diagnosis.hang.progress import UNKNOWN, WORLD, Standing
from nccl_logscan.diagnosis.hang.recordings import Recordings
from nccl_logscan.events.model import TorchWatchdogTimeout
from nccl_logscan.records import dataclass

_LONGEST_STEP = 256
_FEW_RANKS = 4
# As the watchdog prints them: collectives whose element count must be the same on every rank; in the others ranks may
# rightly differ (send, recv, gather, scatter, all-to-all and the list forms with uneven parts).
_EVEN = frozenset({"ALLREDUCE", "BROADCAST", "REDUCE", "_ALLGATHER_BASE", "_REDUCE_SCATTER_BASE", "ALLREDUCE_SPARSE"})
_POINT_TO_POINT = frozenset({"SEND", "RECV", "RECVANYSOURCE", "COALESCED", "UNKNOWN"})


@dataclass(frozen=True, slots=True)
class Mismatch:
    """`calls`: what each rank called as number `sequence` of `group`, in words; of point-to-point calls the number is
    that within their pair. `odd` are the ranks that differ from the most.
    """

    group: str
    sequence: int
    calls: Mapping[int, str]
    odd: tuple[int, ...]

    @property
    def accused(self) -> int | None:
        """The one rank that is singled out; None where none or several are."""
        return self.odd[0] if len(self.odd) == 1 else None


def find_mismatches(recordings: Recordings) -> list[Mismatch]:
    """Return the first mismatch of each group, as the recorders hold it."""
    found = []
    for group in recordings.groups:
        histories = recordings.histories(group)
        sequence = first_difference(histories)
        if sequence is not None:
            found.append(_mismatch(group, sequence, histories, recordings))
    return found or [*_unlike_ends(recordings)]


def _unlike_ends(recordings: Recordings) -> Iterator[Mismatch]:
    """The first pair whose ends do not move the same: the one that issued fewer calls has left one out."""
    for (sender, receiver), number, out, into in recordings.unlike_ends():
        sent, received = recordings.issued((sender, receiver))
        odd = () if sent == received else (sender if sent < received else receiver,)
        calls = {sender: f"send of {out} elements to {receiver}", receiver: f"recv of {into} elements from {sender}"}
        yield Mismatch("", number, calls, odd)


def first_difference(histories: Mapping[int, History]) -> int | None:
    """Return the lowest number under which two ranks recorded different calls; None if there is none.

    Every rank is compared with the one whose record is the longest: whoever is odd, the number is the same.
    """
    if len(histories) < 2:
        return None
    longest = max(histories.values(), key=lambda history: len(history.signatures))
    first = None
    for history in histories.values():
        low, high = max(history.start, longest.start), min(history.end, longest.end)
        if first is not None:
            high = min(high, first)
        if low >= high:
            continue
        mine = history.signatures[low - history.start : high - history.start]
        its = longest.signatures[low - longest.start : high - longest.start]
        if mine == its:
            continue
        differing = (number for number, (a, b) in enumerate(zip(mine, its, strict=True), low) if a != b and a and b)
        first = next(differing, first)
    return first


def _mismatch(group: str, sequence: int, histories: Mapping[int, History], recordings: Recordings) -> Mismatch:
    called = {rank: number for rank, history in histories.items() if (number := history.signature_at(sequence))}
    odd = (
        odd_ones(called)
        or _unlike_siblings(called, group, sequence, recordings)
        or (_shorter(called, histories) if _show_ends(called, group, recordings) else [])
        or _out_of_rhythm(called, histories, sequence)
    )
    calls = {rank: str(recordings.signature(number)) for rank, number in called.items()}
    return Mismatch(group, sequence, calls, tuple(odd))


def odd_ones(called: Mapping[int, object]) -> list[int]:
    """Return the ranks that differ from the most; none where no call has more ranks than any other."""
    (_, most), *rest = (counts := Counter(called.values())).most_common()
    return [rank for rank, call in called.items() if counts[call] < most] if all(n < most for _, n in rest) else []


def _unlike_siblings(called: Mapping[int, int], group: str, sequence: int, recordings: Recordings) -> list[int]:
    """The ranks whose call is not the one that the groups of the same kind made under that number."""
    elsewhere = Counter(
        number
        for sibling in recordings.siblings(group)
        for history in recordings.histories(sibling).values()
        if (number := history.signature_at(sequence))
    )
    usual = [number for number, _ in elsewhere.most_common(1)]
    out = [rank for rank, number in called.items() if number not in usual]
    return out if usual and len(out) < len(called) else []


def _show_ends(called: Iterable[int], group: str, recordings: Recordings) -> bool:
    """Whether a record that ends earlier tells of a call left out: no dump is torn, and no other group was in step."""
    return not recordings.siblings(group) and not any(map(recordings.is_torn, called))


def _shorter(called: Mapping[int, int], histories: Mapping[int, History]) -> list[int]:
    """Of two halves that differ, the one whose record ends earlier: it left a call out."""
    ends = {rank: histories[rank].end for rank in called}
    least = min(ends.values())
    behind = [rank for rank, end in ends.items() if end == least]
    return behind if len(behind) * 2 <= len(called) else []


def _out_of_rhythm(called: Mapping[int, int], histories: Mapping[int, History], sequence: int) -> list[int]:
    """The ranks whose call is not the one that their own steps before would have gone on with."""
    expected = {rank: _expected(histories[rank], sequence) for rank in called}
    if any(number is None for number in expected.values()):
        return []
    out = [rank for rank, number in called.items() if number != expected[rank]]
    return out if len(out) * 2 <= len(called) else []


def _expected(history: History, sequence: int) -> int | None:
    """What comes next where a rank's calls so far repeat themselves, at least twice over; None where they do not."""
    before = list(history.signatures[: sequence - history.start])
    for period in range(1, min(len(before) // 2, _LONGEST_STEP) + 1):
        span = 2 * period
        if before[-period:] == before[-span:-period]:
            return before[-period]
    return None


# --- From the watchdogs' words ---------------------------------------------------------------------------


def told_mismatches(accounts: Mapping[int, Account], names: GroupNames) -> Iterator[Mismatch]:
    """Yield the calls that ranks timed out in under one number of one group, where they differ."""
    calls: dict[tuple[str, int], dict[int, TorchWatchdogTimeout]] = defaultdict(dict)
    for rank, account in accounts.items():
        for name, timeout in account.all_timeouts():
            group = names.key(name, rank, timeout.group_rank)
            if group != UNKNOWN and timeout.sequence is not None and timeout.collective not in _POINT_TO_POINT:
                calls[group, timeout.sequence][rank] = timeout
    for (group, sequence), by_rank in calls.items():
        shapes = {rank: _shape(timeout) for rank, timeout in by_rank.items()}
        if len(set(shapes.values())) > 1:
            odd = odd_ones(shapes) or (_fewest_enqueued(shapes, accounts) if group == WORLD else [])
            called = {rank: _call(timeout) for rank, timeout in by_rank.items()}
            yield Mismatch(group, sequence, called, tuple(odd))


def lone_caller(accounts: Mapping[int, Account], world: int) -> Mismatch | None:
    """Return the one rank that waits in a call in which nobody else waits, where all ranks of the world wait.

    No rank is late then. In whatever groups they are, a call that its ranks agree on is waited in by several; and
    several wait under the lone call's number in another one, as the rest of its group would.
    """
    if len(accounts) < world or world < _FEW_RANKS or not all(account.timed_out for account in accounts.values()):
        return None
    waiting: dict[tuple[int | None, str | None, int | None], list[int]] = {}
    calls: dict[int, TorchWatchdogTimeout] = {}
    for rank, account in accounts.items():
        for _, timeout in account.all_timeouts():
            if timeout.sequence is None or timeout.collective in _POINT_TO_POINT:
                return None
            waiting.setdefault((timeout.sequence, *_shape(timeout)), []).append(rank)
            calls.setdefault(rank, timeout)
    alone = {ranks[0]: key for key, ranks in waiting.items() if len(ranks) == 1}
    if len(alone) != 1:
        return None
    ((odd, key),) = alone.items()
    if not any(other[0] == key[0] and len(ranks) > 1 for other, ranks in waiting.items()):
        return None
    timeouts = [timeout for _, timeout in accounts[odd].all_timeouts() if (timeout.sequence, *_shape(timeout)) == key]
    called = {odd: _call(timeouts[0])} | {rank: _call(timeout) for rank, timeout in calls.items() if rank != odd}
    return Mismatch("", key[0] or 0, called, (odd,))


def _shape(timeout: TorchWatchdogTimeout) -> tuple[str | None, int | None]:
    return timeout.collective, _elements(timeout) if timeout.collective in _EVEN else None


def _elements(timeout: TorchWatchdogTimeout) -> int | None:
    """How many elements went in; from 1.10 to 2.0 only the output's shape is printed, of which these have the same."""
    return timeout.numel_in if timeout.numel_in is not None else timeout.numel_out


def _call(timeout: TorchWatchdogTimeout) -> str:
    numel = _elements(timeout)
    return f"{timeout.collective}" + (f" of {numel} elements" if numel is not None else "")


def _fewest_enqueued(ranks: Iterable[int], accounts: Mapping[int, Account]) -> list[int]:
    """Of two halves of the world that differ, the one that has enqueued fewer calls, since it left one out."""
    standings = {rank: _in_the_world(accounts[rank]) for rank in ranks}
    enqueued = {rank: known.enqueued for rank, known in standings.items() if known and known.enqueued is not None}
    if len(enqueued) < len(standings) or len(set(enqueued.values())) < 2:
        return []
    fewest = min(enqueued.values())
    behind = [rank for rank, value in enqueued.items() if value == fewest]
    return behind if len(behind) * 2 <= len(standings) else []


def _in_the_world(account: Account) -> Standing | None:
    """What a rank says of the default group."""
    found = (standing for name, standing in account.standings.items() if not name or guid_of(name) == WORLD)
    return next(found, None)
