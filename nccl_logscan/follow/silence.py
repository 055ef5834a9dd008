"""The verdict of a watch in which nothing was said any more: the commonest look of a hang is no line at all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from nccl_logscan.diagnosis.verdict import Diagnosis
from nccl_logscan.taxonomy import Action, Category, Level

_TO_DO = (
    "Where the ranks wait: py-spy dump --pid PID on each node, and ncclras on one of them (NCCL 2.24 and newer).",
    "Which call they wait in: the flight recorder's dumps. Set TORCH_NCCL_TRACE_BUFFER_SIZE=20000 for the next run.",
)


def verdict_of_silence(diagnosis: Diagnosis, lasted: str, last_lines: Iterable[str]) -> Diagnosis:
    """Return what the lines say, if they tell of a failure or an end; else that the job fell silent."""
    says_end = diagnosis.category == Category.NONE and diagnosis.level == Level.ESTABLISHED
    if diagnosis.finding is not None or diagnosis.consequences or says_end:
        return diagnosis
    return replace(
        diagnosis,
        category=Category.UNKNOWN,
        level=Level.NONE,
        confidence=0.0,
        headline=f"The job fell silent: no log has grown for {lasted}, and none says that it ended.",
        reasons=tuple(f"The last line is {place}." for place in last_lines),
        action=Action.INSPECT,
        unknowns=_TO_DO,
    )
