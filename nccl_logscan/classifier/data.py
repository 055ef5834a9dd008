"""Labelled messages: what a model is trained on and measured with, and how they are split."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from nccl_logscan.classifier.features import is_word, terms
from nccl_logscan.errors import InputError
from nccl_logscan.records import dataclass, replace
from nccl_logscan.taxonomy import Category

FOLDS = 20
_ALIKE = 0.8
MESSAGES = "messages.jsonl"


@dataclass(frozen=True, slots=True)
class Message:
    """A masked message, of an event of a kind, and what it is a sign of.

    `scenarios`: the rules, jobs and source files that it stands in. `file`: the source file that its line names, or "".
    """

    template: str
    category: Category
    scenarios: tuple[str, ...]
    origin: str
    kind: str = ""
    file: str = ""

    @property
    def terms(self) -> list[str]:
        """What it is made of."""
        return terms(self.template, self.kind, self.file)


class Split(NamedTuple):
    """Messages to learn from, to calibrate on, and to measure with.

    No scenario is in two of them, and no message of which another one has a copy, or nearly one.
    """

    train: tuple[Message, ...]
    calibrate: tuple[Message, ...]
    test: tuple[Message, ...]


def read_messages(path: Path) -> tuple[Message, ...]:
    """Read a file of JSON lines. Raises InputError with the line that is none of a message."""
    if not path.is_file():
        raise InputError(f"{path} could not be read: it is not there, or no file", hint="give labelled messages")
    try:
        lines = path.read_text("utf-8").split("\n")
    except (OSError, ValueError) as error:
        raise InputError(f"{path} could not be read: {error}", hint="give a file of labelled messages") from error
    return tuple(_message(line, f"{path}:{number}") for number, line in enumerate(lines, 1) if line.strip())


def shipped_messages() -> tuple[Message, ...]:
    """Return the messages that are shipped: the wheel's copy, or the checkout's own."""
    package = Path(__file__).resolve().parents[1]
    installed = package / "_labelled" / MESSAGES
    return read_messages(installed if installed.is_file() else package.parent / "fixtures" / "labelled" / MESSAGES)


def joined(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Return each template once, in order; of several the first one says what it is, and all tell its scenarios."""
    by_template: dict[str, Message] = {}
    for message in messages:
        known = by_template.get(message.template)
        scenarios = message.scenarios if known is None else tuple(dict.fromkeys((*known.scenarios, *message.scenarios)))
        by_template[message.template] = replace(known or message, scenarios=scenarios)
    return tuple(by_template[template] for template in sorted(by_template))


def _message(line: str, place: str) -> Message:
    try:
        plain = json.loads(line)
        texts = [plain["template"], plain["origin"], plain["kind"], *_scenarios(plain["scenarios"])]
        if not all(isinstance(text, str) and text.isprintable() and text for text in texts):
            raise ValueError("a text of it is empty, or holds what cannot be printed")
        file = plain.get("file", "")
        if not isinstance(file, str) or not file.isprintable():
            raise ValueError("its file is no name")
        category = Category(plain["category"])
        if category is Category.UNKNOWN:
            raise ValueError("`unknown` is no label")
        return Message(plain["template"], category, tuple(plain["scenarios"]), plain["origin"], plain["kind"], file)
    except KeyError as error:
        raise InputError(f"{place} is no labelled message: it has no {error}", hint=_HINT) from error
    except (ValueError, TypeError, RecursionError) as error:
        raise InputError(f"{place} is no labelled message: {error}", hint=_HINT) from error


_HINT = "see fixtures/labelled/README.md"


def _scenarios(written: object) -> list[object]:
    if not isinstance(written, list) or not written:
        raise ValueError("its scenarios are no list of names")
    return written


def splits(messages: Sequence[Message]) -> Iterator[Split]:
    """Yield each fold once as the test, the next one to calibrate on, and of the others what has nothing in common.

    A message is in the fold of its first scenario.
    """
    groups = dict(zip(messages, alike(messages), strict=True))
    folds: list[list[Message]] = [[] for _ in range(FOLDS)]
    for message in messages:
        folds[fold_of(message.scenarios[0])].append(message)
    for fold, test in enumerate(folds):
        calibrate = _apart(folds[(fold + 1) % FOLDS], test, groups)
        yield Split(_apart(messages, (*test, *calibrate), groups), calibrate, tuple(test))


def _apart(
    messages: Iterable[Message], others: Sequence[Message], groups: Mapping[Message, int]
) -> tuple[Message, ...]:
    """Return the messages that share no scenario with others, and are not nearly one of them."""
    scenarios = {scenario for other in others for scenario in other.scenarios}
    seen = {groups[other] for other in others}
    return tuple(
        message for message in messages if scenarios.isdisjoint(message.scenarios) and groups[message] not in seen
    )


def alike(messages: Sequence[Message]) -> list[int]:
    """Return a number for each message: the same one for those of which four words in five are the same, or all."""
    leaders = list(range(len(messages)))
    holding: dict[str, list[int]] = defaultdict(list)
    words = [frozenset(term for term in message.terms if is_word(term) and " " not in term) for message in messages]
    for place, own in enumerate(words):
        shared = Counter(other for word in own for other in holding[word])
        for other, count in shared.items():
            if count >= _ALIKE * len(own | words[other]):
                leaders[_leader(leaders, place)] = _leader(leaders, other)
        for word in own:
            holding[word].append(place)
    return [_leader(leaders, place) for place in range(len(messages))]


def _leader(leaders: Sequence[int], place: int) -> int:
    while leaders[place] != place:
        place = leaders[place]
    return place


def fold_of(scenario: str) -> int:
    """Return the fold that a scenario is in."""
    return int.from_bytes(sha256(scenario.encode("utf-8", "surrogateescape")).digest()[:4], "big") % FOLDS
