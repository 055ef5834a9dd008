"""Versions as numbers, and ranges of them."""

from __future__ import annotations

from functools import lru_cache

from nccl_logscan.catalogue.model import Variable
from nccl_logscan.expressions import deferred

_NUMBERS = deferred(r"\d{1,9}(?:\.\d{1,9}){0,5}")
_BOUND = deferred(r"(>=|<=|==|<|>)\s*v?([\d.]+)")

Version = tuple[int, ...]


@lru_cache(4096)
def version(text: str) -> Version:
    """Return the numbers of a version: "2.21.5+cuda12.4", "v2.21.5-1" and "core_v0.15.0" give (2, 21, 5) and (0, 15).

    Trailing zeros are dropped, so that 2.6 equals 2.6.0. A text without a number gives ().
    """
    found = _NUMBERS.search(text)
    numbers = [int(number) for number in found[0].split(".")] if found else []
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def within(text: str, wanted: str) -> bool:
    """Return whether a version lies in a range such as ">=2.10, <2.18"; "" takes every version.

    "==2.18", "<=2.18" and ">2.18" speak of all releases of 2.18, "==2.18.0" and the like of that one.
    """
    return all(_holds(text, sign, bound) for sign, bound in _BOUND.findall(wanted))


def lies_between(text: str, since: str | None, until: str | None) -> bool:
    """Return whether a version lies between two, both included; a bound that is "", None or no version holds always.

    A bound of few numbers stands for all its releases: 2.18.5 is not after 2.18, and is after 2.18.0.
    """
    return version(text) >= version(since or "") and _compared(text, until or "") <= 0


def reads(variable: Variable, in_use: str) -> bool:
    """Return whether this version of a variable's reader has it: from `since` on, and before `removed_in`."""
    gone = variable.removed_in
    return lies_between(in_use, variable.since, None) and not (gone and version(in_use) >= version(gone))


def _holds(text: str, sign: str, bound: str) -> bool:
    if sign in {"<", ">="}:
        return (version(text) < version(bound)) is (sign == "<")
    differs = _compared(text, bound)
    return differs == 0 if sign == "==" else (differs > 0) is (sign == ">")


def _compared(text: str, bound: str) -> int:
    """Return -1, 0 or 1: a version before, among or after the releases that a bound of as many numbers stands for."""
    found = _NUMBERS.search(bound)
    numbers = tuple(map(int, found[0].split("."))) if found else ()
    have = version(text)[: len(numbers)]
    have += (0,) * (len(numbers) - len(have))
    return (have > numbers) - (have < numbers)
