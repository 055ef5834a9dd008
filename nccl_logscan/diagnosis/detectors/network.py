"""Do all hosts use the same network, and was a RoCE address chosen at all?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from nccl_logscan.diagnosis.detectors.detection import Detection, excerpt_of
from nccl_logscan.diagnosis.excerpts import Excerpt, Site
from nccl_logscan.diagnosis.heed import Heed
from nccl_logscan.diagnosis.sayer import Who, who
from nccl_logscan.diagnosis.scene import Scene
from nccl_logscan.events.model import Event, NcclEnv, NcclNetwork, NcclVersion, NcclWarn, TrainStep
from nccl_logscan.expressions import deferred
from nccl_logscan.records import dataclass

_LIMIT = 4_096
_SOCKET = "Socket"


@dataclass(slots=True)
class _Choice:
    """The network that the processes of one host chose."""

    excerpt: Excerpt
    order: int
    sayer: Who


class Networks:
    """Compares the chosen network between hosts: where some found a fast one, the others fell back to sockets."""

    names: ClassVar[tuple[str, ...]] = ("networks-differ",)
    kinds: ClassVar[frozenset[str]] = frozenset({"nccl.network"})

    def __init__(self) -> None:
        self._chosen: dict[str, dict[str, _Choice]] = {}
        self._absent: dict[str, Excerpt] = {}

    def feed(self, event: Event, site: Site) -> None:
        """Note what a host chose, and whether it found no device."""
        assert isinstance(event, NcclNetwork)
        host = event.origin.host or event.at.source
        if event.chosen:
            hosts = self._chosen.setdefault(event.network, {}) if len(self._chosen) < 16 else {}
            if host not in hosts and len(hosts) < _LIMIT:
                hosts[host] = _Choice(excerpt_of(event, site), site.order, who(event))
        elif not event.devices and host not in self._absent and len(self._absent) < _LIMIT:
            self._absent[host] = excerpt_of(event, site)

    def conclude(self, scene: Scene) -> Iterator[Detection]:
        """Yield one detection where sockets are used beside a faster network."""
        sockets = self._chosen.get(_SOCKET, {})
        faster = {name: hosts for name, hosts in self._chosen.items() if name != _SOCKET}
        fallen = [host for host in sockets if not any(host in hosts for hosts in faster.values())]
        if not fallen or not any(faster.values()):
            return
        name, hosts = next((name, hosts) for name, hosts in faster.items() if hosts)
        choices = [sockets[fallen[0]], next(iter(hosts.values()))]
        excerpts = [choices[0].excerpt, choices[1].excerpt]
        if fallen[0] in self._absent:
            excerpts.insert(0, self._absent[fallen[0]])
        rank = scene.identity.rank_of(choices[0].sayer)
        yield Detection(
            "networks-differ",
            tuple(excerpts),
            min(choice.order for choice in choices),
            max(choice.order for choice in choices),
            {"host": fallen[0], "network": name, "other": next(iter(hosts))},
            () if rank is None else (rank,),
            tuple(fallen),
            count=len(fallen),
        )


# A completion with status 12 (retries exceeded), in the wordings up to 2.19.4 and from 2.20.3 on.
_RETRIES_EXCEEDED = deferred(r"Got completion .{0,200}?(?:with error 12\b|status=12\b|RETRY_EXC_ERR)")
# From 2.21 on NCCL picks a GID itself; before, the index was 0 unless set (v2.21.5-1, src/transport/net_ib.cc).
_PICKS_ITSELF = (2, 21)
# The GIDs that NCCL prints beside the completion (2.18 on): a link-local address, which only index 0 or 1 holds.
_GIDS_UNLIKE = deferred(r"(?:localGid|remoteGids?) {0,2}fe80:")
_DEFAULTS = frozenset({"0", "-1"})
"""Values of NCCL_IB_GID_INDEX that come to what held before 2.21 without one."""


@dataclass(slots=True)
class _Roce:
    """What the log has told of a RoCE link so far."""

    device: Excerpt | None = None
    infiniband: bool = False
    gid_set: bool = False
    gid_zero: bool = False
    fits: bool = True
    version: tuple[int, ...] | None = None
    failure: Excerpt | None = None
    failure_order: int = 0
    sayer: Who | None = None
    last_order: int = 0
    count: int = 0
    moved: bool = False


def _is_told(seen: _Roce) -> bool:
    """Whether something ties the failure to the index.

    Up to 2.20 that is a default which is wrong on nearly every RoCE host. One that somebody chose may be right, on
    hosts whose only GID it is: there the GIDs in the message have to show that it is not.
    """
    if seen.gid_zero:
        return not seen.fits
    return seen.version is not None and seen.version < _PICKS_ITSELF


class RoceAddress:
    """Finds RoCE jobs whose first messages were never acknowledged with the GID index that was once the default, 0."""

    names: ClassVar[tuple[str, ...]] = ("roce-default-gid",)
    kinds: ClassVar[frozenset[str]] = frozenset({"nccl.network", "nccl.env", "nccl.version", "nccl.warn", "train.step"})

    def __init__(self) -> None:
        self._seen = _Roce()

    def heeds(self, event: Event) -> Heed:  # noqa: ARG002 - of bulk kinds alike
        """See `Heed`: that steps were made."""
        return Heed.SAYER

    def feed(self, event: Event, site: Site) -> None:
        """Note the links, the setting, the version, and whether traffic flowed before the failure."""
        seen = self._seen
        if isinstance(event, NcclWarn):
            self._warn(event, site)
        elif isinstance(event, NcclNetwork):
            if seen.device is None and any(device.endswith("/RoCE") for device in event.devices):
                seen.device = excerpt_of(event, site)
            seen.infiniband = seen.infiniband or any(device.endswith("/IB") for device in event.devices)
        elif isinstance(event, NcclEnv):
            if event.name == "NCCL_IB_GID_INDEX":
                seen.gid_set = seen.gid_set or event.value not in _DEFAULTS
                seen.gid_zero = seen.gid_zero or event.value == "0"
        elif isinstance(event, NcclVersion):
            seen.version = tuple(int(part) for part in re.findall(r"\d+", event.version)[:2])
        elif isinstance(event, TrainStep) and seen.failure is None:
            seen.moved = True

    def _warn(self, event: NcclWarn, site: Site) -> None:
        if "Got completion" not in event.message or not _RETRIES_EXCEEDED.search(event.message[:1_000]):
            return
        seen = self._seen
        seen.count += 1
        seen.fits = seen.fits and _GIDS_UNLIKE.search(event.message[:1_000]) is None
        seen.last_order = site.order
        if seen.failure is None:
            seen.failure, seen.failure_order, seen.sayer = excerpt_of(event, site), site.order, who(event)

    def conclude(self, scene: Scene) -> Iterator[Detection]:
        """Yield a detection where nothing had flowed and nothing chose another GID than the first."""
        seen = self._seen
        if seen.failure is None or seen.device is None or seen.infiniband or seen.gid_set or seen.moved:
            return
        if not _is_told(seen):
            return
        rank = scene.identity.rank_of(seen.sayer) if seen.sayer else None
        yield Detection(
            "roce-default-gid",
            (seen.failure, seen.device),
            seen.failure_order,
            seen.last_order,
            {"version": ".".join(map(str, seen.version or ()))},
            () if rank is None else (rank,),
            count=seen.count,
        )
