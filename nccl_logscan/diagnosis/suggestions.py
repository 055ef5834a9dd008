"""What the classifier makes of what no rule claims: a suggestion for each group; a verdict where the rules are silent.

A suggestion is never more than that: it takes no verdict's place that a rule gave, and what the job outlived is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from nccl_logscan.classifier.model import Model
from nccl_logscan.classifier.score import suggest
from nccl_logscan.diagnosis.findings import Evidence
from nccl_logscan.diagnosis.verdict import Alternative, Cited, Diagnosis, UnclaimedGroup
from nccl_logscan.position import NOBODY
from nccl_logscan.records import replace
from nccl_logscan.taxonomy import Action, Basis, Category, Level

_ALTERNATIVES = 3
_CITED = 5
_LEAST = 0.7
"""How sure a suggestion must be to become the verdict."""
_LEAST_IF_HEALTHY = 0.9
"""The same where the job would be called healthy."""
_MOST = 0.95
"""How sure a verdict may be behind which no rule stands."""


class _Case(NamedTuple):
    """What speaks for a category: the groups that are taken for it, and how surely, together with all others."""

    category: Category
    probability: float
    groups: tuple[UnclaimedGroup, ...]

    @property
    def words(self) -> str:
        """The words that spoke for it."""
        told = (word for group in self.groups if group.suggestion is not None for word in group.suggestion.words)
        return ", ".join(f"“{word}”" for word in list(dict.fromkeys(told))[:_CITED])


def with_suggestions(groups: Sequence[UnclaimedGroup], model: Model) -> tuple[UnclaimedGroup, ...]:
    """Return the groups with what the model takes each for, where it is sure enough."""
    return tuple(replace(group, suggestion=suggest(model, group.template, group.kind, group.file)) for group in groups)


def suggested(diagnosis: Diagnosis, groups: Sequence[UnclaimedGroup]) -> Diagnosis:
    """Return a verdict that no rule gave, or in its place the surest suggestion, if that is sure enough.

    Suggestions that are not stand beside `unknown`.
    """
    cases = _cases(groups)
    is_healthy = diagnosis.category is Category.NONE
    if not cases or cases[0].probability < (_LEAST_IF_HEALTHY if is_healthy else _LEAST):
        return diagnosis if is_healthy else with_alternatives(diagnosis, groups)
    best, *others = cases
    return replace(
        diagnosis,
        category=best.category,
        basis=Basis.CLASSIFIER,
        level=Level.SUGGESTED,
        confidence=best.probability,
        headline=f"No rule knows these errors; their words suggest {best.category.value}: {best.category.meaning}.",
        reasons=(f"A suggestion by the words {best.words}; no rule stands behind it.", *diagnosis.reasons),
        evidence=(*(_cited(group) for group in best.groups[:_CITED]), *diagnosis.evidence),
        action=Action.INSPECT,
        alternatives=tuple(map(_alternative, others[:_ALTERNATIVES])),
    )


def with_alternatives(diagnosis: Diagnosis, groups: Sequence[UnclaimedGroup]) -> Diagnosis:
    """Return a verdict that is not beyond doubt with what words suggest beside it."""
    known = {diagnosis.category, *(other.category for other in diagnosis.alternatives)}
    further = tuple(_alternative(case) for case in _cases(groups) if case.category not in known)
    return replace(diagnosis, alternatives=(*diagnosis.alternatives, *further)[:_ALTERNATIVES])


def _cases(groups: Sequence[UnclaimedGroup]) -> list[_Case]:
    """Return the categories that are suggested, the surest first; several of them share what is sure."""
    by_category: dict[Category, list[tuple[float, UnclaimedGroup]]] = {}
    for group in groups:
        if group.suggestion is not None and not group.outlived:
            by_category.setdefault(group.suggestion.category, []).append((group.suggestion.probability, group))
    surest = {category: max(sure for sure, _ in told) for category, told in by_category.items()}
    whole = max(1.0, sum(surest.values()))
    cases = []
    for category, told in by_category.items():
        own = tuple(group for _, group in sorted(told, key=lambda one: -one[0]))
        cases.append(_Case(category, round(min(_MOST, surest[category] / whole), 2), own))
    return sorted(cases, key=lambda case: -case.probability)


def _cited(group: UnclaimedGroup) -> Cited:
    return Cited(Evidence(group.first, group.line or group.sample, NOBODY), "cause")


def _alternative(case: _Case) -> Alternative:
    why = f"no rule: the words {case.words} suggest it ({case.groups[0].first})"
    return Alternative(case.category, case.probability, why)
