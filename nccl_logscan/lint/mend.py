"""The fixes of a job's files made together.

Each fix is proved by itself, and two of them may spoil what one leaves whole: a block without a command, an `export`
without a name, which prints the environment. So of fixes that stand side by side one is made, the files are read and
judged again, and so on until nothing is left to mend; what the first run has left, a second one does not find.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from nccl_logscan.configs.edit import Edit
from nccl_logscan.configs.model import Config
from nccl_logscan.configs.read import syntax_named
from nccl_logscan.configs.rewriting import Rewriting
from nccl_logscan.lint.model import Check, Remark, Versions
from nccl_logscan.lint.run import lint

_ROUNDS = 40
_BYTES = 4 << 20
"""Bounds for files that are made to have very many fixes side by side; what they leave is mended by a further run."""
_WORD = re.compile(rb"[\w.:/+-]+")
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
        made = [_one_round(file, [fix for fix in fixes if fix.at.source == file.config.name]) for file in files]
        left -= sum(len(file.config.data) for file in files)
        if not any(made) or left < 0:
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
    taken: list[Edit] = []
    for fix in fixes:
        if not any(_interfere(data, one, other) for one in fix.fix for other in taken):
            taken += fix.fix
            yield fix


def _interfere(data: bytes, one: Edit, other: Edit) -> bool:
    """Whether two edits may spoil each other: they overlap, or take out or add what no line that stays parts."""
    first, second = sorted((one, other), key=lambda edit: (edit.start, edit.end))
    if first == second:
        return False
    if second.start < first.end or (first.start, first.end) == (second.start, second.end):
        return True
    if _is_word(data, first) or _is_word(data, second):
        return False
    lines = data[first.end : second.start].split(b"\n")
    begins_line = first.end == 0 or data[first.end - 1 : first.end] == b"\n"
    return not any(line.strip() and not line.lstrip().startswith(_COMMENT) for line in lines[not begins_line : -1])


def _is_word(data: bytes, edit: Edit) -> bool:
    """Whether an edit writes one word in the place of another: a name, a number."""
    return bool(_WORD.fullmatch(data, edit.start, edit.end) and _WORD.fullmatch(edit.text))
