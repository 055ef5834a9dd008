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
from zlib import crc32

from nccl_logscan.errors import LogscanError
from nccl_logscan.records import dataclass
from nccl_logscan.taxonomy import Category

SHIPPED = Path(__file__).with_name("model.jsonl")
FORMAT = "nccl-logscan model 1"
_LONGEST = 1 << 26
_GREATEST = 1e6
_DIGEST = 64


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

    def get(self, term: str) -> Row | None:
        """Return the row of a term; None if the model does not know it."""
        row = self._known.get(term)
        if row is None and (line := self._written.get(term)) is not None:
            row = self._known[term] = self._row(term, line)
        return row

    def _row(self, term: str, line: str) -> Row:
        try:
            told, weight, *coefficients = json.loads(line)
            row = Row(_floats([weight])[0], _floats(coefficients))
        except (ValueError, TypeError, OverflowError, RecursionError) as error:
            raise _no_model(self._name, f"the row of {term!r}: {error}") from error
        if row.weight < 0:
            raise _no_model(self._name, f"the row of {term!r} has a weight below 0")
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
        if not path.is_file():
            raise ModelError(f"{path} could not be read: it is not there, or no file", hint=_HINT)
        if path.stat().st_size > _LONGEST:
            raise _no_model(str(path), f"it is longer than {_LONGEST} bytes")
        head, _, rows = path.read_bytes().partition(b"\n")
    except OSError as error:
        raise ModelError(f"{path} could not be read: {error.strerror}", hint=_HINT) from error
    try:
        plain = json.loads(head)
        if plain["rows_crc32"] != crc32(rows):
            raise ValueError("its rows are not those that training wrote: it was cut off, or changed")
        return _model(plain, rows.decode("utf-8").split("\n")[:-1], str(path))
    except KeyError as error:
        raise _no_model(str(path), f"it has no {error}") from error
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
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
    if len(set(categories)) != len(categories) or Category.UNKNOWN in categories:
        raise ValueError("a category is named twice, or is `unknown`")
    [foreign] = _floats([head["foreign_weight"]])
    if foreign < 0 or not all(0 <= threshold <= 1 for threshold in thresholds):
        raise ValueError("a threshold is not from 0 to 1, or the weight of foreign terms is below 0")
    rows = Rows(lines, len(categories), name)
    return Model(categories, intercepts, thresholds, foreign, rows, str(head["digest"])[:_DIGEST])


def _floats(values: Any) -> tuple[float, ...]:
    if not isinstance(values, list) or not all(isinstance(value, int | float) for value in values):
        raise ValueError("numbers are expected")
    numbers = tuple(map(float, values))
    if not all(abs(number) <= _GREATEST for number in numbers):
        raise ValueError(f"a number is none, or above {_GREATEST:g}")
    return numbers
