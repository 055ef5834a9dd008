"""What took time as the view has it: numbers in rows, and the names that they stand for once.

A row of a call is `[name, sequence, state, issued_us, started_us, completed_us]`, one of a slice
`[name, waits, start_us, end_us]`. Names are places in `names`; states are 0 scheduled, 1 started, 2 completed; times
are in microseconds since 1970.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from nccl_logscan.diagnosis.hang.recent import TimedCall
from nccl_logscan.diagnosis.spans import RankCalls, Spans, Stall
from nccl_logscan.measured.ray_timeline import Slice
from nccl_logscan.recorder.model import State

RANKS = 4_096
"""Ranks that a stall lists."""
SLICES = 64
"""Slices of Ray that a stall lists."""
_STATES = {State.SCHEDULED: 0, State.STARTED: 1, State.COMPLETED: 2}


class _Names(dict[str, int]):
    """The place of each name, in the order in which they were asked for."""

    def __missing__(self, name: str) -> int:
        self[name] = len(self)
        return self[name]


def spans_of(spans: Spans | None) -> dict[str, Any] | None:
    """Return the view's `spans`."""
    if spans is None:
        return None
    names = _Names()
    tracks = [track for one in spans.ranks for track in _tracks(one, spans.descriptions, names)]
    workers = list(_workers(spans.slices, names))
    return {
        "names": list(names),
        "tracks": tracks,
        "workers": workers,
        "stall": None if spans.stall is None else _stall(spans.stall),
    }


def _tracks(one: RankCalls, descriptions: dict[str, str], names: _Names) -> Iterator[dict[str, Any]]:
    """Yield a track for each group that a rank called in; its point-to-point calls, which overlap, have their own."""

    def track_of(call: TimedCall) -> tuple[str, bool]:
        return call.group, call.is_p2p

    for (group, is_p2p), calls in groupby(sorted(one.calls, key=track_of), track_of):
        yield {
            "rank": one.rank,
            "host": one.host,
            "process_group": group,
            "description": descriptions.get(group, ""),
            "point_to_point": is_p2p,
            "calls": [_call(call, names) for call in calls],
        }


def _call(call: TimedCall, names: _Names) -> list[int | None]:
    times = (call.issued_ns, call.started_ns, call.completed_ns)
    return [names[call.operation], call.sequence, _STATES[call.state], *map(_microseconds, times)]


def _microseconds(time_ns: int | None) -> int | None:
    return None if time_ns is None else time_ns // 1000


def _workers(slices: tuple[Slice, ...], names: _Names) -> Iterator[dict[str, Any]]:
    def worker_of(one: Slice) -> tuple[str, str]:
        return one.node, one.worker

    for (node, worker), own in groupby(sorted(slices, key=worker_of), worker_of):
        rows = [[names[one.name], int(one.waits), one.start_us, one.end_us] for one in own]
        yield {"host": node, "worker": worker, "slices": rows}


def _stall(stall: Stall) -> dict[str, Any]:
    return {
        "since_us": stall.since_ns // 1000,
        "process_group": stall.group,
        "operation": stall.operation,
        "sequence": stall.sequence,
        "ranks": list(stall.ranks[:RANKS]),
        "rank_count": len(stall.ranks),
        "slices": [_slice(one) for one in stall.slices[:SLICES]],
        "slice_count": len(stall.slices),
    }


def _slice(one: Slice) -> dict[str, Any]:
    return {
        "host": one.node,
        "worker": one.worker,
        "name": one.name,
        "task": one.task,
        "waits": one.waits,
        "start_us": one.start_us,
        "end_us": one.end_us,
    }
