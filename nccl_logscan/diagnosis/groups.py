"""Process groups: which global rank a rank within a group is, from lines that tell both.

    [rank5]:[E1130 05:41:55.7 ProcessGroupNCCL.cpp:689] [PG ID 3 PG GUID 12(tp) Rank 1] ...
    [PG ID 3 PG GUID 12(tp) Rank 1] ProcessGroupNCCL initialization options: size: 2, global rank: 5, TIMEOUT(ms): ...

A group's name is its GUID, the same on all its members (torch/distributed/distributed_c10d.py, _process_group_name).
Without a description in parentheses (to 2.3) the printed number counts the groups of one process, so that equal numbers
of two processes need not be one group: nothing is concluded from those.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

from nccl_logscan.events.model import TorchDumpSignal, TorchProcessGroup, TorchWatchdogTimeout, TorchWorkStatus
from nccl_logscan.expressions import deferred

_GROUPS = 8_192
_MEMBERS = 262_144
_DEFAULT = "0"
_SAID_BY = 4
_GLOBAL_RANK = deferred(r"\bglobal rank: (\d{1,7})\b")

Sayer = TypeVar("Sayer")
GROUP_EVENTS = (TorchDumpSignal, TorchProcessGroup, TorchWatchdogTimeout, TorchWorkStatus)
"""The events that may name a process group and the speaker's rank there."""


def guid_of(name: str) -> str:
    """Return the part of a group's printed name that all its members share: `12(tp)` → `12`."""
    return name.partition("(")[0]


class ProcessGroups(Generic[Sayer]):
    """Learns who is which rank of which group; a sayer is resolved to a global rank only when asked. Bounded."""

    def __init__(self) -> None:
        self._said: dict[str, dict[int, dict[Sayer | int, None]]] = {}
        self._told: dict[str, tuple[int, ...]] = {}
        self._size = 0

    def learn(self, name: str, group_rank: int, sayer: Sayer | int) -> None:
        """Learn that a sayer, or a global rank, is a rank of a group, by the name that a line prints."""
        if "(" not in name:
            return
        guid = guid_of(name)
        members = self._said.get(guid)
        if members is None:
            if len(self._said) >= _GROUPS:
                return
            members = self._said[guid] = {}
        sayers = members.get(group_rank)
        if sayers is None:
            if self._size >= _MEMBERS:
                return
            self._size += 1
            sayers = members[group_rank] = {}
        if len(sayers) < _SAID_BY:
            sayers[sayer] = None

    def learn_ranks(self, name: str, ranks: Sequence[int]) -> None:
        """Learn all global ranks of a group in the order of their ranks in it, as a dump's configuration lists them."""
        guid = guid_of(name)
        if guid not in self._told and len(self._told) < _GROUPS and self._size + len(ranks) <= _MEMBERS:
            self._size += len(ranks)
            self._told[guid] = tuple(ranks)

    @property
    def names(self) -> tuple[str, ...]:
        """The GUIDs of the groups of which at least one member is known."""
        return tuple(dict.fromkeys((*self._told, *self._said)))

    def members(self, name: str, rank_of: Callable[[Sayer], int | None], world: int) -> Mapping[int, int]:
        """Return group rank → global rank, as far as known. Group ranks that two global ranks claim are left out.

        The default group's ranks are those of the world, all `world` of them.
        """
        guid = guid_of(name)
        if guid == _DEFAULT:
            return {rank: rank for rank in range(world)}
        if guid in self._told:
            return dict(enumerate(self._told[guid]))
        known = {}
        for group_rank, sayers in sorted(self._said.get(guid, {}).items()):
            ranks = {sayer if isinstance(sayer, int) else rank_of(sayer) for sayer in sayers} - {None}
            if len(ranks) == 1 and (rank := next(iter(ranks))) is not None:
                known[group_rank] = rank
        return known


def global_rank_in(message: str) -> int | None:
    """Return the global rank that a group's initialization options tell of; None in any other message."""
    if "global rank: " not in message or (found := _GLOBAL_RANK.search(message)) is None:
        return None
    return int(found[1])
