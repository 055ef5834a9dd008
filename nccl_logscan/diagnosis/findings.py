"""Finding: what one rule saw, folded over all the lines it matched."""

from __future__ import annotations

from collections.abc import Mapping

from nccl_logscan.diagnosis.last_words import Moment
from nccl_logscan.position import Instant, Origin, Position, Span
from nccl_logscan.records import dataclass, field
from nccl_logscan.rulebook.rule import Rule


@dataclass(frozen=True, slots=True)
class Evidence:
    """A line that speaks for a finding: its place, its text (cut at 2,000 characters) and the columns that matched."""

    at: Position
    text: str
    origin: Origin
    when: Instant | None = None
    highlight: Span | None = None
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule's matches with the same `key`, folded: bounded whatever the log does.

    `kind` is that of the first event, or the detector's name. `order` counts events from the start of the scan at the
    first match: the order of reading, not of time; `last_order` is that of the last match. `samples` are at most five,
    first ones first. `onsets`: where each process of a known rank matched first, a rank once for each of its processes;
    of a detector's finding none.
    """

    rule: Rule
    kind: str
    key: tuple[str, ...]
    captures: Mapping[str, str]
    count: int
    ranks: tuple[int, ...]
    hosts: tuple[str, ...]
    samples: tuple[Evidence, ...]
    last: Evidence
    order: int
    last_order: int
    notes: tuple[str, ...] = field(default=())
    onsets: tuple[tuple[int, Moment], ...] = ()

    @property
    def first(self) -> Evidence:
        """The first line that matched."""
        return self.samples[0]
