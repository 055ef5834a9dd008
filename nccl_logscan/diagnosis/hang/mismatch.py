"""Mismatch: the first call in which ranks of one group did not do the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from nccl_logscan.diagnosis.hang.history import History
from nccl_logscan.diagnosis.hang.recordings import Recordings

_LONGEST_STEP = 256


@dataclass(frozen=True, slots=True)
class Mismatch:
    """`calls`: what each rank called as number `sequence` of `group`, in words; of point-to-point calls the number is
    that within their pair. `odd` are the ranks that differ from the most; `accused` is the one that is singled out, or
    None.
    """

    group: str
    sequence: int
    calls: Mapping[int, str]
    odd: tuple[int, ...]
    accused: int | None


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
        yield Mismatch("", number, calls, odd, odd[0] if odd else None)


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
    return Mismatch(
        group,
        sequence,
        {rank: str(recordings.signature(number)) for rank, number in called.items()},
        tuple(odd),
        odd[0] if len(odd) == 1 else None,
    )


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
