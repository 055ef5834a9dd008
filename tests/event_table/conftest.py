from __future__ import annotations

import polars as pl
import pytest

from nccl_logscan.event_table.frames import SCHEMA, frames_of, numbered
from nccl_logscan.event_table.rows import rows_of
from nccl_logscan.sources.line_source import TextSource


@pytest.fixture
def table():
    """Return what makes the table of a text in memory."""

    def table(text, name="log"):
        frames = list(numbered(frames_of(rows_of(TextSource(name, text)))))
        return pl.concat([pl.DataFrame(schema=SCHEMA), *frames])

    return table


@pytest.fixture
def row(table):
    """Return what makes the one row of a line, without its nulls."""

    def row(line):
        [told] = table(line).to_dicts()
        return {name: value for name, value in told.items() if value is not None}

    return row
