"""The columns: those of every row, and one for each field that some type of event has of its own.

They follow from the types in `events/model.py`, so that a new field is a new column. A field whose name is that of a
column of every row, or that means a value of another type in another kind, is called by its kind too
(`nccl_init_rank`). The parts of a call site are a column each.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from types import UnionType
from typing import Any, get_args, get_type_hints

from nccl_logscan.event_table.meanings import MEANINGS, Meaning
from nccl_logscan.events.model import EVENT_TYPES, Event
from nccl_logscan.position import Origin


class ColumnType(StrEnum):
    """What a column holds; every column but those of `REQUIRED` may be null."""

    INT = "int64"
    FLOAT = "float64"
    BOOL = "bool"
    STRING = "string"
    TIMESTAMP = "timestamp[us]"
    STRINGS = "list[string]"
    INTS = "list[int64]"


REQUIRED = frozenset({"order", "source", "line", "byte_offset", "message", "repeated", "prefixes"})
"""The columns that have a value in every row."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column. `kinds` are those whose rows may have a value in it; empty: every row may."""

    name: str
    type: ColumnType
    kinds: tuple[str, ...] = ()

    @property
    def meaning(self) -> Meaning:
        """Its unit and what it tells."""
        return MEANINGS[self.name]


@dataclass(frozen=True, slots=True)
class Field:
    """A field of an event as a column: `part` is the field within the field where that is a record, else None."""

    column: str
    name: str
    part: str | None
    type: ColumnType


_Told = tuple[str, str | None, ColumnType]
"""A field's name, the name of its part, the type."""

_PLAIN: dict[Any, ColumnType] = {
    int: ColumnType.INT,
    float: ColumnType.FLOAT,
    bool: ColumnType.BOOL,
    str: ColumnType.STRING,
    tuple[str, ...]: ColumnType.STRINGS,
    tuple[int, ...]: ColumnType.INTS,
}


_SHARED = frozenset(field.name for field in fields(Event))


def _fields_of(type_: type[Any], *, passed_over: frozenset[str] = frozenset()) -> Iterator[_Told]:
    """Yield the fields of a record, those of a record within it in its place."""
    hints = get_type_hints(type_)
    for field in fields(type_):
        if field.name in passed_over:
            continue
        hint = _said(hints[field.name])
        if isinstance(hint, type) and is_dataclass(hint):
            yield from ((field.name, part, plain) for part, _, plain in _fields_of(hint))
        else:
            yield field.name, None, _PLAIN[hint]


def _said(hint: Any) -> Any:
    """Return T of `T | None`."""
    if isinstance(hint, UnionType):
        [hint] = (part for part in get_args(hint) if part is not type(None))
    return hint


ORIGIN_FIELDS: tuple[Field, ...] = tuple(Field(name, name, part, type_) for name, part, type_ in _fields_of(Origin))
"""Who wrote a line."""

_HEAD = (
    Column("order", ColumnType.INT),
    Column("source", ColumnType.STRING),
    Column("line", ColumnType.INT),
    Column("byte_offset", ColumnType.INT),
    Column("kind", ColumnType.STRING),
    Column("message", ColumnType.STRING),
    Column("when", ColumnType.TIMESTAMP),
    Column("utc_offset", ColumnType.INT),
    Column("clock", ColumnType.STRING),
    *(Column(field.column, field.type) for field in ORIGIN_FIELDS),
    Column("level", ColumnType.STRING),
    Column("repeated", ColumnType.INT),
    Column("prefixes", ColumnType.STRINGS),
    Column("not_finite", ColumnType.STRINGS),
)


def _own_fields() -> dict[str, tuple[Field, ...]]:
    taken = {column.name for column in _HEAD}
    own = {kind: list(_fields_of(type_, passed_over=_SHARED)) for kind, type_ in EVENT_TYPES.items()}
    types: defaultdict[str, set[ColumnType]] = defaultdict(set)
    for name, part, type_ in (told for every in own.values() for told in every):
        types[_plain_name(name, part)].add(type_)

    def column_of(kind: str, plain: str) -> str:
        is_clear = plain not in taken and len(types[plain]) == 1
        return plain if is_clear else f"{kind.replace('.', '_').replace('-', '_')}_{plain}"

    return {
        kind: tuple(Field(column_of(kind, _plain_name(name, part)), name, part, type_) for name, part, type_ in every)
        for kind, every in own.items()
    }


def _plain_name(name: str, part: str | None) -> str:
    return name if part is None else f"{name}_{part}"


OWN_FIELDS: dict[str, tuple[Field, ...]] = _own_fields()
"""By kind of event: the fields that it has beside those of every event."""


def _own_columns() -> Iterator[Column]:
    kinds: dict[str, list[str]] = {}
    types: dict[str, ColumnType] = {}
    for kind, own in OWN_FIELDS.items():
        for field in own:
            kinds.setdefault(field.column, []).append(kind)
            types[field.column] = field.type
    yield from (Column(name, types[name], tuple(having)) for name, having in kinds.items())


COLUMNS: tuple[Column, ...] = (*_HEAD, *_own_columns())
"""Every column, in the order of the table."""
