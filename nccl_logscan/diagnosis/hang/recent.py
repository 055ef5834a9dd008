"""The latest calls of each rank with their times, as its recorder's dump has them: what a timeline shows. Bounded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from nccl_logscan.recorder.model import Call, Dump, State

LIMIT = 4_000
"""Calls of all ranks together."""
RANKS = 2_000
"""Ranks of which calls are kept."""
_LATEST_NS = 1000 << 53


class TimedCall(NamedTuple):
    """A call of a rank. Times are in nanoseconds since 1970 by the clock of the rank's host; None: not seen.

    `sequence` is the call's number within its group; of a point-to-point call (`is_p2p`) that among those.
    """

    group: str
    operation: str
    sequence: int | None
    is_p2p: bool
    state: State
    issued_ns: int
    started_ns: int | None
    completed_ns: int | None


class RecentCalls:
    """Takes the calls of one rank after another; keeps as many of the latest of each as all ranks have room for."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._by_rank: dict[int, tuple[TimedCall, ...]] = {}
        self._left_out: dict[int, int] = {}
        self._held = 0

    def take(self, rank: int, dump: Dump) -> None:
        """Keep a rank's calls in place of any that were taken of it before. Those without a time are passed over."""
        self.forget(rank)
        timed = [call for call in dump.calls if _sane(call.created_ns) is not None]
        room = self._limit if len(self._by_rank) < RANKS else 0
        completed = {group: status.last_completed for group, status in dump.statuses.items()}
        kept = tuple(_timed(call, completed.get(call.group)) for call in timed[max(0, len(timed) - room) :])
        self._by_rank[rank], self._left_out[rank] = kept, len(timed) - len(kept)
        self._held += len(kept)
        if self._held > 2 * self._limit:
            self._trim()

    def forget(self, rank: int) -> None:
        """Leave a rank's calls out."""
        self._held -= len(self._by_rank.pop(rank, ()))
        self._left_out.pop(rank, None)

    def conclude(self) -> tuple[dict[int, tuple[TimedCall, ...]], int]:
        """Return each rank's calls in the order in which it issued them, and how many were left out."""
        self._trim()
        return dict(sorted(self._by_rank.items())), sum(self._left_out.values())

    def _trim(self) -> None:
        """Leave no more calls than the limit, the same number of the latest of each rank that has more than that."""
        share = _share(map(len, self._by_rank.values()), self._limit)
        for rank, calls in self._by_rank.items():
            kept = calls[max(0, len(calls) - share) :]
            self._left_out[rank] += len(calls) - len(kept)
            self._by_rank[rank] = kept
        self._held = sum(map(len, self._by_rank.values()))


def _share(lengths: Iterable[int], limit: int) -> int:
    """Return how many each may keep so that all together keep no more than the limit."""
    left, ordered = limit, sorted(lengths)
    for passed, length in enumerate(ordered):
        share = left // (len(ordered) - passed)
        if length > share:
            return share
        left -= length
    return limit


def _timed(call: Call, completed: int | None) -> TimedCall:
    """Return a call as it is kept. Its state may be older than the counter of what its group has `completed`."""
    is_p2p = call.sequence is None
    is_done = call.sequence is not None and completed is not None and call.sequence <= completed
    return TimedCall(
        group=call.group,
        operation=call.operation,
        sequence=call.p2p_sequence if is_p2p else call.sequence,
        is_p2p=is_p2p,
        state=State.COMPLETED if is_done else call.state,
        issued_ns=call.created_ns or 0,
        started_ns=_sane(call.started_ns),
        completed_ns=_sane(call.completed_ns),
    )


def _sane(time_ns: int | None) -> int | None:
    """Return a time; of a damaged dump's that lies beyond the microseconds which a double counts exactly none."""
    return time_ns if time_ns is not None and time_ns < _LATEST_NS else None
