"""MODEL.md: what a model was trained on and how good it is, written by training."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from textwrap import wrap

from nccl_logscan.classifier.data import FOLDS, Message
from nccl_logscan.classifier.measures import (
    Judged,
    abstention,
    bins,
    by_category,
    calibration_error,
    interval,
    macro_f1,
)
from nccl_logscan.classifier.model import FORMAT
from nccl_logscan.taxonomy import Category

_BAR = 20
_WIDTH = 120
_SHARES = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)


def card(text: str, messages: Sequence[Message], judged: Sequence[Judged]) -> str:
    """Return MODEL.md of a model with this text, trained on these messages, of which all were judged held out."""
    parts = (
        _what_it_is(text, messages),
        _quality(judged),
        _table("## By category, on held-out messages", _HEAD, _category_rows(judged)),
        _table("## Is 0.8 right eight times in ten?", ("probability", "messages", "right", ""), _reliability(judged)),
        _table("## What is taken for what", ("is", "taken for", "messages"), _confusions(judged)),
        _table("## The more it abstains", ("abstention", "macro-F1", "right"), _curve(judged)),
    )
    return "\n".join(parts)


_HEAD = ("category", "messages", "answered", "precision (95 %)", "recall of answered (95 %)", "F1")


def _what_it_is(text: str, messages: Sequence[Message]) -> str:
    origins = Counter(message.origin for message in messages)
    scenarios = {scenario for message in messages for scenario in message.scenarios}
    told = ", ".join(f"{count} from {origin}" for origin, count in sorted(origins.items()))
    what = (
        "It suggests a category for a warning or an error that no rule knows, or says nothing. Multinomial logistic "
        "regression over the words of a masked message, their parts and pairs, calibrated by a temperature, with a "
        f"threshold for each category; `{FORMAT}`, JSON lines, scored without scikit-learn. Trained on {len(messages)} "
        f"distinct messages of {len(scenarios)} scenarios ({told}); see the data's card, fixtures/labelled/README.md. "
        f"Digest: `{_digest(text)}`."
    )
    return "\n".join(["<!-- written by: nccl-logscan train -->", "# The model", "", *wrap(what, _WIDTH), ""])


def _digest(text: str) -> str:
    return str(json.loads(text.partition("\n")[0])["digest"])


def _quality(judged: Sequence[Judged]) -> str:
    how = (
        "Every message was judged once by a model of the same making that had seen neither its template nor any of its "
        f"scenarios ({FOLDS} folds: of each the rest, less one fold for calibration and thresholds):"
    )
    figures = (
        f"- macro-F1 on what it answered: **{macro_f1(judged):.3f}**",
        f"- abstention: **{100 * abstention(judged):.1f} %**",
        f"- expected calibration error, ten bins, over all messages: **{calibration_error(judged):.3f}**",
    )
    return "\n".join([*wrap(how, _WIDTH), "", *figures, ""])


def _category_rows(judged: Sequence[Judged]) -> Iterable[tuple[str, ...]]:
    for one in by_category(judged):
        precision, recall = interval(one.right, one.given), interval(one.right, one.answered)
        yield (
            one.category.value,
            str(one.messages),
            str(one.answered),
            f"{one.precision:.2f} ({precision[0]:.2f} to {precision[1]:.2f})",
            f"{one.recall:.2f} ({recall[0]:.2f} to {recall[1]:.2f})",
            f"{one.f1:.2f}",
        )


def _reliability(judged: Sequence[Judged]) -> Iterable[tuple[str, ...]]:
    for count, mean, right in bins(judged):
        yield f"{mean:.2f}", str(count), f"{right:.2f}", "█" * round(_BAR * right) + "░" * (_BAR - round(_BAR * right))


def _confusions(judged: Sequence[Judged]) -> Iterable[tuple[str, ...]]:
    wrong: Counter[tuple[Category, Category]] = Counter()
    for one in judged:
        if one.answer is not None and one.answer is not one.message.category:
            wrong[one.message.category, one.answer] += 1
    for (is_, taken), count in sorted(wrong.items(), key=lambda item: (-item[1], item[0])):
        yield is_.value, taken.value, str(count)


def _curve(judged: Sequence[Judged]) -> Iterable[tuple[str, ...]]:
    """Yield how good answers are if this share with the lowest probabilities had none, whatever the thresholds."""
    ordered = sorted(judged, key=lambda one: one.probability)
    for share in _SHARES:
        kept = ordered[round(share * len(ordered)) :]
        answered = [Judged(one.message, one.best, one.probability, one.best) for one in kept]
        right = sum(one.best is one.message.category for one in kept) / max(1, len(kept))
        yield f"{100 * share:.0f} %", f"{macro_f1(answered):.3f}", f"{right:.3f}"


def _table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [title, "", f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows), ""])
