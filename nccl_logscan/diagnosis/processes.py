"""Processes and communicators as NCCL's set-up lines show them: who is which rank of what."""

from __future__ import annotations

from collections.abc import Mapping

from nccl_logscan.events.model import NcclInit
from nccl_logscan.expressions import deferred

ProcessId = tuple[str, int]
"""A process: host, empty where not told, and pid."""

_MEMBERS = 262_144
_DEVICES = 64
# NCCL 2.23 to 2.30 tell of a communicator that was split off by its parent, and give it no id of its own.
_SPLIT = deferred(r"\bparent (0x[0-9a-fA-F]{1,32})(?: (?:splitCount|childCount) (\d{1,9}))? color (-?\d{1,10}) ")


class Processes:
    """Learns from `Init START` and `Init COMPLETE`. The communicator with the most ranks is taken for the world: its
    rank is the global one. Bounded: at most `limit` processes.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._known: dict[ProcessId, dict[int | None, tuple[int, int]]] = {}
        self._by_pid: dict[int, list[ProcessId]] = {}
        self._communicators: dict[str, dict[int, tuple[ProcessId, int | None]]] = {}
        self._handles: dict[tuple[ProcessId, str], str] = {}
        self._size = 0
        self._process_of_rank: dict[int, ProcessId] | None = None
        self._joined: dict[int, dict[str, int]] | None = None
        self.world = 0

    def learn(self, event: NcclInit) -> None:
        """Learn from a set-up line that names a rank, its communicator's size and a process."""
        origin = event.origin
        if event.rank is None or event.nranks is None or origin.pid is None:
            return
        process = (origin.host or "", origin.pid)
        device = event.cuda_device if event.cuda_device is not None else origin.device
        ranks = self._known.get(process)
        if ranks is None:
            if len(self._known) >= self._limit:
                return
            ranks = self._known[process] = {}
            self._by_pid.setdefault(origin.pid, []).append(process)
        known = ranks.get(device)
        if (known is None or known[1] < event.nranks) and (device in ranks or len(ranks) < _DEVICES):
            ranks[device] = (event.rank, event.nranks)
            self._process_of_rank = None
        self.world = max(self.world, event.nranks)
        self._join(event, event.rank, process, device)

    def _join(self, event: NcclInit, rank: int, process: ProcessId, device: int | None) -> None:
        key = self._key(event, process)
        if key is None or self._size >= _MEMBERS:
            return
        self._joined = None
        members = self._communicators.setdefault(key, {})
        if rank not in members:
            self._size += 1
            members[rank] = (process, device)
        if event.comm is not None:
            self._handles[process, event.comm] = key

    def _key(self, event: NcclInit, process: ProcessId) -> str | None:
        """A communicator's id; of one split off, its parent's with the count of the split and the colour."""
        if event.comm_id is not None:
            return event.comm_id
        split = _SPLIT.search(event.message)
        parent = self._handles.get((process, split[1])) if split else None
        return f"{parent}/{split[2] or 0}/{split[3]}" if split and parent else None

    @property
    def ranks(self) -> set[int]:
        """The ranks of the world that set it up."""
        return {rank for known in self._known.values() for rank, nranks in known.values() if nranks == self.world}

    def rank_of(self, host: str | None, pid: int, device: int | None = None) -> int | None:
        """Return the rank of a process in the world; None if it has none, or several of which `device` tells none."""
        known = self._known.get((host or "", pid))
        if known is None and host is None:
            processes = self._by_pid.get(pid, [])
            known = self._known[processes[0]] if len(processes) == 1 else None
        ranks = {at: rank for at, (rank, nranks) in (known or {}).items() if nranks == self.world}
        if len(set(ranks.values())) == 1:
            return next(iter(ranks.values()))
        return ranks.get(device) if device is not None else None

    def process_of(self, rank: int) -> ProcessId | None:
        """Return the process of a rank of the world."""
        if self._process_of_rank is None:
            self._process_of_rank = {}
            for process, known in self._known.items():
                for number, nranks in known.values():
                    if nranks == self.world:
                        self._process_of_rank.setdefault(number, process)
        return self._process_of_rank.get(rank)

    def joined_by(self, rank: int) -> Mapping[str, int]:
        """Return the communicators that a rank of the world set up, by id, with its rank in each."""
        if self._joined is None:
            self._joined = {}
            for communicator, members in self._communicators.items():
                for within, (process, device) in members.items():
                    world = self.rank_of(process[0], process[1], device)
                    if world is not None:
                        self._joined.setdefault(world, {})[communicator] = within
        return self._joined.get(rank, {})

    def members(self, communicator: str) -> Mapping[int, int]:
        """Return rank in a communicator, by its id, → rank in the world, as far as known."""
        members = self._communicators.get(communicator, {})
        found = {rank: self.rank_of(process[0], process[1], device) for rank, (process, device) in members.items()}
        return {rank: world for rank, world in sorted(found.items()) if world is not None}
