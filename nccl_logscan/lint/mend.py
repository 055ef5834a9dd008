"""The fixes of a job's files made together.

Each fix is proved by itself, and two of them may spoil what one leaves whole: a block without a command, an `export`
without a name, which prints the environment. So of fixes that stand side by side one is made, the files are read and
judged again, and so on until nothing is left to mend; what the first run has left, a second one does not find.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Container, Iterator, Sequence

from nccl_logscan.configs.edit import Edit
from nccl_logscan.configs.model import Config
from nccl_logscan.configs.read import syntax_named
from nccl_logscan.configs.rewriting import Rewriting
from nccl_logscan.expressions import deferred
from nccl_logscan.lint.made import FIX_BUDGET
from nccl_logscan.lint.model import Check, Remark, Versions
from nccl_logscan.lint.run import lint
from nccl_logscan.records import dataclass

_ROUNDS = 40
_BYTES = 1 << 20
"""Bounds for files that are made to have very many fixes side by side; what they leave is mended by a further run."""
_NEAR = 4096
_Place = tuple[int, int, bytes]
"""An edit's start, end and text."""

_WORD = deferred(rb"[\w.:/+-]+")
_COMMENT = (b"#", b"//")


@dataclass(frozen=True, slots=True)
class Mending:
    """What is done to one file: `edits` of it as it was, `data` as it is then, and the line of each fix."""

    config: Config
    edits: tuple[Edit, ...]
    data: bytes
    lines: tuple[int, ...]


@dataclass(slots=True)
class _File:
    """A file in the course of its rounds; `is_done` where further fixes would not leave it whole."""

    config: Config
    now: Config
    rewriting: Rewriting
    lines: list[int]
    is_done: bool = False


def mend(job: Sequence[Config], versions: Versions, wanted: Container[Check]) -> tuple[Mending, ...]:
    """Return what the fixes of the wanted checks do to a job's files; nothing for those without any."""
    files = [_File(config, config, Rewriting.of(config.data), []) for config in job]
    left = _BYTES
    for _ in range(_ROUNDS):
        remarks = lint([file.now for file in files], versions)
        fixes = [remark for remark in remarks if remark.check in wanted and remark.fix]
        made = False
        for file in files:
            own = [fix for fix in fixes if fix.at.source == file.config.name]
            made |= _one_round(file, own)
            # It is read for the round, and once more for each fix that has to be proved.
            size = len(file.config.data)
            left -= 2 * size + min(size * len(own), FIX_BUDGET)
        if not made or left < 0:
            break
    return tuple(
        Mending(file.config, file.rewriting.edits(), file.rewriting.data, tuple(file.lines))
        for file in files
        if file.rewriting.data != file.config.data
    )


def _one_round(file: _File, fixes: Sequence[Remark]) -> bool:
    """Make such fixes of a file as do not stand side by side; return whether there was any."""
    together = list(_together(file.now.data, fixes))
    if not together or file.is_done:
        return False
    after = file.rewriting.with_edits({edit for fix in together for edit in fix.fix})
    read = syntax_named(file.now.syntax).read(file.now.name, after.data)
    if len(read.faults) > len(file.now.faults) or after.data == file.now.data:
        file.is_done = True
        return False
    file.lines += (file.config.lines.line_of(file.rewriting.origin(fix.at.offset)) for fix in together)
    file.now, file.rewriting = read, after
    return True


def _together(data: bytes, fixes: Sequence[Remark]) -> Iterator[Remark]:
    """Yield the fixes that can be made at once: none of them overlap, and of what stands side by side one is."""
    words, others = list[_Place](), list[_Place]()
    for fix in fixes:
        places = [((edit.start, edit.end, edit.text), _is_word(data, edit)) for edit in dict.fromkeys(fix.fix)]
        if any(
            _overlap(place, words)
            or _overlap(place, others)
            or (not is_word and _is_beside_another(data, place, others))
            for place, is_word in places
        ):
            continue
        for place, is_word in places:
            insort(words if is_word else others, place)
        yield fix


def _neighbours(place: _Place, taken: Sequence[_Place]) -> tuple[_Place, ...]:
    """Return the edits before and behind one, of those that are made."""
    at = bisect_left(taken, place)
    return (*taken[max(0, at - 1) : at], *taken[at : at + 1])


def _overlap(place: _Place, taken: Sequence[_Place]) -> bool:
    """Whether an edit touches bytes of another one, or stands at the same place."""
    found = [sorted((place, other)) for other in _neighbours(place, taken)]
    return any(second[0] < first[1] or first[:2] == second[:2] for first, second in found)


def _is_beside_another(data: bytes, place: _Place, taken: Sequence[_Place]) -> bool:
    """Whether no line that stays stands between an edit and another one that takes something out, or puts it in."""
    for other in _neighbours(place, taken):
        first, second = sorted((place, other))
        begins_line = first[1] == 0 or data[first[1] - 1 : first[1]] == b"\n"
        # A line that stays is near, or the two are far from each other.
        between = data[first[1] : min(second[0], first[1] + _NEAR)]
        lines = between.split(b"\n")[not begins_line : None if second[0] > first[1] + _NEAR else -1]
        if not any(line.strip() and not line.lstrip().startswith(_COMMENT) for line in lines):
            return True
    return False


def _is_word(data: bytes, edit: Edit) -> bool:
    """Whether an edit writes one word in the place of another: a name, a number."""
    return bool(_WORD.fullmatch(data, edit.start, edit.end) and _WORD.fullmatch(edit.text))
