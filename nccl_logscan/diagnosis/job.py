"""What the log says about the job itself: versions, hosts, communicators, settings, and what differs between hosts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import ClassVar

from nccl_logscan.diagnosis.comparison import (
    FACT_KINDS,
    Comparison,
    Holder,
    cuda_version,
    facts_of,
    harmless,
    holder_of,
    tells_facts,
)
from nccl_logscan.diagnosis.excerpts import Site
from nccl_logscan.diagnosis.frameworks import FRAMEWORK_KINDS, Frameworks, words_of_frameworks
from nccl_logscan.diagnosis.gpus import Gpus
from nccl_logscan.diagnosis.hang.progress import WORLD
from nccl_logscan.diagnosis.heed import Heed
from nccl_logscan.diagnosis.identity import Identity
from nccl_logscan.diagnosis.machines import Adapters, Links, find_machines, tells_links
from nccl_logscan.diagnosis.verdict import Communicator, Difference, Job, Setting
from nccl_logscan.events.model import (
    Event,
    LogText,
    NcclChannel,
    NcclDriver,
    NcclEnv,
    NcclInfo,
    NcclInit,
    NcclNetwork,
    NcclVersion,
    TrainStep,
)
from nccl_logscan.expressions import deferred
from nccl_logscan.recorder.model import Dump

_LINK_LAYERS = frozenset({"IB", "RoCE"})
_LIMIT = 512
_VALUES = 64
_TRANSPORTS = 64
_HEEDED = frozenset({"torch", "world", "num_processes", "nvidia", "driver version"})
_PROCESSES = 16_384
_TORCH = deferred(r"\b(?:torch|pytorch)(?: version)?[ =:]{1,3}v?(\d+\.\d+\.\d+(?:\+\w+)?)", re.IGNORECASE)
_WORLD = deferred(r"\b(?:world[_ -]?size|num_processes|nranks)[\"']?[ =:]{1,3}(\d{1,6})\b", re.IGNORECASE)


class JobFacts:
    """Collects facts; every collection is bounded."""

    kinds: ClassVar[frozenset[str]] = FACT_KINDS | FRAMEWORK_KINDS | {"nccl.init", "nccl.channel", "train.step"}

    def __init__(self, identity: Identity) -> None:
        self._identity = identity
        self._nccl: dict[str, None] = {}
        self._torch: dict[str, None] = {}
        self._drivers: dict[str, None] = {}
        self._settings: dict[tuple[str, str], Setting] = {}
        self._comparison = Comparison()
        self._adapters: dict[Holder, dict[str, None]] = {}
        self._used = Adapters()
        self._links = Links()
        self._link_layers: set[str] = set()
        self._adapter_sayers: dict[Holder, Event] = {}
        self._networks: dict[str, None] = {}
        self._transports: dict[str, int] = {}
        self._communicators: dict[str, tuple[int | None, set[int], set[int]]] = {}
        self._frameworks = Frameworks()

    @property
    def heeded(self) -> frozenset[str]:
        """See `HeedingWords`."""
        return _HEEDED | words_of_frameworks()

    def heeds(self, event: Event) -> Heed:
        """See `Heed`: facts and numbers that are told in text; which transports channels use."""
        if isinstance(event, NcclChannel | NcclInit):
            return Heed.WORDS
        if isinstance(event, TrainStep):
            return Heed.TEXT if _tells_numbers(event.message) else Heed.SAYER
        if isinstance(event, NcclInfo) and tells_links(event.message):
            return Heed.TEXT
        if tells_facts(event) or (isinstance(event, LogText) and _tells_numbers(event.message)):
            return Heed.TEXT
        return self._frameworks.heeds(event)

    def feed(self, event: Event, site: Site) -> None:  # noqa: ARG002 - listens as the others do
        """Note what an event says of the job."""
        if isinstance(event, NcclChannel):
            if event.transport and (event.transport in self._transports or len(self._transports) < _TRANSPORTS):
                self._transports[event.transport] = self._transports.get(event.transport, 0) + 1
            return
        if event.kind in FRAMEWORK_KINDS:
            self._frameworks.feed(event)
        if isinstance(event, LogText | TrainStep):
            self._text(event)
        elif isinstance(event, NcclEnv):
            self._env(event)
        elif isinstance(event, NcclInit):
            self._init(event)
        elif isinstance(event, NcclInfo):
            if tells_links(event.message):
                self._links.note(event)
        else:
            self._fact(event)
        if tells_facts(event):
            for name, value in facts_of(event):
                self._comparison.note(name, value, event)

    def count_channels(self, transport: str, times: int) -> None:
        """Count further channels of a transport, of which not every line was read."""
        if transport in self._transports or len(self._transports) < _TRANSPORTS:
            self._transports[transport] = self._transports.get(transport, 0) + times

    def learn_dump(self, dump: Dump) -> None:
        """Note what a flight recorder's dump says of the job: versions, groups and who is in them."""
        if dump.library is not None and len(self._nccl) < 16:
            self._nccl[dump.library] = None
        for group in dump.groups.values():
            if group.ranks:
                self._identity.learn_group(group.name, group.ranks)
            if group.description == "default_pg" or group.name == WORLD:
                self._identity.learn_world(len(group.ranks))
        if dump.rank is not None:
            self._identity.learn_rank(dump.rank)

    def _text(self, event: Event) -> None:
        text = event.message
        if len(text) > 4_096:
            return
        version, world = _told_numbers(text)
        if version and len(self._torch) < 16:
            self._torch[version[1]] = None
        if world:
            self._identity.learn_world(int(world[1]))

    def _env(self, event: NcclEnv) -> None:
        key = (event.name, event.value)
        if key not in self._settings and len(self._settings) < _LIMIT:
            self._settings[key] = Setting(event.name, event.value, event.source, event.at)

    def _init(self, event: NcclInit) -> None:
        if event.comm_id is None or (event.comm_id not in self._communicators and len(self._communicators) >= _LIMIT):
            return
        _, started, completed = self._communicators.setdefault(event.comm_id, (event.nranks, set(), set()))
        if event.rank is not None and len(started) < 65_536:
            if event.phase == "start":
                started.add(event.rank)
            elif event.phase == "complete":
                completed.add(event.rank)

    def _fact(self, event: Event) -> None:
        if isinstance(event, NcclVersion) and len(self._nccl) < 16:
            self._nccl[event.version] = None
        elif isinstance(event, NcclDriver) and len(self._drivers) < 16:
            self._drivers[cuda_version(event.cuda_driver)] = None
        elif isinstance(event, NcclNetwork):
            self._used.feed(event)
            if event.chosen:
                if len(self._networks) < 16:
                    self._networks[event.network] = None
            elif event.network != "Socket":
                self._adapters_of(event)

    def _adapters_of(self, event: NcclNetwork) -> None:
        """A process lists its adapters in one line, or from 2.27 on in one line each."""
        self._link_layers |= _LINK_LAYERS.intersection(device.rpartition("/")[2] for device in event.devices)
        holder = holder_of(event)
        if holder not in self._adapters:
            if len(self._adapters) >= _PROCESSES:
                return
            self._adapter_sayers[holder] = event
        adapters = self._adapters.setdefault(holder, {})
        for device in event.devices:
            if len(adapters) < _VALUES:
                adapters[device.partition("<")[0]] = None

    def conclude(self, gpus: Gpus) -> Job:
        """Return the facts, with the hosts' ranks on the GPUs that `gpus` has learnt."""
        identity = self._identity
        seen = identity.ranks
        return Job(
            nccl_versions=tuple(sorted(self._nccl)),
            torch_versions=tuple(sorted(self._torch)),
            cuda_driver=tuple(sorted(self._drivers)),
            world_size=identity.stated_world,
            hosts=identity.hosts[:_LIMIT],
            ranks_seen=seen,
            ranks_silent=identity.absent(seen),
            communicators=tuple(
                Communicator(comm_id, nranks, tuple(sorted(started)), tuple(sorted(completed)))
                for comm_id, (nranks, started, completed) in sorted(self._communicators.items())
            ),
            network=tuple(self._networks),
            topology={name: str(count) for name, count in sorted(self._transports.items())},
            settings=tuple(self._settings.values()),
            differences=self._differences(),
            frameworks=self._frameworks.conclude(),
            link_layers=tuple(sorted(self._link_layers)),
            machines=find_machines(identity, gpus, self._used),
            links=self._links,
        )

    def _differences(self) -> tuple[Difference, ...]:
        for holder, adapters in self._adapters.items():
            if adapters:
                self._comparison.note("adapters", " ".join(sorted(adapters)), self._adapter_sayers[holder])
        facts = ((name, known.settled(self._identity)) for name, known in sorted(self._comparison.facts.items()))
        return tuple(
            Difference(name, known.shown(self._identity), _harmless(name, known.values))
            for name, known in facts
            if known.differs
        )


def _told_numbers(text: str) -> tuple[re.Match[str] | None, re.Match[str] | None]:
    """Return what a text says of torch's version and of the number of ranks."""
    lowered = text.lower()
    version = _TORCH.search(text) if "torch" in lowered else None
    return version, _WORLD.search(text) if "world" in lowered or "num_processes" in lowered else None


def _tells_numbers(text: str) -> bool:
    return any(_told_numbers(text))


def _harmless(name: str, values: Iterable[str]) -> str | None:
    """Adapters may be called otherwise on each host; a host that has fewer of them is another matter."""
    if name == "adapters" and len({value.count(" ") for value in values}) == 1:
        return harmless("NCCL_IB_HCA")
    return harmless(name)
