"""Adapters as ibstat, ibv_devinfo and show_gids show them, against what NCCL used or was told to use.

A port that is down and that nobody wanted is no cause: many hosts have some. Which ports NCCL used it says itself
(`NET/IB : Using [0]mlx5_0:1/IB`), which it was told to use stands in NCCL_IB_HCA.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import ClassVar, NamedTuple

from nccl_logscan.diagnosis.comparison import odd_one_out
from nccl_logscan.diagnosis.detectors.detection import Detection, captured, excerpt_of
from nccl_logscan.diagnosis.excerpts import Excerpt, Site
from nccl_logscan.diagnosis.host_names import short_host
from nccl_logscan.diagnosis.scene import Scene
from nccl_logscan.events.model import Event, HostFact, NcclEnv, NcclNetwork
from nccl_logscan.expressions import deferred
from nccl_logscan.numbers import whole
from nccl_logscan.records import dataclass, field
from nccl_logscan.taxonomy import Category, Role

_LIMIT = 4_096
_ROWS = 256
_USED = deferred(r"([\w.+-]{1,128}):(\d{1,3})/(IB|RoCE)\b")
_LAYERS = {"InfiniBand": "IB", "Ethernet": "RoCE"}
_FABRIC = frozenset({Category.INFINIBAND, Category.ROCE_CONFIG})
_STALLED = frozenset({Category.COLLECTIVE_TIMEOUT, Category.SOCKET_BOOTSTRAP})
_TELLING = frozenset({Role.CAUSE, Role.SYMPTOM})


class _Port(NamedTuple):
    """A port: its host (None: not known which), adapter and number."""

    host: str | None
    device: str
    number: int


@dataclass(frozen=True, slots=True)
class _Cell:
    """A value and the line that tells it."""

    value: str
    number: float | None
    excerpt: Excerpt
    order: int


@dataclass(slots=True)
class _Wishes:
    """What one host's processes used or were told to use."""

    used: dict[str, str] = field(default_factory=dict)
    named: frozenset[str] = frozenset()
    gid_index: int | None = None


class Adapters:
    """Collects ports, addresses and wishes by host, and compares them at the end."""

    names: ClassVar[tuple[str, ...]] = (
        "port-down",
        "port-down-unused",
        "port-slower",
        "link-layers-differ",
        "gid-row-unfit",
    )
    kinds: ClassVar[frozenset[str]] = frozenset({"host.fact", "nccl.network", "nccl.env"})

    def __init__(self) -> None:
        self._ports: dict[_Port, dict[str, _Cell]] = {}
        self._gids: dict[_Port, dict[int, _Cell]] = {}
        self._wishes: dict[str, _Wishes] = {}
        self._layers: dict[tuple[str, str], _Cell] = {}

    def feed(self, event: Event, site: Site) -> None:
        """Note a port's state, an address, or what NCCL uses."""
        if isinstance(event, HostFact):
            if event.device is not None and event.port is not None:
                self._note(event, site, _Port(event.origin.host, event.device, event.port))
        elif isinstance(event, NcclNetwork):
            self._use(event, site)
        elif isinstance(event, NcclEnv) and event.name in {"NCCL_IB_HCA", "NCCL_IB_GID_INDEX"}:
            self._wish(event)

    def _note(self, fact: HostFact, site: Site, port: _Port) -> None:
        cell = _Cell(fact.value, fact.number, excerpt_of(fact, site), site.order)
        if fact.name == "gid" and fact.number is not None:
            if port in self._gids or len(self._gids) < _LIMIT:
                rows = self._gids.setdefault(port, {})
                if len(rows) < _ROWS:
                    rows[int(fact.number)] = cell
        elif port in self._ports or len(self._ports) < _LIMIT:
            # Of several outputs the last one counts.
            self._ports.setdefault(port, {})[fact.name] = cell

    def _of_host(self, event: Event) -> _Wishes:
        host = _speaker(event)
        if host not in self._wishes and len(self._wishes) >= _LIMIT:
            return _Wishes()
        return self._wishes.setdefault(host, _Wishes())

    def _use(self, event: NcclNetwork, site: Site) -> None:
        wishes = self._of_host(event)
        for listed in event.devices:
            found = _USED.match(listed)
            if found is None or len(wishes.used) >= 64:
                continue
            for device in found[1].split("+"):
                wishes.used[device] = found[3]
                key = (_speaker(event), device)
                if key not in self._layers and len(self._layers) < _LIMIT:
                    self._layers[key] = _Cell(found[3], None, excerpt_of(event, site), site.order)

    def _wish(self, event: NcclEnv) -> None:
        wishes = self._of_host(event)
        if event.name == "NCCL_IB_GID_INDEX":
            wishes.gid_index = whole(event.value)
        elif not event.value.startswith("^"):
            names = event.value[:2_000].lstrip("=").split(",")
            wishes.named = frozenset(name.partition(":")[0].strip() for name in names[:64])

    def conclude(self, scene: Scene) -> Iterator[Detection]:
        """Yield what is wrong with ports that matter, and what differs."""
        yield from self._down(scene)
        yield from self._slower()
        yield from self._link_layers()
        if _troubled(scene, _FABRIC | _STALLED):
            yield from self._unfit_gids()

    def _wishes_of(self, host: str | None) -> list[_Wishes]:
        """The wishes of a host; those of all where a table does not say whose it is."""
        if host is None:
            return list(self._wishes.values())
        wishes = self._wishes.get(short_host(host))
        return [wishes] if wishes is not None else []

    def _uses(self, port: _Port) -> bool:
        wishes = self._wishes_of(port.host)
        return bool(wishes) and all(port.device in one.used for one in wishes)

    def _wants(self, port: _Port) -> bool:
        return any(port.device in one.named for one in self._wishes_of(port.host))

    def _down(self, scene: Scene) -> Iterator[Detection]:
        idle = []
        for port, cells in self._ports.items():
            state = cells.get("port_state")
            if state is None or state.value == "Active":
                continue
            if self._uses(port) or (self._wants(port) and _troubled(scene, _FABRIC | _STALLED)) or _blamed(scene, port):
                yield _of("port-down", port, (state, cells.get("port_physical")), {"state": _state(cells)})
            else:
                idle.append((port, state))
        if idle:
            port, state = idle[0]
            ports = ", ".join(f"{port.device} on {port.host}" if port.host else port.device for port, _ in idle[:8])
            yield _of("port-down-unused", port, (state,), {"ports": ports}, count=len(idle))

    def _slower(self) -> Iterator[Detection]:
        """Ports that NCCL uses and that run slower than most of those it uses."""
        rates = {
            port: cells["rate"]
            for port, cells in self._ports.items()
            if "rate" in cells and cells["rate"].number and self._uses(port) and _is_active(cells)
        }
        if len(rates) < 3:
            return
        usual, _ = Counter(cell.number for cell in rates.values()).most_common(1)[0]
        for port, cell in rates.items():
            if cell.number is not None and usual is not None and cell.number < usual:
                yield _of("port-slower", port, (cell,), {"rate": f"{cell.number:g}", "usual": f"{usual:g}"})

    def _link_layers(self) -> Iterator[Detection]:
        """One adapter's name with InfiniBand on one host and Ethernet on another: the two ends do not connect."""
        by_device: dict[str, dict[str, dict[str, None]]] = {}
        for (host, device), cell in self._layers.items():
            by_device.setdefault(device, {}).setdefault(cell.value, {})[host] = None
        for device, layers in by_device.items():
            if len(layers) < 2:
                continue
            hosts = {layer: tuple(names) for layer, names in layers.items()}
            first = [self._layers[names[0], device] for names in hosts.values()]
            odd = odd_one_out(hosts)
            captures = {
                "adapter": device,
                "values": "; ".join(f"{layer} on {names[0]}" for layer, names in hosts.items()),
            }
            yield _of("link-layers-differ", _Port(odd, device, 1), first, captures)
            return

    def _unfit_gids(self) -> Iterator[Detection]:
        """RoCE ports in use whose row of the GID table is none that leads to another host."""
        for port, rows in self._gids.items():
            wishes = self._wishes_of(port.host)
            if not self._uses(port) or any(one.used[port.device] != "RoCE" for one in wishes):
                continue
            index = next((one.gid_index for one in wishes if one.gid_index is not None), None)
            first = next(iter(rows.values()))
            if index is None and not any(_leads_on(cell.value) for cell in rows.values()):
                yield _of("gid-row-unfit", port, (first,), {"what": "has no RoCE v2 address of an IP network"})
            elif index is not None and index not in rows:
                yield _of("gid-row-unfit", port, (first,), {"what": f"has no GID with index {index}"})
            elif index is not None and not _leads_on(rows[index].value):
                yield _of("gid-row-unfit", port, (rows[index],), {"what": f"has {rows[index].value} as GID {index}"})


def _speaker(event: Event) -> str:
    return short_host(event.origin.host) if event.origin.host else event.at.source


def _is_active(cells: dict[str, _Cell]) -> bool:
    return "port_state" not in cells or cells["port_state"].value == "Active"


def _state(cells: dict[str, _Cell]) -> str:
    physical = cells.get("port_physical")
    return cells["port_state"].value + (f", {physical.value}" if physical is not None else "")


def _leads_on(gid: str) -> bool:
    """Whether a row of a GID table is RoCE v2 with an address that another host can reach: not link-local."""
    version, _, address = gid.partition(" ")
    return version == "v2" and not address.lower().startswith("fe80")


def _troubled(scene: Scene, categories: frozenset[Category]) -> bool:
    return any(finding.rule.category in categories and finding.rule.role in _TELLING for finding in scene.findings)


def _blamed(scene: Scene, port: _Port) -> bool:
    """Whether a cause on the fabric stands in the log that names this adapter, or none, on this host or any."""
    for finding in scene.findings:
        if finding.rule.category not in _FABRIC or finding.rule.role is not Role.CAUSE:
            continue
        adapter = finding.captures.get("adapter", "").partition(":")[0]
        elsewhere = port.host and finding.hosts and short_host(port.host) not in map(short_host, finding.hosts)
        if not elsewhere and adapter in {"", port.device}:
            return True
    return False


def _of(
    name: str, port: _Port, cells: Iterable[_Cell | None], captures: dict[str, str], *, count: int = 1
) -> Detection:
    told = [cell for cell in cells if cell is not None]
    where = captured(adapter=port.device, host=port.host or None)
    hosts = (port.host,) if port.host else ()
    orders = [cell.order for cell in told]
    excerpts = tuple(cell.excerpt for cell in told)
    return Detection(name, excerpts, min(orders), max(orders), where | captures, (), hosts, count)
