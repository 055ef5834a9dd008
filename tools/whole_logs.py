"""Compares classifiers of whole logs: by what their messages say, by the course of their events, and by both.

The course is what a window of a log shows without its words: how many events there are of each kind, which came last,
which ranks fell silent, and the longest gaps.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import log1p
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from labelled_sources import events_in
from sklearn.ensemble import HistGradientBoostingClassifier

from nccl_logscan.classifier.data import Message
from nccl_logscan.classifier.fitting import Classifier, fit
from nccl_logscan.diagnosis.unclaimed import is_sign, is_warning
from nccl_logscan.events.mask import template
from nccl_logscan.events.model import EVENT_TYPES, Event, file_of
from nccl_logscan.sources import Kind, open_sources
from nccl_logscan.taxonomy import Category

_CASES = Path(__file__).resolve().parents[1] / "fixtures" / "cases"
_FOLDS = 5
_KINDS = sorted(EVENT_TYPES)
_MOST_EVENTS = 20_000
_VERSIONS = re.compile(r"^(?:v|mix-)?[\d.]+(?:-[\d.]+)*-?")


@dataclass(frozen=True, slots=True)
class Log:
    """A labelled case: its course as numbers, and its warnings and signs as messages without a label."""

    family: str
    category: Category
    course: tuple[float, ...]
    messages: tuple[Message, ...]


def read_logs() -> list[Log]:
    """Return all labelled cases. Of the same failure, recorded with several versions, all are of one family."""
    logs = []
    for label in sorted(_CASES.rglob("case.yaml")):
        plain = yaml.safe_load(label.read_text("utf-8"))
        files = [str(path) for path in sorted(label.parent.rglob("*.log"))]
        events = [event for source in open_sources(files) if source.kind is Kind.TEXT for event in events_in(source)]
        if events and plain["category"] != Category.UNKNOWN.value:
            family = _VERSIONS.sub("", label.parent.name) or "versions that differ"
            said = {template(event.message): event for event in events if is_warning(event) or is_sign(event)}
            messages = (
                Message(text, Category.NONE, (family,), "case", event.kind, file_of(event))
                for text, event in said.items()
            )
            logs.append(Log(family, Category(plain["category"]), _course(events), tuple(messages)))
    return logs


def _course(events: Sequence[Event]) -> tuple[float, ...]:
    """Return of each kind the count and the place of its last event; how many ranks fell silent; the longest gaps."""
    events = events[-_MOST_EVENTS:]
    counts = Counter(event.kind for event in events)
    last = {event.kind: place / len(events) for place, event in enumerate(events)}
    last_of_rank = {event.origin.rank: place for place, event in enumerate(events) if event.origin.rank is not None}
    silent = sum(place < len(events) / 2 for place in last_of_rank.values())
    gaps: dict[Any, list[float]] = defaultdict(list)
    times: dict[Any, float] = {}
    for event in events:
        if event.when is not None:
            clock, seconds = event.when.clock, event.when.value.timestamp()
            if clock in times:
                gaps[clock].append(seconds - times[clock])
            times[clock] = seconds
    longest = sorted((gap for told in gaps.values() for gap in told), reverse=True)[:2]
    return (
        *(log1p(counts[kind]) for kind in _KINDS),
        *(last.get(kind, -1.0) for kind in _KINDS),
        log1p(len(last_of_rank)),
        log1p(silent),
        *(log1p(max(0.0, gap)) for gap in (*longest, 0.0, 0.0)[:2]),
    )


def compared(messages: Sequence[Message], logs: Sequence[Log]) -> dict[str, list[tuple[Category, Category]]]:
    """Return by model what each log is and was taken for, by models that saw nothing of its family."""
    found: dict[str, list[tuple[Category, Category]]] = defaultdict(list)
    for fold in range(_FOLDS):
        test = [log for log in logs if _fold(log.family) == fold]
        train = [log for log in logs if _fold(log.family) != fold]
        names = {message.template for log in test for message in log.messages}
        words = fit([message for message in messages if message.template not in names]).classifier
        told, learnt = _said(words, test), _said(words, train)
        courses, known = _courses(test), _courses(train)
        for log, row in zip(test, told, strict=True):
            found["messages"].append((log.category, words.categories[int(row.argmax())]))
        for name, mine, theirs in (
            ("course of events, gradient boosting", known, courses),
            ("course and messages, gradient boosting", np.hstack([known, learnt]), np.hstack([courses, told])),
        ):
            boosting = HistGradientBoostingClassifier(
                max_iter=60, max_leaf_nodes=8, min_samples_leaf=5, random_state=0, class_weight="balanced"
            )
            boosting.fit(mine, [log.category.value for log in train])
            guesses = boosting.predict(theirs)
            found[name] += [(log.category, Category(guess)) for log, guess in zip(test, guesses, strict=True)]
    return found


def _fold(family: str) -> int:
    return sha256(family.encode()).digest()[0] % _FOLDS


def _courses(logs: Sequence[Log]) -> Any:
    return np.array([log.course for log in logs])


def _said(words: Classifier, logs: Sequence[Log]) -> Any:
    """Return for each log the highest probability that one of its messages gives each category; 0 without messages."""
    told = np.zeros((len(logs), len(words.categories)))
    for place, log in enumerate(logs):
        if log.messages:
            logits = words.logits(log.messages)
            powers = np.exp(logits - logits.max(axis=1, keepdims=True))
            told[place] = (powers / powers.sum(axis=1, keepdims=True)).max(axis=0)
    return told
