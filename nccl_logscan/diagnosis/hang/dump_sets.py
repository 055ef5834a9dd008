"""Dump sets: dumps that lie together but were not written by one job, or by one attempt, are not held to each other."""

from __future__ import annotations

from collections.abc import Iterator

from nccl_logscan.diagnosis.hang.progress import WORLD
from nccl_logscan.diagnosis.hang.recordings import Recordings
from nccl_logscan.recorder.model import Dump
from nccl_logscan.records import dataclass

_SETS = 64
_NAMED = 3
_Ranks = tuple[int, ...]


@dataclass(slots=True)
class _Set:
    """Dumps of one attempt that agree on who is in the default group; empty: none of them says."""

    attempt: int
    world: _Ranks
    recordings: Recordings


class DumpSets:
    """Takes dumps one by one; tells those of the last attempt's job from all others. Bounded."""

    def __init__(self) -> None:
        self._sets: list[_Set] = []
        self._stale: list[str] = []

    def take(self, dump: Dump, attempt: int, order: int) -> None:
        """Fold a dump in among those of its attempt that are of the same world."""
        self._set_of(attempt, _world_of(dump)).recordings.take(dump, order)

    def _set_of(self, attempt: int, world: _Ranks) -> _Set:
        own = [one for one in self._sets if one.attempt == attempt]
        known = next((one for one in own if one.world == world or not world), None)
        if known is None and (unsaid := next((one for one in own if not one.world), None)) is not None:
            unsaid.world = world
            return unsaid
        if known is None and len(self._sets) < _SETS:
            known = _Set(attempt, world, Recordings())
            self._sets.append(known)
        return known if known is not None else (own or self._sets)[-1]

    def waiting(self) -> Iterator[str]:
        """Yield an input of each set in which some rank waits."""
        for one in self._sets:
            waiting = one.recordings.progress().waiting()
            if waiting and (source := one.recordings.source(waiting[0])) is not None:
                yield source

    def of(self, attempt: int, stepped_at: float | None = None) -> Recordings:
        """Return what the job's dumps of an attempt hold: of the most ranks, of as many the latest.

        `stepped_at`: when the job made its last step, in seconds since 1970; dumps of long before are left out.
        """
        chosen = self._chosen(attempt)
        if chosen is None:
            return Recordings()
        self._stale += chosen.recordings.leave_out_stale(stepped_at)
        return chosen.recordings

    def _chosen(self, attempt: int) -> _Set | None:
        own = [one for one in self._sets if one.attempt == attempt]
        return max(own, key=lambda one: (len(one.recordings.ranks), one.recordings.newest_ns), default=None)

    def left_out(self, attempt: int) -> Iterator[str]:
        """Say which dumps of an attempt did not count: of another job or an earlier run, or a rank's earlier ones."""
        if self._stale:
            yield (
                f"{_listed(self._stale)}: the last call is more than an hour before those of the other dumps, or "
                "before the log's last step, as in an earlier run or by a wrong clock; left out"
            )
        chosen = self._chosen(attempt)
        if chosen is not None and chosen.recordings.doubled:
            yield f"{_listed(chosen.recordings.doubled)}: another dump of the same rank is later, or longer; left out"
        for one in self._sets:
            if chosen is None or one is chosen or one.attempt != attempt or not one.recordings:
                continue
            names = _listed([one.recordings.source(rank) or "" for rank in one.recordings.ranks])
            yield (
                f"{names}: of another job than the other dumps, and left out: the default group has {len(one.world)} "
                f"ranks, not {len(chosen.world)}, or others"
            )

    def nameless(self) -> Iterator[str]:
        """Yield the dumps of nobody in particular."""
        for one in self._sets:
            yield from one.recordings.nameless


def _listed(names: list[str]) -> str:
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


def _world_of(dump: Dump) -> _Ranks:
    """The ranks of a dump's default group; empty where it does not tell."""
    default = [group for group in dump.groups.values() if group.description == "default_pg" or group.name == WORLD]
    return next((group.ranks for group in default if group.ranks), ())
