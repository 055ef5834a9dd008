"""The values that steps give to settings: relative to the present one, durations in the setting's own unit.

A rule writes a value; or `unset`; or how the present value has to change: `half`, `double`, `three quarters`,
`at least 22`, `at most 8`. What has to be smaller cannot be made so without knowing how large it is.
"""

from __future__ import annotations

import re

from nccl_logscan.catalogue.load import catalogue
from nccl_logscan.catalogue.model import Kind, Option
from nccl_logscan.expressions import deferred

_AT_LEAST = "at least "
_AT_MOST = "at most "
UNSET = "unset"
"""What a rule gives as the value of a setting that is to go."""

_SECONDS = {"milliseconds": 0.001, "ms": 0.001, "seconds": 1.0, "s": 1.0, "minutes": 60.0, "min": 60.0, "hours": 3600.0}
_TIMEDELTA = deferred(r"(?:datetime\.)?timedelta\((seconds|minutes|hours|milliseconds)=(\d+(?:\.\d+)?)\)")
_NUMBER = deferred(r"\d+(?:\.\d+)?")


def seconds_in(value: str | None, unit: str | None) -> float | None:
    """Return a duration in seconds: a timedelta, or a number of a unit of time; None for anything else."""
    if value is None:
        return None
    value = value.removeprefix(_AT_LEAST)
    if match := _TIMEDELTA.fullmatch(value):
        return float(match[2]) * _SECONDS[match[1]]
    if unit in _SECONDS and _NUMBER.fullmatch(value):
        return float(value) * _SECONDS[unit]
    return None


def converted(seconds: float, option: Option) -> str:
    """Return a duration as an option takes it: a number of its unit, or a timedelta."""
    unit = option.domain.unit or ""
    if unit in _SECONDS:
        return f"{seconds / _SECONDS[unit]:g}"
    return f"datetime.timedelta(minutes={seconds / 60:g})"


def is_value(kind: Kind, to: str) -> bool:
    """Return whether `to` can be written into a file as it stands, rather than describing what to write."""
    if kind is Kind.PYTHON_KWARG:
        return _is_expression(to)
    return bool(to) and not re.search(r"\s", to)


_ONLY_PARSE = 0x400
"""`ast.PyCF_ONLY_AST`, without the import."""


def _is_expression(text: str) -> bool:
    try:
        compile(text, "value", "eval", _ONLY_PARSE, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


_ANYWHERE = frozenset({UNSET, "-1", "localhost:0"})


def depends_on_site(name: str, to: str) -> bool:
    """Return whether only the site can tell the right value: the name of an interface, an adapter, a node, an index.

    Taking a setting out, leaving the choice to NCCL and excluding the usual virtual interfaces are right anywhere.
    """
    return to not in _ANYWHERE and not is_exclusion(to) and _is_of_site(name)


def _is_of_site(name: str) -> bool:
    known = catalogue()
    variable = known.variable(name)
    return (variable is not None and variable.of_site) or any(option.of_site for option in known.options_called(name))


def is_exclusion(value: str) -> bool:
    """Return whether a list of interfaces or adapters says which not to use."""
    return value.startswith("^")


# --- Values relative to the present one ------------------------------------------------------------------------

_SHARES = {"half": 0.5, "three quarters": 0.75, "double": 2.0}
_LEAST = deferred(r"at least (?:\d|datetime\.)")
_BOUND = deferred(r"at (?:least|most) (?:\d|datetime\.)")
_SIZE = deferred(r"(\d+(?:\.\d+)?)\s?([kmgt])?i?b?", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_OFF = frozenset({"false", "auto", "none", "null"})
"""A switch so set is off, or follows another one ("auto" of DeepSpeed under transformers): nothing to take out."""
_UNLIMITED = frozenset({"unlimited", "infinity", "-1"})


def at_least(value: str) -> str:
    """Return what a rule writes for "this, unless it is more already"."""
    return _AT_LEAST + value


def is_at_least(to: str) -> bool:
    """Return whether a value is a bound that the present one has to reach."""
    return _LEAST.match(to) is not None


def is_relative(to: str) -> bool:
    """Return whether a value says how the present one has to change."""
    return to in _SHARES or _BOUND.match(to) is not None


def corrects(to: str | None) -> bool:
    """Return whether a value that differs from this is at fault; what is only doubled makes up for another change."""
    return to != "double"


def target(to: str | None, present: str | None, unit: str | None) -> str | None:
    """Return the value that a setting should have in place of `present`; None where it may stay or is not known.

    `present` None: the setting has no value that could be read.
    """
    if to is None or (present is not None and present.casefold() == to.casefold()):
        return None
    if to == UNSET:
        return None if present is not None and present.casefold() in _OFF else UNSET
    if to in _SHARES:
        return _share(present, _SHARES[to])
    if _LEAST.match(to):
        return _at_least(to.removeprefix(_AT_LEAST), present, unit)
    if to.startswith(_AT_MOST) and _BOUND.match(to):
        return _at_most(to.removeprefix(_AT_MOST), present)
    return to if present is not None else None


def _share(present: str | None, share: float) -> str | None:
    if present is None or not _NUMBER.fullmatch(present):
        return None
    if "." in present:
        return f"{round(float(present) * share, 2):g}"
    changed = int(int(present) * share)
    return str(changed) if changed not in {0, int(present)} else None


def _at_least(least: str, present: str | None, unit: str | None) -> str | None:
    if present is None or present in _UNLIMITED:
        return None
    wanted, have = seconds_in(least, unit), seconds_in(present, unit)
    if wanted is not None and have is not None:
        # A wait that was already this long and not long enough has to be longer.
        return least if have < wanted else _in_form_of(least, 2 * have, unit)
    first, second = _size(least), _size(present)
    return least if first is not None and second is not None and second < first else None


def _at_most(most: str, present: str | None) -> str | None:
    bound, have = _size(most), _size(present) if present is not None else None
    return most if bound is not None and have is not None and have > bound else None


def _in_form_of(least: str, seconds: float, unit: str | None) -> str:
    if _TIMEDELTA.fullmatch(least):
        return f"datetime.timedelta(minutes={seconds / 60:g})"
    return f"{seconds / _SECONDS[unit or 's']:g}"


def _size(text: str) -> float | None:
    match = _SIZE.fullmatch(text.partition(":")[0])
    return float(match[1]) * 1024 ** _POWERS[(match[2] or "").lower()] if match else None


def unmade(to: str | None, default: str | None) -> str | None:
    """Return the value for a setting that nobody makes; relative to the framework's default, where that is known."""
    if to is None:
        return None
    if _BOUND.match(to):
        return to.removeprefix(_AT_LEAST).removeprefix(_AT_MOST)
    return _share(default, _SHARES[to]) if to in _SHARES else to
