"""What the log says about the job itself: versions, hosts, communicators, settings, and what differs between hosts."""

from __future__ import annotations

import re
from typing import ClassVar

from nccl_logscan.diagnosis.excerpts import Site
from nccl_logscan.diagnosis.hang.progress import WORLD
from nccl_logscan.diagnosis.identity import Identity
from nccl_logscan.diagnosis.verdict import Communicator, Difference, Job, Setting
from nccl_logscan.events.model import (
    Event,
    LogText,
    NcclChannel,
    NcclDriver,
    NcclEnv,
    NcclInit,
    NcclNetwork,
    NcclVersion,
    TrainStep,
)
from nccl_logscan.recorder.model import Dump

_LIMIT = 512
_VALUES = 64
_TORCH = re.compile(r"\b(?:torch|pytorch)(?: version)?[ =:]{1,3}v?(\d+\.\d+\.\d+(?:\+\w+)?)", re.IGNORECASE)
_WORLD = re.compile(r"\b(?:world[_ -]?size|num_processes|nranks)[\"']?[ =:]{1,3}(\d{1,6})\b", re.IGNORECASE)


class JobFacts:
    """Collects facts; every collection is bounded."""

    kinds: ClassVar[frozenset[str]] = frozenset(
        {
            "nccl.version",
            "nccl.driver",
            "nccl.env",
            "nccl.init",
            "nccl.network",
            "nccl.channel",
            "log.text",
            "train.step",
        }
    )

    def __init__(self, identity: Identity) -> None:
        self._identity = identity
        self._nccl: dict[str, None] = {}
        self._torch: dict[str, None] = {}
        self._drivers: dict[str, dict[str, None]] = {}
        self._settings: dict[tuple[str, str], Setting] = {}
        self._by_host: dict[str, dict[str, dict[str, None]]] = {}
        self._networks: dict[str, None] = {}
        self._transports: dict[str, int] = {}
        self._communicators: dict[str, tuple[int | None, set[int], set[int]]] = {}

    def feed(self, event: Event, site: Site) -> None:  # noqa: ARG002 - listens as the others do
        """Note what an event says of the job."""
        if isinstance(event, NcclChannel):
            if event.transport and (event.transport in self._transports or len(self._transports) < 64):
                self._transports[event.transport] = self._transports.get(event.transport, 0) + 1
        elif isinstance(event, LogText | TrainStep):
            self._text(event)
        elif isinstance(event, NcclEnv):
            self._env(event)
        elif isinstance(event, NcclInit):
            self._init(event)
        else:
            self._fact(event)

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
        lowered = text.lower()
        if "torch" in lowered and len(self._torch) < 16 and (match := _TORCH.search(text)):
            self._torch[match[1]] = None
        if ("world" in lowered or "num_processes" in lowered) and (match := _WORLD.search(text)):
            self._identity.learn_world(int(match[1]))

    def _env(self, event: NcclEnv) -> None:
        key = (event.name, event.value)
        if key not in self._settings and len(self._settings) < _LIMIT:
            self._settings[key] = Setting(event.name, event.value, event.source, event.at)
        if event.name not in self._by_host and len(self._by_host) >= _LIMIT:
            return
        values = self._by_host.setdefault(event.name, {})
        if event.value in values or len(values) < _VALUES:
            _note(values.setdefault(event.value, {}), event.origin.host or event.at.source)

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
            _note(self._drivers.setdefault(_cuda(event.cuda_driver), {}), event.origin.host or event.at.source)
        elif isinstance(event, NcclNetwork) and event.chosen and len(self._networks) < 16:
            self._networks[event.network] = None

    def conclude(self) -> Job:
        """Return the facts."""
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
        )

    def _differences(self) -> tuple[Difference, ...]:
        differing = []
        for name, values in sorted(self._by_host.items()):
            holders = {value: tuple(hosts) for value, hosts in sorted(values.items())}
            if len(holders) > 1 and len(set(holders.values())) > 1:
                differing.append(Difference(name, holders))
        if len(self._drivers) > 1:
            differing.append(
                Difference("CUDA driver", {value: tuple(hosts) for value, hosts in sorted(self._drivers.items())})
            )
        return tuple(differing)


def _note(holders: dict[str, None], holder: str) -> None:
    if len(holders) < _LIMIT:
        holders[holder] = None


def _cuda(version: int) -> str:
    """12020 → 12.2."""
    return f"{version // 1000}.{version % 1000 // 10}"
