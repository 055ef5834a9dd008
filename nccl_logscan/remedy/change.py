"""Where a setting stands in the user's files, and the diff that gives it another value, adds it or takes it out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.edit import Edit, applied, unified_diff
from nccl_logscan.configs.model import Config, Placed
from nccl_logscan.position import Position
from nccl_logscan.remedy.circumstances import Circumstances, Standing, frameworks_of
from nccl_logscan.remedy.naming import Named
from nccl_logscan.remedy.values import UNSET, is_value

_CONTEXTS = (3, 2, 1)
_LONGEST_DIFF = 16_384


@dataclass(frozen=True, slots=True)
class Change:
    """`where` and `present` as in PlannedStep. `is_wrong`: the setting is made, and otherwise than it should be."""

    where: Position | None = None
    present: str | None = None
    diff: str | None = None
    is_wrong: bool = False
    name: str | None = None


def change_of(wanted: Named, around: Circumstances, *, diff: bool) -> Change:
    """Return where the setting is made and the change of it; with `diff` False the place alone."""
    if made := _made(wanted, around):
        return _of_files(made, wanted, around, diff=diff)
    if logged := next((setting for setting in around.job.settings if setting.name in wanted.names), None):
        change = Change(logged.at, logged.value, is_wrong=_differs(logged.value, wanted.to), name=logged.name)
        if not diff or not change.is_wrong:
            return change
        added = _added(wanted, around) if wanted.to != UNSET else None
        return replace(change, diff=added.diff if added else None)
    if not diff or wanted.to in {None, UNSET}:
        return Change()
    return _added(wanted, around) or Change()


def _made(wanted: Named, around: Circumstances) -> tuple[Standing, ...]:
    """Return where the files make the setting, those of its own framework alone where several could be meant."""
    found = [standing for name in dict.fromkeys(wanted.names) for standing in around.standings(name)]
    if wanted.framework is not None:
        found = [one for one in found if one.placed.framework in {None, wanted.framework}]
    unique = {(one.config.name, one.placed.span.start, one.placed.name): one for one in found}
    order = {id(config): number for number, config in enumerate(around.configs)}
    return tuple(sorted(unique.values(), key=lambda one: (order[id(one.config)], one.placed.span.start)))


def _of_files(made: Sequence[Standing], wanted: Named, around: Circumstances, *, diff: bool) -> Change:
    wrong = [one for one in made if _differs(one.placed.value, wanted.to)]
    first = (wrong or made)[0]
    text = _diffs(wrong, wanted, around) if diff and wrong and wanted.to is not None else None
    return Change(first.placed.at, first.placed.value, text, bool(wrong), first.placed.name)


def _differs(present: str | None, to: str | None) -> bool:
    """Whether a setting that is made has another value than it should have; one without a value is not known to."""
    if to is None or to == UNSET:
        return True
    return present is not None and present.casefold() != to.casefold()


def _diffs(wrong: Sequence[Standing], wanted: Named, around: Circumstances) -> str | None:
    parts = []
    for _, group in groupby(wrong, key=lambda one: one.config.name):
        standings = tuple(group)
        config = standings[0].config
        edits = [_edit(config, one.placed, wanted, around) for one in standings]
        made = [edit for edit in edits if edit is not None]
        after = applied(config.data, made)
        if len(made) < len(edits) or not _holds(config, after, wanted, around):
            continue
        if text := diff_text(config, after, around.may_show):
            parts.append(text)
    return "".join(parts) or None


def _edit(config: Config, placed: Placed, wanted: Named, around: Circumstances) -> Edit | None:
    syntax = around.syntaxes.get(config.syntax)
    if syntax is None or wanted.to is None:
        return None
    if wanted.to == UNSET:
        return syntax.remove(config, placed)
    value = fitted(wanted.to, config)
    return syntax.change(config, placed, value) if value is not None and is_value(wanted.kind, value) else None


def _added(wanted: Named, around: Circumstances) -> Change | None:
    """Return the change that makes the setting in the first file that has a place for it."""
    if wanted.to is None or not is_value(wanted.kind, wanted.to):
        return None
    for config in _places_for(wanted, around):
        syntax = around.syntaxes.get(config.syntax)
        value = fitted(wanted.to, config)
        if syntax is None or value is None:
            continue
        for name in _names_for(wanted, config):
            edit = syntax.add(config, wanted.kind, name, value)
            after = applied(config.data, [edit]) if edit else config.data
            if edit is None or not _holds(config, after, wanted, around):
                continue
            if text := diff_text(config, after, around.may_show):
                return Change(_first_line(config, edit), None, text, name=name)
    return None


def _places_for(wanted: Named, around: Circumstances) -> Iterator[Config]:
    """Yield the files that may make the setting: any that starts the job for a variable, else its framework's own."""
    if wanted.kind is Kind.ENV:
        yield from sorted(around.configs, key=lambda config: not config.launches)
        return
    for config in around.configs:
        if wanted.framework is not None and wanted.framework in set(frameworks_of(config)):
            yield config


def _names_for(wanted: Named, config: Config) -> Iterable[str]:
    return (wanted.name,) if config.syntax != "python" else dict.fromkeys((wanted.name, *wanted.names))


def _first_line(config: Config, edit: Edit) -> Position:
    """Return the line that an insertion begins in: the one after, where it begins with the end of a line."""
    start = edit.start + (edit.text.startswith(b"\n") and edit.start < len(config.data))
    return config.lines.position(config.name, start)


def _holds(config: Config, after: bytes, wanted: Named, around: Circumstances) -> bool:
    """Whether the changed file, read again, makes the setting as wanted and all other settings as before."""
    again = around.syntaxes[config.syntax].read(config.name, after)
    names = set(wanted.names) | {wanted.name}
    mine = Circumstances(around.job, (again,), around.syntaxes, around.catalogue)
    now = {id(one.placed): one.placed for name in names for one in mine.standings(name)}
    if wanted.to == UNSET:
        right = not now
    else:
        right = bool(now) and not any(_differs(placed.value, fitted(wanted.to or "", config)) for placed in now.values())
    earlier = Circumstances(around.job, (config,), around.syntaxes, around.catalogue)
    before = {id(one.placed) for name in names for one in earlier.standings(name)}
    return right and _others(config, before) == _others(again, set(now)) and len(again.faults) <= len(config.faults)


def _others(config: Config, mine: set[int]) -> list[tuple[str, str | None]]:
    return [(placed.name, placed.value) for placed in config.settings if id(placed) not in mine]


def diff_text(config: Config, after: bytes, may_show: Callable[[str], bool]) -> str | None:
    """Return the change of a file as text, with as many lines around it as hold no secret.

    None for no change, and where the text could not be shown as it is: bytes that are no UTF-8, a secret beside it.
    """
    for context in _CONTEXTS:
        data = unified_diff(config.name, config.data, after, context)
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            return None
        if len(text) <= _LONGEST_DIFF and "\r" not in text and all(map(may_show, text.split("\n"))):
            return text or None
    return None


_TIMEDELTA_CALL = re.compile(r"\bdatetime\.timedelta\(")
_IMPORTS_MODULE = re.compile(rb"^[ \t]*import datetime\b(?! as)", re.MULTILINE)
_IMPORTS_NAME = re.compile(rb"^[ \t]*from datetime import [^\n]*\btimedelta\b(?! as)", re.MULTILINE)


def fitted(to: str, config: Config) -> str | None:
    """Return a value as a file can hold it: in Python with names that it imports; None where it imports none."""
    if config.syntax != "python" or not _TIMEDELTA_CALL.search(to):
        return to
    if _IMPORTS_MODULE.search(config.data):
        return to
    return _TIMEDELTA_CALL.sub("timedelta(", to) if _IMPORTS_NAME.search(config.data) else None
