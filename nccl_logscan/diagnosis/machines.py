"""Machines: which rank runs on which GPU of which host, with which adapters; and the links that NCCL found there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from nccl_logscan.diagnosis.comparison import Holder, holder_of
from nccl_logscan.diagnosis.gpus import Gpus, bus_address
from nccl_logscan.diagnosis.host_names import short_host
from nccl_logscan.diagnosis.identity import Identity
from nccl_logscan.diagnosis.sayer import Who, who
from nccl_logscan.events.model import NcclInfo, NcclNetwork
from nccl_logscan.expressions import deferred
from nccl_logscan.records import dataclass, field

_PROCESSES = 16_384
_DEVICES = 64
_KINDS_OF_LINKS = 64
_HOSTS = 1_024
_SOCKET = "Socket"

# NCCL 2.5 to 2.32, src/graph/topo.cc, src/graph/search.cc and src/init.cc; "speed" became "bw" in 2.13. Before 2.6
# paths had no names, and those lines are not taken.
_SYSTEM = deferred(r"=== System : maxBw (\d{1,9}(?:\.\d{1,9})?) totalBw (\d{1,9}(?:\.\d{1,9})?) ===", re.ASCII)
_GRAPH = deferred(
    r"Pattern (\d{1,3}), crossNic (\d{1,3}), nChannels (\d{1,6}), "
    r"(?:bw|speed) (\d{1,9}(?:\.\d{1,9})?)/(\d{1,9}(?:\.\d{1,9})?), type ([A-Z0-9]{2,4})/([A-Z0-9]{2,4})",
    re.ASCII,
)
_CHANNELS = deferred(
    r"(\d{1,6}) coll channels, (?:(\d{1,6}) collnet channels, )?(?:(\d{1,6}) nvls channels, )?", re.ASCII
)
_OF_POINT_TO_POINT = deferred(r"\b(\d{1,6}) p2p channels, (\d{1,6}) p2p channels per peer", re.ASCII)


@dataclass(frozen=True, slots=True)
class RankPlace:
    """Where a rank runs. `device` is CUDA's number in its process and `nvml_device` that of nvidia-smi; `adapters` are
    those that NCCL says its process uses, () where the log does not say.
    """

    rank: int
    device: int | None
    nvml_device: int | None
    bus_id: str | None
    adapters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Machine:
    """A host with its ranks, by rank; `adapters`: all that processes on it use."""

    host: str
    places: tuple[RankPlace, ...]
    adapters: tuple[str, ...]


class System(NamedTuple):
    """The bandwidths, in GB/s, that NCCL's graph search counts with on a host."""

    largest: float
    total: float


class Graph(NamedTuple):
    """What NCCL's search found for one pattern: bandwidths in GB/s and the worst paths, within and between hosts."""

    pattern: int
    cross_nic: int
    channels: int
    bandwidth_within: float
    bandwidth_between: float
    path_within: str
    path_between: str


class Channels(NamedTuple):
    """How many channels a communicator has; None: this NCCL prints no such number."""

    collective: int
    collnet: int | None
    nvls: int | None
    point_to_point: int | None
    per_peer: int | None


@dataclass(frozen=True, slots=True)
class Links:
    """What NCCL printed of bandwidths, paths and channels: each distinct one with the hosts that printed it."""

    systems: dict[System, dict[str, None]] = field(default_factory=dict)
    graphs: dict[Graph, dict[str, None]] = field(default_factory=dict)
    channels: dict[Channels, dict[str, None]] = field(default_factory=dict)

    def note(self, event: NcclInfo) -> None:
        """Note what a line that `tells_links` tells. Bounded: of very many different ones the first are kept."""
        message = event.message
        host = holder_of(event).host
        if found := _SYSTEM.match(message):
            _enter(self.systems, System(float(found[1]), float(found[2])), host)
        elif found := _GRAPH.match(message):
            pattern, cross_nic, channels = (int(number) for number in found.groups()[:3])
            graph = Graph(pattern, cross_nic, channels, float(found[4]), float(found[5]), found[6], found[7])
            _enter(self.graphs, graph, host)
        elif found := _CHANNELS.match(message):
            peers = _OF_POINT_TO_POINT.search(message[:400])
            counts = (*found.groups(), *(peers.groups() if peers else (None, None)))
            collective, *others = (None if count is None else int(count) for count in counts)
            _enter(self.channels, Channels(collective or 0, *others), host)


def _enter(known: dict, printed: System | Graph | Channels, host: str) -> None:  # type: ignore[type-arg] # any of three
    if printed in known or len(known) < _KINDS_OF_LINKS:
        hosts = known.setdefault(printed, {})
        if len(hosts) < _HOSTS:
            hosts[host] = None


def tells_links(message: str) -> bool:
    """Return whether an INFO message tells of bandwidths, paths or numbers of channels; the same for any numbers."""
    return message.startswith(("=== System : ", "Pattern ")) or " coll channels, " in message[:32]


class Adapters:
    """Learns which adapters a process uses: InfiniBand or RoCE ports, else network interfaces. Bounded."""

    def __init__(self) -> None:
        self._used: dict[Holder, tuple[Who, str, dict[str, None]]] = {}

    def feed(self, event: NcclNetwork) -> None:
        """Note adapters, which a process lists in one line, or from 2.27 on in one line each."""
        if event.chosen or not event.devices:
            return
        holder = holder_of(event)
        known = self._used.get(holder)
        if known is None or (known[1] == _SOCKET and event.network != _SOCKET):
            if known is None and len(self._used) >= _PROCESSES:
                return
            known = self._used[holder] = (who(event), event.network, {})
        if event.network == known[1]:
            for device in event.devices:
                if len(known[2]) < _DEVICES:
                    known[2][_name(device, event.network)] = None

    def used(self) -> Iterator[tuple[str, Who, tuple[str, ...]]]:
        """Yield host, sayer and adapters of each process, in the order of first sight."""
        for holder, (sayer, _, names) in self._used.items():
            yield holder.host, sayer, tuple(names)


def _name(device: str, network: str) -> str:
    """`mlx5_0:1/RoCE` → itself; `eth0:10.0.0.1<0>` → eth0, since addresses differ on every host."""
    return device.partition(":")[0] if network == _SOCKET else device.partition("<")[0]


def find_machines(identity: Identity, gpus: Gpus, adapters: Adapters) -> tuple[Machine, ...]:
    """Return the hosts on which ranks or adapters were seen, in the order of their first rank."""
    names: dict[str, str] = {}
    own: dict[int, tuple[str, ...]] = {}
    shared: dict[str, dict[str, None]] = {}
    for host, sayer, used in adapters.used():
        if sayer.host is not None:
            shared.setdefault(_known_as(host, names), {}).update(dict.fromkeys(used))
        if (rank := identity.rank_of(sayer)) is not None:
            own[rank] = used
    places: dict[str, list[RankPlace]] = {}
    for rank in identity.ranks:
        if host_of := identity.host_of(rank):
            place = _place(rank, identity, gpus, own.get(rank, ()))
            places.setdefault(_known_as(host_of, names), []).append(place)
    hosts = [*places, *(host for host in shared if host not in places)]
    return tuple(
        Machine(names[host], tuple(places.get(host, ())), tuple(shared.get(host) or _of_all(places.get(host, ()))))
        for host in hosts
    )


def _of_all(places: list[RankPlace] | tuple[()]) -> dict[str, None]:
    return dict.fromkeys(name for place in places for name in place.adapters)


def _known_as(host: str, names: dict[str, str]) -> str:
    """Return the name that all spellings of a host share, and remember how it was spelt first."""
    short = short_host(host).lower()
    names.setdefault(short, host)
    return short


def _place(rank: int, identity: Identity, gpus: Gpus, adapters: tuple[str, ...]) -> RankPlace:
    seat = gpus.seat_of(rank) if gpus.world == identity.stated_world else None
    if seat is None:
        return RankPlace(rank, None, None, None, adapters)
    return RankPlace(rank, seat.device, seat.nvml_device, seat.bus_id and bus_address(seat.bus_id), adapters)
