"""Facts by who has them: what differs between hosts and ranks, and who is the odd one out.

What may differ and what may not, by NCCL's documentation and its maintainers' word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from nccl_logscan.diagnosis.identity import Identity
from nccl_logscan.diagnosis.sayer import Who, who
from nccl_logscan.events.model import (
    Event,
    HostFact,
    KernelEvent,
    LogText,
    NcclDriver,
    NcclEnv,
    NcclInfo,
    NcclNetwork,
    NcclVersion,
)
from nccl_logscan.expressions import deferred
from nccl_logscan.records import dataclass, field

_VALUES = 64
_HOLDERS = 1_024
_NAMES = 512
_ENTRIES = 262_144
_UNSET = "(not set)"

MUST_AGREE = deferred(
    r"NCCL_(?:ALGO|PROTO|(?:LL_|LL128_)?BUFFSIZE|(?:LL128_)?NTHREADS|M(?:IN|AX)_(?:NCHANNELS|NRINGS|CTAS|P2P_NCHANNELS)"
    r"|NCHANNELS_PER_(?:NET_)?PEER|P2P_(?:NET|PCI|NVL)_CHUNKSIZE|CHUNK_SIZE|NVLS_(?:ENABLE|CHUNKSIZE|NCHANNELS)"
    r"|COLLNET_ENABLE|CUMEM_ENABLE|MNNVL_ENABLE|NET|NET_PLUGIN|TUNER_PLUGIN|IB_DISABLE|NET_OVERHEAD|COMM_ID"
    r"|(?:SINGLE_RING|TREE|LL|THREAD)_THRESHOLDS?|OOB_NET_ENABLE|PAT_ENABLE|GIN_ENABLE|GIN_TYPE)"
)
"""Variables that all ranks of a job must have alike: each rank chooses algorithm, protocol, channels and sizes by
itself, and the choices must meet. Maintainers' word: NVIDIA/nccl issue 626 (the environment consistent between all
ranks) and issue 1136 (ranks that chose different algorithms hang); what each does: NCCL's documentation, env.html."""

_HARMLESS: tuple[tuple[re.Pattern[str], str], ...] = (
    (deferred(r"NCCL_DEBUG\w*|NCCL_SET_THREAD_NAME|NCCL_WARN_\w+"), "it changes what is logged"),
    (
        deferred(
            r"NCCL_(?:SOCKET_IFNAME|SOCKET_FAMILY|IB_HCA|IB_ADDR_\w+|COMM_BLOCKING|OOB_\w*IFNAME)|GLOO_SOCKET_IFNAME"
        ),
        "names of interfaces and adapters are each host's own",
    ),
    (
        deferred(r"NCCL_HOSTID|HOSTNAME|CUDA_VISIBLE_DEVICES|(?:LOCAL_|GROUP_)?RANK|NCCL_RAS_ADDR"),
        "it is each process's own",
    ),
    (deferred(r"NCCL_(?:TOPO|GRAPH)_\w*FILE\w*|NCCL_CONF_FILE|NCCL_TOPO_DUMP\w*"), "files describe each host"),
    (deferred(r"NCCL_(?:IB_GID_INDEX|IB_ROCE_VERSION_NUM)"), "tables of addresses are each host's own"),
    (
        deferred(r"NCCL_(?:P2P_DISABLE|P2P_LEVEL|SHM_DISABLE|NET_GDR_\w+|IGNORE_CPU_AFFINITY)"),
        "it acts within a host",
    ),
    (deferred(r"VBIOS|adapter firmware|adapter addresses"), "versions of firmware work together"),
)


class Holder(NamedTuple):
    """Who has a value: a host (or a source where no line names one) and a process in it."""

    host: str
    pid: int | None


def harmless(name: str) -> str | None:
    """Return why a difference in the fact of this name does no harm; None where it may."""
    return next((why for expression, why in _HARMLESS if expression.fullmatch(name)), None)


def odd_one_out(holders: Mapping[str, Sequence[str]]) -> str | None:
    """Return the only holder of a value that all others do not have; None where it is not one against several."""
    by_size = sorted(holders.values(), key=len)
    if len(by_size) < 2 or len(by_size[0]) != 1 or sum(map(len, by_size[1:])) < 2 or len(by_size[1]) < 2:
        return None
    return by_size[0][0]


@dataclass(slots=True)
class Compared:
    """One fact's values, and who has each; bounded: of a value that very many have, the first ones are remembered."""

    values: dict[str, dict[Holder, Who | None]] = field(default_factory=dict)

    def note(self, value: str, holder: Holder, sayer: Who | None) -> bool:
        """Note that a holder has a value; return whether the value is new."""
        known = self.values.get(value)
        if known is None:
            if len(self.values) >= _VALUES:
                return False
            self.values[value] = {holder: sayer}
            return True
        if holder not in known and len(known) < _HOLDERS:
            known[holder] = sayer
        return False

    def settled(self, identity: Identity) -> Compared:
        """Return the same without holders that had several values: they were restarted with another one.

        A process stands for its rank; for its host where no line tells the rank.
        """
        had: dict[int | str, set[str]] = {}
        keys: dict[tuple[str, Holder], int | str] = {}
        for value, holders in self.values.items():
            for holder, sayer in holders.items():
                key = keys[value, holder] = _key(holder, sayer, identity)
                had.setdefault(key, set()).add(value)
        kept: dict[str, dict[Holder, Who | None]] = {}
        for value, holders in self.values.items():
            sure = {holder: sayer for holder, sayer in holders.items() if len(had[keys[value, holder]]) == 1}
            if sure:
                kept[value] = sure
        return Compared(kept)

    @property
    def differs(self) -> bool:
        """Whether there is more than one value."""
        return len(self.values) > 1

    def hosts(self) -> dict[str, tuple[str, ...]]:
        """Return each value's hosts."""
        return {
            value: tuple(dict.fromkeys(holder.host for holder in who)) for value, who in sorted(self.values.items())
        }

    def shown(self, identity: Identity) -> dict[str, tuple[str, ...]]:
        """Return who has each value: hosts, or ranks on hosts where one host has several values."""
        hosts = self.hosts()
        if len({host for names in hosts.values() for host in names}) == sum(map(len, hosts.values())):
            return hosts
        return {
            value: tuple(dict.fromkeys(_named(holder, sayer, identity) for holder, sayer in who.items()))
            for value, who in sorted(self.values.items())
        }

    def odd(self, identity: Identity) -> tuple[int | None, str | None]:
        """Return rank and host of the one that differs from all others; None for what is not one."""
        hosts = self.hosts()
        if len({host for names in hosts.values() for host in names}) == sum(map(len, hosts.values())):
            host = odd_one_out(hosts)
            if host is None:
                return None, None
            [value] = [value for value, names in hosts.items() if names == (host,)][:1]
            holders = self.values[value]
            pids = {holder.pid for holder in holders} - {None}
            ranks = {identity.rank_of(sayer) for sayer in holders.values() if sayer is not None} - {None}
            return (ranks.pop() if len(ranks) == 1 and len(pids) <= 1 else None), host
        by_size = sorted(self.values.values(), key=len)
        if len(by_size[0]) != 1 or len(by_size[1]) < 2:
            return None, None
        [(holder, sayer)] = by_size[0].items()
        return (identity.rank_of(sayer) if sayer is not None else None), holder.host


def _key(holder: Holder, sayer: Who | None, identity: Identity) -> int | str:
    rank = identity.rank_of(sayer) if sayer is not None else None
    return holder.host if rank is None else rank


def _named(holder: Holder, sayer: Who | None, identity: Identity) -> str:
    rank = identity.rank_of(sayer) if sayer is not None else None
    if rank is not None:
        return f"rank {rank} on {holder.host}"
    return holder.host if holder.pid is None else f"{holder.host}:{holder.pid}"


@dataclass(slots=True)
class Comparison:
    """All facts by name; at most `limit` entries of who has what."""

    facts: dict[str, Compared] = field(default_factory=dict)
    limit: int = _ENTRIES

    def note(self, name: str, value: str, event: Event) -> bool:
        """Note that who said an event has a value of a fact; return whether the value is new."""
        known = self.facts.get(name)
        if known is None:
            if len(self.facts) >= _NAMES:
                return False
            known = self.facts[name] = Compared()
        holder = holder_of(event)
        if self.limit <= 0 or holder in known.values.get(value, ()):
            return False
        self.limit -= 1
        return known.note(value, holder, who(event))

    def fill_unset(self, hosts: Iterable[str]) -> None:
        """Count hosts that told of variables, and none of one that others have, as hosts where it is not set.

        `hosts` are those whose processes had read all variables that a communicator's set-up reads.
        """
        told = tuple(hosts)
        for name, known in self.facts.items():
            if not _READ_AT_START.fullmatch(name):
                continue
            having = {holder.host for holders in known.values.values() for holder in holders}
            for host in told:
                if host not in having:
                    known.note(_UNSET, Holder(host, None), None)


def holder_of(event: Event) -> Holder:
    """Return who said an event, as a holder of facts."""
    origin = event.origin
    return Holder(origin.host or origin.address or origin.pod or event.at.source, origin.pid)


# --- From events to facts --------------------------------------------------------------------------------

FACT_KINDS = frozenset(
    {
        "host.fact",
        "kernel.event",
        "log.text",
        "nccl.driver",
        "nccl.env",
        "nccl.info",
        "nccl.network",
        "nccl.version",
    }
)
"""The kinds of events that hold facts worth comparing."""

_OF_TOOLS = {
    "driver": "GPU driver",
    "gpu_model": "GPU model",
    "vbios": "VBIOS",
    "mig_mode": "MIG mode",
    "compute_mode": "compute mode",
    "ecc_mode": "ECC mode",
    "gpu_link": "GPU links",
    "adapter_firmware": "adapter firmware",
    "mtu": "adapter MTU",
}
# nccl-tests' device table names the GPU's model; nvidia-smi's head and /proc/driver/nvidia/version the driver.
_MODEL = deferred(
    r"\bdevice +\d+ \[[^\]]+\] (NVIDIA [\w-]+(?: [\w-]+)?|Tesla \S+|GeForce [\w ]+)|device=(NVIDIA [\w -]+)"
)
_DRIVER = deferred(
    r"NVRM version: NVIDIA UNIX \S+ (?:Open )?Kernel Module(?: for \S+)? +(\d+\.\d+(?:\.\d+)?)"
    r"|Driver Version: (\d+\.\d+(?:\.\d+)?)"
)
# What loads a plugin says so through NCCL's logger (format strings of NVIDIA/nccl v2.13.4-1 to v2.30.7-1 and of
# aws/aws-ofi-nccl): the interface's version stands in brackets, aws-ofi-nccl's own behind its name.
_PLUGINS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("net plugin", deferred(r"NET/Plugin: Loaded net plugin (\S{1,80} \(v\d{1,3}\))")),
    ("net plugin", deferred(r"P2P plugin (?:v\d{1,3} )?(\S{1,80})$")),
    ("tuner plugin", deferred(r"TUNER/Plugin: Using (?:tuner plugin )?(\S{1,80}(?: \(v\d{1,3}\))?)$")),
    ("tuner plugin", deferred(r"Using tuner plugin: '(\S{1,80})'")),
    ("aws-ofi-nccl", deferred(r"NET/OFI Initializing aws-ofi-nccl (\S{1,60})")),
    ("libfabric", deferred(r"NET/OFI Using [Ll]ibfabric version (\S{1,40})")),
)
_PLUGIN_STARTS = ("NET/Plugin: L", "NET/OFI ", "TUNER/Plugin: U", "Using tuner", "P2P plugin ")
_READ_AT_START = deferred(r"NCCL_(?:ALGO|PROTO|BUFFSIZE|NTHREADS|M(?:IN|AX)_(?:NCHANNELS|NRINGS|CTAS))")


def tells_facts(event: Event) -> bool:
    """Return whether `facts_of` may find something: the cheap question, for kinds of which most lines hold nothing."""
    if isinstance(event, NcclInfo):
        return event.message.startswith(_PLUGIN_STARTS)
    if isinstance(event, LogText | KernelEvent):
        return "NVIDIA" in event.message or "Driver Version" in event.message
    return True


def facts_of(event: Event) -> Iterator[tuple[str, str]]:
    """Yield name and value of each fact that an event of FACT_KINDS tells of its host or process."""
    if isinstance(event, NcclEnv):
        yield event.name, event.value
    elif isinstance(event, NcclInfo):
        yield from _plugin(event.message)
    elif isinstance(event, LogText | KernelEvent):
        yield from _told_in_text(event.message)
    elif isinstance(event, HostFact):
        if name := _OF_TOOLS.get(event.name):
            yield name, _model(event.value) if event.name == "gpu_model" else event.value
    elif isinstance(event, NcclDriver):
        yield "CUDA driver", cuda_version(event.cuda_driver)
    elif isinstance(event, NcclNetwork):
        if event.chosen:
            yield "network", event.network
    elif isinstance(event, NcclVersion):
        yield "NCCL", event.version
        if event.cuda is not None:
            yield "CUDA that NCCL was built with", event.cuda


def cuda_version(number: int) -> str:
    """12020 → 12.2."""
    return f"{number // 1000}.{number % 1000 // 10}"


def _plugin(message: str) -> Iterator[tuple[str, str]]:
    for name, expression in _PLUGINS:
        if found := expression.match(message[:400].rstrip()):
            yield name, found[1]


def _told_in_text(text: str) -> Iterator[tuple[str, str]]:
    if found := _MODEL.search(text):
        yield "GPU model", _model(found[1] or found[2])
    if found := _DRIVER.search(text):
        yield "GPU driver", found[1] or found[2]


def _model(text: str) -> str:
    """Return a model as all tools name it: nccl-tests prints its first words alone."""
    words = text.split()
    return " ".join(words[: 3 if words[:1] == ["NVIDIA"] else 2])
