"""Compares models and baselines on the labelled messages, all held out in the same way, and writes reports/models.md.

python tools/models.py           measure and write: a quarter of an hour
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np
from keyword_baseline import keyword_verdict
from rapidfuzz import fuzz, process
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import ComplementNB
from sklearn.pipeline import make_pipeline, make_union
from whole_logs import compared, read_logs

from nccl_logscan.classifier.data import Message, shipped_messages
from nccl_logscan.classifier.fitting import STRENGTH, Classifier, Maker, Messages, fit, held_out, terms_of
from nccl_logscan.classifier.measures import Judged, abstention, calibration_error, macro_f1
from nccl_logscan.taxonomy import Category

_REPORT = Path(__file__).resolve().parents[1] / "reports" / "models.md"
_TINY = 1e-9
_SURE = 6.0
"""The logit that a baseline without probabilities gives what it says: calibration finds how much that is worth."""


def main() -> int:
    """Measure all and write."""
    messages = shipped_messages()
    rows = []
    for name, make in (*_MODELS.items(), *_BASELINES.items()):
        started = time.process_time()
        judged = held_out(messages, make).judged
        rows.append((name, judged))
        print(f"{name}: {macro_f1(judged):.3f}, {time.process_time() - started:.0f} s", file=sys.stderr)
    _REPORT.write_text(_page(messages, rows) + _whole_logs(messages), "utf-8")
    return 0


def _page(messages: Messages, rows: Iterable[tuple[str, Sequence[Judged]]]) -> str:
    intro = (
        f"Measured on {len(messages)} masked messages (fixtures/labelled/). Each was judged once by a model that had "
        "seen neither its template nor any of its scenarios, with temperature and thresholds from a fold of their own. "
        "`answered right` is the share of right answers among all answers; `right of all` counts an abstention as no "
        "answer; `if all answered` is the macro-F1 without thresholds."
    )
    lines = ["<!-- written by: python tools/models.py -->", "# Models that were tried", "", *wrap(intro, 120), ""]
    lines += ["| model | macro-F1 | abstention | calibration error | answered right | right of all | if all answered |"]
    lines += ["|---|---|---|---|---|---|---|"]
    return "\n".join([*lines, *(_row(name, judged) for name, judged in rows), ""])


def _row(name: str, judged: Sequence[Judged]) -> str:
    answered = sum(one.answer is not None for one in judged)
    right = sum(one.answer is one.message.category for one in judged)
    whole = [Judged(one.message, one.best, one.probability, one.best) for one in judged]
    cells = (
        f"{macro_f1(judged):.3f}",
        f"{100 * abstention(judged):.1f} %",
        f"{calibration_error(judged):.3f}",
        f"{right / max(1, answered):.3f}",
        f"{right / len(judged):.3f}",
        f"{macro_f1(whole):.3f}",
    )
    return f"| {name} | {' | '.join(cells)} |"


def _whole_logs(messages: Messages) -> str:
    logs = read_logs()
    healthy = sum(log.category is Category.NONE for log in logs)
    intro = (
        f"On {len(logs)} labelled cases (fixtures/cases; {healthy} are of healthy jobs), each judged by models that "
        "saw no case of its family. `messages`: the category to which one of its warnings gives the highest "
        "probability, by the words of the shipped model. `course of events`: how many events there are of each kind, "
        "where the last one stands, how many ranks fell silent, and the longest gaps, by gradient-boosted trees. "
        "`false alarms`: healthy jobs that were given a failure."
    )
    lines = ["", "## Whole logs", "", *wrap(intro, 120), ""]
    lines += ["| model | macro-F1 | right | false alarms |", "|---|---|---|---|"]
    for name, told in compared(messages, logs).items():
        judged = [Judged(Message("", is_, ("",), "case"), taken, 1.0, taken) for is_, taken in told]
        right = sum(is_ is taken for is_, taken in told) / len(told)
        alarms = sum(is_ is Category.NONE is not taken for is_, taken in told)
        lines.append(f"| {name} | {macro_f1(judged):.3f} | {right:.3f} | {alarms} of {healthy} |")
    return "\n".join([*lines, ""])


# --- models ----------------------------------------------------------------------------------------------------


def _linear(features: Any, strength: float) -> Maker:
    def make(messages: Messages) -> Classifier:
        regression = LogisticRegression(C=strength, class_weight="balanced", max_iter=1_000, tol=1e-4)
        return _fitted(make_pipeline(features(), regression), messages, lambda one: one.decision_function)

    return make


def _words() -> TfidfVectorizer:
    return TfidfVectorizer(analyzer=terms_of, min_df=2, binary=True)


def _characters() -> TfidfVectorizer:
    return TfidfVectorizer(
        analyzer="char_wb",
        ngram_range=(2, 5),
        min_df=2,
        sublinear_tf=True,
        preprocessor=lambda one: one.template.lower(),
    )


def _both() -> Any:
    return make_union(_words(), _characters())


def _bayes(messages: Messages) -> Classifier:
    whole = make_pipeline(TfidfVectorizer(analyzer=terms_of, min_df=1, binary=True), ComplementNB(alpha=0.3))
    return _fitted(whole, messages, lambda one: one.predict_log_proba)


def _boosted(messages: Messages) -> Classifier:
    boosting = HistGradientBoostingClassifier(max_iter=80, max_leaf_nodes=15, random_state=0, class_weight="balanced")
    whole = make_pipeline(_words(), TruncatedSVD(60, random_state=0), boosting)
    return _fitted(whole, messages, lambda one: lambda held: np.log(one.predict_proba(held) + _TINY))


def _fitted(whole: Any, messages: Messages, logits: Callable[[Any], Callable[[Messages], Any]]) -> Classifier:
    whole.fit(messages, [message.category.value for message in messages])
    return Classifier(tuple(Category(name) for name in whole.classes_), logits(whole))


# --- baselines -------------------------------------------------------------------------------------------------


def _majority(messages: Messages) -> Classifier:
    [(most, _)] = Counter(message.category for message in messages).most_common(1)
    return _saying(lambda _: most)


def _keywords(messages: Messages) -> Classifier:  # noqa: ARG001 - it learns nothing
    return _saying(lambda text: _known(keyword_verdict([text])))


def _nearest(messages: Messages) -> Classifier:
    templates = [message.template for message in messages]

    def nearest(text: str) -> Category:
        _, _, place = process.extractOne(text, templates, scorer=fuzz.token_set_ratio)
        return messages[place].category

    return _saying(nearest)


def _known(name: str) -> Category:
    return Category.NONE if name == Category.UNKNOWN else Category(name)


def _saying(say: Callable[[str], Category]) -> Classifier:
    categories = tuple(one for one in Category if one is not Category.UNKNOWN)

    def logits(messages: Messages) -> Any:
        told = np.zeros((len(messages), len(categories)))
        for row, message in enumerate(messages):
            told[row, categories.index(say(message.template))] = _SURE
        return told

    return Classifier(categories, logits)


_MODELS: dict[str, Maker] = {
    "words, their parts and pairs, logistic regression (shipped)": lambda messages: fit(messages).classifier,
    "characters (2 to 5), logistic regression": _linear(_characters, STRENGTH),
    "words and characters, logistic regression": _linear(_both, STRENGTH),
    "words, complement naive Bayes": _bayes,
    "gradient boosting on 60 components of words": _boosted,
}
_BASELINES: dict[str, Maker] = {
    "baseline: the most frequent category": _majority,
    "baseline: a list of keywords": _keywords,
    "baseline: the nearest template": _nearest,
}

if __name__ == "__main__":
    raise SystemExit(main())
