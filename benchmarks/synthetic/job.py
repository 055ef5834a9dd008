"""The job whose logs are made up: its hosts, ranks and processes."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cached_property

GPUS = 8
KINDS = ("world", "tp", "dp", "ep", "pp", "cp")


@dataclass(frozen=True, slots=True)
class Rank:
    """One process of the job, with one GPU."""

    number: int
    local: int
    node: int
    host: str
    address: str
    pid: int


@dataclass(frozen=True)
class Job:
    """Hosts of eight GPUs each; process ids differ from host to host as they do in life."""

    nodes: int
    seed: int

    @cached_property
    def ranks(self) -> list[Rank]:
        """All ranks, in order."""
        chance = random.Random(f"pids {self.seed}")  # noqa: S311 - no secret
        first_pids = [chance.randrange(2_000, 900_000) for _ in range(self.nodes)]
        return [
            Rank(
                number=number,
                local=number % GPUS,
                node=number // GPUS,
                host=f"node-{number // GPUS:03d}",
                address=f"10.61.{number // GPUS // 32}.{10 + number // GPUS % 32}",
                pid=first_pids[number // GPUS] + 3 * (number % GPUS),
            )
            for number in range(GPUS * self.nodes)
        ]

    def prefix(self, rank: Rank) -> str:
        """What srun and torchrun put before a trainer's line: the node's task, then the local rank."""
        return f"{rank.node:3d}: [default{rank.local}]:"

    @cached_property
    def _groups(self) -> dict[str, list[list[Rank]]]:
        return {kind: self._made_groups(kind) for kind in KINDS}

    def groups(self, kind: str) -> list[list[Rank]]:
        """The communicators of one kind that cover all ranks: `world`, `tp` (one host), `dp` (one GPU of every host),
        `pp` (one GPU of four neighbouring hosts), `cp` (two neighbouring hosts) or `ep` (eight neighbouring hosts).
        """
        return self._groups[kind]

    @cached_property
    def _seats(self) -> dict[str, dict[int, tuple[list[Rank], int]]]:
        return {
            kind: {rank.number: (group, index) for group in self._groups[kind] for index, rank in enumerate(group)}
            for kind in KINDS
        }

    def seat(self, rank: Rank, kind: str) -> tuple[list[Rank], int]:
        """The rank's communicator of this kind, and its place in it."""
        return self._seats[kind][rank.number]

    def _made_groups(self, kind: str) -> list[list[Rank]]:
        if kind == "tp":
            return self._by_node(1)
        if kind == "cp":
            return self._by_node(2)
        if kind == "ep":
            return self._by_node(8)
        if kind == "dp":
            return [self.ranks[local::GPUS] for local in range(GPUS)]
        if kind == "pp":
            return [group[local::GPUS] for group in self._by_node(4) for local in range(GPUS)]
        return [self.ranks]

    def _by_node(self, nodes: int) -> list[list[Rank]]:
        size = nodes * GPUS
        return [self.ranks[first : first + size] for first in range(0, len(self.ranks), size)]


@dataclass(frozen=True)
class Alone(Job):
    """One rank as a job, for the file that it has for itself: no launcher puts anything before its lines."""

    rank: Rank

    @cached_property
    def ranks(self) -> list[Rank]:
        """The one."""
        return [self.rank]

    def prefix(self, rank: Rank) -> str:  # noqa: ARG002 - whichever rank
        """Nothing."""
        return ""
