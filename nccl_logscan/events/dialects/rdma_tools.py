"""ibstat, ibstatus, ibv_devinfo (and -v), `rdma link`, ibdev2netdev, show_gids: adapters, their ports and addresses.

Facts, by the names that HostFact gives them:

    port_state (Active, Down, Initializing, Armed), port_physical (LinkUp, Polling, Disabled, ...), rate (Gb/s),
    link_layer (InfiniBand, Ethernet), mtu, adapter_firmware, adapter_model, net_device, gid

Formats: outputs of all of them in public repositories; show_gids as Mellanox/mlnx-tools, sbin/show_gids prints it.
"""

from __future__ import annotations

import re

from nccl_logscan.events.dialects.table import Reader, fact
from nccl_logscan.events.model import Event
from nccl_logscan.expressions import deferred
from nccl_logscan.lines.model import LogLine
from nccl_logscan.numbers import whole
from nccl_logscan.records import dataclass

HEADS = (
    "CA '",
    "Infiniband device '",
    "hca_id:",
    "DEV\t",
    "DEV ",
    "link ",
    "mlx4_",
    "mlx5_",
    "bnxt_re",
    "rocep",
    "ibp",
)

_CA = deferred(r"CA '([^'\s]{1,64})'")
_PORT = deferred(r"\s{0,16}[Pp]ort (\d{1,3}):\s{0,4}$|\s{1,16}port:\s{1,8}(\d{1,3})\s{0,4}$")
_DEVICE_PORT = deferred(r"Infiniband device '([^'\s]{1,64})' port (\d{1,3}) status:")
_HCA = deferred(r"hca_id:\s{0,16}(\S{1,64})")
_CELL = deferred(r"\s{1,40}([A-Za-z][\w ]{1,32}?):\s{0,40}(\S.{0,120}?)\s{0,8}$")
_GID = deferred(r"\s{1,40}GID\[\s{0,4}(\d{1,4})\]:\s{0,16}([0-9A-Fa-f:.]{2,60})(?:, (RoCE v[12]|IB|InfiniBand))?")
_RDMA_LINK = deferred(
    r"link (\S{1,64})/(\d{1,3}) (?:subnet_prefix \S{1,40} |lid \S{1,12} |sm_lid \S{1,12} |lmc \S{1,8} ){0,4}"
    r"state (\w{1,16}) physical_state (\w{1,24})(?: netdev (\S{1,32}))?"
)
_NET_DEVICE = deferred(r"(\S{1,64}) port (\d{1,3}) ==> (\S{1,32}) \((Up|Down)\)")
_GID_ROW = deferred(
    r"(\S{1,64})\s{1,12}(\d{1,3})\s{1,12}(\d{1,4})\s{1,12}([0-9a-f]{4}(?::[0-9a-f]{4}){7})\s{1,40}"
    r"(?:(\d{1,3}(?:\.\d{1,3}){3})\s{1,24})?(v[12])?(?:\s{1,24}(\S{1,32}))?\s{0,8}$"
)
_RATE = deferred(r"(\d{1,4}(?:\.\d{1,3})?)(?: Gb/sec.*)?$")

_STATES = {
    "active": "Active",
    "down": "Down",
    "init": "Initializing",
    "initializing": "Initializing",
    "armed": "Armed",
    "nop": "Down",
    "active defer": "Active",
}
_PHYSICAL = {"link_up": "LinkUp", "linkup": "LinkUp"}
_CELLS = {
    "state": "port_state",
    "physical state": "port_physical",
    "phys state": "port_physical",
    "phys_state": "port_physical",
    "rate": "rate",
    "link layer": "link_layer",
    "link_layer": "link_layer",
    "active_mtu": "mtu",
    "firmware version": "adapter_firmware",
    "fw_ver": "adapter_firmware",
    "ca type": "adapter_model",
    "board_id": "adapter_model",
}


def opened_by(line: LogLine) -> Reader | None:
    """Return a reader for the output that a line begins; None where it begins none."""
    text = line.text
    if _CA.match(text):
        return Ports("ibstat")
    if _DEVICE_PORT.match(text):
        return Ports("ibstatus")
    if _HCA.match(text):
        return Ports("ibv_devinfo")
    if text.startswith("DEV") and text.split()[:4] == ["DEV", "PORT", "INDEX", "GID"]:
        return Gids()
    if _RDMA_LINK.match(text) or _NET_DEVICE.match(text) or _GID_ROW.match(text):
        return Gids()
    return None


@dataclass(slots=True)
class Ports:
    """Reads ibstat, ibstatus and ibv_devinfo: headings name the adapter and the port, cells are indented below."""

    tool: str
    host: str | None = None
    _device: str | None = None
    _port: int | None = None

    def read(self, line: LogLine) -> tuple[Event, ...] | None:
        """Return the fact of a line, if it holds one worth comparing; None where the output has ended."""
        text = line.text
        if found := _CA.match(text) or _HCA.match(text):
            self._device, self._port = found[1], None
            return ()
        if found := _DEVICE_PORT.match(text):
            self._device, self._port = found[1], int(found[2])
            return ()
        if found := _PORT.match(text):
            self._port = int(found[1] or found[2])
            return ()
        if found := _GID.match(text):
            return self._gid(line, int(found[1]), found[2], found[3] or "")
        if found := _CELL.match(text):
            return self._cell(line, found[1].lower(), found[2])
        return () if text[:1] == "\t" or (text[:1] == " " and ":" in text) else None

    def _cell(self, line: LogLine, key: str, value: str) -> tuple[Event, ...]:
        name = _CELLS.get(key)
        if name is None or self._device is None:
            return ()
        number = None
        if name == "port_state":
            value = _state(value)
        elif name == "port_physical":
            value = _physical(value)
        elif name == "rate":
            found = _RATE.match(value)
            number = float(found[1]) if found else None
        elif name == "mtu":
            value = value.partition(" ")[0]
        port = self._port if name not in {"adapter_firmware", "adapter_model"} else None
        place = f"{self._device} port {port}" if port is not None else self._device
        return (fact(line, self.tool, name, value, place=place, device=self._device, port=port, number=number),)

    def _gid(self, line: LogLine, index: int, gid: str, kind: str) -> tuple[Event, ...]:
        version = {"RoCE v1": "v1", "RoCE v2": "v2"}.get(kind, "")
        return (_gid_fact(line, self.tool, (self._device or "", self._port or 1, index), gid, version),)


def _state(value: str) -> str:
    """`Active`, `4: ACTIVE`, `PORT_ACTIVE (4)` → Active."""
    word = re.sub(r"^\d: ?|^PORT_| ?\(\d\)$", "", value).strip().lower()
    return _STATES.get(word, word.capitalize())


def _physical(value: str) -> str:
    """`LinkUp`, `5: LinkUp`, `LINK_UP (5)` → LinkUp; `3: Disabled` → Disabled."""
    word = re.sub(r"^\d: ?| ?\(\d\)$", "", value).strip()
    return _PHYSICAL.get(word.lower(), word.capitalize() if word.isupper() else word)


def _gid_fact(line: LogLine, tool: str, where: tuple[str, int, int], gid: str, version: str) -> Event:
    """A row of a GID table: value `v2 10.0.0.1`, `v1 fe80:...`; number: its index."""
    device, port, index = where
    value = f"{version} {_address(gid)}".strip()
    place = f"{device} port {port} GID {index}"
    return fact(line, tool, "gid", value, place=place, device=device, port=port, number=float(index))


def _address(gid: str) -> str:
    """`0000:0000:0000:0000:0000:ffff:0a00:0001` and `::ffff:10.0.0.1` → `10.0.0.1`; others as they are."""
    if found := re.fullmatch(r"::ffff:(\d{1,3}(?:\.\d{1,3}){3})", gid):
        return found[1]
    parts = gid.split(":")
    if len(parts) == 8 and parts[:5] == ["0000"] * 5 and parts[5] == "ffff":
        try:
            return ".".join(str(int(parts[at][half : half + 2], 16)) for at in (6, 7) for half in (0, 2))
        except ValueError:
            return gid
    return gid


@dataclass(slots=True)
class Gids:
    """Reads show_gids, `rdma link` and ibdev2netdev: a port or an address a line."""

    host: str | None = None

    def read(self, line: LogLine) -> tuple[Event, ...] | None:
        """Return the facts of a row; None where the table has ended."""
        text = line.text
        if found := _GID_ROW.match(text):
            where = (found[1], int(found[2]), int(found[3]))
            return (_gid_fact(line, "show_gids", where, found[4], found[6] or ""),)
        if found := _RDMA_LINK.match(text):
            return self._link(line, found)
        if found := _NET_DEVICE.match(text):
            place = f"{found[1]} port {found[2]}"
            port = whole(found[2])
            return (fact(line, "ibdev2netdev", "net_device", found[3], place=place, device=found[1], port=port),)
        return () if text.startswith(("DEV", "---", "n_gids_found")) else None

    def _link(self, line: LogLine, found: re.Match[str]) -> tuple[Event, ...]:
        device, port, state, physical, _ = found.groups()
        return tuple(
            fact(line, "rdma", name, value, place=f"{device} port {port}", device=device, port=int(port))
            for name, value in (("port_state", _state(state)), ("port_physical", _physical(physical)))
        )
