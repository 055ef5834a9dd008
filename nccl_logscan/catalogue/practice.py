"""Whether a practice speaks of the settings that are made."""

from __future__ import annotations

import re
from collections.abc import Mapping

from nccl_logscan.catalogue.model import Condition, Practice
from nccl_logscan.expressions import deferred

_NUMBER = deferred(r"\s*[+-]?(?:0[xX][0-9a-fA-F]+|[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)\s*")


def spoken_of(practice: Practice, settings: Mapping[str, str | None]) -> bool:
    """Return whether every condition of the practice holds for `settings`, a value by name.

    None is a value that the file does not tell: such a setting is made, and no test of its value holds; an empty one
    counts as not made. Flags are named as load.py's flag_form has them. The versions that the practice is for are not
    looked at.
    """
    return all(holds(condition, settings) for condition in practice.when)


def holds(condition: Condition, settings: Mapping[str, str | None]) -> bool:
    """Return whether one condition holds; that of a family (FI_*) where any of its names is set, or none is."""
    if condition.name.endswith("*"):
        stem = condition.name[:-1]
        return any(name.startswith(stem) and value != "" for name, value in settings.items()) is not condition.missing
    value = settings.get(condition.name, "")
    if value == "" or condition.missing:
        return condition.missing and value == ""
    if value is None:
        return not _tests_value(condition)
    return _text_holds(condition, value) and _number_holds(condition, value, settings)


def _tests_value(condition: Condition) -> bool:
    tests = (condition.matches, condition.below, condition.above, condition.below_setting, condition.above_setting)
    return bool(condition.equals or condition.differs_from) or any(test is not None for test in tests)


def _text_holds(condition: Condition, value: str) -> bool:
    folded = value.strip().casefold()
    if condition.equals and folded not in {word.casefold() for word in condition.equals}:
        return False
    if folded in {word.casefold() for word in condition.differs_from}:
        return False
    return condition.matches is None or re.search(condition.matches, value) is not None


def _number_holds(condition: Condition, value: str, settings: Mapping[str, str | None]) -> bool:
    bounds = [
        (condition.below, 1),
        (condition.above, -1),
        (_number_of(condition.below_setting, settings), 1) if condition.below_setting else (None, 1),
        (_number_of(condition.above_setting, settings), -1) if condition.above_setting else (None, -1),
    ]
    wanted = [condition.below, condition.above, condition.below_setting, condition.above_setting]
    if all(want is None for want in wanted):
        return True
    number = _number(value)
    if number is not None and condition.times:
        factor = _number_of(condition.times, settings)
        number = None if factor is None else number * factor
    if number is None:
        return False
    return all(
        bound is not None and number * sign < bound * sign
        for want, (bound, sign) in zip(wanted, bounds, strict=True)
        if want is not None
    )


def _number_of(name: str, settings: Mapping[str, str | None]) -> float | None:
    value = settings.get(name)
    return None if value is None else _number(value)


def _number(value: str) -> float | None:
    if not _NUMBER.fullmatch(value[:64]):
        return None
    text = value.strip()
    return float(int(text, 16)) if "x" in text.lower() else float(text)
