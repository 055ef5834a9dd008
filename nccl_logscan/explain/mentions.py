"""Which rules speak of a name, and what they say should be done about it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from nccl_logscan.catalogue.load import written_form
from nccl_logscan.errors import InputError
from nccl_logscan.explain.model import Doing, Mention
from nccl_logscan.pipeline import scan_text
from nccl_logscan.rulebook.rule import Rule, Rulebook, Step


def rules_naming(rulebook: Rulebook, names: Iterable[str]) -> tuple[Mention, ...]:
    """Return the rules in whose prose, steps or wordings one of the names stands as a word of its own."""
    wanted = [(name, re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])")) for name in names if len(name) > 3]
    found: list[Mention] = []
    for rule in rulebook.rules.values():
        prose = _prose(rule)
        if any(name in prose and form.search(prose) for name, form in wanted):
            found.append(mention(rule))
    return tuple(found)


def rules_firing(rulebook: Rulebook, text: str) -> tuple[Rule, ...]:
    """Return the rules that fire where the text is a log, in the order of the scan; none where it is no log."""
    try:
        findings = scan_text(text, rulebook).findings
    except InputError:
        return ()
    return tuple({finding.rule.id: finding.rule for finding in findings}.values())


def steps_setting(rulebook: Rulebook, names: Iterable[str]) -> tuple[Step, ...]:
    """Return the rules' steps that make one of these settings, or say not to, each once."""
    wanted = {written_form(name) for name in names}
    found = (
        step
        for rule in rulebook.rules.values()
        for step in rule.remediation
        if wanted & set(map(written_form, step.settings))
    )
    return tuple({(step.do, step.do_not): step for step in found}.values())


def doing(step: Step) -> Doing:
    """Return a rule's step as something to do."""
    words = (step.do, step.why, f"Risk: {step.risk}" if step.risk else None)
    return Doing(" ".join(" ".join(part.split()) for part in words if part), step.run, step.do_not)


def mention(rule: Rule) -> Mention:
    """Return a rule as a mention of it."""
    return Mention(rule.id, rule.title)


def _prose(rule: Rule) -> str:
    steps = (
        part
        for step in (*rule.confirm, *rule.remediation)
        for part in (step.do, step.run, step.setting, step.why, step.risk)
    )
    wordings = (wording.pattern.text for wording in rule.match.wordings)
    return "\n".join(part for part in (rule.title, rule.summary, rule.what, rule.why, *steps, *wordings) if part)
