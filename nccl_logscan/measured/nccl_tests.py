"""Lines of nccl-tests (`all_reduce_perf` and the like): what is run, on how many ranks, and the rows of its table.

    # Collective test starting: all_reduce_perf
    #  Rank  0 Group  0 Pid   5811 on     node-1 device  0 [0000:07:00] NVIDIA H100 80GB HBM3
    #       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw ...
     8589934592    2147483648     float     sum      -1    33120  259.36  453.88      0    33001  260.29 ...

Read in src/common.cu. The first four numbers after the root are of the run out of place, the next of that in place; old
versions print no root. `algbw` is size / time, `busbw` that times what the collective has every link carry
(2 (n - 1) / n for an all-reduce of n ranks; doc/PERFORMANCE.md): both in 10^9 bytes a second.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from nccl_logscan.expressions import deferred

TYPES = frozenset(
    {
        "char", "int", "int8", "uint8", "int32", "uint32", "int64", "uint64", "half", "float", "double", "bfloat16",
        "fp8_e4m3", "fp8_e5m2", "f8e4m3", "f8e5m2",
    }
)  # fmt: skip
WORDS = frozenset({"(elements)", "collective test starting", *(f"{name:>8}  " for name in TYPES)})
"""Of each line that is read here one, in lower case."""
_ROW = deferred(r"^ {1,12}\d{1,18} {1,24}\d{1,18} {1,12}[a-z0-9_]{3,8} ")
_STARTS = deferred(r"^# Collective test starting: (\w{2,40}?)(?:_perf)?\s*$")
_RANK = deferred(r"^# +Rank +(\d{1,7}) .{0,20}Pid +\d{1,10} on +\S")
_RUN = 4
_NAMED = 3
_MOST_TIME = 1e12


class Row(NamedTuple):
    """A size's result in one of the two runs. `time_us` in microseconds, bandwidths in 10^9 bytes a second.

    `wrong`: values that were not as expected; None: not looked at.
    """

    size_bytes: int
    in_place: bool
    time_us: float
    algbw: float
    busbw: float
    wrong: int | None


def is_row(text: str) -> bool:
    """Tell whether a line has the shape of a row of the table."""
    return _ROW.match(text) is not None


def collective_in(text: str) -> str | None:
    """Return the collective that a line says is tested: `all_reduce`."""
    said = _STARTS.match(text)
    return said[1] if said else None


def rank_in(text: str) -> int | None:
    """Return the rank that a line of the list of devices is of."""
    said = _RANK.match(text)
    return int(said[1]) if said else None


def rows_in(text: str) -> Iterator[Row]:
    """Yield the results of a row of the table, at most two."""
    if not is_row(text):
        return
    words = text.split()
    if words[2] not in TYPES:
        return
    results = words[_NAMED + 1 :] if not _is_number(words[_NAMED]) else words[_NAMED:]
    if len(results) % _RUN == 1:  # the root
        results = results[1:]
    if len(results) not in {_RUN, 2 * _RUN}:
        return
    for at in range(0, len(results), _RUN):
        time, algbw, busbw = (_number(word) for word in results[at : at + 3])
        if time is not None and algbw is not None and busbw is not None:
            wrong = results[at + 3]
            yield Row(int(words[0]), at > 0, time, algbw, busbw, int(wrong) if _is_count(wrong) else None)


def _is_count(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) < 19


def _is_number(word: str) -> bool:
    return _number(word.removeprefix("-")) is not None


def _number(word: str) -> float | None:
    try:
        number = float(word)
    except ValueError:
        return None
    return number if math.isfinite(number) and 0 <= number < _MOST_TIME else None
