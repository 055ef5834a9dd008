"""The skim in Python: what kernel.c does, line by line and said again, for where it could not be built."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Collection, Iterator

from ahocorasick_rs import AhoCorasick

from nccl_logscan.events.words import START, Needs
from nccl_logscan.records import dataclass, field, replace
from nccl_logscan.skim.told import (
    AROUND,
    KEY,
    LONGEST,
    MOST_CLASSES,
    MOST_SHAPES,
    MOST_UNREAD,
    NO_PREFIX,
    Answer,
    Ask,
    Key,
    Tale,
    Told,
)

RUN = re.compile(rb"[a-fA-F]*[0-9][0-9a-fA-F]*")
"""A run: hexadecimal digits of which one at least is decimal."""
_PART = re.compile(rb"\r(?!\n|\Z)")
_ASCII_LOWER = bytes(range(256)).lower()
_MOST_MET = 1 << 18
_OFTEN = 255
_MOST_PREFIXES = 1 << 11
_PREFIX_LENGTHS = 64
_NONE_YET = b"\n"
"""Is no key, nor what stands for one that is too long."""
_DOUBTFUL = re.compile(rb"[:|\t\x1b]")


@dataclass(slots=True)
class _Line:
    """A line where it stands; `is_out`: it was handed out."""

    number: int
    offset: int
    text: bytes
    counted: Key | None = None
    tally: int = 0
    is_out: bool = False


@dataclass(slots=True)
class _Class:
    """One class; `here` are its last lines in the segment, `kept` its last ones with those of the segments before."""

    firsts: int
    lasts: int
    count: int = 0
    here: deque[_Line] = field(default_factory=deque)
    kept: deque[tuple[int, _Line]] = field(default_factory=deque)
    reading_until: int = -1
    changing: bytes | None = _NONE_YET
    speaks: bool = False


def shape_of(text: bytes) -> bytes | None:
    """Return a part of a line without its runs; None where it has no shape and its line is read for that."""
    return None if len(text) > LONGEST or b"\0" in text else RUN.sub(b"", text)


def key_of(text: bytes, wanted: int) -> bytes | None:
    """Return the runs of a text that bits ask for; None where they are too long for a key."""
    if not wanted:
        return b""
    runs = RUN.findall(text)
    key = b"".join(run + b" " for number, run in enumerate(runs) if wanted >> min(number, 63) & 1)
    return key if len(key) <= KEY else None


class PlainSkimmer:
    """The skim in Python as a `Skimmer`."""

    def __init__(self) -> None:
        self._answers: dict[bytes, Answer] = {}
        self._classes: dict[Key, _Class] = {}
        self._unread = 0
        self._groups_seen: set[bytes] = set()
        self._words: AhoCorasick | None = None
        self._needs: list[Needs] = []
        self._owners: list[set[int]] = []
        self._met: Counter[bytes] = Counter()
        self._prefixes: dict[bytes, Answer] = {}
        self._prefix_lengths: list[int] = []
        self._tale = Tale()
        self._held = 0
        self._begin(0)

    def learn_needs(self, needs: Collection[Needs]) -> None:
        """See `Skimmer`."""
        self._needs = list(needs)
        owners: dict[str, set[int]] = {}
        for number, sets in enumerate(self._needs):
            for word in sets[0]:
                owners.setdefault(word, set()).add(number)
        self._owners = list(owners.values())
        self._words = AhoCorasick(list(owners), store_patterns=False)

    @property
    def held(self) -> int:
        """See `Skimmer`."""
        return self._held

    def _begin(self, segment: int) -> None:
        self._segment = segment
        self._touched: dict[Key, _Class] = {}
        self._around_until = self._reading_until = -1
        self._boundary_seen = False
        self._awaits = True  # for a line of the segment before
        self._before: deque[_Line] = deque(maxlen=AROUND)

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
        self._go_behind(number, at, buffer, end, base=base, ask=ask)
        self._keep_lasts()
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

    # --- a line and its parts -----------------------------------------------------------------------------

    def _line(self, line: _Line, ask: Ask) -> None:
        parts = _PART.split(line.text)
        whole: Answer | None = None
        speaker = parts[0]
        for number, part in enumerate(parts):
            answer = self._answer(part, ask, is_first=number == 0)
            if answer is None:
                self._hand_out(line)
                return
            if len(parts) == 1:
                self._follow(line, part, answer)
                return
            if not (answer.folds and answer.plain):
                self._hand_out(line)
                return
            if part and whole is None:
                bulk = Answer(folds=True, tally=answer.tally, sayer=answer.sayer, of_sayer=answer.of_sayer, plain=True)
                whole, speaker = replace(bulk, awaited=answer.awaited), part
            elif part and whole is not None:
                whole = replace(whole, tally=answer.tally, awaited=whole.awaited or answer.awaited)
        if whole is not None:
            self._fold(line, speaker, whole, None)

    def _answer(self, part: bytes, ask: Ask, *, is_first: bool) -> Answer | None:
        shape = shape_of(part)
        if shape is None:
            return None
        answer = self._answers.get(shape)
        if answer is None:
            answer = self._of_prose(part, shape) if is_first else None
        if answer is None:
            answer = ask(part, shape)
            if answer.prefix != NO_PREFIX:
                self._learn_prefix(shape, answer)
            if not answer.once and len(self._answers) < MOST_SHAPES:
                self._answers[shape] = answer
        return answer

    def _follow(self, line: _Line, part: bytes, answer: Answer) -> None:
        if answer.folds:
            shape = shape_of(part)
            self._fold(line, part, answer, shape if shape in self._answers else None)
        else:
            self._keep(line, part, answer)

    # --- text without meaning -----------------------------------------------------------------------------

    def _learn_prefix(self, shape: bytes, answer: Answer) -> None:
        prefix = shape[: answer.prefix]
        if len(prefix) not in self._prefix_lengths:
            if len(self._prefix_lengths) == _PREFIX_LENGTHS:
                return
            self._prefix_lengths = sorted([*self._prefix_lengths, len(prefix)], reverse=True)
        if len(self._prefixes) < _MOST_PREFIXES:
            self._prefixes.setdefault(prefix, answer)

    def _of_prose(self, part: bytes, shape: bytes) -> Answer | None:
        """Answer for a part of an unknown shape that holds no word: as its prefix is, unless it was met often."""
        if self._words is None or (self._met[shape] >= _OFTEN and len(self._answers) < MOST_SHAPES):
            return None
        lengths = (
            length for length in self._prefix_lengths if length <= len(shape) and shape[:length] in self._prefixes
        )
        length = next(lengths, None)
        if length is None or shape[length : length + 1] in {b"", b" "} or (not length and not _is_bare(part)):
            return None
        if self._may_mean(part[_behind(part, length) :]):
            return None
        known = self._prefixes[shape[:length]]
        if len(self._met) >= _MOST_MET:
            self._met.clear()
        self._met[shape] += 1
        return Answer(folds=True, tally=known.tally, sayer=known.sayer, of_sayer=known.of_sayer, plain=True)

    def _may_mean(self, text: bytes) -> bool:
        """Return whether a text holds all that one of the needs asks for."""
        assert self._words is not None
        lowered = START + text.translate(_ASCII_LOWER).decode("latin-1")
        found = {word for word, _, _ in self._words.find_matches_as_indexes(lowered, overlapping=True)}
        numbers = frozenset().union(*(self._owners[word] for word in found))
        return any(all(any(word in lowered for word in words) for words in self._needs[number]) for number in numbers)

    # --- what becomes of a line ---------------------------------------------------------------------------

    def _keep(self, line: _Line, part: bytes, answer: Answer) -> None:
        if answer.boundary and not self._boundary_seen:
            self._boundary_seen = True
            self._report_last_words()
        self._is_awaited(answer)
        if answer.window:
            sayer = self._sayer(part, answer)
            if sayer is None:
                self._reading_until = max(self._reading_until, line.number + answer.window)
            else:
                sayer.reading_until = max(sayer.reading_until, line.number + answer.window)
        self._hand_out(line, around=answer.around)

    def _fold(self, line: _Line, part: bytes, answer: Answer, shape: bytes | None) -> None:
        is_read = line.number <= self._reading_until
        is_read = self._enter_class(line, answer) or is_read
        is_read = self._enter_sayer(line, part, answer) or is_read
        if answer.group_first and (shape is None or shape not in self._groups_seen):
            if shape is not None:
                self._groups_seen.add(shape)
            self._put(line, is_first_of_group=True, chosen=(answer.group, b""))
        is_read = self._is_awaited(answer) or is_read
        if is_read or _is_at_most_one(line.text, answer.watched):
            self._hand_out(line)
        elif not line.is_out and line.number <= self._around_until:
            self._put(line, is_read=False)

    def _enter_class(self, line: _Line, answer: Answer) -> bool:
        """Count a line; return whether there is a reason to read it."""
        if not answer.group:
            self._count_tally(line, answer)
            return False
        key, class_ = self._class_for(line, answer)
        if key is None or class_ is None:
            if answer.firsts:
                return True  # it is not counted, since it is read
            self._count_tally(line, answer)
            return False
        line.counted = key
        is_read = False
        if answer.changing:
            now = key_of(line.text, answer.changing)
            is_read = now != class_.changing
            if is_read and class_.here:
                self._put(class_.here[-1])
            class_.changing = now
        class_.here.append(line)
        if len(class_.here) > class_.lasts:
            class_.here.popleft()
        class_.count += 1
        if class_.count <= class_.firsts:
            self._hand_out(line, is_first=True, chosen=key, around=answer.around)
        return is_read

    def _class_for(self, line: _Line, answer: Answer) -> tuple[Key | None, _Class | None]:
        """Return the class of a line with its key; None where the key is too long, or there is no room for one more."""
        runs = key_of(line.text, answer.keyed)
        if runs is None:
            return None, None
        key = (answer.group, runs)
        class_ = self._class(key, answer.firsts, answer.lasts, is_unread=bool(answer.spare) and not answer.firsts)
        if class_ is not None or not answer.spare:
            return key, class_
        runs = key_of(line.text, answer.spare_keyed)
        key = (answer.spare, runs or b"")
        return key, None if runs is None else self._class(key, 0, 0)

    def _enter_sayer(self, line: _Line, part: bytes, answer: Answer) -> bool:
        """Enter a line among those of its sayer; return whether there is a reason to read it."""
        sayer = self._sayer(part, answer)
        if sayer is None:
            return False
        sayer.speaks = True
        sayer.here.clear()
        sayer.here.append(line)
        sayer.count += 1
        if sayer.count == 1:
            runs = key_of(part, answer.of_sayer)
            assert runs is not None
            self._hand_out(line, is_first=True, chosen=(answer.sayer, runs))
        return line.number <= sayer.reading_until

    def _sayer(self, part: bytes, answer: Answer) -> _Class | None:
        runs = key_of(part, answer.of_sayer) if answer.sayer else None
        return None if runs is None else self._class((answer.sayer, runs), 1, 1)

    def _class(self, key: Key, firsts: int, lasts: int, *, is_unread: bool = False) -> _Class | None:
        class_ = self._classes.get(key)
        if class_ is None:
            if len(self._classes) >= MOST_CLASSES or (is_unread and self._unread >= MOST_UNREAD):
                self._tale.overflowed = True
                return None
            self._unread += is_unread
            class_ = self._classes[key] = _Class(firsts, lasts)
        if key not in self._touched:
            self._touched[key] = class_
            class_.reading_until, class_.changing = -1, _NONE_YET
        return class_

    def _count_tally(self, line: _Line, answer: Answer) -> None:
        line.tally = answer.tally
        self._tale.tallies[answer.tally] = self._tale.tallies.get(answer.tally, 0) + 1

    def _is_awaited(self, answer: Answer) -> bool:
        """Return whether a line was waited for, which a line that awaits another may have been as well."""
        is_awaited = self._awaits and answer.awaited
        self._awaits = answer.awaits or (self._awaits and not answer.awaited)
        return is_awaited

    # --- lines handed out ---------------------------------------------------------------------------------

    def _hand_out(
        self, line: _Line, *, is_first: bool = False, chosen: Key | None = None, around: bool = False
    ) -> None:
        if around:
            for other in self._before:
                if not other.is_out:
                    self._put(other, is_read=False)
            self._around_until = max(self._around_until, line.number + AROUND)
        self._put(line, is_first=is_first, chosen=chosen, is_centre=around)

    def _put(
        self,
        line: _Line,
        *,
        is_read: bool = True,
        is_first: bool = False,
        is_first_of_group: bool = False,
        chosen: Key | None = None,
        is_centre: bool = False,
    ) -> None:
        line.is_out = True
        self._held += len(line.text)
        self._tale.lines.append(
            Told(
                self._segment,
                line.number,
                line.offset,
                line.text,
                is_read,
                is_first,
                False,
                is_first_of_group,
                is_centre,
                chosen,
                line.counted,
                line.tally,
            )
        )

    def _report_last_words(self) -> None:
        for class_ in self._touched.values():
            if class_.speaks and class_.here:
                self._put(class_.here[-1])

    def _keep_lasts(self) -> None:
        for class_ in self._touched.values():
            class_.kept.extend((self._segment, line) for line in class_.here)
            while len(class_.kept) > class_.lasts:
                class_.kept.popleft()
            class_.here.clear()

    def _go_behind(self, number: int, at: int, buffer: bytearray, end: int, *, base: int, ask: Ask) -> None:
        """Hand out what lies behind the segment and belongs to its last lines."""
        windows = max((class_.reading_until for class_ in self._touched.values()), default=-1)
        until = max(self._reading_until, windows)
        for line in _lines_behind(number, at, buffer, end, base=base, until=max(until, self._around_until)):
            parts = _PART.split(line.text)
            is_read = line.number <= self._reading_until
            answer = self._answer(parts[0], ask, is_first=True) if line.number <= until else None
            if answer is not None and answer.folds:
                is_read = self._is_in_window(line, parts[0], answer) or is_read
                if is_read:
                    self._note_count(line, answer, is_whole=len(parts) == 1)
            if is_read or line.number <= self._around_until:
                self._put(line, is_read=is_read)

    def _is_in_window(self, line: _Line, part: bytes, answer: Answer) -> bool:
        if not answer.sayer or len(self._classes) >= MOST_CLASSES:
            return False
        runs = key_of(part, answer.of_sayer)
        sayer = None if runs is None else self._touched.get((answer.sayer, runs))
        return sayer is not None and line.number <= sayer.reading_until

    def _note_count(self, line: _Line, answer: Answer, *, is_whole: bool) -> None:
        """Note what a line that the segment behind counts is counted in there, if it is read here as well."""
        if not answer.group or not is_whole:
            line.tally = answer.tally
            return
        key, class_ = self._class_for(line, answer)
        if class_ is not None:
            line.counted = key
        elif not answer.firsts:
            line.tally = answer.tally

    def tell(self) -> Tale:
        """See `Skimmer`."""
        tale, self._tale, self._held = self._tale, Tale(), 0
        classes, self._classes = self._classes, {}
        self._unread = 0
        self._groups_seen.clear()
        for key, class_ in classes.items():
            tale.counts[key] = class_.count
            tale.lines.extend(
                Told(
                    segment,
                    line.number,
                    line.offset,
                    line.text,
                    True,
                    is_last=True,
                    chosen=key,
                    counted=line.counted,
                    tally=line.tally,
                )
                for segment, line in class_.kept
            )
        return tale


def _lines_behind(number: int, at: int, buffer: bytearray, end: int, *, base: int, until: int) -> Iterator[_Line]:
    while at < end and number <= until:
        feed = buffer.find(b"\n", at, end)
        if feed < 0:
            return
        yield _Line(number, base + at, bytes(buffer[at:feed]))
        number, at = number + 1, feed + 1


def _behind(text: bytes, shown: int) -> int:
    """Return where in a text the byte of its shape before `shown` stands, plus one: a prefix ends there."""
    at, left = 0, shown
    for run in RUN.finditer(text):
        if left <= run.start() - at:
            break
        left -= run.start() - at
        at = run.end()
    return at + left if shown else 0


def _is_bare(text: bytes) -> bool:
    """Whether a line that begins so cannot have a prefix: no digit, bracket or mark stands where one would."""
    if not text or text[:1] in {b"(", b"[", b"{", b"<", b"#", b"%"}:
        return False
    word = text[:128].partition(b" ")[0] if text[:1] != b" " else text[:1] + text[1:128].partition(b" ")[0]
    return not (_DOUBTFUL.search(text[:128]) or b"-" in word or any(48 <= byte <= 57 for byte in text[:24]))


def _is_at_most_one(text: bytes, watched: int) -> bool:
    if watched < 0:
        return False
    runs = RUN.findall(text)
    return watched < len(runs) and runs[watched].lstrip(b"0") in {b"", b"1"}
