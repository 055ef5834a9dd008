"""Labelled messages to a model. The one module that needs scikit-learn (`nccl-logscan[train]`).

Deterministic: the same messages give the same file.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from nccl_logscan.classifier.data import Message, splits
from nccl_logscan.classifier.features import is_familiar
from nccl_logscan.classifier.measures import Judged
from nccl_logscan.classifier.model import FORMAT
from nccl_logscan.records import dataclass
from nccl_logscan.taxonomy import Category

STRENGTH = 40.0
"""The inverse of the regularisation, the best of those tried in `reports/accuracy.md`."""
MOST_ABSTAINED = 0.21
"""Share of the messages that the common threshold leaves without an answer, where it is chosen."""
LEAST_RIGHT = 0.6
"""Share of a category's answers that is to be right; where it is less, the category has a threshold of its own."""
_PRIOR = 50
"""Answers, as often right as they said, that are added to each category's own before that share is taken."""
LEAST_MESSAGES = 3
"""How many messages a term has to be in: with two, the model is half as large again and hardly better."""
_NEVER = -30.0
"""The logit of a category that a classifier does not know."""
_DIGITS = 3
_TEMPERATURES = np.geomspace(0.2, 3.0, 60)

Messages = Sequence[Message]


class Classifier(NamedTuple):
    """Categories, and a function from messages to their logits, one row each. `knows`: whether it may judge one."""

    categories: tuple[Category, ...]
    logits: Callable[[Messages], Any]
    knows: Callable[[Message], bool] = lambda _: True


Maker = Callable[[Messages], Classifier]


@dataclass(frozen=True, slots=True)
class Fitted:
    """The parts of a linear model in scikit-learn's terms."""

    vectorizer: TfidfVectorizer
    regression: LogisticRegression

    @property
    def classifier(self) -> Classifier:
        """The same as a function."""
        categories = tuple(Category(name) for name in self.regression.classes_)
        return Classifier(categories, self._logits, self._knows)

    def _logits(self, messages: Messages) -> Any:
        return self.regression.decision_function(features_of(self.vectorizer, messages))

    def _knows(self, message: Message) -> bool:
        return is_familiar(message.terms, self.vectorizer.vocabulary_)


@dataclass(frozen=True, slots=True)
class Calibration:
    """What turns logits into answers: they are divided by `temperature`; `thresholds` is one for each category."""

    temperature: float
    thresholds: tuple[float, ...]


def terms_of(message: Message) -> list[str]:
    """Return a message's terms, as a vectoriser asks for them."""
    return message.terms


def fit(messages: Messages, strength: float = STRENGTH) -> Fitted:
    """Fit words and pairs of words by multinomial logistic regression, categories weighted alike."""
    vectorizer = TfidfVectorizer(analyzer=terms_of, min_df=LEAST_MESSAGES, binary=True, norm=None).fit(messages)
    features = features_of(vectorizer, messages)
    regression = LogisticRegression(C=strength, class_weight="balanced", max_iter=5_000, tol=1e-6)
    with threadpool_limits(1):  # several threads take hundreds of times as long, and add in another order
        regression.fit(features, [message.category.value for message in messages])
    return Fitted(vectorizer, regression)


def features_of(vectorizer: TfidfVectorizer, messages: Messages) -> Any:
    """Return a row of weights for each message, of length 1 if all of its terms are known.

    A term that is not known has the weight of a rare one, so a message of such terms comes near to the intercepts: what
    is foreign to a model makes it less sure.
    """
    weights = vectorizer.transform(messages)
    known = weights.getnnz(axis=1)
    foreign = np.array([len(message.terms) for message in messages]) - known
    squares = np.asarray(weights.multiply(weights).sum(axis=1)).ravel() + foreign * foreign_weight(vectorizer)
    return weights.multiply(1 / np.sqrt(np.maximum(squares, 1e-12))[:, None]).tocsr()


def foreign_weight(vectorizer: TfidfVectorizer) -> float:
    """Return the squared weight of a term that is not known: that of the rarest one that is."""
    return float(vectorizer.idf_.max() ** 2)


def calibrated(classifier: Classifier, messages: Messages) -> Calibration:
    """Choose temperature and thresholds by messages that the classifier has not seen."""
    wanted = np.array([_place(classifier.categories, message.category) for message in messages])
    return _calibration(classifier.logits(messages), wanted)


def _calibration(logits: Any, wanted: Any) -> Calibration:
    temperature = min(_TEMPERATURES, key=lambda one: _surprise(_softmax(logits / one), wanted))
    return Calibration(float(temperature), _thresholds(_softmax(logits / temperature), wanted))


def judged(classifier: Classifier, calibration: Calibration, messages: Messages) -> Iterator[Judged]:
    """Yield what is made of each message."""
    if not messages:
        return
    scored = _softmax(classifier.logits(messages) / calibration.temperature)
    for message, row in zip(messages, scored, strict=True):
        best = int(row.argmax())
        sure = row[best] >= calibration.thresholds[best] and classifier.knows(message)
        category = classifier.categories[best]
        yield Judged(message, category, float(row[best]), category if sure else None)


class HeldOut(NamedTuple):
    """What classifiers made of messages of which they had seen neither the template nor the scenarios.

    `calibration` is for a classifier of all messages: chosen by all of these that its like had not seen.
    """

    judged: tuple[Judged, ...]
    calibration: Calibration


def held_out(messages: Messages, make: Maker) -> HeldOut:
    """Judge every message by a classifier that was made and calibrated without it."""
    categories = tuple(sorted({message.category for message in messages}))
    found: list[Judged] = []
    rows: list[Any] = []
    for split in splits(messages):
        if split.test:
            classifier = make(split.train)
            found.extend(judged(classifier, calibrated(classifier, split.calibrate), split.test))
            logits = np.full((len(split.test), len(categories)), _NEVER)
            logits[:, [categories.index(one) for one in classifier.categories]] = classifier.logits(split.test)
            rows.append(logits)
    wanted = np.array([categories.index(one.message.category) for one in found])
    return HeldOut(tuple(found), _calibration(np.vstack(rows), wanted))


def text_of(fitted: Fitted, calibration: Calibration) -> str:
    """Return the model as the JSON lines that `read_model` reads."""
    categories = [str(name) for name in fitted.regression.classes_]  # sorted, as `calibration_of` has them
    weights = fitted.vectorizer.idf_
    coefficients = fitted.regression.coef_ / calibration.temperature
    head = {
        "format": FORMAT,
        "categories": categories,
        "intercepts": [_rounded(value) for value in fitted.regression.intercept_ / calibration.temperature],
        "thresholds": [_rounded(value) for value in calibration.thresholds],
        "foreign_weight": _rounded(foreign_weight(fitted.vectorizer)),
    }
    rows = "".join(
        _line([term, _rounded(weights[at] ** 2), *(_rounded(weights[at] * value) for value in coefficients[:, at])])
        for term, at in sorted(fitted.vectorizer.vocabulary_.items())
    )
    head |= {"rows_crc32": crc32(rows.encode())}
    return _line(head | {"digest": sha256((_line(head) + rows).encode()).hexdigest()}) + rows


def _line(plain: Any) -> str:
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":")) + "\n"


def _rounded(value: float) -> float:
    return round(float(value), _DIGITS)


def _place(categories: Sequence[Category], category: Category) -> int:
    return categories.index(category) if category in categories else -1


def _softmax(logits: Any) -> Any:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def _surprise(scored: Any, wanted: Any) -> float:
    """The mean negative logarithm of the probability of what was wanted."""
    known = wanted >= 0
    given = scored[np.arange(len(wanted))[known], wanted[known]]
    return float(-np.log(np.maximum(given, 1e-12)).mean())


def _thresholds(scored: Any, wanted: Any) -> tuple[float, ...]:
    """Return for each category the least probability with which it is an answer.

    It is the same for all, and leaves `MOST_ABSTAINED` of the messages without one; higher for those categories of
    which `LEAST_RIGHT` of the answers would not be right.
    """
    best, surest = scored.argmax(axis=1), scored.max(axis=1)
    common = math.floor(np.quantile(surest, MOST_ABSTAINED) * 1e4) / 1e4
    return tuple(
        max(common, _threshold(surest[best == category], best[best == category] == wanted[best == category]))
        for category in range(scored.shape[1])
    )


def _threshold(surest: Any, right: Any) -> float:
    """Return the least probability from which on `LEAST_RIGHT` of the answers is right; 1 where there is none."""
    order = np.argsort(-surest, kind="stable")
    count = np.arange(1, len(order) + 1)
    shares = (np.cumsum(right[order]) + _PRIOR * np.cumsum(surest[order]) / count) / (count + _PRIOR)
    enough = np.flatnonzero(shares >= LEAST_RIGHT)
    if len(enough):
        return math.floor(float(surest[order][enough[-1]]) * 1e4) / 1e4
    return 1.0 if len(order) else 0.0
