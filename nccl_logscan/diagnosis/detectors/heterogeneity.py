"""Do all hosts and ranks have the same driver, GPU, plugins and settings, where they must?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from nccl_logscan.diagnosis.comparison import (
    FACT_KINDS,
    MUST_AGREE,
    Compared,
    Comparison,
    cuda_version,
    facts_of,
    tells_facts,
)
from nccl_logscan.diagnosis.detectors.detection import Detection, captured, excerpt_of
from nccl_logscan.diagnosis.excerpts import Excerpt, Site
from nccl_logscan.diagnosis.findings import Evidence, Finding
from nccl_logscan.diagnosis.heed import Heed
from nccl_logscan.diagnosis.scene import Scene
from nccl_logscan.events.model import Event, LogText, NcclEnv, NcclInit, NcclNetwork
from nccl_logscan.expressions import deferred
from nccl_logscan.numbers import whole
from nccl_logscan.position import Origin

_EXCERPTS = 1_024
_HOSTS = 4_096
_TABLE_HOST = deferred(r"\bPid +\d+ on +(\S+) +device")
_SOCKET = "Socket"
_OLD_DRIVER = "old-driver"
_DRIVERS = ("CUDA driver", "GPU driver")

_DETECTORS = {
    "CUDA driver": "driver-versions-differ",
    "GPU driver": "driver-versions-differ",
    "GPU model": "gpu-models-differ",
    "aws-ofi-nccl": "plugins-differ",
    "net plugin": "plugins-differ",
    "tuner plugin": "plugins-differ",
    "network": "plugins-differ",
}
"""Which detector finds that a fact differs. Facts of one detector are told once, the first of them here."""


class Heterogeneity:
    """Collects facts by who has them, compares them at the end, and names the odd one out."""

    names: ClassVar[tuple[str, ...]] = (
        "driver-behind",
        "driver-versions-differ",
        "gpu-models-differ",
        "plugins-differ",
        "settings-differ",
    )
    kinds: ClassVar[frozenset[str]] = FACT_KINDS | {"nccl.init"}

    heeded: ClassVar[frozenset[str]] = frozenset({"nvidia", "driver version"})

    def __init__(self) -> None:
        self._comparison = Comparison()
        self._excerpts: dict[tuple[str, str], tuple[Excerpt, int]] = {}
        self._ready: dict[str, None] = {}
        self._telling: dict[str, None] = {}
        self._running: dict[str, None] = {}

    def heeds(self, event: Event) -> Heed:
        """See `Heed`: facts; which hosts came up."""
        if isinstance(event, NcclInit):
            return Heed.WORDS
        return Heed.TEXT if tells_facts(event) else Heed.SAYER

    def feed(self, event: Event, site: Site) -> None:
        """Note what an event tells of its host or process."""
        if isinstance(event, NcclInit):
            if event.phase == "complete" and event.origin.host and len(self._ready) < _HOSTS:
                self._ready[event.origin.host] = None
            return
        if isinstance(event, NcclNetwork) and event.origin.host and len(self._running) < _HOSTS:
            self._running[event.origin.host] = None
        if isinstance(event, NcclEnv):
            if event.origin.host and len(self._telling) < _HOSTS:
                self._telling[event.origin.host] = None
            if not MUST_AGREE.fullmatch(event.name):
                return
        elif not tells_facts(event):
            return
        for name, value in facts_of(event):
            if name in _DETECTORS or isinstance(event, NcclEnv):
                self._note(name, value, event, site)

    def _note(self, name: str, value: str, event: Event, site: Site) -> None:
        told = _in_a_table(event)
        if self._comparison.note(name, value, told) and len(self._excerpts) < _EXCERPTS:
            self._excerpts[name, value] = (excerpt_of(event, site), site.order)

    def conclude(self, scene: Scene) -> Iterator[Detection]:
        """Yield a detection for each question whose answer is that something differs."""
        self._comparison.fill_unset(host for host in self._ready if host in self._telling)
        facts = {name: known.settled(scene.identity) for name, known in self._comparison.facts.items()}
        yield from self._behind(facts, scene)
        answered: set[str] = set()
        for name, detector in _DETECTORS.items():
            known = facts.get(name)
            if known is None or detector in answered or not _matters(name, known):
                continue
            answered.add(detector)
            yield self._difference(detector, [(name, known)], scene)
        settings = [(name, known) for name, known in facts.items() if name not in _DETECTORS and known.differs]
        if settings:
            yield self._difference("settings-differ", settings, scene)

    def _behind(self, facts: Mapping[str, Compared], scene: Scene) -> Iterator[Detection]:
        """Where CUDA refused some hosts' drivers: a detection if others have another driver or began to set up NCCL."""
        refused = [finding for finding in scene.findings if _OLD_DRIVER in finding.rule.groups]
        if not refused:
            return
        known = next((facts[name] for name in _DRIVERS if name in facts and facts[name].differs), None)
        old = dict.fromkeys(host for finding in refused for host in _hosts_of(finding, scene))
        old = old or dict.fromkeys(host for finding in refused for host in _with_driver(finding, known))
        others = [host for host in (*self._ready, *self._running) if host not in old]
        if known is None and not (old and others):
            return
        odd = None if known is None else known.odd(scene.identity)[1]
        host = next(iter(old)) if len(old) == 1 else odd if not old else None
        ranks = tuple(dict.fromkeys(rank for finding in refused for rank in finding.ranks))
        alone = ranks[:1] if host is not None and len(ranks) == 1 and scene.gpus.ranks_on(host) in ((), ranks) else ()
        yield Detection(
            "driver-behind",
            tuple(_excerpt(finding.first) for finding in refused),
            min(finding.order for finding in refused),
            max(finding.last_order for finding in refused),
            captured(
                behind=host or (_some(tuple(old)) if old else "some hosts"),
                host=host,
                rank=alone[0] if alone else None,
            ),
            alone,
            () if host is None else (host,),
            count=sum(finding.count for finding in refused),
        )

    def _difference(self, detector: str, differing: list[tuple[str, Compared]], scene: Scene) -> Detection:
        name, known = differing[0]
        shown = known.shown(scene.identity)
        rank, host = known.odd(scene.identity)
        captures = {
            "what": name if len(differing) == 1 else ", ".join(sorted(name for name, _ in differing)),
            "values": "; ".join(f"{value} on {_some(names)}" for value, names in shown.items()),
        }
        cited = [
            self._excerpts[name, value]
            for name, known in differing
            for value in known.values
            if (name, value) in self._excerpts
        ]
        return Detection(
            detector,
            tuple(excerpt for excerpt, _ in cited[:8]),
            min(order for _, order in cited),
            max(order for _, order in cited),
            captures | captured(host=host, rank=rank),
            () if rank is None else (rank,),
            () if host is None else (host,),
            count=len(shown),
        )


def _matters(name: str, known: Compared) -> bool:
    """Whether a difference in a fact of _DETECTORS is one.

    Where some hosts use sockets another detector speaks, and a plugin that one host alone loads shows in its network.
    """
    if name == "network":
        hosts = known.hosts()
        fast = {value: names for value, names in hosts.items() if value != _SOCKET}
        apart = len({host for names in fast.values() for host in names}) == sum(map(len, fast.values()))
        return len(fast) > 1 and _SOCKET not in hosts and apart
    return known.differs


def _hosts_of(finding: Finding, scene: Scene) -> Iterator[str]:
    """The hosts of who said it, by the lines or by the ranks."""
    for host in (*finding.hosts, *(scene.identity.host_of(rank) for rank in finding.ranks)):
        if host is not None:
            yield scene.gpus.as_nccl_says(host)


def _with_driver(finding: Finding, drivers: Compared | None) -> tuple[str, ...]:
    """The hosts whose driver serves the version of CUDA that a refusal found."""
    found = whole(finding.captures.get("driver"))
    return () if drivers is None or found is None else drivers.hosts().get(cuda_version(found), ())


def _excerpt(line: Evidence) -> Excerpt:
    return Excerpt(line.at, line.text, line.origin, line.when, line.highlight, line.before, list(line.after))


def _in_a_table(event: Event) -> Event:
    """nccl-tests' rank 0 lists the devices of all hosts: the row says whose a device is."""
    if not isinstance(event, LogText) or (found := _TABLE_HOST.search(event.message[:400])) is None:
        return event
    return LogText(at=event.at, origin=Origin(host=found[1]), message=event.message)


def _some(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:4])
    return f"{shown} and {len(names) - 4} more" if len(names) > 4 else shown
