"""Whose call was the odd one: from what PyTorch's check before each collective says on all ranks.

With TORCH_DISTRIBUTED_DEBUG=DETAIL each rank compares its own call with those of the others, in order, and stops at the
first that differs (PyTorch 2.11, torch/csrc/distributed/c10d/ProcessGroupWrapper.cpp, verify_tensors). So the odd rank
names one of the many, and each of the many names the odd one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from nccl_logscan.diagnosis.detectors.detection import Detection, brief_excerpt_of, captured
from nccl_logscan.diagnosis.excerpts import Excerpt, Site
from nccl_logscan.diagnosis.hang.accounts import shared_sources
from nccl_logscan.diagnosis.hang.mismatch import odd_ones
from nccl_logscan.diagnosis.sayer import Who, who
from nccl_logscan.diagnosis.scene import Scene
from nccl_logscan.events.model import Event, TorchMismatch
from nccl_logscan.expressions import deferred

_LIMIT = 16_384
_FEWEST = 3
_MESSAGE = 4_000
# The two calls of a report; a rank's own comes first.
_CALLS = deferred(r"is running (?:inconsistent )?collective: +(.{1,1500}?)(?=, but Rank|\.? ?Collectives differ|$)")


class Fingerprints:
    """Compares the calls that the reports of many ranks tell of."""

    names: ClassVar[tuple[str, ...]] = ("fingerprint-odd",)
    kinds: ClassVar[frozenset[str]] = frozenset({"torch.mismatch"})

    def __init__(self) -> None:
        self._reports: dict[tuple[Who, int | None], tuple[TorchMismatch, Excerpt, int]] = {}

    def feed(self, event: Event, site: Site) -> None:
        """Note a report."""
        assert isinstance(event, TorchMismatch)
        if event.rank is None or len(self._reports) >= _LIMIT:
            return
        self._reports.setdefault(_key(event), (event, brief_excerpt_of(event, site), site.order))

    def conclude(self, scene: Scene) -> Iterator[Detection]:
        """Yield one detection; who is odd is named if one alone is, of at least three ranks whose calls are known.

        In a job of two ranks the reports say no more than the rule for a single one.
        """
        shared = shared_sources(
            ((sayer.source, printed) for sayer, printed in self._reports), scene.identity.stated_world or 0
        )
        reports = {}
        for (sayer, printed), report in self._reports.items():
            rank = scene.identity.rank_of(sayer)
            if rank is None and sayer.source in shared:
                rank = printed
            if rank is not None:
                reports[rank] = report
        by_rank = {rank: (excerpt, order) for rank, (_, excerpt, order) in reports.items()}
        calls = _calls({rank: event for rank, (event, *_) in reports.items()})
        few = len(calls) < _FEWEST
        if not by_rank or (few and (scene.identity.stated_world or 0) < _FEWEST):
            return
        odd = [] if few else odd_ones(calls)
        one = odd[0] if len(odd) == 1 else None
        told = [by_rank[rank] for rank in (*odd, *by_rank) if rank in by_rank]
        yield Detection(
            "fingerprint-odd",
            tuple({excerpt.at: excerpt for excerpt, _ in told[:5]}.values()),
            min(order for _, order in told),
            max(order for _, order in told),
            captured(others=len(calls) - len(odd), rank=one, call=None if one is None else calls[one]),
            tuple(odd) if one is not None else (),
            count=len(by_rank),
        )


def _calls(reports: Mapping[int, TorchMismatch]) -> dict[int, str]:
    """Each rank's call in words: its own, and the other that a report names, where it is known who that is."""
    told = {rank: _CALLS.findall(event.message[:_MESSAGE]) for rank, event in reports.items()}
    calls = {rank: its[0] for rank, its in told.items() if its}
    globally = {event.rank: rank for rank, event in reports.items()}
    if all(event.rank == rank for rank, event in reports.items()):
        globally |= {event.other_rank: event.other_rank for event in reports.values() if event.other_rank is not None}
    if len(globally) < len(reports):
        return calls
    for rank, event in reports.items():
        other = globally.get(event.other_rank)
        if other is not None and len(told[rank]) > 1:
            calls.setdefault(other, told[rank][1])
    return calls


def _key(event: TorchMismatch) -> tuple[Who, int | None]:
    """Who reported: lines of a log without labels are told apart by the rank that they give."""
    return who(event), event.rank
