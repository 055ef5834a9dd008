"""Progress: how far each rank came in each process group, whoever told it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from nccl_logscan.records import dataclass, field

WORLD = "0"
"""The name PyTorch gives to the default process group, whose ranks are the global ones."""
UNKNOWN = "?"
"""Stands for every group of which it is not known who is in it: nothing follows from two ranks' numbers in it."""


@dataclass(frozen=True, slots=True)
class Wait:
    """A call that a rank issued and that did not finish.

    `sequence` is the collective's number in its group (None: not told, or point-to-point). `issued` counts the rank's
    own calls over all groups. `peer` is the global rank at the other end of a point-to-point call, `met` whether that
    one has issued its part; None: not known. `started`: whether the device has begun it; None: not recorded.
    """

    sequence: int | None
    operation: str | None = None
    issued: int | None = None
    peer: int | None = None
    met: bool | None = None
    started: bool | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """One rank's standing in one group: sequence numbers, None where not told, and the first call it waits in."""

    enqueued: int | None = None
    completed: int | None = None
    wait: Wait | None = None

    def reached(self, wait: Wait) -> bool | None:
        """Whether this rank has issued the call that another waits in; None if that is not told."""
        mine = self.wait.sequence if self.wait is not None else None
        if self.wait is not None and (wait.sequence is None or mine is None or mine >= wait.sequence):
            return True
        if wait.sequence is None:
            return False if self.enqueued is not None and self.enqueued == self.completed else None
        return None if self.enqueued is None else self.enqueued >= wait.sequence

    def or_else(self, other: Standing) -> Standing:
        """Return this standing with what it does not tell taken from `other`."""
        return Standing(
            self.enqueued if self.enqueued is not None else other.enqueued,
            self.completed if self.completed is not None else other.completed,
            self.wait if self.wait is not None or self.enqueued is not None else other.wait,
        )


@dataclass(slots=True)
class Progress:
    """Every rank's standings, and the groups' members (global ranks) as far as they are known.

    `whole` are the ranks of which all is told: in a group where they have no standing they have issued nothing.
    `listed` are the groups whose members are all known, not only those that spoke.
    """

    standings: dict[int, dict[str, Standing]] = field(default_factory=dict)
    members: dict[str, tuple[int, ...]] = field(default_factory=dict)
    whole: set[int] = field(default_factory=set)
    listed: set[str] = field(default_factory=set)

    def note(self, rank: int, group: str, standing: Standing) -> None:
        """Enter what is told of a rank in a group; what was entered before stands first."""
        groups = self.standings.setdefault(rank, {})
        known = groups.get(group)
        groups[group] = standing if known is None else known.or_else(standing)

    def meet(self, rank: int) -> None:
        """Enter a rank of which it is known that it was asked, though it waits in nothing."""
        self.standings.setdefault(rank, {})

    def waits(self, rank: int) -> dict[str, Wait]:
        """Return the calls a rank waits in, by group, the one it issued first in front."""
        waits = {
            group: standing.wait
            for group, standing in self.standings.get(rank, {}).items()
            if standing.wait is not None
        }
        return dict(sorted(waits.items(), key=lambda item: -1 if item[1].issued is None else item[1].issued))

    def waiting(self) -> list[int]:
        """Return the ranks that wait in some call."""
        return [rank for rank in sorted(self.standings) if any(s.wait for s in self.standings[rank].values())]

    def completed_by(self, other: Progress) -> Progress:
        """Return this progress with what it does not tell taken from `other`."""
        both = Progress(
            {rank: dict(groups) for rank, groups in self.standings.items()},
            {**other.members, **self.members},
            self.whole | other.whole,
            self.listed | other.listed,
        )
        for rank, groups in other.standings.items():
            both.meet(rank)
            for group, standing in groups.items():
                both.note(rank, group, standing)
        return both


def in_order(waits: Mapping[str, Wait]) -> Iterable[tuple[str, Wait]]:
    """Yield the calls that hold a rank up: the first it issued where the order is told, else all of them."""
    for group, wait in waits.items():
        yield group, wait
        if wait.issued is not None:
            return
