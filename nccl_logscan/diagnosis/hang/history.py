"""History: one rank's collectives in one group, folded into numbers."""

from __future__ import annotations

from array import array

from nccl_logscan.recorder.model import Call
from nccl_logscan.records import dataclass, field

NO_CALL = 0
"""Stands in a history for a call, or a call site, that is not known."""

_GAP = 64


@dataclass(frozen=True, slots=True)
class Signature:
    """What ranks must agree on in one call: the operation, and sizes and types where they may not differ."""

    operation: str
    sizes: tuple[tuple[int, ...], ...] = ()
    dtypes: tuple[str, ...] = ()

    def __str__(self) -> str:
        sizes = " and ".join("x".join(map(str, size)) or "1" for size in self.sizes[:2])
        if len(self.sizes) > 2:
            sizes = f"{len(self.sizes)} tensors, {sizes}, ..."
        what = " ".join(part for part in (sizes, "/".join(self.dtypes[:2])) if part)
        return f"{self.operation}({what})" if what else self.operation


@dataclass(slots=True)
class History:
    """One rank's collectives in one group, from number `start` on: indexes into the recordings' tables (0: none), the
    order of issue among all of the rank's calls, and when they were issued (in ms since 1970; 0: not told).
    """

    start: int = 0
    signatures: array[int] = field(default_factory=lambda: array("I"))
    sites: array[int] = field(default_factory=lambda: array("I"))
    records: array[int] = field(default_factory=lambda: array("q"))
    times: array[int] = field(default_factory=lambda: array("q"))

    @property
    def end(self) -> int:
        """The number after the last one."""
        return self.start + len(self.signatures)

    def add(self, call: Call, signature: int, site: int) -> None:
        """Enter a call with a number; what goes back in number, or leaps, begins the history anew."""
        sequence = call.sequence
        assert sequence is not None
        if self.signatures and self.start <= sequence < self.end:
            self.signatures[sequence - self.start] = signature or self.signatures[sequence - self.start]
            return
        if not self.signatures or not self.end <= sequence < self.end + _GAP:
            self.start = sequence
            for column in (self.signatures, self.sites, self.records, self.times):
                del column[:]
        skipped = [NO_CALL] * (sequence - self.end)
        self.signatures.extend([*skipped, signature])
        self.sites.extend([*skipped, site])
        self.records.extend([*skipped, call.record])
        self.times.extend([*skipped, (call.created_ns or 0) // 1_000_000])

    def signature_at(self, sequence: int) -> int:
        """The signature of a number; 0 where the ring no longer, or not yet, holds it."""
        return self.signatures[sequence - self.start] if self.start <= sequence < self.end else NO_CALL

    def site_at(self, sequence: int) -> int:
        """The call site of a number; 0 where it is not known."""
        return self.sites[sequence - self.start] if self.start <= sequence < self.end else NO_CALL

    def record_at(self, sequence: int) -> int | None:
        """The order of issue of a number; None where the ring does not hold it."""
        return self.records[sequence - self.start] if self.signature_at(sequence) else None

    def time_at(self, sequence: int) -> int:
        """When a number was issued, in ms since 1970 by its host's clock; 0 where that is not known."""
        return self.times[sequence - self.start] if self.start <= sequence < self.end else 0
