"""A rule as a person reads it in a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from nccl_logscan.report.visible import harmless_to_runners, lines_harmless_to_runners, visible
from nccl_logscan.rulebook.rule import Rule, Step

_WIDTH = 100


def described(rule: Rule) -> str:
    """Return all that a rule says; characters that would act on a terminal are spelled out."""
    return lines_harmless_to_runners("\n".join(visible(line) for line in _described(rule)))


def listed(rules: Sequence[Rule]) -> str:
    """Return one line a rule: id, role, strength, title."""
    width = max((len(rule.id) for rule in rules), default=0)
    return "\n".join(
        harmless_to_runners(f"{visible(rule.id):{width}}  {rule.role:8}{rule.strength:3}  {visible(rule.title)}")
        for rule in rules
    )


def _described(rule: Rule) -> Iterator[str]:
    yield from (rule.title, f"{rule.id}: {rule.role}, {rule.severity}, strength {rule.strength}; {rule.defined_at}", "")
    yield from _wrapped(rule.what)
    yield ""
    yield from _wrapped(f"Why: {rule.why}")
    yield from ("", "Recognised by")
    yield from _recognised(rule)
    if rule.groups:
        yield from ("", f"In the groups {', '.join(rule.groups)}")
    if rule.explains:
        yield from ("", "Explains")
        yield from (f"  {glob}" for glob in rule.explains)
    yield from _steps("To make sure", rule.confirm)
    yield from _steps("To do", [step for step in rule.remediation if not step.do_not])
    yield from _steps("Not to do", [step for step in rule.remediation if step.do_not])
    yield from ("", "Sources")
    yield from (f"  {reference.title}: {reference.url}" for reference in rule.references)


def _recognised(rule: Rule) -> Iterator[str]:
    match = rule.match
    if match.detector is not None:
        yield f"  the detector {match.detector}"
        return
    yield f"  {' or '.join(match.events)}"
    for wording in match.wordings:
        versions = ", ".join(
            f"{name} {range_}" for name, range_ in (("NCCL", wording.nccl), ("PyTorch", wording.torch)) if range_
        )
        yield f"  {wording.pattern.text}" + (f"   ({versions})" if versions else "")


def _steps(heading: str, steps: Sequence[Step]) -> Iterator[str]:
    if not steps:
        return
    yield from ("", heading)
    for step in steps:
        words = " ".join(part for part in (step.do, step.why, f"Risk: {step.risk}" if step.risk else None) if part)
        owner = "" if step.do_not else f" ({step.owner}, {step.effect})"
        yield from _wrapped(f"- {' '.join(words.split())}{owner}", indent="  ")
        if step.run:
            yield from (f"      {line}" for line in step.run.strip("\n").split("\n"))


def _wrapped(text: str, *, indent: str = "") -> list[str]:
    return textwrap.wrap(" ".join(text.split()), _WIDTH, initial_indent=indent, subsequent_indent=indent)
