"""A verdict to a plan: the rules' steps in order, repeats dropped, commands filled and quoted."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from nccl_logscan.diagnosis.diagnose import facts_of, fill
from nccl_logscan.diagnosis.findings import Finding
from nccl_logscan.diagnosis.verdict import Diagnosis, PlannedStep
from nccl_logscan.rulebook.rule import Step

_STEPS = 24
_CONSEQUENCES = 3


def make_plan(diagnosis: Diagnosis) -> tuple[PlannedStep, ...]:
    """Return what to do: fixes and workarounds of the cause, what to look at first, and what not to do.

    Of the consequences only the warnings (`do_not`) are taken over: mending an echo mends nothing.
    """
    if diagnosis.finding is None:
        return ()
    planned = list(_steps_of(diagnosis.finding, diagnosis, only_warnings=False))
    for finding in diagnosis.consequences[:_CONSEQUENCES]:
        planned += _steps_of(finding, diagnosis, only_warnings=True)
    said_first: dict[tuple[str, str | None], PlannedStep] = {}
    for step in planned:
        said_first.setdefault((step.title, step.command), step)
    return tuple(said_first.values())[:_STEPS]


def _steps_of(finding: Finding, diagnosis: Diagnosis, *, only_warnings: bool) -> Iterator[PlannedStep]:
    values = facts_of(finding, diagnosis.culprit)
    steps = (*finding.rule.remediation, *finding.rule.confirm)
    for number, step in enumerate(steps, start=1):
        if step.do_not or not only_warnings:
            yield _planned(step, number, finding, values)


def _planned(step: Step, number: int, finding: Finding, values: dict[str, str]) -> PlannedStep:
    return PlannedStep(
        id=f"{finding.rule.id}#{number}",
        title=step.do,
        kind=step.kind or "host_command",
        setting=step.setting,
        to=fill(step.to, values) if step.to else None,
        command=fill_command(step.run, values) if step.run else None,
        owner=step.owner,
        effect=step.effect,
        on=fill(step.on, values) if step.on else None,
        why=step.why or "",
        risk=step.risk,
        do_not=step.do_not,
        since=step.since,
        until=step.until,
        source=step.source,
        because=finding.rule.id,
    )


def fill_command(command: str, values: dict[str, str]) -> str | None:
    """Fill a command's placeholders, quoted for a shell; None if the log did not say one of them."""
    return fill(command, {name: shlex.quote(value) for name, value in values.items()})
