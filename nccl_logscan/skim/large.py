"""Large inputs: which are skimmed, and how the first bytes of one prepare that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path

from nccl_logscan.diagnosis.heed import words_heeded
from nccl_logscan.diagnosis.matcher import Matcher
from nccl_logscan.events.words import needs_of_dialects
from nccl_logscan.lines import Peeler
from nccl_logscan.records import dataclass
from nccl_logscan.skim.asking import Asker
from nccl_logscan.skim.crew import Crew, Crews, ThreadCrew
from nccl_logscan.skim.rounds import FileRounds, Round, StreamRounds
from nccl_logscan.sources.cores import cores
from nccl_logscan.sources.limits import Limits
from nccl_logscan.sources.raw import RawLine
from nccl_logscan.sources.source import Source
from nccl_logscan.sources.text import LineCutter

LARGE = 1 << 19
"""Bytes of an input that is not read line by line as a whole."""
_BOM = b"\xef\xbb\xbf"
_PRIMING = 256
PRIMING_BYTES = 1 << 16
"""Bytes of an input that teach how its lines are prefixed."""


@dataclass(frozen=True, slots=True)
class Skimming:
    """How large inputs are read: from how many bytes on an input is large (None: none is), by how many threads.

    The number of threads changes nothing but the time; 0: as many as there are cores. Nor do `crews`, who skim inputs
    elsewhere.
    """

    large: int | None = LARGE
    threads: int = 0
    crews: Crews | None = None


def asker_of(
    name: str, head: bytes, limits: Limits, matcher: Matcher, listening: Callable[[str], Iterable[object]]
) -> Asker:
    """Return who answers for an input that begins so."""
    peeler = Peeler()
    cutter = LineCutter(name, limits)
    for _, line in zip(range(_PRIMING), cutter.feed(head[:PRIMING_BYTES]), strict=False):
        peeler.peel(line)
    heeded = ((frozenset({word}),) for word in words_heeded(listening("log.text")))
    needs = frozenset({*needs_of_dialects(), *matcher.needs_for("log.text"), *heeded})
    return Asker(name, peeler.twin(), matcher, listening, needs)


class Large:
    """A large input. Its source's counters are right once the rounds have passed."""

    def __init__(self, source: Source, head: bytes, blocks: Iterator[bytes] | None, skimming: Skimming) -> None:
        self._source = source
        self._head = head
        self._blocks = blocks
        self._threads = skimming.threads or cores()
        self._crews = skimming.crews if skimming.crews is not None and skimming.crews.skims(source) else None
        self._size = 0

    @classmethod
    def of(cls, source: Source, skimming: Skimming) -> Large | None:
        """Return an input as a large one; None where it is not, as far as that is known before it is read."""
        if skimming.large is None:
            return None
        if skimming.crews is not None and skimming.crews.skims(source):
            return cls(source, b"", None, skimming)
        if source.path is None:
            return cls(source, b"", source.blocks(), skimming) if _may_be_large(source, skimming.large) else None
        head = _head(source.path, skimming.large)
        return None if len(head) < skimming.large or has_bom(head) else cls(source, head, None, skimming)

    def rounds(
        self, matcher: Matcher, listening: Callable[[str], Iterable[object]]
    ) -> Iterator[Round | Iterable[RawLine]]:
        """Yield the rounds; all lines instead where a stream turns out to be short. Never raises."""
        limits = self._source.limits
        name = self._source.name
        if self._blocks is None:
            asker = asker_of(name, self._head, limits, matcher, listening)
            self._head = b""
            yield from self._of_file(limits, asker)
            return
        begun, head = _begun(self._blocks)
        blocks = chain(begun, self._blocks)
        if len(head) < LARGE or has_bom(head):
            yield self._all_lines(blocks, limits)
            return
        yield from StreamRounds(blocks, name, limits, asker_of(name, head, limits, matcher, listening))

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
        return ThreadCrew(self._source.path, asker, limits, self._threads)

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


def _may_be_large(source: Source, large: int) -> bool:
    """Whether an input that is packed or piped may hold so much."""
    return source.size is None or source.size * source.limits.ratio >= large


def has_bom(head: bytes) -> bool:
    """Whether an input begins with UTF-8's byte order mark: such a one is never large."""
    return head.startswith(_BOM)


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
