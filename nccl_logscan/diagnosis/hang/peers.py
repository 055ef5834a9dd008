"""Peers: the sends and receives of pairs of ranks, which match in their order."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from math import prod
from typing import NamedTuple

from nccl_logscan.numbers import INT64_MAX
from nccl_logscan.recorder.model import Call, State
from nccl_logscan.records import dataclass, field

Ends = tuple[int, int]
"""The sender and the receiver of point-to-point calls, as global ranks."""


class PeerCall(NamedTuple):
    """An unfinished send or receive: `number` counts on its side from 0."""

    call: Call
    ends: Ends
    number: int

    @property
    def awaited(self) -> int:
        """The rank at the other end."""
        return self.ends[1] if _sends(self.call) else self.ends[0]


class UnlikeEnds(NamedTuple):
    """Two ends whose `number`th calls (from 1) do not move the same: how many elements each moves."""

    ends: Ends
    number: int
    sent: int
    received: int


@dataclass(slots=True)
class _Side:
    """One end's calls of one pair, in order: how many elements each moves. `done`: how many of the first have ended."""

    sizes: array[int] = field(default_factory=lambda: array("q"))
    done: int = 0


class Peers:
    """Counts the calls of all pairs on both sides."""

    def __init__(self) -> None:
        self._sent: dict[Ends, _Side] = {}
        self._received: dict[Ends, _Side] = {}

    def enter(self, call: Call, ends: Ends) -> PeerCall | None:
        """Count a call; return it if it has not ended."""
        side = (self._sent if _sends(call) else self._received).setdefault(ends, _Side())
        number = len(side.sizes)
        side.sizes.append(min(sum(prod(size) for size in call.input_sizes), INT64_MAX))
        if call.state is not State.COMPLETED:
            return PeerCall(call, ends, number)
        side.done = number + 1
        return None

    def end(self, entered: PeerCall) -> None:
        """Learn that a call has ended."""
        side = (self._sent if _sends(entered.call) else self._received)[entered.ends]
        side.done = max(side.done, entered.number + 1)

    def is_met(self, entered: PeerCall, *, whole: bool) -> bool:
        """Whether the other end has issued its part; by their order if `whole`: no ring has lost its beginning."""
        its = (self._received if _sends(entered.call) else self._sent).get(entered.ends, _Side())
        return len(its.sizes) > (entered.number if whole else its.done)

    def unlike(self) -> Iterator[UnlikeEnds]:
        """Yield the first calls of each pair whose ends do not move the same."""
        for ends, sent in self._sent.items():
            received = self._received.get(ends, _Side())
            for number, (out, into) in enumerate(zip(sent.sizes, received.sizes, strict=False), 1):
                if out != into:
                    yield UnlikeEnds(ends, number, out, into)
                    break

    def issued(self, ends: Ends) -> tuple[int, int]:
        """Return how many sends and receives the two ends of a pair have issued."""
        return len(self._sent.get(ends, _Side()).sizes), len(self._received.get(ends, _Side()).sizes)


def _sends(call: Call) -> bool:
    return call.operation.startswith("send")
