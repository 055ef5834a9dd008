"""Rows → polars frames of a bounded size, with the columns of `COLUMNS`, `order` excepted."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any

import polars as pl

from nccl_logscan.event_table.columns import COLUMNS, ORIGIN_FIELDS, OWN_FIELDS, ColumnType, Field
from nccl_logscan.event_table.rows import Row
from nccl_logscan.event_table.text_cells import cell, encodable, named_cells
from nccl_logscan.events.model import Event

_ROWS = 16_384
_CHARACTERS = 1 << 23
"""A frame ends with the row that brings it to either; both bound what is held in memory."""

_DTYPES: dict[ColumnType, pl.DataType] = {
    ColumnType.INT: pl.Int64(),
    ColumnType.FLOAT: pl.Float64(),
    ColumnType.BOOL: pl.Boolean(),
    ColumnType.STRING: pl.String(),
    ColumnType.TIMESTAMP: pl.Datetime("us"),
    ColumnType.STRINGS: pl.List(pl.String()),
    ColumnType.INTS: pl.List(pl.Int64()),
}
SCHEMA = pl.Schema({column.name: _DTYPES[column.type] for column in COLUMNS})
"""The whole table's."""
_NAMED = frozenset(kind for kind, own in OWN_FIELDS.items() if {"name", "value"} <= {field.name for field in own})
_FOREIGN = frozenset({"source", "clock", "level", "host", "pod", "actor", "address"})
"""Columns of every row whose texts come from the log or the user."""
_WORDS = {math.inf: "Infinity", -math.inf: "-Infinity"}

_Cells = list[Any]


def frames_of(rows: Iterable[Row]) -> Iterator[pl.DataFrame]:
    """Yield the rows as frames; where one ends changes nothing in the table."""
    held: list[Row] = []
    characters = 0
    for row in rows:
        held.append(row)
        characters += len(row.event.message)
        if len(held) >= _ROWS or characters >= _CHARACTERS:
            yield _frame(held)
            held, characters = [], 0
    if held:
        yield _frame(held)


def numbered(frames: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Yield the frames with the column `order`."""
    first = 0
    for frame in frames:
        order = pl.int_range(first, first + frame.height, dtype=pl.Int64, eager=True).alias("order")
        yield frame.insert_column(0, order)
        first += frame.height


def _frame(rows: Sequence[Row]) -> pl.DataFrame:
    cells = _cells(rows)
    return pl.DataFrame([_series(name, cells.get(name), len(rows)) for name in SCHEMA if name != "order"])


def _cells(rows: Sequence[Row]) -> dict[str, _Cells]:
    """Return the cells by column; a column that no row has a value in may be missing."""
    events = [row.event for row in rows]
    whens = [event.when for event in events]
    cells: dict[str, _Cells] = {
        "source": [event.at.source for event in events],
        "line": [event.at.line for event in events],
        "byte_offset": [event.at.offset for event in events],
        "kind": [event.kind or None for event in events],
        "message": [cell(event.message) for event in events],
        "when": [when and when.value.replace(tzinfo=None) for when in whens],
        "utc_offset": [when and _offset(when.value) for when in whens],
        "clock": [when and when.clock for when in whens],
        "level": [row.level for row in rows],
        "repeated": [event.repeated for event in events],
        "prefixes": _shown_lists([row.prefixes for row in rows]),
    }
    origins = [event.origin for event in events]
    cells |= {field.column: list(map(attrgetter(field.name), origins)) for field in ORIGIN_FIELDS}
    for column in _FOREIGN & cells.keys():
        cells[column] = _shown(cells[column])
    _add_own_cells(cells, events)
    return cells


def _offset(value: datetime) -> int | None:
    offset = value.utcoffset()
    return None if offset is None else round(offset.total_seconds())


def _shown(texts: _Cells) -> _Cells:
    """Return texts as cells; most columns hold few different ones."""
    cells = {text: cell(text) for text in set(texts) if text is not None}
    return list(map(cells.get, texts))


def _shown_lists(lists: Sequence[tuple[str, ...]]) -> _Cells:
    cells = {texts: tuple(map(cell, texts)) for texts in set(lists)}
    return list(map(cells.__getitem__, lists))


# --- the fields that a kind has of its own ---------------------------------------------------------------------


def _add_own_cells(cells: dict[str, _Cells], events: Sequence[Event]) -> None:
    """Set those cells one by one: of the columns that only some kinds have, a row has few."""
    by_kind: defaultdict[str, list[int]] = defaultdict(list)
    for number, event in enumerate(events):
        by_kind[event.kind].append(number)
    for kind, numbers in by_kind.items():
        for field in OWN_FIELDS.get(kind, ()):
            column = cells.setdefault(field.column, [None] * len(events))
            read = _reader(field)
            for number in numbers:
                column[number] = read(events[number])
            if field.type is ColumnType.FLOAT:
                _note_not_finite(cells, field.column, numbers)
        if kind in _NAMED:
            _hide_secret_values(cells, events, numbers)


def _reader(field: Field) -> Callable[[Event], Any]:
    """Return what takes a field's cell out of an event."""
    whole = attrgetter(field.name)
    read = whole if field.part is None else _part_reader(whole, attrgetter(field.part))
    if field.type is ColumnType.STRING:
        return lambda event: None if (text := read(event)) is None else cell(text)
    if field.type is ColumnType.STRINGS:
        return lambda event: tuple(map(cell, read(event)))
    return read


def _part_reader(whole: Callable[[Event], Any], part: Callable[[Any], Any]) -> Callable[[Event], Any]:
    return lambda event: None if (record := whole(event)) is None else part(record)


def _note_not_finite(cells: dict[str, _Cells], name: str, numbers: Sequence[int]) -> None:
    for number in numbers:
        value = cells[name][number]
        if value is not None and not math.isfinite(value):
            notes = cells.setdefault("not_finite", [None] * len(cells[name]))
            notes[number] = (*(notes[number] or ()), f"{name}={_WORDS.get(value, 'NaN')}")


def _hide_secret_values(cells: dict[str, _Cells], events: Sequence[Event], numbers: Sequence[int]) -> None:
    for number in numbers:
        name, value = attrgetter("name", "value")(events[number])
        cells["value"][number], cells["message"][number] = named_cells(name, value, events[number].message)


# --- cells → series --------------------------------------------------------------------------------------------


def _series(name: str, cells: _Cells | None, length: int) -> pl.Series:
    dtype = SCHEMA[name]
    if cells is None:
        return pl.repeat(None, length, dtype=dtype, eager=True).alias(name)
    if isinstance(dtype, pl.List):
        return _series_of_lists(name, cells, dtype)
    try:
        return pl.Series(name, cells, dtype=dtype)
    except UnicodeEncodeError:
        return pl.Series(name, [text and encodable(text) for text in cells], dtype=dtype)
    except (TypeError, OverflowError):
        # A number of more than 64 bits, which a log may well hold, is null.
        return pl.Series(name, cells, dtype=dtype, strict=False)


def _series_of_lists(name: str, cells: _Cells, dtype: pl.List) -> pl.Series:
    """Return lists as a series: polars takes a microsecond and more for each, and there are few different ones."""
    places: dict[Any, int] = {}
    indices = [places.setdefault(texts, len(places)) for texts in cells]
    try:
        different = pl.Series(name, list(places), dtype=dtype)
    except UnicodeEncodeError:
        different = pl.Series(name, [texts and list(map(encodable, texts)) for texts in places], dtype=dtype)
    except (TypeError, OverflowError):
        different = pl.Series(name, list(places), dtype=dtype, strict=False)
    return different.gather(indices)
