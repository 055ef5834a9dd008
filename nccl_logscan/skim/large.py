"""Large inputs: which are skimmed, and how the first bytes of one prepare that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path

from nccl_logscan.lines import Peeler
from nccl_logscan.skim.asking import Asker, Askers
from nccl_logscan.skim.choice import Skimming
from nccl_logscan.skim.crew import Crew, ThreadCrew
from nccl_logscan.skim.rounds import FileRounds, Round, StreamRounds
from nccl_logscan.sources.cores import cores
from nccl_logscan.sources.limits import Limits
from nccl_logscan.sources.raw import RawLine
from nccl_logscan.sources.source import Source
from nccl_logscan.sources.text import LineCutter

_BOM = b"\xef\xbb\xbf"
_PRIMING = 256
PRIMING_BYTES = 1 << 16
"""Bytes of an input that teach how its lines are prefixed."""


def asker_of(name: str, head: bytes, limits: Limits, askers: Askers) -> Asker:
    """Return who answers for an input that begins so."""
    peeler = Peeler()
    cutter = LineCutter(name, limits)
    for _, line in zip(range(_PRIMING), cutter.feed(head[:PRIMING_BYTES]), strict=False):
        peeler.peel(line)
    return askers.of(peeler)


class Large:
    """A large input. Its source's counters are right once the rounds have passed."""

    def __init__(self, source: Source, head: bytes, blocks: Iterator[bytes] | None, skimming: Skimming) -> None:
        self._source = source
        self._head = head
        self._blocks = blocks
        self._large = skimming.large or 0
        self._threads = skimming.threads or cores()
        self._crews = skimming.crews if skimming.crews is not None and skimming.crews.skims(source) else None
        self._size = 0

    @classmethod
    def of(cls, source: Source, skimming: Skimming) -> Large | None:
        """Return an input that may be large as a large one; None where it is not, as its first bytes show."""
        if skimming.large is None:
            return None
        if skimming.crews is not None and skimming.crews.skims(source):
            return cls(source, b"", None, skimming)
        if source.path is None:
            return cls(source, b"", source.blocks(), skimming)
        head = _head(source.path, max(skimming.large, PRIMING_BYTES))
        return None if len(head) < skimming.large or has_bom(head) else cls(source, head, None, skimming)

    def rounds(self, askers: Askers) -> Iterator[Round | Iterable[RawLine]]:
        """Yield the rounds; all lines instead where a stream turns out to be short. Never raises."""
        limits = self._source.limits
        if self._blocks is None:
            asker = asker_of(self._source.name, self._head, limits, askers)
            self._head = b""
            yield from self._of_file(limits, asker)
            return
        begun, head = _begun(self._blocks, self._large)
        blocks = chain(begun, self._blocks)
        if len(head) < self._large or has_bom(head):
            yield self._all_lines(blocks, limits)
            return
        asker = asker_of(self._source.name, head, limits, askers)
        yield from StreamRounds(blocks, self._source.name, limits, asker, self._threads)

    def _of_file(self, limits: Limits, asker: Asker) -> Iterator[Round]:
        self._source.begin()
        try:
            with closing(self._crew(limits, asker)) as crew:
                yield from FileRounds(crew, self._source.name, limits, asker)
        except OSError as error:
            self._source.end_early(error)

    def _crew(self, limits: Limits, asker: Asker) -> Crew:
        if self._crews is not None:
            return self._crews.crew(self._source, asker)
        assert self._source.path is not None
        return ThreadCrew(self._source.path, self._source.name, asker, limits, self._threads)

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


def has_bom(head: bytes) -> bool:
    """Whether an input begins with UTF-8's byte order mark: such a one is never large."""
    return head.startswith(_BOM)


def _head(path: Path, size: int) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(size)
    except OSError:
        return b""


def _begun(blocks: Iterator[bytes], large: int) -> tuple[list[bytes], bytes]:
    """Return the first blocks of a stream, up to what makes an input large, and what is in them."""
    begun: list[bytes] = []
    size = 0
    for block in blocks:
        begun.append(block)
        size += len(block)
        if size >= large:
            break
    return begun, b"".join(begun)
