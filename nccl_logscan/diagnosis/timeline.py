"""The moments worth showing: first lines of findings above all, starts, first and last steps, exits. Bounded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from nccl_logscan.diagnosis.clocks import Clocks
from nccl_logscan.diagnosis.excerpts import Site
from nccl_logscan.diagnosis.findings import Finding
from nccl_logscan.diagnosis.heed import Heed
from nccl_logscan.diagnosis.identity import Identity
from nccl_logscan.diagnosis.sayer import Who, who
from nccl_logscan.diagnosis.verdict import Aligned, TimelineEntry
from nccl_logscan.events.model import ElasticExit, Event, NcclInit, ProcessExit, TrainEnd, TrainStep
from nccl_logscan.records import replace
from nccl_logscan.taxonomy import Role

_LIMIT = 400
_TEXT = 300


class Timeline:
    """Keeps the first and the last event of each kind and sayer, for the kinds that mark a job's course."""

    kinds: ClassVar[frozenset[str]] = frozenset(
        {"train.step", "train.end", "nccl.init", "elastic.exit", "process.exit"}
    )

    def __init__(self) -> None:
        self._first: dict[tuple[str, Who], tuple[Event, int]] = {}
        self._last: dict[tuple[str, Who], tuple[Event, int]] = {}
        self.left_out = 0

    def heeds(self, event: Event) -> Heed:  # noqa: ARG002 - of bulk kinds alike
        """See `Heed`: the first and the last step."""
        return Heed.SAYER

    def feed(self, event: Event, site: Site) -> None:
        """Note an event that marks the job's course."""
        order = site.order
        kind = _mark(event)
        if kind is None:
            return
        key = (kind, who(event))
        if key in self._first:
            self._last[key] = (event, order)
        elif len(self._first) < _LIMIT:
            self._first[key] = (event, order)
        else:
            self.left_out += 1

    def conclude(self, findings: Iterable[Finding], identity: Identity, clocks: Clocks) -> tuple[TimelineEntry, ...]:
        """Return the entries in reading order."""
        entries = [
            (finding.order, _finding_entry(finding))
            for finding in findings
            if finding.rule.role not in {Role.BENIGN, Role.CONTEXT}
        ][:_LIMIT]
        for chosen, label in ((self._first, "first"), (self._last, "last")):
            for (kind, sayer), (event, order) in chosen.items():
                named = f"{label} {kind}" if kind == "step" else kind
                rank = identity.rank_of(sayer)
                entries.append((order, _entry(event, named, rank)))
        self.left_out += max(0, len(entries) - _LIMIT)
        kept = sorted(entries[:_LIMIT], key=lambda item: item[0])
        reference = clocks.reference()
        return tuple(entry if reference is None else _aligned(entry, reference, clocks) for _, entry in kept)


def _aligned(entry: TimelineEntry, reference: str, clocks: Clocks) -> TimelineEntry:
    """Say of a moment what time it was on the clock that most others can be aligned to."""
    told = clocks.on(reference, entry.when) if entry.when is not None else None
    return entry if told is None else replace(entry, aligned=Aligned(told[0], reference, told[1]))


def _mark(event: Event) -> str | None:
    if isinstance(event, TrainStep):
        return "step"
    if isinstance(event, NcclInit):
        return f"communicator {event.phase}"
    if isinstance(event, TrainEnd):
        return "finished"
    return "exit" if isinstance(event, ElasticExit | ProcessExit) else None


def _entry(event: Event, kind: str, rank: int | None) -> TimelineEntry:
    return TimelineEntry(event.when, rank, event.origin.host, kind, event.message[:_TEXT], event.at)


def _finding_entry(finding: Finding) -> TimelineEntry:
    first = finding.first
    rank = finding.ranks[0] if finding.ranks else None
    return TimelineEntry(first.when, rank, first.origin.host, finding.rule.id, first.text[:_TEXT], first.at)
