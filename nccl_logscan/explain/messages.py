"""Messages explained: the rules that know a line, or a part of one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from nccl_logscan.explain.mentions import doing, rules_firing
from nccl_logscan.explain.model import Explanation, Fact, Kind
from nccl_logscan.rulebook.rule import Rule, Rulebook

_AT_MOST = 5
_EXAMPLES = 2
_EXAMPLE = 300
_LEAST_LETTERS = 6
_LONGEST = 8_192


def explain_rule(name: str, rulebook: Rulebook) -> tuple[Explanation, ...]:
    """Return the rules of this id, of this id without its folder, or that were once called so."""
    return tuple(
        _explained(rule)
        for rule in rulebook.rules.values()
        if name in {rule.id, rule.id.partition("/")[2]} or name in rule.formerly
    )


def explain_message(text: str, rulebook: Rulebook) -> tuple[Explanation, ...]:
    """Return the rules that know a text, at most five: those that fire on it as a line, or else those with a wording
    that matches it, or else those of whose examples it is a part, or else those with its words in their title.
    """
    text = text[:_LONGEST].strip()
    ways = (_fired, _worded, _part_of_example, _titled)
    found = next((rules for way in ways if (rules := tuple(way(text, rulebook)))), ())
    return tuple(_explained(rule) for rule in found[:_AT_MOST])


def _fired(text: str, rulebook: Rulebook) -> Iterable[Rule]:
    return (rule for rule in rules_firing(rulebook, text) if not (rule.match.fallback or rule.match.detector))


def _worded(text: str, rulebook: Rulebook) -> Iterator[Rule]:
    for rule in rulebook.rules.values():
        patterns = [wording.pattern for wording in rule.match.wordings]
        if not rule.match.fallback and any(form.may_match(text) and form.search(text) for form in patterns):
            yield rule


def _part_of_example(text: str, rulebook: Rulebook) -> Iterator[Rule]:
    part = text.casefold()
    if len(part) < _LEAST_LETTERS:
        return
    for rule in rulebook.rules.values():
        logs = (hit.log if isinstance(hit.log, str) else "\n".join(hit.log.values()) for hit in rule.hits)
        if not (rule.match.fallback or rule.match.detector) and any(part in log.casefold() for log in logs):
            yield rule


def _titled(text: str, rulebook: Rulebook) -> Iterator[Rule]:
    words = set(text.casefold().split())
    if not words or sum(map(len, words)) < _LEAST_LETTERS:
        return
    for rule in rulebook.rules.values():
        if words <= {*rule.title.casefold().split(), *rule.id.replace("/", "-").split("-")}:
            yield rule


def _explained(rule: Rule) -> Explanation:
    return Explanation(
        kind=Kind.MESSAGE,
        name=rule.id,
        heading=rule.title,
        meaning=" ".join(rule.what.split()),
        facts=(
            Fact("Why", " ".join(rule.why.split())),
            Fact("Category", f"{rule.category}: {rule.category.meaning}"),
            Fact("Role", f"{rule.role}, {rule.severity}"),
            *_examples(rule),
        ),
        doing=tuple(dict.fromkeys(doing(step) for step in (*rule.confirm, *rule.remediation))),
        sources=tuple(dict.fromkeys(reference.url for reference in rule.references)),
    )


def _examples(rule: Rule) -> Iterator[Fact]:
    for hit in rule.hits[:_EXAMPLES]:
        yield Fact("For example", _telling(rule, hit.log if isinstance(hit.log, str) else "".join(hit.log.values())))


def _telling(rule: Rule, log: str) -> str:
    """Return the line that a wording of the rule matches, or else the last one."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    patterns = [wording.pattern for wording in rule.match.wordings]
    matched = (line for line in lines if any(form.may_match(line) and form.search(line) for form in patterns))
    return next(matched, lines[-1] if lines else "")[:_EXAMPLE]
