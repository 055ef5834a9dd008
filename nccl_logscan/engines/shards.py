"""Shards: what another process is asked to read, and what it tells, as plain tuples.

The numbers of classes and tallies are each process's own; with a tale come the names of those that it speaks of.
"""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple, TypeAlias

from nccl_logscan.position import Position
from nccl_logscan.skim.asking import Asker, Group, Names
from nccl_logscan.skim.crew import Batch
from nccl_logscan.skim.rounds import BATCH
from nccl_logscan.skim.told import Key, Tale, Told
from nccl_logscan.sources.limits import Limits
from nccl_logscan.sources.raw import RawLine

PIECE = 4 * BATCH
"""Segments of one shard."""
HEAD = 1 << 16
"""First bytes of a file, by which it is known again and that teach how its lines are prefixed."""


class File(NamedTuple):
    """A file as it was found: where it lies, how long it was, and the digest of its head.

    Another process that finds another one there, or a shorter one, does not read it.
    """

    name: str
    path: str
    size: int
    digest: bytes


class Shard(NamedTuple):
    """A part of a file: segments from `first` to before `end` that are to be skimmed, or, with `is_raw`, bytes.

    `is_fine`: of each batch of segments a tale of its own is wanted.
    """

    file: File
    first: int
    end: int
    is_raw: bool = False
    is_fine: bool = False


class Work(NamedTuple):
    """What holds for all shards of a scan. `rules` None: those that ship with the program, of this `digest`."""

    scan: str
    version: str
    digest: str
    rules: Any
    limits: Limits


class Failed(NamedTuple):
    """Why a shard was not read, as a clause. `is_elsewhere`: the file may be there on another machine."""

    reason: str
    is_elsewhere: bool = False


_Line: TypeAlias = tuple[int, int, int, bytes, bool, bool, bool, bool, bool, int, int, int]


class Telling(NamedTuple):
    """The tale of the segments up to `end`: a shard's, or a batch's. Classes are numbers in `keys`, -1 for none."""

    end: int
    line_counts: dict[int, int]
    giants: list[tuple[int, int, str, int, int]]
    lines: list[_Line]
    keys: list[Key]
    counts: dict[Key, int]
    tallies: dict[int, int]
    overflowed: bool
    groups: list[tuple[int, tuple[str, bytes], tuple[Any, ...]]]
    kinds: list[tuple[int, str]]


def digest_of(head: bytes) -> bytes:
    """Return what a file is known by."""
    return hashlib.blake2b(head[:HEAD], digest_size=16).digest()


def telling_of(tale: Tale, end: int, batch: Batch, asker: Asker) -> tuple[Any, ...]:
    """Return a tale of the segments up to `end` in the form in which it travels: a `Telling` as a plain tuple."""
    keys: dict[Key, int] = {}

    def place(key: Key | None) -> int:
        return -1 if key is None else keys.setdefault(key, len(keys))

    lines = [(*line[:9], place(line.chosen), place(line.counted), line.tally) for line in tale.lines]
    giants = [(segment, raw.at.offset, raw.text, raw.replaced, raw.cut) for segment, raw in batch.giants.items()]
    spoken_of = {key[0] for key in (*keys, *tale.counts)}
    names = asker.names()
    return (
        end,
        batch.line_counts,
        giants,
        lines,
        list(keys),
        dict(tale.counts),
        {number: count for number, count in tale.tallies.items() if count},
        tale.overflowed,
        [(number, what, tuple(group)) for number, what, group in names.groups if number in spoken_of],
        list(names.tallies),
    )


def told_by(telling: Telling, name: str, asker: Asker, batch: Batch) -> Tale:
    """Return the tale with our numbers, and enter its segments in a batch."""
    groups, tallies = asker.adopted(
        Names([(number, what, Group(*group)) for number, what, group in telling.groups], telling.kinds)
    )
    tallies[0] = 0
    keys: list[Key | None] = [*((groups[number], runs) for number, runs in telling.keys), None]
    lines = [Told(*line[:9], keys[line[9]], keys[line[10]], tallies[line[11]]) for line in telling.lines]
    batch.line_counts.update(telling.line_counts)
    for segment, offset, text, replaced, cut in telling.giants:
        batch.giants[segment] = RawLine(Position(name, 0, offset), text, replaced, cut)
    return Tale(
        lines,
        {(groups[number], runs): count for (number, runs), count in telling.counts.items()},
        {tallies[number]: count for number, count in telling.tallies.items()},
        telling.overflowed,
    )
