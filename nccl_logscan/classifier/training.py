"""One training: the model's text, its card, and whether a site's own messages helped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from nccl_logscan.classifier.card import card
from nccl_logscan.classifier.data import Message, joined
from nccl_logscan.classifier.fitting import Classifier, HeldOut, fit, held_out, judged, text_of
from nccl_logscan.classifier.measures import Judged, abstention, calibration_error, macro_f1
from nccl_logscan.errors import InputError

_FEWEST = 3


class Training:
    """Trains on `messages` and on a site's `own`. What is costly is done when it is asked for."""

    def __init__(self, messages: Sequence[Message], own: Sequence[Message] = ()) -> None:
        self._shipped = tuple(messages)
        self._own = tuple(own)
        self._messages = joined([*own, *messages])  # a site knows its own jobs
        categories = {message.category for message in self._messages}
        if len(categories) < _FEWEST:
            raise InputError(
                f"messages of {len(categories)} categories are too few to tell apart", hint=f"give {_FEWEST} or more"
            )

    @property
    def judged(self) -> Sequence[Judged]:
        """Every message, judged by a model that has seen neither its template nor its scenarios."""
        return self._held_out.judged

    @cached_property
    def text(self) -> str:
        """The model, trained on all messages, calibrated on what was held out."""
        return text_of(fit(self._messages), self._held_out.calibration)

    @property
    def card(self) -> str:
        """The model's MODEL.md."""
        return card(self.text, self._messages, self.judged)

    @cached_property
    def _held_out(self) -> HeldOut:
        return held_out(self._messages, _classifier)

    def told(self) -> Iterator[str]:
        """Yield what a person wants to know of it, line by line."""
        yield f"{len(self._messages)} messages; held out: " + _quality(self.judged)
        if self._own:
            own = {message.template for message in self._own}
            with_own = [one for one in self.judged if one.message.template in own]
            without = _judged_without(self._shipped, [one.message for one in with_own])
            yield f"your {len(with_own)} messages, judged without your cases: {_right(without)}"
            yield f"your {len(with_own)} messages, with the other cases of yours: {_right(with_own)}"
            gain = _score(with_own) - _score(without)
            yield (
                "your cases helped" if gain > 0 else "your cases made no difference" if gain == 0 else "your cases hurt"
            )


def _classifier(messages: Sequence[Message]) -> Classifier:
    return fit(messages).classifier


def _judged_without(shipped: Sequence[Message], own: Sequence[Message]) -> list[Judged]:
    return list(judged(_classifier(shipped), held_out(shipped, _classifier).calibration, own))


def _quality(told: Sequence[Judged]) -> str:
    return (
        f"macro-F1 {macro_f1(told):.3f} on what it answers, {100 * abstention(told):.1f} % without an answer, "
        f"calibration error {calibration_error(told):.3f}"
    )


def _counted(told: Sequence[Judged]) -> tuple[int, int]:
    """Return how many answers are right, and how many wrong."""
    right = sum(one.answer is one.message.category for one in told)
    return right, sum(one.answer is not None for one in told) - right


def _score(told: Sequence[Judged]) -> int:
    right, wrong = _counted(told)
    return right - wrong


def _right(told: Sequence[Judged]) -> str:
    right, wrong = _counted(told)
    return f"{right} right, {wrong} wrong, {len(told) - right - wrong} without an answer"
