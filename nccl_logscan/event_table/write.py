"""Frames → Parquet, CSV or JSON lines, as they come.

CSV has no lists: a list is its JSON text. JSON lines leave out what is null. In CSV, which people open in spreadsheets,
a text that one would take for a formula gets a `'` before it (see `guarded`). CSV that is printed, not kept in a file,
has what would act on a terminal or a CI runner spelled out; JSON has escapes for it wherever it goes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import BinaryIO

import polars as pl

from nccl_logscan.event_table.frames import SCHEMA
from nccl_logscan.event_table.parquet import write_parquet
from nccl_logscan.report.visible import json_visible, lines_harmless_to_runners, visible_lines


class Form(StrEnum):
    """How a table is written."""

    PARQUET = "parquet"
    CSV = "csv"
    JSONL = "jsonl"


# Within a JSON string every quote is escaped, so this can match keys alone. `order`, the first key, is never null.
_NULL = re.compile(rb',"[a-z_]+":null')
_STAMP = "%Y-%m-%dT%H:%M:%S%.6f"
# What spreadsheets take for a formula: also behind blanks, which some leave out, and in the wide letters of East Asia
# (U+FF0B, U+FF0D, U+FF1D, U+FF20); and the guard itself, so that what was put before a text can be told from it.
_FORMULA = r"^('*(?:[\t\r]|\s*[=+\-@\x{FF0B}\x{FF0D}\x{FF1D}\x{FF20}]))"


def write_table(frames: Iterable[pl.DataFrame], form: Form, file: BinaryIO, *, printed: bool = False) -> int:
    """Write the frames of a whole table; return how many rows there were. What the file raises is passed on.

    `printed`: the file is standard output.
    """
    if form is Form.PARQUET:
        return write_parquet(frames, file)
    rows = 0
    if form is Form.CSV:
        file.write(_as_csv(pl.DataFrame(schema=SCHEMA), has_header=True).encode())
    for frame in frames:
        rows += frame.height
        if form is Form.CSV:
            text = _as_csv(frame, has_header=False)
            file.write((lines_harmless_to_runners(visible_lines(text)) if printed else text).encode())
        else:
            file.write(_as_json_lines(frame))
    return rows


def _as_csv(frame: pl.DataFrame, *, has_header: bool) -> str:
    lists = [name for name, dtype in SCHEMA.items() if isinstance(dtype, pl.List)]
    flat = frame.with_columns(*map(_as_json_text, lists)).with_columns(guarded(pl.col(pl.String)))
    # Not to the file itself: polars would hide the number of an error of the system.
    return flat.write_csv(include_header=has_header, datetime_format=_STAMP)


def _as_json_text(name: str) -> pl.Expr:
    as_object = pl.struct(pl.col(name).alias("_")).struct.json_encode()
    return pl.when(pl.col(name).is_not_null()).then(as_object.str.slice(5).str.head(-1)).alias(name)


def guarded(texts: pl.Expr) -> pl.Expr:
    """Return texts for CSV: before `=`, `+`, `-`, `@` (also behind blanks), tab or carriage return goes a `'`.

    Before a text that begins with `'` and one of them goes one more, so that taking one away gives every text back.
    """
    return texts.str.replace(_FORMULA, "'${1}")


def _as_json_lines(frame: pl.DataFrame) -> bytes:
    told = frame.with_columns(pl.col("when").dt.to_string(_STAMP))
    told = told.select(series for series in told if series.null_count() < told.height)
    return json_visible(_NULL.sub(b"", told.write_ndjson().encode()))
