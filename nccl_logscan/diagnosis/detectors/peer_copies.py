"""Jobs within one host whose ranks all wait in one of the first collectives, over copies from GPU to GPU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from nccl_logscan.diagnosis.detectors.detection import Detection, excerpt_of
from nccl_logscan.diagnosis.excerpts import Excerpt, Site
from nccl_logscan.diagnosis.heed import Heed
from nccl_logscan.diagnosis.sayer import Who, who
from nccl_logscan.diagnosis.scene import Scene
from nccl_logscan.events.model import Event, NcclChannel, TorchWatchdogTimeout, TrainStep

_LIMIT = 4_096
_FIRST = 4
"""Up to which number a collective is one of the first: a barrier and the broadcast of a model's shapes come before."""


class PeerCopies:
    """Finds hangs of which a broken path between the GPUs of one host is the likeliest cause.

    Reads and writes between GPUs that ACS or an IOMMU sends astray never arrive, and NCCL says nothing: every rank
    connects, enters the collective and waits.
    """

    names: ClassVar[tuple[str, ...]] = ("first-collective-over-p2p",)
    kinds: ClassVar[frozenset[str]] = frozenset({"nccl.channel", "torch.watchdog-timeout", "train.step"})

    def __init__(self) -> None:
        self._peer: Excerpt | None = None
        self._network = False
        self._trained = False
        self._waits: dict[Who, tuple[TorchWatchdogTimeout, Excerpt, int]] = {}

    def heeds(self, event: Event) -> Heed:
        """See `Heed`: which transports there are; that steps were made."""
        return Heed.WORDS if isinstance(event, NcclChannel) else Heed.SAYER

    def feed(self, event: Event, site: Site) -> None:
        """Note how the GPUs are connected, the ranks' time-outs, and whether a step was done before."""
        if isinstance(event, NcclChannel):
            transport = event.transport or ""
            self._network = self._network or transport.startswith("NET")
            if self._peer is None and transport.startswith("P2P"):
                self._peer = excerpt_of(event, site)
        elif isinstance(event, TorchWatchdogTimeout):
            if len(self._waits) < _LIMIT:
                self._waits.setdefault(who(event), (event, excerpt_of(event, site), site.order))
        elif isinstance(event, TrainStep) and not self._waits:
            self._trained = True

    def conclude(self, scene: Scene) -> Iterator[Detection]:
        """Yield a detection where every known rank waits in the same early collective, and none uses the network."""
        if self._peer is None or self._network or self._trained or len(self._waits) < 2:
            return
        waits = [wait for wait, _, _ in self._waits.values()]
        places = {(wait.sequence, wait.collective, wait.process_group) for wait in waits}
        sequence = waits[0].sequence
        ranks = {rank for sayer in self._waits if (rank := scene.identity.rank_of(sayer)) is not None}
        if len(places) > 1 or sequence is None or sequence > _FIRST or not ranks.issuperset(scene.identity.ranks):
            return
        _, excerpt, order = min(self._waits.values(), key=lambda wait: wait[2])
        yield Detection(
            "first-collective-over-p2p",
            (excerpt, self._peer),
            order,
            max(last for _, _, last in self._waits.values()),
            {"collective": waits[0].collective or "a collective", "sequence": str(sequence)},
            tuple(sorted(ranks)),
            count=len(waits),
        )
