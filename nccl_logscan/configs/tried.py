"""Whether an edit does what it is to do: the file with it is read again and compared, setting by setting."""

from __future__ import annotations

import re
from collections import Counter

from nccl_logscan.configs.edit import Edit, applied
from nccl_logscan.configs.model import Config, Form, Placed


def adds_just(config: Config, edit: Edit, name: str, value: str, times: int) -> bool:
    """Return whether the file with the edit sets all that it did and the new setting besides, and nothing else."""
    gone, come = _compared(config, edit)
    return not gone and come.total() == times and all(said[:2] == (name, value) for said in come)


def changes_just(config: Config, edit: Edit, placed: Placed, value: str | None) -> bool:
    """Return whether the file with the edit sets the same but for the one setting, which has the value or is gone."""
    gone, come = _compared(config, edit)
    if value is None:
        # With a keyword goes what the call that is its value was given.
        begin, end = placed.span.start, placed.span.end
        is_keyword = placed.form is Form.PYTHON_KWARG
        within = [one for one in config.settings if is_keyword and begin <= one.span.start < end] or [placed]
        return not come and gone[_said(placed)] > 0 and not gone - Counter(map(_said, within))
    if gone.total() > 1 or any(said[0] != placed.name for said in gone):
        return False
    return come.total() <= 1 and all(said[:2] == (placed.name, value) for said in come)


def in_condition(data: bytes, at: int) -> bool:
    """Return whether what follows ends a template's condition, so that what is written there holds within it only."""
    return _END.match(data, at) is not None


_END = re.compile(rb"\s*(?:#[^\n]*\n\s*)?\{[{%]-?\s*(?:end|else)")
_Said = tuple[str, str | None, Form, str]


def _compared(config: Config, edit: Edit) -> tuple[Counter[_Said], Counter[_Said]]:
    """Return which settings the edit takes away and which it brings; a new fault counts as both."""
    from nccl_logscan.configs.read import syntax_named  # noqa: PLC0415 - the registry imports the syntaxes

    after = syntax_named(config.syntax).read(config.name, applied(config.data, [edit]))
    old, new = Counter(map(_said, config.settings)), Counter(map(_said, after.settings))
    if len(after.faults) != len(config.faults):
        return old, new
    return old - new, new - old


def _said(placed: Placed) -> _Said:
    return placed.name, placed.value, placed.form, placed.scalar
