"""Channels that were counted and not read: what their keys tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from nccl_logscan.events.dialects import nccl
from nccl_logscan.events.model import NcclChannel
from nccl_logscan.lines.model import LogLine
from nccl_logscan.position import Position
from nccl_logscan.skim.asking import Group
from nccl_logscan.skim.plain import RUN
from nccl_logscan.skim.told import MOST_UNREAD, Key


class UnreadChannels:
    """The channels of a source that were not read: each class of them once. `is_whole`: all are among them."""

    def __init__(self, name: str) -> None:
        self._at = Position(name, 0, 0)
        self._groups: dict[int, Group] = {}
        self._keys: set[Key] = set()
        self.is_whole = True

    def add(
        self, groups: Mapping[int, Group], counts: Mapping[Key, int], *, is_whole: bool
    ) -> Iterator[tuple[str, int]]:
        """Take in what a round counted; yield its channels' transports, with how many channels use them."""
        self._groups |= {number: group for number, group in groups.items() if group.has_first}
        telling = {number for number, group in self._groups.items() if group.keyed != group.of_transport}
        fits = is_whole and sum(number in telling for number, _ in counts) <= MOST_UNREAD
        self.is_whole = self.is_whole and fits
        if not self.is_whole:
            self._keys.clear()  # which ones there was room for hangs on who skimmed what
        by_runs: dict[Key, int] = {}
        places = {number: _places(group.keyed, group.of_transport) for number, group in self._groups.items()}
        for key, times in counts.items():
            number, runs = key
            own = places.get(number)
            if own is not None:
                if self.is_whole and number in telling:
                    self._keys.add(key)
                told = (number, b" ".join([runs.split(b" ")[place] for place in own]) if own else b"")
                by_runs[told] = by_runs.get(told, 0) + times
        for (number, runs), times in by_runs.items():
            group = self._groups[number]
            channel = self._read(_with_runs(group.text, group.of_transport, runs.split(b" ")))
            if channel is not None and channel.transport is not None:
                yield channel.transport, times

    def of_process(self, pid: int) -> Iterator[NcclChannel]:
        """Yield the channels of a process, and of others that have the number for something else."""
        wanted = b"%d " % pid
        for number, runs in self._keys:
            if wanted in runs:
                group = self._groups[number]
                channel = self._read(_with_runs(group.text, group.keyed, runs.split(b" ")))
                if channel is not None:
                    yield channel

    def _read(self, text: bytes) -> NcclChannel | None:
        event = nccl.read(LogLine(self._at, text.decode("utf-8", "replace")))
        return event if isinstance(event, NcclChannel) else None


def _numbers(bits: int) -> list[int]:
    return [number for number in range(64) if bits >> number & 1]


def _places(keyed: int, wanted: int) -> list[int]:
    """Return which of the keyed runs the wanted ones are."""
    return [place for place, number in enumerate(_numbers(keyed)) if wanted >> number & 1]


def _with_runs(text: str, keyed: int, runs: list[bytes]) -> bytes:
    """Return a line with other runs in the place of those that are keyed."""
    line = text.encode("utf-8", "replace")
    found = list(RUN.finditer(line))
    pieces, end = [], 0
    for number, run in zip(_numbers(keyed), runs, strict=False):
        if number >= len(found):
            break
        pieces += [line[end : found[number].start()], run]
        end = found[number].end()
    return b"".join([*pieces, line[end:]])
