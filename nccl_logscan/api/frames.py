"""The lists of a report as polars frames: one schema each, whatever the log holds, and of a list without entries, too.

Cells come from the JSON report, so they are bounded, without secrets, and redacted where it is. A time that the report
has as a text is two columns: the time as it was printed, without a zone, and `utc_offset`, its zone in seconds, null
where the log printed none; as in the table of events.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import polars as pl

from nccl_logscan.report.view import ReportView

_TEXT = pl.String()
_WHOLE = pl.Int64()
_TIME = pl.Datetime("us")
_TEXTS = pl.List(_TEXT)
_WHOLES = pl.List(_WHOLE)
_NAMED = pl.List(pl.Struct({"name": _TEXT, "value": _TEXT}))


class Column(NamedTuple):
    """A column; `path` leads to its cell in an entry of the report's list."""

    name: str
    dtype: pl.DataType
    path: tuple[str, ...]

    @property
    def is_zone(self) -> bool:
        """Whether it is the zone of the time that its path leads to, in seconds."""
        return self.name.endswith("utc_offset")


class Frame(NamedTuple):
    """A frame; `path` leads to its list in the report."""

    path: tuple[str, ...]
    columns: tuple[Column, ...]

    @property
    def schema(self) -> pl.Schema:
        """The names and types of its columns."""
        return pl.Schema({column.name: column.dtype for column in self.columns})


def _plain(dtype: pl.DataType, *names: str) -> tuple[Column, ...]:
    return tuple(Column(name, dtype, (name,)) for name in names)


def _within(name: str, *columns: Column) -> tuple[Column, ...]:
    """Return the columns of an object inside the entry, under its name."""
    return tuple(Column(f"{name}_{own.name}", own.dtype, (name, *own.path)) for own in columns)


_WHEN = (Column("time", _TIME, ("time",)), Column("utc_offset", _WHOLE, ("time",)))
_PLACE = (*_plain(_TEXT, "file"), *_plain(_WHOLE, "line"))

FRAMES: Mapping[str, Frame] = {
    "findings": Frame(
        ("findings",),
        (
            *_plain(_TEXT, "rule", "title", "category", "role", "severity"),
            *_plain(_WHOLE, "count"),
            *_plain(_WHOLES, "ranks"),
            *_plain(_WHOLE, "rank_count"),
            *_plain(_TEXTS, "hosts"),
            *_plain(_WHOLE, "host_count"),
            *_within("first", *_PLACE, *_WHEN),
            *_within("last", *_PLACE, *_WHEN),
            *_plain(_NAMED, "captures"),
            *_plain(_TEXTS, "notes"),
        ),
    ),
    "evidence": Frame(
        ("verdict", "evidence"),
        (
            *_plain(_TEXT, "role"),
            *_PLACE,
            *_plain(_WHOLE, "byte_offset"),
            *_WHEN,
            *_plain(_WHOLE, "rank"),
            *_plain(_TEXT, "host", "text"),
        ),
    ),
    "steps": Frame(
        ("remediation",),
        (
            *_plain(_TEXT, "id", "title", "kind", "setting", "from", "to"),
            *_within("where", *_PLACE),
            *_plain(_TEXT, "diff", "command", "on", "owner", "effect", "why", "risk"),
            *_plain(pl.Boolean(), "do_not"),
            *_plain(_TEXT, "because"),
        ),
    ),
    "ranks": Frame(
        ("ranks",),
        (
            *_plain(_WHOLE, "rank"),
            *_plain(_TEXT, "host", "process_group"),
            *_plain(_WHOLE, "last_enqueued", "last_completed"),
            *_plain(_TEXT, "waits_in"),
            *_plain(_WHOLE, "waits_at"),
            *_plain(pl.Boolean(), "recorded"),
            *_within("last_words", *_plain(_TEXT, "text"), *_PLACE, *_WHEN),
        ),
    ),
    "timeline": Frame(
        ("timeline",),
        (
            *_WHEN,
            *_plain(_TEXT, "clock"),
            *_within("aligned", *_WHEN, *_plain(_TEXT, "clock"), *_plain(pl.Float64(), "uncertainty")),
            *_plain(_WHOLE, "rank"),
            *_plain(_TEXT, "host", "kind", "text"),
            *_PLACE,
        ),
    ),
    "settings": Frame(("config", "seen"), (*_plain(_TEXT, "name", "value", "origin"), *_PLACE)),
}
"""Every frame, by the name of the method that gives it (`findings_frame`)."""


def frame_of(name: str, view: ReportView) -> pl.DataFrame:
    """Return one of the report's lists as a frame."""
    frame = FRAMES[name]
    entries = _at(view, frame.path)
    return pl.DataFrame([_series(column, entries) for column in frame.columns])


def _series(column: Column, entries: Sequence[Mapping[str, Any]]) -> pl.Series:
    cells = [_cell(column, _at(entry, column.path)) for entry in entries]
    # Not strict: a number of more than 64 bits, which a log may well hold, is null.
    return pl.Series(column.name, cells, dtype=column.dtype, strict=False)


def _at(entry: Any, path: Sequence[str]) -> Any:
    for name in path:
        if entry is None:
            return None
        entry = entry[name]
    return entry


def _cell(column: Column, value: Any) -> Any:
    if value is None:
        return None
    if column.dtype == _NAMED:
        return [{"name": name, "value": text} for name, text in value.items()]
    if column.is_zone:
        zone = datetime.fromisoformat(value).utcoffset()
        return None if zone is None else round(zone.total_seconds())
    return datetime.fromisoformat(value).replace(tzinfo=None) if column.dtype == _TIME else value
