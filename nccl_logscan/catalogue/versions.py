"""Versions as numbers, and ranges of them."""

from __future__ import annotations

import re
from functools import lru_cache

from nccl_logscan.catalogue.model import Variable

_NUMBERS = re.compile(r"\d{1,9}(?:\.\d{1,9}){0,5}")
_BOUND = re.compile(r"(>=|<=|==|<|>)\s*v?([\d.]+)")

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
    """Return whether a version lies in a range such as ">=2.10, <2.18"; "" takes every version."""
    have = version(text)
    return all(_holds(have, sign, version(bound)) for sign, bound in _BOUND.findall(wanted))


def lies_between(text: str, since: str | None, until: str | None) -> bool:
    """Return whether a version lies between two, both included; a bound that is "", None or no version holds always.

    A bound of few numbers stands for all its releases: 2.18.5 is not after 2.18.
    """
    have, first, last = version(text), version(since or ""), version(until or "")
    return have >= first and (not last or have[: len(last)] <= last)


def reads(variable: Variable, in_use: str) -> bool:
    """Return whether this version of a variable's reader has it: from `since` on, and before `removed_in`."""
    gone = variable.removed_in
    return lies_between(in_use, variable.since, None) and not (gone and version(in_use) >= version(gone))


def _holds(have: Version, sign: str, bound: Version) -> bool:
    if sign == "==":
        return have[: len(bound)] == bound
    if sign in {"<", ">="}:
        return (have < bound) is (sign == "<")
    # 2.18.5 is not above 2.18: a bound of fewer numbers stands for all its releases.
    return (have[: len(bound)] > bound) is (sign == ">")
