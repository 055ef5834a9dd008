"""A model as data: a linear one over terms, calibrated, with a threshold for each category.

It is JSON lines: nothing in it can run. The first line holds what is one for all terms, each further one a term, which
is read when a message holds it: a log's messages hold a hundred of the thousands.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from nccl_logscan.errors import LogscanError
from nccl_logscan.records import dataclass
from nccl_logscan.taxonomy import Category

SHIPPED = Path(__file__).with_name("model.jsonl")
FORMAT = "nccl-logscan model 1"


class ModelError(LogscanError):
    """A file is no model, or one of another version."""

    exit_code = 4


class Row(NamedTuple):
    """A term's weight, squared, and its coefficient, weighted, for each of the model's categories."""

    weight: float
    coefficients: tuple[float, ...]


class Rows:
    """The rows of a model by term. Raises ModelError for a row that is none, when it is asked for."""

    def __init__(self, lines: Sequence[str], width: int, name: str) -> None:
        self._written = {line[2 : line.find('"', 2)]: line for line in lines}
        self._known: dict[str, Row] = {}
        self._width = width
        self._name = name

    def __iter__(self) -> Iterator[str]:
        """Yield the terms."""
        return iter(self._written)

    def __len__(self) -> int:
        return len(self._written)

    def get(self, term: str) -> Row | None:
        """Return the row of a term; None if the model does not know it."""
        row = self._known.get(term)
        if row is None and (line := self._written.get(term)) is not None:
            row = self._known[term] = self._row(term, line)
        return row

    def _row(self, term: str, line: str) -> Row:
        try:
            told, weight, *coefficients = json.loads(line)
            row = Row(float(weight), _floats(coefficients))
        except (ValueError, TypeError) as error:
            raise _no_model(self._name, f"the row of {term!r}: {error}") from error
        if told != term or len(row.coefficients) != self._width:
            raise _no_model(self._name, f"the row of {term!r} has {len(row.coefficients)} numbers, not {self._width}")
        return row


@dataclass(frozen=True, slots=True)
class Model:
    """Logits are `intercepts` plus the sum of a message's rows, divided by the root of its terms' summed weights.

    A term without a row has the weight `foreign_weight`.
    The temperature is already in the coefficients. `thresholds`: the least probability with which each of `categories`
    is suggested. `digest` is SHA-256 over all but itself, as training wrote it.
    """

    categories: tuple[Category, ...]
    intercepts: tuple[float, ...]
    thresholds: tuple[float, ...]
    foreign_weight: float
    rows: Rows
    digest: str


@cache
def shipped_model() -> Model:
    """Return the model that is shipped."""
    return read_model(SHIPPED)


def read_model(path: Path) -> Model:
    """Read a model. Raises ModelError where the file is none, with its name and what is wrong."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise ModelError(f"{path} could not be read: {error.strerror}", hint=_HINT) from error
    try:
        head, *lines = text.decode("utf-8").splitlines()
        return _model(json.loads(head), lines, str(path))
    except (ValueError, TypeError, KeyError) as error:
        raise _no_model(str(path), str(error)) from error


_HINT = "train one: nccl-logscan train -o FILE"


def _no_model(name: str, why: str) -> ModelError:
    return ModelError(f"{name} is no model: {why}", hint=_HINT)


def _model(head: Any, lines: Sequence[str], name: str) -> Model:
    if head["format"] != FORMAT:
        raise ValueError(f"its format is {head['format']!r}, and not {FORMAT!r}")
    categories = tuple(Category(category) for category in head["categories"])
    intercepts, thresholds = _floats(head["intercepts"]), _floats(head["thresholds"])
    if not len(categories) == len(intercepts) == len(thresholds) > 0:
        raise ValueError(f"{len(intercepts)} intercepts and {len(thresholds)} thresholds, {len(categories)} categories")
    rows = Rows(lines, len(categories), name)
    return Model(categories, intercepts, thresholds, float(head["foreign_weight"]), rows, str(head["digest"]))


def _floats(values: Any) -> tuple[float, ...]:
    return tuple(float(value) for value in values)
