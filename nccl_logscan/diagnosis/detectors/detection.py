"""Detection: what a detector concludes; the rule with the detector's name owns its words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, Protocol

from nccl_logscan.diagnosis.excerpts import Excerpt, Site
from nccl_logscan.diagnosis.scene import Scene
from nccl_logscan.events.model import Event
from nccl_logscan.records import dataclass, field

_BRIEF = 400


@dataclass(frozen=True, slots=True)
class Detection:
    """An answer to a detector's question. `ranks` are the ranks it points at, the culprit first; `excerpts` its
    evidence, at least one.
    """

    detector: str
    excerpts: tuple[Excerpt, ...]
    order: int
    last_order: int
    captures: Mapping[str, str] = field(default_factory=dict)
    ranks: tuple[int, ...] = ()
    hosts: tuple[str, ...] = ()
    count: int = 1
    notes: tuple[str, ...] = ()


class Detector(Protocol):
    """A question across lines: fed with every event, asked once at the end."""

    names: ClassVar[tuple[str, ...]]
    kinds: ClassVar[frozenset[str]]

    def feed(self, event: Event, site: Site) -> None:
        """Look at an event of one of `kinds`."""

    def conclude(self, scene: Scene) -> Iterator[Detection]:
        """Yield what was detected."""


def captured(**values: object) -> dict[str, str]:
    """Return captures of those values that are known: not None."""
    return {name: str(value) for name, value in values.items() if value is not None}


def brief_excerpt_of(event: Event, site: Site) -> Excerpt:
    """Keep the line of an event alone, for where many are kept and few will be cited."""
    return Excerpt(event.at, site.text[:_BRIEF], event.origin, event.when, None, ())


def excerpt_of(event: Event, site: Site) -> Excerpt:
    """Keep the line of an event that a detector may cite."""
    return site.excerpts.take(event.at, site.text, event.origin, event.when, None)
