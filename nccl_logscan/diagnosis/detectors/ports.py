"""Did the ports of several hosts go down together, as when a switch fails?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import ClassVar

from nccl_logscan.diagnosis.detectors.detection import Detection, brief_excerpt_of
from nccl_logscan.diagnosis.excerpts import Excerpt, Site
from nccl_logscan.diagnosis.host_names import by_lower_case, host_in_name
from nccl_logscan.diagnosis.scene import Scene
from nccl_logscan.events.model import Event
from nccl_logscan.expressions import deferred
from nccl_logscan.records import dataclass

_LIMIT = 65_536
_SHOWN = 5
_NAMED = 4
_TOGETHER = timedelta(minutes=5)

# `NET/IB : Got async event : port error` (to 2.19), `mlx5_3:1 Got async event : port error` (2.20 on), `... Got
# non-fatal async event: port error(10)` (2.28.7 on).
_PORT_ERROR = deferred(
    r"NET/\w{1,20} ?: (?:([\w.-]{1,64}):\d{1,3} )?(?:Got|async fatal) [\w -]{0,30}event ?: "
    r"(?:port error|IBV_EVENT_PORT_ERR)",
    re.ASCII,
)
# The mlx5 driver of Linux, en_main.c and events.c; the name is that of the interface.
_LINK_DOWN = deferred(
    r"\bmlx[45]_(?:core|ib) [0-9a-f:.]{4,20}:? "
    r"(?:([\w.-]{1,32}): Link down\b|Port module event\S{0,10} module \d{1,3}, Cable unplugged)"
)


@dataclass(slots=True)
class _Down:
    """The first port of a host that went down."""

    excerpt: Excerpt
    order: int
    adapters: set[str]


class Ports:
    """Notes port errors by host: on one host its own cable or adapter is to blame, on several what they share."""

    names: ClassVar[tuple[str, ...]] = ("ports-down-together",)
    kinds: ClassVar[frozenset[str]] = frozenset({"nccl.warn", "nccl.attn", "kernel.event"})

    def __init__(self) -> None:
        self._down: dict[tuple[str | None, str], _Down] = {}

    def feed(self, event: Event, site: Site) -> None:
        """Note a port that went down."""
        kernel = event.kind == "kernel.event"
        if ("mlx" if kernel else "event") not in event.message:
            return
        said = (_LINK_DOWN if kernel else _PORT_ERROR).search(event.message[:500])
        if said is None:
            return
        # dmesg prints no host; the name of its file may.
        place = (event.origin.host, event.at.source if event.origin.host is None else "")
        down = self._down.get(place)
        if down is None:
            if len(self._down) >= _LIMIT:
                return
            down = self._down[place] = _Down(brief_excerpt_of(event, site), site.order, set())
        if said[1] is not None and len(down.adapters) < 64:
            down.adapters.add(said[1])

    def conclude(self, scene: Scene) -> Iterator[Detection]:
        """Yield one detection where several hosts lost ports, with the adapter if it is the same on all."""
        by_host = self._by_host(scene)
        down = sorted(by_host.values(), key=lambda port: port.order)
        if len(down) < 2 or not _together(down):
            return
        adapters = set[str]().union(*(port.adapters for port in down))
        captures = {"ends": listed(list(by_host))}
        if len(adapters) == 1:
            captures["adapter"] = next(iter(adapters))
        yield Detection(
            "ports-down-together",
            tuple(port.excerpt for port in down[:_SHOWN]),
            down[0].order,
            down[-1].order,
            captures,
            count=len(down),
        )

    def _by_host(self, scene: Scene) -> dict[str, _Down]:
        by_host: dict[str, _Down] = {}
        known_hosts = by_lower_case(scene.identity.hosts)
        for (host, source), down in self._down.items():
            name = host or host_in_name(source, known_hosts)
            if name is not None:
                known = by_host.setdefault(scene.gpus.as_nccl_says(name), down)
                known.adapters |= down.adapters
        return by_host


def _together(down: Sequence[_Down]) -> bool:
    """Whether their times, where printed, do not tell that one went down long before the others."""
    times = [port.excerpt.when.value for port in down if port.excerpt.when is not None]
    if len(times) < len(down) or len({time.tzinfo is None for time in times}) > 1:
        return True
    return max(times) - min(times) <= _TOGETHER


def listed(names: list[str]) -> str:
    """`a`, `a and b`, `a, b, c, d and 12 more`."""
    if len(names) > _NAMED:
        return f"{', '.join(names[:_NAMED])} and {len(names) - _NAMED} more"
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)
