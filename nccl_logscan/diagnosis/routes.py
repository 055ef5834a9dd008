"""Routes: which ranks a process exchanges data with over the network."""

from __future__ import annotations

import re
from collections.abc import Iterable

from nccl_logscan.diagnosis.sayer import Who
from nccl_logscan.diagnosis.scene import Scene
from nccl_logscan.events.model import NcclChannel
from nccl_logscan.expressions import deferred

_LIMIT = 65_536
_PARTNERS = 256
_HOP = deferred(r": (\d{1,7})(?:\[\w{1,20}\])? -> (\d{1,7})(?:\[\w{1,20}\])? \[(send|receive)\] via NET/", re.ASCII)


def hop_of(event: NcclChannel) -> re.Match[str] | None:
    """Return from which rank to which a channel goes over the network: groups 1 and 2; 3 is `send` or `receive`."""
    return _HOP.search(event.message[:200])


class Routes:
    """Whom each process exchanges data with over the network, from the channel lines of NCCL (2.4 on)."""

    def __init__(self) -> None:
        self._partners: dict[tuple[str, int], set[int]] = {}
        self._relayed = False

    def learn(self, event: NcclChannel) -> None:
        """Learn from a channel that goes over the network. `NET/IB/3(11)`: rank 11 sends in this rank's place."""
        origin, hop = event.origin, hop_of(event)
        if hop is None or origin.host is None or origin.pid is None:
            return
        self._relayed = self._relayed or (event.transport is not None and "(" in event.transport)
        process = (origin.host, origin.pid)
        if process in self._partners or len(self._partners) < _LIMIT:
            partners = self._partners.setdefault(process, set())
            if len(partners) < _PARTNERS:
                partners.add(int(hop[2] if hop[3] == "send" else hop[1]))

    def rank_at(self, bad: str, sayers: Iterable[Who], scene: Scene) -> int | None:
        """Return the one rank of the bad end with which all the failed transfers were; None if it can't be told.

        A channel line gives ranks of its communicator and not which one that is: only a job with one size of
        communicator is sure of them.
        """
        if self._relayed or not scene.gpus.one_size:
            return None
        there = set(scene.gpus.ranks_on(bad))
        met: set[int] = set()
        for sayer in sayers:
            if sayer.host == bad:
                rank = scene.identity.rank_of(sayer)
                candidates = set() if rank is None else {rank}
            else:
                candidates = self._partners.get((sayer.host or "", sayer.pid or 0), set()) & there
            if not candidates:
                return None
            met |= candidates
        return met.pop() if len(met) == 1 else None
