"""Scoring: a message and a model to a suggestion, or to nothing. Without scikit-learn."""

from __future__ import annotations

from collections.abc import Collection
from math import exp, sqrt

from nccl_logscan.classifier.features import is_familiar, is_word, terms
from nccl_logscan.classifier.model import Model, Row
from nccl_logscan.records import dataclass
from nccl_logscan.taxonomy import Category

_WORDS = 5


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A category for a message that no rule knows; `probability` is 0 to 1, calibrated. `words` spoke for it most."""

    category: Category
    probability: float
    words: tuple[str, ...]


def probabilities(model: Model, template: str, kind: str = "", file: str = "") -> tuple[float, ...]:
    """Return the probability of each of the model's categories, in their order; they sum to 1."""
    found = terms(template, kind, file)
    return _probabilities(model, _known(model, found).values(), len(found))


def suggest(model: Model, template: str, kind: str = "", file: str = "") -> Suggestion | None:
    """Return what a masked message of an event's kind is taken for; `file` is the source file that its line names.

    None where that is harmless or not sure enough, or where too few of its words are known.
    """
    found = terms(template, kind, file)
    rows = _known(model, found)
    if not is_familiar(found, rows):
        return None
    scored = _probabilities(model, rows.values(), len(found))
    best = max(range(len(scored)), key=scored.__getitem__)
    if scored[best] < model.thresholds[best] or model.categories[best] is Category.NONE:
        return None
    speaking = [term for term in rows if is_word(term) and rows[term].coefficients[best] > 0]
    speaking.sort(key=lambda term: -rows[term].coefficients[best])
    return Suggestion(model.categories[best], scored[best], tuple(speaking[:_WORDS]))


def _known(model: Model, found: Collection[str]) -> dict[str, Row]:
    return {term: row for term in found if (row := model.rows.get(term)) is not None}


def _probabilities(model: Model, rows: Collection[Row], found: int) -> tuple[float, ...]:
    weight = sum(row.weight for row in rows) + (found - len(rows)) * model.foreign_weight
    norm = sqrt(weight) or 1.0
    columns = zip(*(row.coefficients for row in rows), strict=True)
    totals = [sum(column, 0.0) for column in columns] or [0.0] * len(model.categories)
    logits = [intercept + total / norm for intercept, total in zip(model.intercepts, totals, strict=True)]
    highest = max(logits)
    powers = [exp(logit - highest) for logit in logits]
    whole = sum(powers)
    return tuple(power / whole for power in powers)
