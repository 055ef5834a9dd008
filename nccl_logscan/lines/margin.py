"""What a paste or a tool put before every line of a source: an indentation, a quote's marks, numbers of cat or grep."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from nccl_logscan.expressions import deferred
from nccl_logscan.lines.prefixes import ANOTHERS
from nccl_logscan.lines.stamps import STAMP
from nccl_logscan.records import dataclass

LINES = 16
"""How many lines at a source's beginning tell whether it has a margin."""
_LEAST = 4
_BETWEEN_MATCHES = frozenset(("--", "..."))

_MAY_BEGIN = deferred(r"[ \t>]|\d{1,8}(?:[:|\t-]| {1,2}\S)|[\w./~-]{1,200}\.(?:log|txt|out|err|stdout|stderr)")
_QUOTE = deferred(r"(?:> ?){1,4}")
_FILE = r"([\w./~-]{1,200}\.(?:log|txt|out|err|stdout|stderr)(?:\.\d{1,4})?)[:-]"
_NUMBERED_FILE = deferred(_FILE + r"(\d{1,8})[:-]")
_BARE_FILE = deferred(_FILE)
_NUMBER = deferred(r"([ \t]*)(\d{1,8})([:-]| ?\| ?|\t| |$)")
_TIME_OF_DAY = deferred(r"\d\d:\d\d:\d\d")
_UNINDENTED = deferred(
    rf"{ANOTHERS}|[\[(]?{STAMP}|\[rank\d|\[?[IWEF]\d{{4}} \d\d:\d\d:\d\d|\[[\d :,-]{{8,24}}\]|WARNING: |\*{{8}}"
)
"""What no program indents."""


@dataclass(frozen=True, slots=True)
class Margin:
    """What stands before every line. `pattern` matches it at the start of a line."""

    pattern: re.Pattern[str]

    def off(self, text: str) -> str:
        """Return a line without it; a line that begins otherwise as it is."""
        match = self.pattern.match(text)
        return text[match.end() :] if match else text


def may_begin(text: str) -> bool:
    """Tell whether a source's first line may have a margin: few have what looks like one."""
    return _MAY_BEGIN.match(text) is not None


def margin_of(beginning: Sequence[str]) -> Margin | None:
    """Return the margin that all of a source's first lines have; None where they are too few to tell."""
    texts = [text for text in beginning if text.strip() and text not in _BETWEEN_MATCHES]
    if len(texts) < _LEAST:
        return None
    for pattern in (_QUOTE, _BARE_FILE):
        if all(map(pattern.match, texts)):
            return _numbers_of_files(texts) or Margin(pattern)
    return _numbers(texts) or _indentation(texts)


def _numbers_of_files(texts: Sequence[str]) -> Margin | None:
    """Tell grep's line numbers behind a file's name: they rise from line to line of one file."""
    matches = [match for match in map(_NUMBERED_FILE.match, texts) if match]
    rises = all(one[1] != next_one[1] or int(one[2]) < int(next_one[2]) for one, next_one in pairwise(matches))
    return Margin(_NUMBERED_FILE) if rises and len(matches) == len(texts) else None


def _numbers(texts: Sequence[str]) -> Margin | None:
    """Tell line numbers, which only rise, from srun's labels, behind which is a blank, and from lists and times."""
    matches = [match for match in map(_NUMBER.match, texts) if match]
    numbers = [int(match[2]) for match in matches]
    if len(matches) < len(texts) or any(after <= before for before, after in pairwise(numbers)):
        return None
    if all(map(_TIME_OF_DAY.match, texts)):
        return None
    if all(match[3] in {":", "-", ""} for match in matches):
        is_srun = all(match.string[match.end() :][:1] in {"", " "} for match in matches)
        return None if is_srun or any(match[1] for match in matches) else Margin(_NUMBER)
    is_counted = numbers[-1] - numbers[0] == len(numbers) - 1
    return Margin(_NUMBER) if is_counted and {match[3].strip(" ") for match in matches} <= {"", "\t", "|"} else None


def _indentation(texts: Sequence[str]) -> Margin | None:
    """Tell a paste's indentation from that of a log that begins within a traceback or a list, as `tail` leaves it."""
    least = min((text[: len(text) - len(text.lstrip(" \t"))] for text in texts), key=len)
    if not least or not all(text.startswith(least) for text in texts):
        return None
    is_pasted = any(_UNINDENTED.match(text, len(least)) for text in texts)
    return Margin(re.compile(re.escape(least))) if is_pasted else None
