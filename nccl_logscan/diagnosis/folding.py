"""OpenFinding: a finding while lines still pass; repeats are folded, memory is bounded."""

from __future__ import annotations

from collections.abc import Mapping

from nccl_logscan.diagnosis.clocks import Clocks
from nccl_logscan.diagnosis.excerpts import TEXT_LIMIT, Excerpt
from nccl_logscan.diagnosis.findings import Evidence, Finding
from nccl_logscan.diagnosis.identity import Identity
from nccl_logscan.diagnosis.last_words import Moment
from nccl_logscan.diagnosis.sayer import Who, who
from nccl_logscan.events.model import Event
from nccl_logscan.position import Instant, Origin, Position
from nccl_logscan.records import dataclass, field
from nccl_logscan.rulebook.rule import Rule
from nccl_logscan.sources.raw import RawLine

SAMPLES = 5
SAYERS = 16_384


@dataclass(slots=True)
class OpenFinding:
    """A rule's matches so far. `sayers` remembers who said it, first ones first, and when first; at most SAYERS."""

    rule: Rule
    kind: str
    key: tuple[str, ...]
    captures: Mapping[str, str]
    order: int
    last_order: int
    count: int = 0
    sayers: dict[Who, Moment] = field(default_factory=dict)
    samples: list[Excerpt] = field(default_factory=list)
    sample_orders: list[int] = field(default_factory=list)
    last_at: Position | None = None
    last_text: str = ""
    last_origin: Origin = field(default_factory=Origin)
    last_when: Instant | None = None

    def add(self, event: Event, order: int) -> bool:
        """Count a match; return whether it is worth an excerpt (a new sayer, while there is room)."""
        self.count += event.repeated
        self.last_order = order
        sayer = who(event)
        is_new = sayer not in self.sayers
        if is_new and len(self.sayers) < SAYERS:
            self.sayers[sayer] = Moment(event.at, event.when)
        return len(self.samples) < SAMPLES and (is_new or len(self.samples) < 2)

    def end(self, at: Position, text: str, origin: Origin, when: Instant | None) -> None:
        """Remember the latest line."""
        self.last_at, self.last_text, self.last_origin, self.last_when = at, text, origin, when

    def count_again(self, event: Event, times: int, order: int, raw: RawLine) -> None:
        """Count further lines with the text of the one that gave `event`; `raw` is the last of them."""
        self.count += times * event.repeated
        if order > self.last_order:
            self.last_order = order
            self.end(raw.at, raw.text, event.origin, event.when)

    def close(self, identity: Identity, clocks: Clocks) -> Finding:
        """Return the finding, with ranks and hosts resolved."""
        taken = list(zip(map(evidence_of, self.samples), self.sample_orders, strict=True))
        last = taken[-1][0]
        sources = _sources_by_time([sample for sample, _ in taken], clocks)
        taken.sort(key=lambda sample: sources.index(sample[0].at.source))
        samples = tuple(sample for sample, _ in taken)
        if self.last_at is not None and self.last_at != last.at:
            last = Evidence(self.last_at, self.last_text[:TEXT_LIMIT], self.last_origin, self.last_when)
        place = {source: number for number, source in enumerate(sources)}
        sayers = sorted(self.sayers, key=lambda sayer: place.get(sayer.source, len(place)))
        onsets = [(rank, self.sayers[sayer]) for sayer in sayers if (rank := identity.rank_of(sayer)) is not None]
        hosts = (identity.host_of_sayer(sayer) for sayer in sayers)
        return Finding(
            rule=self.rule,
            kind=self.kind,
            key=self.key,
            captures=self.captures,
            count=self.count,
            ranks=tuple(dict.fromkeys(rank for rank, _ in onsets)),
            hosts=tuple(dict.fromkeys(host for host in hosts if host is not None)),
            samples=samples,
            last=last,
            order=taken[0][1],
            last_order=self.last_order,
            onsets=tuple(onsets),
        )


def _sources_by_time(samples: list[Evidence], clocks: Clocks) -> list[str]:
    """Return the sources in the order of their first samples' times; in that of reading where that is not sure."""
    firsts: dict[str, Instant | None] = {}
    for sample in samples:
        firsts.setdefault(sample.at.source, sample.when)
    timed = [(when, source) for source, when in firsts.items() if when is not None]
    ordered = clocks.by_time(timed) if len(timed) == len(firsts) else None
    return [source for _, source in ordered] if ordered is not None else list(firsts)


def evidence_of(excerpt: Excerpt) -> Evidence:
    """Return an excerpt as evidence, once its lines have passed."""
    return Evidence(
        excerpt.at,
        excerpt.text,
        excerpt.origin,
        excerpt.when,
        excerpt.highlight,
        excerpt.before,
        tuple(excerpt.after),
    )
