"""The skim in Python: what kernel.c does, line by line and said again, for where it could not be built."""

from __future__ import annotations

import re
from collections import deque

from nccl_logscan.records import dataclass, field
from nccl_logscan.skim.told import AROUND, KEY, LONGEST, MOST_CLASSES, MOST_SHAPES, Answer, Ask, Key, Told

RUN = re.compile(rb"[a-fA-F]*[0-9][0-9a-fA-F]*")
"""A run: hexadecimal digits of which one at least is decimal."""


@dataclass(slots=True)
class _Line:
    """A line where it stands; `is_out`: it was handed out."""

    number: int
    offset: int
    text: bytes
    is_out: bool = False


@dataclass(slots=True)
class _Class:
    """One class; `here` are its last lines in the segment, `kept` its last ones with those of the segments before."""

    answer: Answer
    count: int = 0
    here: deque[_Line] = field(default_factory=deque)
    kept: deque[tuple[int, _Line]] = field(default_factory=deque)


def shape_of(text: bytes) -> bytes | None:
    """Return a line without its runs; None where it has no shape and is read for that."""
    if len(text) > LONGEST or b"\0" in text or b"\r" in text[:-1]:
        return None
    return RUN.sub(b"", text)


def key_of(text: bytes, keyed: int) -> bytes | None:
    """Return the runs of a line that the bits of `keyed` ask for; None where they are too long for a key."""
    runs = RUN.findall(text)
    key = b"".join(run + b" " for number, run in enumerate(runs) if keyed >> min(number, 63) & 1)
    return key if len(key) <= KEY else None


class PlainSkimmer:
    """The skim in Python as a `Skimmer`."""

    def __init__(self) -> None:
        self._answers: dict[bytes, Answer] = {}
        self._classes: dict[Key, _Class] = {}
        self._told: list[Told] = []
        self._held = 0
        self._begin(0)

    def _begin(self, segment: int) -> None:
        self._segment = segment
        self._touched: dict[Key, _Class] = {}
        self._around_until = self._reading_until = -1
        self._boundary_seen = False
        self._awaits = True  # for a line of the segment before
        self._before: deque[_Line] = deque(maxlen=AROUND)

    @property
    def held(self) -> int:
        """See `Skimmer`."""
        return self._held

    def skim(self, buffer: bytearray, start: int, own_end: int, end: int, *, base: int, segment: int, ask: Ask) -> int:
        """See `Skimmer`."""
        self._begin(segment)
        self._look_back(bytes(buffer[:start]), base)
        number, at = 0, start
        while at < own_end:
            feed = buffer.find(b"\n", at, end)
            stop = end if feed < 0 else feed
            line = _Line(number, base + at, bytes(buffer[at:stop]))
            self._line(line, ask)
            self._before.append(line)
            number, at = number + 1, stop + 1
        self._keep_lasts()
        self._run_out(number, at, buffer, end, base)
        return number

    def _look_back(self, lead: bytes, base: int) -> None:
        lines = lead.split(b"\n")[:-1]
        if base > 0:
            del lines[:1]  # what the buffer begins with may be the rest of a line
        at = base + len(lead)
        found: list[_Line] = []
        for back, text in enumerate(reversed(lines[-AROUND:]), start=1):
            at -= len(text) + 1
            found.append(_Line(-back, at, text))
        self._before.extend(reversed(found))

    def _line(self, line: _Line, ask: Ask) -> None:
        shape = shape_of(line.text)
        if shape is None:
            self._hand_out(line)
            return
        answer = self._answers.get(shape)
        if answer is None:
            answer = ask(line.text, shape)
            if not answer.once and len(self._answers) < MOST_SHAPES:
                self._answers[shape] = answer
        if answer.folds:
            self._count(line, answer)
            return
        if answer.boundary and not self._boundary_seen:
            self._boundary_seen = True
            self._report_last_words()
        self._is_awaited(answer)
        if answer.window:
            self._reading_until = max(self._reading_until, line.number + answer.window)
        self._hand_out(line, around=answer.around)

    def _count(self, line: _Line, answer: Answer) -> None:
        runs = key_of(line.text, answer.keyed)
        key = None if runs is None else (answer.group, runs)
        if key is None or (key not in self._classes and len(self._classes) >= MOST_CLASSES):
            self._hand_out(line, around=answer.around)
            return
        class_ = self._touched[key] = self._classes.setdefault(key, _Class(answer))
        class_.here.append(line)
        if len(class_.here) > class_.answer.lasts:
            class_.here.popleft()
        class_.count += 1
        if class_.count <= class_.answer.firsts:
            self._hand_out(line, key=key, is_first=True, around=answer.around)
        if self._is_awaited(answer) or _is_at_most_one(line.text, answer.watched) or line.number <= self._reading_until:
            self._hand_out(line, key=key)
        elif not line.is_out and line.number <= self._around_until:
            self._put(line, is_read=False)

    def _is_awaited(self, answer: Answer) -> bool:
        """Return whether a line was waited for, which a line that awaits another may have been as well."""
        is_awaited = self._awaits and answer.awaited
        self._awaits = answer.awaits or (self._awaits and not answer.awaited)
        return is_awaited

    def _hand_out(self, line: _Line, *, key: Key | None = None, is_first: bool = False, around: bool = False) -> None:
        if around:
            for other in self._before:
                if not other.is_out:
                    self._put(other, is_read=False)
            self._around_until = max(self._around_until, line.number + AROUND)
        self._put(line, key=key, is_first=is_first, is_centre=around)

    def _put(
        self,
        line: _Line,
        *,
        is_read: bool = True,
        key: Key | None = None,
        is_first: bool = False,
        is_centre: bool = False,
    ) -> None:
        line.is_out = True
        self._held += len(line.text)
        place = (self._segment, line.number, line.offset, line.text)
        self._told.append(Told(*place, is_read, is_first, False, is_centre, key))

    def _report_last_words(self) -> None:
        for key, class_ in self._touched.items():
            if class_.answer.speaks and class_.here:
                last = class_.here[-1]
                self._put(last, key=key)

    def _keep_lasts(self) -> None:
        for class_ in self._touched.values():
            class_.kept.extend((self._segment, line) for line in class_.here)
            while len(class_.kept) > class_.answer.lasts:
                class_.kept.popleft()
            class_.here.clear()

    def _run_out(self, number: int, at: int, buffer: bytearray, end: int, base: int) -> None:
        while at < end and number <= max(self._around_until, self._reading_until):
            feed = buffer.find(b"\n", at, end)
            if feed < 0:
                return
            line = _Line(number, base + at, bytes(buffer[at:feed]))
            self._put(line, is_read=number <= self._reading_until)
            number, at = number + 1, feed + 1

    def tell(self) -> tuple[list[Told], dict[Key, int]]:
        """See `Skimmer`."""
        told, self._told, self._held = self._told, [], 0
        classes, self._classes = self._classes, {}
        for key, class_ in classes.items():
            told.extend(
                Told(segment, line.number, line.offset, line.text, True, False, True, False, key)
                for segment, line in class_.kept
            )
        return told, {key: class_.count for key, class_ in classes.items()}


def _is_at_most_one(text: bytes, watched: int) -> bool:
    if watched < 0:
        return False
    runs = RUN.findall(text)
    return watched < len(runs) and runs[watched].lstrip(b"0") in {b"", b"1"}
