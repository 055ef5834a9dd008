"""Do hosts run the same driver and the same GPU?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from nccl_logscan.diagnosis.detectors.detection import Detection, Scene, excerpt_of
from nccl_logscan.diagnosis.excerpts import Excerpt, Site
from nccl_logscan.events.model import Event, KernelEvent, LogText, NcclDriver

_LIMIT = 1_024

# nccl-tests' device table and nvidia-smi -L name the GPU's model; nvidia-smi's head and
# /proc/driver/nvidia/version the driver.
_MODEL = re.compile(
    r"\bdevice +\d+ \[[^\]]+\] (NVIDIA [\w-]+(?: [\w-]+)?|Tesla \S+|GeForce [\w ]+)|device=(NVIDIA [\w -]+)"
)
_DRIVER = re.compile(
    r"NVRM version: NVIDIA UNIX \S+ (?:Open )?Kernel Module(?: for \S+)? +(\d+\.\d+(?:\.\d+)?)"
    r"|Driver Version: (\d+\.\d+(?:\.\d+)?)"
)
_TABLE_HOST = re.compile(r"\bPid +\d+ on +(\S+) +device")


@dataclass(slots=True)
class _Seen:
    """The values of one fact: who has each, and the line that says so."""

    holders: dict[str, dict[str, None]] = field(default_factory=dict)
    excerpts: dict[str, Excerpt] = field(default_factory=dict)
    orders: list[int] = field(default_factory=list)

    def note(self, value: str, holder: str, event: Event, site: Site) -> None:
        if value not in self.holders:
            if len(self.holders) >= 16:
                return
            self.holders[value] = {}
            self.excerpts[value] = excerpt_of(event, site)
            self.orders.append(site.order)
        if len(self.holders[value]) < _LIMIT:
            self.holders[value][holder] = None


class Heterogeneity:
    """Collects versions by host, and compares them at the end."""

    names: ClassVar[tuple[str, ...]] = ("driver-versions-differ", "gpu-models-differ")
    kinds: ClassVar[frozenset[str]] = frozenset({"nccl.driver", "kernel.event", "log.text"})

    def __init__(self) -> None:
        self._driver = _Seen()
        self._model = _Seen()

    def feed(self, event: Event, site: Site) -> None:
        """Note a version."""
        if isinstance(event, NcclDriver):
            self._driver.note(str(event.cuda_driver), _host(event), event, site)
        elif isinstance(event, LogText | KernelEvent):
            self._text(event, site)

    def _text(self, event: Event, site: Site) -> None:
        if "NVIDIA" not in event.message and "Driver Version" not in event.message:
            return
        if match := _MODEL.search(event.message):
            table_host = _TABLE_HOST.search(event.message)
            host = table_host[1] if table_host else _host(event)
            self._model.note((match[1] or match[2]).strip(), host, event, site)
        if match := _DRIVER.search(event.message):
            self._driver.note(match[1] or match[2], _host(event), event, site)

    def conclude(self, scene: Scene) -> Iterator[Detection]:  # noqa: ARG002 - versions say all that is needed
        """Yield a detection for each fact that differs."""
        for name, seen in (
            ("driver-versions-differ", self._driver),
            ("gpu-models-differ", self._model),
        ):
            if len(seen.holders) > 1 and _really_differs(seen):
                yield _difference(name, seen)


def _really_differs(seen: _Seen) -> bool:
    """One holder that says two values (a preloaded library, two notations) is no difference between holders."""
    holders = [frozenset(who_has) for who_has in seen.holders.values()]
    notations = {value.count(".") > 0 for value in seen.holders}
    return len(set(holders)) > 1 and len(notations) == 1


def _difference(name: str, seen: _Seen) -> Detection:
    values = {value: ", ".join(list(who_has)[:4]) for value, who_has in seen.holders.items()}
    return Detection(
        name,
        tuple(seen.excerpts.values()),
        seen.orders[0],
        seen.orders[-1],
        {"values": "; ".join(f"{value} on {holders}" for value, holders in values.items())},
        count=len(values),
    )


def _host(event: Event) -> str:
    return event.origin.host or event.origin.address or event.origin.pod or event.at.source
