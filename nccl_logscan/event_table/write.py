"""Frames → Parquet, CSV or JSON lines, as they come.

CSV has no lists: a list is its JSON text. JSON lines leave out what is null. In CSV, which people open in spreadsheets,
a text that one would take for a formula gets a `'` before it (see `guarded`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import BinaryIO

import polars as pl

from nccl_logscan.event_table.frames import SCHEMA
from nccl_logscan.event_table.parquet import write_parquet
from nccl_logscan.report.visible import json_visible


class Form(StrEnum):
    """How a table is written."""

    PARQUET = "parquet"
    CSV = "csv"
    JSONL = "jsonl"


# Within a JSON string every quote is escaped, so this can match keys alone. `order`, the first key, is never null.
_NULL = re.compile(rb',"[a-z_]+":null')
_STAMP = "%Y-%m-%dT%H:%M:%S%.6f"
# What spreadsheets take for a formula, and the guard itself, so that what was put before a text can be told from it.
_FORMULA = r"^('*[=+\-@\t\r])"


def write_table(frames: Iterable[pl.DataFrame], form: Form, file: BinaryIO) -> int:
    """Write the frames of a whole table; return how many rows there were. What the file raises is passed on."""
    if form is Form.PARQUET:
        return write_parquet(frames, file)
    rows = 0
    if form is Form.CSV:
        _write_csv(pl.DataFrame(schema=SCHEMA), file, has_header=True)
    for frame in frames:
        rows += frame.height
        if form is Form.CSV:
            _write_csv(frame, file, has_header=False)
        else:
            file.write(_as_json_lines(frame))
    return rows


def _write_csv(frame: pl.DataFrame, file: BinaryIO, *, has_header: bool) -> None:
    lists = [name for name, dtype in SCHEMA.items() if isinstance(dtype, pl.List)]
    flat = frame.with_columns(*map(_as_json_text, lists)).with_columns(guarded(pl.col(pl.String)))
    # Not to the file itself: polars would hide the number of an error of the system.
    file.write(flat.write_csv(include_header=has_header, datetime_format=_STAMP).encode())


def _as_json_text(name: str) -> pl.Expr:
    as_object = pl.struct(pl.col(name).alias("_")).struct.json_encode()
    return pl.when(pl.col(name).is_not_null()).then(as_object.str.slice(5).str.head(-1)).alias(name)


def guarded(texts: pl.Expr) -> pl.Expr:
    """Return texts for CSV: before `=`, `+`, `-`, `@`, tab or carriage return at the start goes a `'`.

    Before a text that begins with `'` and one of them goes one more, so that taking one away gives every text back.
    """
    return texts.str.replace(_FORMULA, "'${1}")


def _as_json_lines(frame: pl.DataFrame) -> bytes:
    told = frame.with_columns(pl.col("when").dt.to_string(_STAMP))
    told = told.select(series for series in told if series.null_count() < told.height)
    return json_visible(_NULL.sub(b"", told.write_ndjson().encode()))
