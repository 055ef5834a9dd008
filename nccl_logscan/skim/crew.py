"""Crew: who skims the segments of one file, a batch after the other; threads of this process, or others elsewhere."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Protocol

from nccl_logscan.records import dataclass, field
from nccl_logscan.skim.asking import Asker
from nccl_logscan.skim.kernel import KernelSkimmer, library
from nccl_logscan.skim.plain import PlainSkimmer
from nccl_logscan.skim.told import Ask, Skimmer, Tale
from nccl_logscan.skim.windows import SEGMENT, FileWindows, Window
from nccl_logscan.sources.limits import Limits
from nccl_logscan.sources.raw import RawLine
from nccl_logscan.sources.source import Source

_PATIENCE = 0.5
"""Seconds in which a thread ends its window where another has failed; one that waits for a pipe is left behind."""


@dataclass(slots=True)
class Batch:
    """What is known of the segments of a round: how many lines each has, and the giant lines that some end in."""

    line_counts: dict[int, int] = field(default_factory=dict)
    giants: dict[int, RawLine] = field(default_factory=dict)

    def note(self, window: Window, lines: int) -> None:
        """Take in a segment that was skimmed."""
        self.line_counts[window.segment] = lines + (window.giant is not None)
        if window.giant is not None:
            self.giants[window.segment] = window.giant


class Crew(Protocol):
    """Skims the segments of one file. Which of a crew skims which of them changes nothing."""

    @property
    def size(self) -> int:
        """Bytes of the file, as it was at first: what has come since is not read."""

    def skim(self, segments: range, batch: Batch, room: int) -> None:
        """Skim segments, and enter them in `batch`; later ones as well, if no more than `room` bytes are held then.

        Raises OSError where the file cannot be read.
        """

    @property
    def held(self) -> int:
        """About how many bytes of lines were handed out since `tell` was called."""

    def tell(self) -> list[Tale]:
        """Return what was handed out since the last call."""

    def close(self) -> None:
        """Let go of the file."""


class Crews(Protocol):
    """Has crews elsewhere than in this process, for some inputs."""

    def skims(self, source: Source) -> bool:
        """Whether an input is a large one of which there is a crew."""

    def crew(self, source: Source, asker: Asker) -> Crew:
        """Return the crew of an input that it skims; `asker` is to know what its tales speak of."""


class ThreadCrew:
    """Threads of this process over a file that it can open, each with a skimmer. Raises OSError, also when made.

    `size`: how many bytes of the file to read, where that was found before.
    """

    def __init__(
        self, path: str | os.PathLike[str], name: str, asker: Asker, limits: Limits, threads: int = 1, *, size: int = -1
    ) -> None:
        self._descriptor = os.open(path, os.O_RDONLY)
        self.size = os.fstat(self._descriptor).st_size if size < 0 else size
        count = max(1, min(threads, -(-self.size // SEGMENT)))
        self._asker = asker
        self._is_told = True
        self._members = [
            (skimming, FileWindows(self._descriptor, self.size, name, limits)) for skimming in skimmers_of(asker, count)
        ]

    def skim(self, segments: range, batch: Batch, room: int = 0) -> None:  # noqa: ARG002 - it skims no others
        """See `Crew`."""
        self._is_told = False
        waiting = iter(segments)  # one iterator for all: each takes the next
        members = self._members[: len(segments)]
        skim_side_by_side([(one, map(windows.read, waiting)) for one, windows in members], batch, self._asker)

    @property
    def held(self) -> int:
        """See `Crew`."""
        return sum(skimming.held for skimming, _ in self._members)

    def tell(self) -> list[Tale]:
        """See `Crew`."""
        tales = [skimming.tell() for skimming, _ in self._members]
        self._is_told = True
        return tales

    def close(self) -> None:
        """See `Crew`."""
        if not self._is_told:
            self._asker.skimmers.clear()  # they hold lines of this file
        with suppress(OSError):
            os.close(self._descriptor)


def skimmers_of(asker: Asker, count: int) -> list[Skimmer]:
    """Return so many skimmers, the fastest there are, that know what the asker has answered before."""
    while len(asker.skimmers) < count:
        skimming: Skimmer = KernelSkimmer() if library() is not None else PlainSkimmer()
        skimming.learn_needs(asker.needs)
        asker.skimmers.append(skimming)
    return asker.skimmers[:count]


def skim_side_by_side(members: Sequence[tuple[Skimmer, Iterator[Window]]], batch: Batch, ask: Ask) -> None:
    """Skim the windows that each member's iterator gives, in a thread for each, and enter them in `batch`.

    Raises what one of them raised, and does not wait for the others then: one may wait for an input that never comes.
    """
    failures: list[BaseException] = []
    is_over = threading.Event()

    def work(skimming: Skimmer, windows: Iterator[Window]) -> None:
        for window in windows:
            if is_over.is_set():
                return
            batch.note(window, skimmed(skimming, window, ask))

    def help_out(skimming: Skimmer, windows: Iterator[Window]) -> None:
        try:
            work(skimming, windows)
        except BaseException as error:  # noqa: BLE001 - raised again by whoever waits
            failures.append(error)

    threads = [threading.Thread(target=help_out, args=member, daemon=True) for member in members[1:]]
    for thread in threads:
        thread.start()
    try:
        work(*members[0])
        for thread in threads:
            thread.join()
    except BaseException:
        is_over.set()
        for thread in threads:
            thread.join(_PATIENCE)
        raise
    if failures:
        raise failures[0]


def skimmed(skimming: Skimmer, window: Window, ask: Ask) -> int:
    """Skim a window; return how many lines start in it."""
    return skimming.skim(
        window.buffer,
        window.start,
        window.own_end,
        window.end,
        base=window.base,
        segment=window.segment,
        ask=ask,
    )
