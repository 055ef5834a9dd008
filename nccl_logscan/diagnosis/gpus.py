"""Gpus: which rank runs on which GPU of which host, from the Init lines of NCCL."""

from __future__ import annotations

import re
from typing import ClassVar, NamedTuple

from nccl_logscan.diagnosis.excerpts import Site
from nccl_logscan.diagnosis.findings import Finding
from nccl_logscan.diagnosis.heed import Heed
from nccl_logscan.diagnosis.host_names import by_lower_case, host_in_name
from nccl_logscan.diagnosis.identity import LARGEST_WORLD, Identity
from nccl_logscan.events.model import Event, NcclInit
from nccl_logscan.expressions import deferred
from nccl_logscan.records import replace

_PCI = deferred(r"(?:([0-9A-Fa-f]{4,8}):)?([0-9A-Fa-f]{2}):([0-9A-Fa-f]{2})(?:\.([0-9A-Fa-f]))?$", re.ASCII)
_PID = deferred(r"\bpid='?(\d{1,9})\b", re.ASCII)
_OF_THE_HOST = frozenset({"kernel.xid", "kernel.event", "host.fact"})
_OF_A_GPU = frozenset({"kernel.xid", "host.fact"})


class Seat(NamedTuple):
    """The GPU of a rank, as its Init line names it: CUDA's number, nvidia-smi's, and NCCL's busId."""

    device: int | None
    nvml_device: int | None
    bus_id: str | None


class Gpus:
    """Learns the GPUs of ranks; bounded by `limit` processes. The communicator with the most ranks is the world."""

    kinds: ClassVar[frozenset[str]] = frozenset({"nccl.init"})

    def __init__(self, limit: int = 65_536) -> None:
        self._limit = limit
        self._world = 0
        self._seats: dict[int, Seat] = {}
        self._smallest = LARGEST_WORLD
        self._by_slot: dict[tuple[str, str], set[tuple[int, int | None]]] = {}
        self._by_process: dict[tuple[str, int], tuple[int, int | None]] = {}
        self._by_host: dict[str, set[int]] = {}

    def heeds(self, event: Event) -> Heed:  # noqa: ARG002 - all are set-ups
        """See `Heed`: which rank is where."""
        return Heed.WORDS

    def feed(self, event: Event, site: Site) -> None:  # noqa: ARG002 - listens as the others do
        """Learn from a communicator's set-up."""
        assert isinstance(event, NcclInit)
        host, rank, nranks = event.origin.host, event.rank, event.nranks
        if host is None or rank is None or nranks is None or not 0 < nranks <= LARGEST_WORLD:
            return
        self._smallest = min(self._smallest, nranks)
        if nranks < self._world:
            return
        if nranks > self._world:
            self._world = nranks
            for known in (self._by_slot, self._by_process, self._by_host, self._seats):
                known.clear()
        place = (rank, event.cuda_device)
        if event.origin.pid is not None and len(self._by_process) < self._limit:
            self._by_process[host, event.origin.pid] = place
        if event.bus_id is not None and len(self._by_slot) < self._limit:
            self._by_slot.setdefault((host, pci_of(event.bus_id)), set()).add(place)
        if rank in self._seats or len(self._seats) < self._limit:
            self._seats[rank] = Seat(event.cuda_device, event.nvml_device, event.bus_id)
        if len(self._by_host) < self._limit:
            self._by_host.setdefault(host, set()).add(rank)

    @property
    def world(self) -> int:
        """The ranks of the largest communicator; 0 where none was set up."""
        return self._world

    def seat_of(self, rank: int) -> Seat | None:
        """Return the GPU that a rank of the largest communicator had when it was last set up."""
        return self._seats.get(rank)

    @property
    def one_size(self) -> bool:
        """Whether all communicators have the ranks of the world, so that a rank in any of them may be a global one."""
        return self._smallest == self._world

    def ranks_on(self, host: str) -> tuple[int, ...]:
        """Return the global ranks of a host."""
        return tuple(sorted(self._by_host.get(host, ())))

    def at(self, host: str, pci: str) -> tuple[int, int | None] | None:
        """Return the rank that uses the GPU at a PCI address of a host, with its device; None if none or several."""
        slot = _slot(pci)
        places = self._by_slot.get((host, slot), set()) if slot is not None else set()
        return next(iter(places)) if len(places) == 1 else None

    def of_process(self, host: str, pid: int) -> tuple[int, int | None] | None:
        """Return the rank of a process, with its device."""
        return self._by_process.get((host, pid))

    def hosts_with(self, pci: str) -> tuple[str, ...]:
        """Return the hosts on which a rank uses a GPU at this PCI address."""
        slot = _slot(pci)
        return tuple(host for host, known in self._by_slot if known == slot)

    def placed(self, finding: Finding, identity: Identity) -> Finding:
        """Return a finding of the kernel's or a tool's words with host, rank and device as far as the log tells.

        The kernel and nvidia-smi know PCI addresses and no ranks, and neither prints its host.
        """
        if finding.kind not in _OF_THE_HOST:
            return finding
        captures = dict(finding.captures)
        pci = captures.get("pci")
        host = captures.get("host") or self._host(finding, pci, identity)
        if host is None:
            return finding
        host = self.as_nccl_says(host)
        captures["host"] = host
        place = self._place(finding, host, pci)
        if place is not None:
            captures.setdefault("rank", str(place[0]))
            if place[1] is not None:
                captures.setdefault("device", str(place[1]))
        ranks = finding.ranks if place is None else (place[0],)
        return replace(finding, captures=captures, hosts=finding.hosts or (host,), ranks=ranks)

    def _host(self, finding: Finding, pci: str | None, identity: Identity) -> str | None:
        if finding.hosts:
            return finding.hosts[0] if len(finding.hosts) == 1 else finding.first.origin.host
        named = host_in_name(finding.first.at.source, by_lower_case(identity.hosts))
        if named is not None:
            return named
        if len(identity.hosts) == 1:
            return identity.hosts[0]
        hosts = self.hosts_with(pci) if pci is not None else ()
        return hosts[0] if len(hosts) == 1 else None

    def as_nccl_says(self, host: str) -> str:
        """gpu-1.cluster.local → gpu-1, where ranks run: NCCL cuts a host's name at its first dot."""
        label = host.partition(".")[0]
        return label if host not in self._by_host and label in self._by_host else host

    def _place(self, finding: Finding, host: str, pci: str | None) -> tuple[int, int | None] | None:
        """By PCI address, or by the process that the driver names; None where the two disagree."""
        if finding.kind not in _OF_A_GPU:
            return None
        by_slot = self.at(host, pci) if pci is not None else None
        said = _PID.search(finding.first.text)
        by_process = self.of_process(host, int(said[1])) if said else None
        if by_slot is not None and by_process is not None and by_slot != by_process:
            return None
        return by_slot or by_process


def pci_of(bus_id: str) -> str:
    """Return `DOMAIN:BUS:DEVICE` in hex of NCCL's busId, which is the address without its separators: 3b000 → 0:3b:0.

    The function is left out: the driver names GPUs without it (NCCL 2.30.7, src/misc/utils.cc).
    """
    number = int(bus_id, 16)
    return f"{number >> 20:x}:{number >> 12 & 0xFF:x}:{number >> 4 & 0xFF:x}"


def bus_address(bus_id: str) -> str:
    """Return NCCL's busId as the kernel's Xid lines name a GPU: 3b000 → 0000:3b:00."""
    domain, bus, device = pci_of(bus_id).split(":")
    return f"{domain:0>4}:{bus:0>2}:{device:0>2}"


def _slot(pci: str) -> str | None:
    found = _PCI.search(pci)
    if found is None:
        return None
    domain, bus, device, _ = found.groups()
    return f"{int(domain or '0', 16):x}:{int(bus, 16):x}:{int(device, 16):x}"
