"""Lateness: who came to a call so long after the others that their time ran out, though it came in the end.

Dumps tell when each rank issued each call, by its own host's clock. By how much clocks differ shows in the other calls,
to which the ranks came together; what is left is how late a rank was.
"""

from __future__ import annotations

from collections.abc import Mapping

from nccl_logscan.diagnosis.hang.history import History
from nccl_logscan.diagnosis.hang.recordings import Recordings
from nccl_logscan.numbers import median
from nccl_logscan.records import dataclass

_LOOKED_AT = 64
_FEWEST = 3


@dataclass(frozen=True, slots=True)
class Late:
    """Rank `rank` came to call `sequence` of `group` `seconds` after the others, whose time-out is `timeout` s."""

    group: str
    sequence: int
    operation: str
    rank: int
    seconds: float
    timeout: float


def find_late(recordings: Recordings) -> Late | None:
    """Return the one rank that was later for a call than that call's time-out; None if none was, or several were."""
    found = [late for group in recordings.groups if (late := _late_in(group, recordings)) is not None]
    return max(found, key=lambda late: late.seconds, default=None)


def _late_in(group: str, recordings: Recordings) -> Late | None:
    histories, timeout = recordings.histories(group), recordings.timeout_ms(group)
    if len(histories) < _FEWEST or timeout is None:
        return None
    low = max(history.start for history in histories.values())
    high = min(history.end for history in histories.values())
    numbers = [
        number
        for number in range(max(low, high - _LOOKED_AT), high)
        if all(history.time_at(number) for history in histories.values())
    ]
    leads = {number: _behind_the_middle(histories, number) for number in numbers}
    usual = {rank: median(leads[number][rank] for number in numbers) for rank in histories} if numbers else {}
    for number in numbers:
        late = {rank: lead - usual[rank] for rank, lead in leads[number].items()}
        over = [rank for rank, time in late.items() if time > timeout]
        if len(over) == 1:
            history = histories[over[0]]
            operation = str(recordings.signature(history.signature_at(number)))
            return Late(group, number, operation, over[0], late[over[0]] / 1000, timeout / 1000)
    return None


def _behind_the_middle(histories: Mapping[int, History], number: int) -> dict[int, float]:
    times = {rank: history.time_at(number) for rank, history in histories.items()}
    middle = median(times.values())
    return {rank: time - middle for rank, time in times.items()}
