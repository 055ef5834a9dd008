"""Tables as bytes: written by the program, read back as docs/events.md says."""

from __future__ import annotations

import io
import json

import polars as pl

from nccl_logscan.event_table.export import export
from nccl_logscan.event_table.frames import SCHEMA
from nccl_logscan.event_table.write import Form
from nccl_logscan.sources import open_sources

LISTS = [name for name, dtype in SCHEMA.items() if isinstance(dtype, pl.List)]
FORMS = [form.value for form in Form]


def written(paths, form, **how):
    """Return the bytes of a table."""
    place = io.BytesIO()
    export(open_sources([str(path) for path in paths]), Form(form), place, **how)
    return place.getvalue()


def read(data, form):
    """Return a table from its bytes, as its page says that it is read."""
    if form == "parquet":
        return pl.read_parquet(io.BytesIO(data))
    if form == "jsonl":
        schema = {**SCHEMA, "when": pl.String()}
        frame = pl.read_ndjson(io.BytesIO(data), schema=schema)
        return frame.with_columns(pl.col("when").str.to_datetime("%Y-%m-%dT%H:%M:%S%.6f", time_unit="us"))
    flat = {**SCHEMA, **dict.fromkeys(LISTS, pl.String())}
    frame = pl.read_csv(io.BytesIO(data), schema=flat)
    frame = frame.with_columns(
        pl.col(pl.String).str.replace(r"^'('*(?:[\t\r]|\s*[=+\-@\x{FF0B}\x{FF0D}\x{FF1D}\x{FF20}]))", "${1}")
    )
    return frame.with_columns(
        pl.Series(name, [text and json.loads(text) for text in frame[name]], dtype=SCHEMA[name]) for name in LISTS
    )
