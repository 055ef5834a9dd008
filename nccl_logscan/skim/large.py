"""Large inputs: which are skimmed, and how the first bytes of one prepare that."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from nccl_logscan.lines import Peeler
from nccl_logscan.skim.asking import Asker, Askers
from nccl_logscan.skim.choice import LARGE, Skimming
from nccl_logscan.skim.rounds import FileRounds, Round, StreamRounds
from nccl_logscan.sources.limits import Limits
from nccl_logscan.sources.raw import RawLine
from nccl_logscan.sources.source import Source
from nccl_logscan.sources.text import LineCutter

_BOM = b"\xef\xbb\xbf"
_PRIMING = 256
_PRIMING_BYTES = 1 << 16


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Large:
    """A large input. Its source's counters are right once the rounds have passed."""

    def __init__(self, source: Source, head: bytes, blocks: Iterator[bytes] | None, skimming: Skimming) -> None:
        self._source = source
        self._head = head
        self._blocks = blocks
        self._threads = skimming.threads or _cores()
        self._size = 0

    @classmethod
    def of(cls, source: Source, skimming: Skimming) -> Large | None:
        """Return an input that may be large as a large one; None where it is not, as its first bytes show."""
        if skimming.large is None:
            return None
        if source.path is None:
            return cls(source, b"", source.blocks(), skimming)
        head = _head(source.path, max(skimming.large, _PRIMING_BYTES))
        return None if len(head) < skimming.large or head.startswith(_BOM) else cls(source, head, None, skimming)

    def rounds(self, askers: Askers) -> Iterator[Round | Iterable[RawLine]]:
        """Yield the rounds; all lines instead where a stream turns out to be short. Never raises."""
        limits = self._source.limits
        if self._blocks is None:
            assert self._source.path is not None
            asker = self._asker(self._head, limits, askers)
            self._head = b""
            yield from self._of_file(self._source.path, limits, asker)
            return
        begun, head = _begun(self._blocks)
        blocks = chain(begun, self._blocks)
        if len(head) < LARGE or head.startswith(_BOM):
            yield self._all_lines(blocks, limits)
            return
        yield from StreamRounds(blocks, self._source.name, limits, self._asker(head, limits, askers))

    def _of_file(self, path: Path, limits: Limits, asker: Asker) -> Iterator[Round]:
        self._source.begin()
        try:
            yield from FileRounds(path, self._source.name, limits, asker, self._threads)
        except OSError as error:
            self._source.end_early(error)

    def _asker(self, head: bytes, limits: Limits, askers: Askers) -> Asker:
        peeler = Peeler()
        cutter = LineCutter(self._source.name, limits)
        for _, line in zip(range(_PRIMING), cutter.feed(head[:_PRIMING_BYTES]), strict=False):
            peeler.peel(line)
        return askers.of(peeler)

    def _all_lines(self, blocks: Iterable[bytes], limits: Limits) -> Iterator[RawLine]:
        cutter = LineCutter(self._source.name, limits)
        for block in blocks:
            yield from cutter.feed(block)
        yield from cutter.finish()
        self._source.count(lines=cutter.lines, replaced=cutter.replaced, cut_lines=cutter.cut_lines)

    def count(self, part: Round, replaced: int) -> None:
        """Enter a round in the source's counters once its lines have passed; `replaced`: bytes in those not read."""
        size = part.size - self._size if self._blocks is None else 0
        self._size = part.size
        cutter = part.cutter
        self._source.count(
            lines=part.line_count,
            replaced=replaced + cutter.replaced,
            cut_lines=cutter.cut_lines,
            bytes_read=size,
        )


def _head(path: Path, size: int) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(size)
    except OSError:
        return b""


def _begun(blocks: Iterator[bytes]) -> tuple[list[bytes], bytes]:
    """Return the first blocks of a stream, up to what makes an input large, and what is in them."""
    begun: list[bytes] = []
    size = 0
    for block in blocks:
        begun.append(block)
        size += len(block)
        if size >= LARGE:
            break
    return begun, b"".join(begun)
