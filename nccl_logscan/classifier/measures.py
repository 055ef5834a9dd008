"""How good a classifier is on messages that it has not seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

from nccl_logscan.classifier.data import Message
from nccl_logscan.records import dataclass
from nccl_logscan.taxonomy import Category

BINS = 10


@dataclass(frozen=True, slots=True)
class Judged:
    """A message that was held out: what it is, what it was taken for and how surely; `answer` None: it abstained."""

    message: Message
    best: Category
    probability: float
    answer: Category | None


class OfCategory(NamedTuple):
    """One category's messages: how many there are, were answered, were given this category, and rightly."""

    category: Category
    messages: int
    answered: int
    given: int
    right: int

    @property
    def precision(self) -> float:
        """Share of the given ones that are right; 0 where none was given."""
        return self.right / self.given if self.given else 0.0

    @property
    def recall(self) -> float:
        """Share of the answered ones of this category that were given it."""
        return self.right / self.answered if self.answered else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of both."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def by_category(judged: Sequence[Judged]) -> list[OfCategory]:
    """Return the counts of every category that some message has, in the taxonomy's order."""
    messages = Counter(one.message.category for one in judged)
    answered = Counter(one.message.category for one in judged if one.answer is not None)
    given = Counter(one.answer for one in judged if one.answer is not None)
    right = Counter(one.answer for one in judged if one.answer is one.message.category)
    return [OfCategory(one, messages[one], answered[one], given[one], right[one]) for one in Category if messages[one]]


def macro_f1(judged: Sequence[Judged]) -> float:
    """Return the mean F1 of the categories, on what was answered."""
    measured = by_category(judged)
    return sum(one.f1 for one in measured) / len(measured) if measured else 0.0


def abstention(judged: Sequence[Judged]) -> float:
    """Return the share of messages without an answer."""
    return sum(one.answer is None for one in judged) / len(judged) if judged else 0.0


def bins(judged: Sequence[Judged]) -> list[tuple[int, float, float]]:
    """Return of each tenth of the probability how many messages it has, their mean probability, and the share right."""
    told: list[tuple[int, float, float]] = []
    for number in range(BINS):
        own = [one for one in judged if min(BINS - 1, int(one.probability * BINS)) == number]
        if own:
            mean = sum(one.probability for one in own) / len(own)
            told.append((len(own), mean, sum(one.best is one.message.category for one in own) / len(own)))
    return told


def calibration_error(judged: Sequence[Judged]) -> float:
    """Return the expected calibration error: by how much the probability misses the share right, weighted by bins."""
    return sum(count * abs(mean - right) for count, mean, right in bins(judged)) / len(judged) if judged else 0.0


def interval(right: int, of: int, z: float = 1.96) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share; 0 to 1 where there is nothing to take a share of."""
    if not of:
        return 0.0, 1.0
    share, squared = right / of, z * z
    centre = (share + squared / (2 * of)) / (1 + squared / of)
    half = z * sqrt(share * (1 - share) / of + squared / (4 * of * of)) / (1 + squared / of)
    return max(0.0, centre - half), min(1.0, centre + half)
