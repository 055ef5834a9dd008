"""A scan's unclaimed groups to drafts that were tried out: each on its own line, and on one that it is not for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from rapidfuzz import fuzz

from nccl_logscan.diagnosis.verdict import ScanResult, UnclaimedGroup
from nccl_logscan.drafting.draft import Draft, Line, as_yaml, draft, example_line, line_of
from nccl_logscan.errors import InputError
from nccl_logscan.expressions import deferred
from nccl_logscan.pipeline import scan_text
from nccl_logscan.records import dataclass, replace
from nccl_logscan.rulebook.find import RuleSource
from nccl_logscan.rulebook.read import RuleFile, read_rule
from nccl_logscan.rulebook.rule import Rule, Rulebook
from nccl_logscan.sources import NO_LINES, Kind
from nccl_logscan.sources.line_source import LineSource
from nccl_logscan.taxonomy import Category, Role

_MISSES_TRIED = 8
_LINES_READ = 20_000
_HEALTHY = deferred(r" NCCL INFO (?!.*(?i:error|fail|warn|abort|timed? ?out))", re.DOTALL)
_WRITTEN = Line(
    "node-1:2311:2401 [0] NCCL INFO Channel 00/02 : 0 1 2 3 4 5 6 7",
    "written after the wording of NCCL 2.21.5, src/init.cc",
)
_NO_LOGS = NO_LINES | {Kind.CONFIG}
_DECIDING = frozenset({Role.CAUSE, Role.SYMPTOM})


@dataclass(frozen=True, slots=True)
class Suggestions:
    """Drafts, of the most frequent group first, and how many groups have none.

    `rare` have too few lines, `wordless` no words to go by; `beyond` came after as many drafts as were wanted.
    """

    drafts: tuple[Draft, ...]
    rare: int
    wordless: int
    beyond: int


def suggest(
    result: ScanResult, rulebook: Rulebook, *, least: int, limit: int, reopened: Callable[[], Sequence[LineSource]]
) -> Suggestions:
    """Draft a rule for each group of at least `least` lines, `limit` at most.

    `reopened` gives the logs once more, to look for a healthy line where nothing else of them is a near miss; it is
    asked once at most.
    """
    frequent = [group for group in result.unclaimed if group.count >= least]
    taken = {rule_id.partition("/")[2] for rule_id in rulebook.rules}
    tryout = _Tryout(result, rulebook, reopened)
    drafts: list[Draft] = []
    wordless = looked_at = 0
    for group in frequent:
        if len(drafts) == limit:
            break
        looked_at += 1
        begun = draft(group, None if group.suggestion is None else group.suggestion.category, taken)
        if begun is None:
            wordless += 1
            continue
        taken.add(begun.slug)
        drafts.append(tryout.completed(begun, group))
    rare = len(result.unclaimed) - len(frequent)
    return Suggestions(tuple(drafts), rare, wordless, len(frequent) - looked_at)


class _Tryout:
    """Scans with a drafted rule among the others, and the lines that may be a near miss of it."""

    def __init__(self, result: ScanResult, rulebook: Rulebook, reopened: Callable[[], Sequence[LineSource]]) -> None:
        self._result = result
        self._rules = dict(rulebook.rules)
        self._reopened = reopened
        self._healthy: list[Line] | None = None

    def completed(self, begun: Draft, group: UnclaimedGroup) -> Draft:
        """Return a draft with what a scan of its hit tells, and a near miss."""
        rule = _rule_of(begun)
        fired = self._fired(rule, begun.hit)
        fires = any(other.id == rule.id for other in fired)
        others = sorted(other.id for other in fired if other.id != rule.id and other.role in _DECIDING)
        return replace(
            begun,
            also=tuple(others) if fires else (),
            fires=fires,
            miss=next((line for line in self._lines_beside(group) if not self._fires_on(rule, line)), None),
        )

    def _fires_on(self, rule: Rule, line: Line) -> bool:
        """Whether the rule fires on a line, or would if the line were an event of the rule's kind."""
        pattern = rule.match.wordings[0].pattern
        return pattern.search(line.text) is not None or any(fired.id == rule.id for fired in self._fired(rule, line))

    def _fired(self, rule: Rule, line: Line) -> tuple[Rule, ...]:
        rules = dict(sorted((self._rules | {rule.id: rule}).items()))
        try:
            findings = scan_text(line.text, Rulebook(rules, "")).findings
        except InputError:  # no line of a known kind
            return ()
        return tuple(finding.rule for finding in findings)

    def _lines_beside(self, group: UnclaimedGroup) -> Iterator[Line]:
        """Yield lines that may be a near miss, those first that a person is likeliest to mistake for the group's."""
        others = [other for other in self._result.unclaimed if other is not group and other.line is not None]
        others.sort(key=lambda other: (other.kind != group.kind, -fuzz.ratio(other.template, group.template)))
        yield from map(line_of, others[:_MISSES_TRIED])
        for finding in self._result.findings[:_MISSES_TRIED]:
            if finding.first.text.strip() and finding.first.at.line:
                yield example_line(finding.first.text, finding.first.at)
        if self._healthy is None:
            self._healthy = list(islice(_healthy_lines(self._reopened()), 1))
        yield from self._healthy
        yield _WRITTEN


def _rule_of(begun: Draft) -> Rule:
    """Return the rule that the draft will be, once a person has said what is left to say."""
    whole = replace(begun, category=begun.category or Category.UNKNOWN, what="-", why="-")
    file = read_rule(RuleSource(f"{whole.id}.yaml", whole.id, as_yaml(whole).encode()))
    assert isinstance(file, RuleFile), file
    return file.rule


def _healthy_lines(sources: Sequence[LineSource]) -> Iterator[Line]:
    """Yield INFO lines of NCCL that tell of no trouble, from the beginning of the logs."""
    left = _LINES_READ
    for source in sources:
        if source.kind in _NO_LOGS:
            continue
        for raw in islice(source.lines(), left):
            left -= 1
            if _HEALTHY.search(raw.text):
                yield example_line(raw.text, raw.at)
