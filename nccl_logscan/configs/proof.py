"""The proof of an edit: the file with it, read again, must set what it did but for the one setting.

Every syntax asks it of each edit that it gives; what none of them proves is no edit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import NamedTuple

from nccl_logscan.configs.edit import Edit, applied
from nccl_logscan.configs.model import Config, Form, Placed
from nccl_logscan.expressions import deferred

_END_OF_CONDITION = deferred(rb"\s*(?:#[^\n]*\n\s*)?\{[{%]-?\s*(?:end|else)")


class _Said(NamedTuple):
    """A setting without its place."""

    name: str
    value: str | None
    form: Form
    program: str | None
    mark: str
    scalar: str


def changes_just(config: Config, edit: Edit, placed: Placed, value: str | None) -> bool:
    """Return whether the file with the edit sets the same but for the one setting, which has the value or is gone.

    With it change what is the same bytes (an override, and the variable that it gives to Ray's workers) and what holds
    it (srun's --export, a string of options); with a call's keyword goes what the call that is its value was given.
    """
    gone, come = _compared(config, edit)
    meant = [other for other in config.settings if other == placed or _written_together(other, placed)]
    holders = [other for other in config.settings if _holds(other, placed)]
    is_call = value is None and placed.form is Form.PYTHON_KWARG
    held = [other for other in config.settings if is_call and _holds(placed, other)]
    is_done = gone[_said(placed)] > 0 or (value is not None and placed.value == value)
    if not is_done or gone - _said_of((*meant, *holders, *held)):
        return False
    new = _without(come, {other.name for other in holders})
    if value is None:
        # A variable that is exported by its name alone stays so.
        bare = [said for said in new if said[:3] == (placed.name, None, Form.EXPORT)]
        return len(bare) == len(new)
    names = {other.name for other in meant}
    is_meant = all(one.name in names and one.value == value for one in new)
    return is_meant and new.total() == (gone & _said_of(meant)).total()


def adds_just(config: Config, edit: Edit, name: str, value: str, times: int = 1) -> bool:
    """Return whether the file with the edit sets all that it did and the new setting besides, and nothing else.

    `times`: in how many places it is made. An override that sets a variable (ray_init.runtime_env.env_vars.X) is both,
    and counts once. What holds the place of the edit (srun's --export) may say more than it did.
    """
    gone, come = _compared(config, edit)
    holders = [other for other in config.settings if other.span.start <= edit.start <= other.span.end]
    said_anew = {said.name for said in gone}
    if gone - _said_of(holders) or said_anew - {said.name for said in come}:
        return False
    new = _without(come, said_anew)
    is_meant = all(_variable(one.name) == _variable(name) and one.value == value for one in new)
    made = [one for one in new.elements() if one.form is not Form.OVERRIDE or one.name == _variable(one.name)]
    return is_meant and len(made) == times


def _variable(name: str) -> str:
    """+a.env_vars.X → X; any other name as it is."""
    return name.partition("env_vars.")[2] or name


def in_condition(data: bytes, at: int) -> bool:
    """Return whether what follows ends a template's condition, so that what is written there holds within it only."""
    return _END_OF_CONDITION.match(data, at) is not None


def _compared(config: Config, edit: Edit) -> tuple[Counter[_Said], Counter[_Said]]:
    """Return which settings the edit takes away and which it brings; where it makes a fault, all of them."""
    from nccl_logscan.configs.read import syntax_named  # noqa: PLC0415 - the registry imports the syntaxes

    after = syntax_named(config.syntax).read(config.name, applied(config.data, [edit]))
    old, new = _said_of(config.settings), _said_of(after.settings)
    if len(after.faults) > len(config.faults):
        return old, new
    return old - new, new - old


def _said(placed: Placed) -> _Said:
    return _Said(placed.name, placed.value, placed.form, placed.program, placed.mark, placed.scalar)


def _said_of(settings: Iterable[Placed]) -> Counter[_Said]:
    return Counter(map(_said, settings))


def _without(said: Counter[_Said], names: Collection[str]) -> Counter[_Said]:
    return Counter({one: count for one, count in said.items() if one.name not in names})


def _written_together(other: Placed, placed: Placed) -> bool:
    forms = {Form.OVERRIDE, Form.RUNTIME_ENV}
    return other.span == placed.span and other.form in forms and placed.form in forms


def _holds(other: Placed, placed: Placed) -> bool:
    """Return whether a setting's value holds another setting."""
    if other == placed or other.value_span in {None, placed.value_span}:
        return False
    return other.span.start <= placed.span.start and placed.span.end <= other.span.end
