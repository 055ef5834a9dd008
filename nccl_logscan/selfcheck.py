"""Proves rules by their own examples, on the road that users take: `pipeline.scan_text`.

Each hit fires its rule with exactly its captures, and no other rule that could decide a verdict, unless the example
names it in `also`. Each miss leaves the rule silent. Each wording has a hit that it matches on its own; each `unless`
has a miss that fires without it. No cause and no symptom is found in the log of a healthy job.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import yaml

from nccl_logscan.diagnosis.findings import Finding
from nccl_logscan.errors import InputError, Problem
from nccl_logscan.events.tokenise import Tokeniser
from nccl_logscan.lines import Peeler
from nccl_logscan.pipeline import scan_text
from nccl_logscan.position import Position
from nccl_logscan.records import replace
from nccl_logscan.rulebook.read import RuleFile
from nccl_logscan.rulebook.rule import Example, Matcher, Rule, Rulebook
from nccl_logscan.sources import kind_of
from nccl_logscan.sources.raw import RawLine
from nccl_logscan.taxonomy import Category, Role

_SILENT = frozenset({Role.BENIGN, Role.CONTEXT, Role.ECHO})
"""Roles that never decide a verdict, so that firing beside another rule does no harm."""


def prove(file: RuleFile, rulebook: Rulebook) -> tuple[Problem, ...]:
    """Return every way in which a rule's examples do not hold within `rulebook`, in the order of their lines."""
    problems: list[Problem] = []
    for number in range(len(file.rule.hits)):
        problems.extend(prove_hit(file, number, rulebook))
    for number in range(len(file.rule.misses)):
        problems.extend(prove_miss(file, number, rulebook))
    problems.extend(prove_idle(file))
    return tuple(sorted(problems, key=lambda problem: (problem.line, problem.column)))


def prove_hit(file: RuleFile, number: int, rulebook: Rulebook) -> tuple[Problem, ...]:
    """Return what is wrong with the rule's hit of that number, counted from 0."""
    example, path = file.rule.hits[number], ("examples", "hit", number, "name")
    findings = _findings(example.log, rulebook)
    own = [finding for finding in findings if finding.rule.id == file.rule.id]
    if not own:
        return (file.located.problem(path, _silence(file.rule, example, findings)),)
    others = sorted({finding.rule.id for finding in findings if _interferes(finding.rule, file.rule, example)})
    return (
        *_wrong_captures(file, number, own),
        *(file.located.problem(path, f"also fires {other}; name it in `also` if both are right") for other in others),
    )


def prove_miss(file: RuleFile, number: int, rulebook: Rulebook) -> tuple[Problem, ...]:
    """Return what is wrong with the rule's miss of that number, counted from 0."""
    log = file.rule.misses[number].log
    own = [finding for finding in _findings(log, rulebook) if finding.rule.id == file.rule.id]
    if not own:
        return ()
    message = f"should leave the rule silent; it fires on: {_cut(own[0].first.text)}"
    return (file.located.problem(("examples", "miss", number, "name"), message),)


def prove_idle(file: RuleFile) -> tuple[Problem, ...]:
    """Return each wording that no hit needs and each `unless` that no miss needs."""
    return (*_idle_wordings(file), *_idle_exclusions(file))


def prove_healthy(logs: Iterable[tuple[str, Mapping[str, str]]], rulebook: Rulebook) -> Iterator[Problem]:
    """Yield every cause or symptom that is found in healthy logs: pairs of a name and the job's texts by file."""
    for name, texts in logs:
        for finding in _findings(texts, rulebook):
            if finding.rule.role in {Role.CAUSE, Role.SYMPTOM}:
                first = finding.first
                message = f"a healthy job ({name}) fires {finding.rule.id}"
                yield Problem(first.at.source, first.at.line, 1, message, _cut(first.text))


def healthy_logs(folder: Path) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield the healthy jobs below `folder`: name, and the text of each log by its path.

    They are those whose case.yaml says `category: none`.
    """
    for label in sorted(folder.rglob("case.yaml")):
        job = label.parent
        if yaml.safe_load(label.read_text("utf-8"))["category"] == Category.NONE:
            yield job.name, {str(log): log.read_text("utf-8", "replace") for log in sorted(job.rglob("*.log"))}


def _findings(log: str | Mapping[str, str], rulebook: Rulebook) -> tuple[Finding, ...]:
    try:
        return scan_text(log, rulebook).findings
    except InputError:  # no line of a known kind: nothing can have been found
        return ()


# --- hits --------------------------------------------------------------------------------------------------


def _silence(rule: Rule, example: Example, findings: Sequence[Finding]) -> str:
    """Say that a rule did not fire, and what its log was read as: the usual reason is an event of another kind."""
    others = sorted({finding.rule.id for finding in findings})
    fired = f"; instead fired {', '.join(others)}" if others else ""
    wanted = rule.match.detector or " or ".join(rule.match.events)
    read = " | ".join(f"{kind}: {message}" for kind, message in _read_as(example.log))
    return f"does not fire the rule, which asks for {wanted}{fired}; its log is read as {read}"


def _read_as(log: str | Mapping[str, str], *, limit: int = 6) -> list[tuple[str, str]]:
    if not isinstance(log, str):
        return [(kind_of(text.encode(), name), name) for name, text in log.items()]
    peeler, tokeniser = Peeler(), Tokeniser()
    lines = [RawLine(Position("log", number, 0), text) for number, text in enumerate(log.splitlines(), 1)]
    peeled = [line for raw in lines for line in peeler.peel(raw)] + list(peeler.finish())
    events = [event for line in peeled for event in tokeniser.read(line)] + list(tokeniser.finish())
    shown = [(event.kind, _cut(event.message)) for event in events[:limit]]
    return [*shown, ("and", f"{len(events) - limit} more")] if len(events) > limit else shown


def _wrong_captures(file: RuleFile, number: int, own: Sequence[Finding]) -> Iterator[Problem]:
    wanted = file.rule.hits[number].captures
    best = max(own, key=lambda finding: sum(finding.captures.get(name) == wanted[name] for name in wanted))
    for name, value in wanted.items():
        found = best.captures.get(name)
        if found != value:
            said = "nothing" if found is None else f"'{found}'"
            path = ("examples", "hit", number, "captures", name)
            yield file.located.problem(path, f"should be '{value}', but {said} was captured")


def _interferes(other: Rule, rule: Rule, example: Example) -> bool:
    if other.id == rule.id or other.role in _SILENT:
        return False
    return not any(fnmatch.fnmatchcase(other.id, glob) for glob in example.also)


# --- each part of the question earns its place ---------------------------------------------------------------


def _idle_wordings(file: RuleFile) -> Iterator[Problem]:
    wordings = file.rule.match.wordings
    for number, wording in enumerate(wordings):
        alone = _asking(file.rule, replace(file.rule.match, wordings=(wording,)))
        if not any(_fires(alone, hit.log) for hit in file.rule.hits):
            path = ("match", "wordings", number, "message")
            yield file.located.problem(path, "is worded so in no hit; add an example for it")


def _idle_exclusions(file: RuleFile) -> Iterator[Problem]:
    unless = file.rule.match.unless
    for number in range(len(unless)):
        others = (*unless[:number], *unless[number + 1 :])
        without = _asking(file.rule, replace(file.rule.match, unless=others))
        if not any(_fires(without, miss.log) for miss in file.rule.misses):
            path = ("match", "unless", number)
            yield file.located.problem(path, "keeps no miss silent; add a miss that would fire without it")


def _asking(rule: Rule, match: Matcher) -> Rulebook:
    """Return a rulebook of one rule that asks `match` instead."""
    return Rulebook({rule.id: replace(rule, match=match)}, "")


def _fires(rulebook: Rulebook, log: str | Mapping[str, str]) -> bool:
    return bool(_findings(log, rulebook))


def _cut(text: str, *, limit: int = 160) -> str:
    return text if len(text) <= limit else f"{text[:limit]}..."
