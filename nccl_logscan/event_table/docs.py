"""The page docs/events.md, made from the columns and what they mean."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator

from nccl_logscan.event_table.columns import COLUMNS, REQUIRED, Column
from nccl_logscan.event_table.text_cells import TEXT_LIMIT
from nccl_logscan.events.model import EVENT_TYPES
from nccl_logscan.lines import NO_YEAR
from nccl_logscan.sources import CUT_MARK

_SENTENCE_END = re.compile(r"\.\s")
COMMAND = "python -m nccl_logscan.event_table.docs > docs/events.md"

_INTRODUCTION = f"""\
<!-- Written by `{COMMAND}` from nccl_logscan/event_table and the types of events: change those, not this. -->
# The table of events

`nccl-logscan events LOG... -o events.parquet` (or `.csv`, `.jsonl`; `-o -` prints JSON lines) writes every line of
the inputs as rows of one table, to be queried with polars, DuckDB, pandas or jq:
"""

_QUERIES = """\
    duckdb -c "select host, count(*) from 'events.parquet' where kind = 'nccl.warn' group by host order by 2 desc"
    python -c "import polars as pl; print(pl.scan_parquet('events.parquet').filter(pl.col('loss').is_nan()).collect())"
    nccl-logscan events trainer.log -o - | jq -r 'select(.kind == "python.exception") | .message'

"""

_EXPLANATION = f"""\
The table holds what lines say, not what they mean together: which of them is the cause is what a scan tells.

## Rows

- A line is a row. It is several where it holds several things: two ranks wrote into one line, a table has many cells.
  A blank line is none.
- A line that tells nothing by itself (a frame of a traceback, its source text, a frame of a C++ stack) is a row whose
  `kind` is null, so that the text around an exception can be looked up by `source` and `line`. A line that no dialect
  knows is `log.text`.
- A container's line that came in parts is one row, at its first part.
- A traceback that the log ends in gives one more row at the end of its source, of the exception `TracebackCutOff`,
  with the `line` of its last frame.
- Rows stand in the order of the inputs, and of the lines within each; no clock orders them. The table is the same, to
  the byte, with any number of `--processes`.
- A flight recorder's dump has no lines and a configuration file is no log: both are left out, as is what is no text;
  standard error says so.

## Texts

- Well-known secrets are replaced by `[redacted]` in every text, as in reports.
- A text of more than {TEXT_LIMIT:,} characters keeps its beginning and its end, around `{CUT_MARK.strip()}`.
- NUL bytes are taken out, bytes that are no UTF-8 are U+FFFD, colour sequences are taken off. All else is as it was
  written, markup and control characters included: escape it where you show it. JSON lines have such characters
  escaped, and CSV on standard output has them spelled out (`^[`, `<U+202E>`).
- A whole number of more than 64 bits is null.

## Times

`when` is what the line or its prefix printed, as a time without a zone, to the microsecond (further digits are
dropped). Where a zone was printed, `utc_offset` has it, and `when` minus `utc_offset` seconds is UTC; where none was
printed, nothing is assumed, and `utc_offset` is null. A stamp without a year gets that of the last stamp of its
source that had one; before any, {NO_YEAR} stands for the year, so that the order within the year is right and
`year(when) = {NO_YEAR}` finds them. `clock` says whose clock it was: times of different clocks may disagree by any
amount.

## Forms

- **Parquet**: the types below, row groups of 65,536 rows, zstd.
- **JSON lines**: one object a row, without the keys that are null; `order` comes first. Times are ISO 8601 without a
  zone. JSON has no NaN and no infinity: such a number is left out and told in `not_finite`. Characters that would act
  on a terminal are escapes.
- **CSV**: UTF-8 with a header; null is an empty field and an empty text is `""`. A list is its JSON text. Times as in
  JSON lines, numbers may be `NaN` and `inf`. Spreadsheets run a cell that begins with `=`, `+`, `-` or `@` (some also
  behind blanks, or in the wide letters of East Asia), and a log may be written by a stranger; so a text that begins so,
  or with a tab or a carriage return, any number of `'` before it, gets one `'` more in front. Take one away where the
  text matches `^'+(?:[\\t\\r]|\\s*[=+\\-@\\uFF0B\\uFF0D\\uFF1D\\uFF20])`, or use another form, to have the text as it
  was.

The file is written beside its target and renamed when it is whole: a run that breaks leaves an earlier file as it
was.
"""


def events_docs() -> str:
    """Return the page: rows, texts, times, forms, a table of the columns and one of the kinds."""
    return "\n".join([_INTRODUCTION, _QUERIES + _EXPLANATION, *_columns(), *_kinds()])


def _columns() -> Iterator[str]:
    shared = [column for column in COLUMNS if not column.kinds]
    own = [column for column in COLUMNS if column.kinds]
    yield from (
        "## Columns of every row",
        "",
        "Null means that the log did not say. Those in *italics* are never null.",
        "",
        "| column | type | unit | meaning |",
        "|---|---|---|---|",
        *(_row(column) for column in shared),
        "",
        "## Columns of some kinds",
        "",
        "Null in rows of all other kinds.",
        "",
        "| column | type | unit | meaning | kinds |",
        "|---|---|---|---|---|",
        *(f"{_row(column)} {', '.join(f'`{kind}`' for kind in column.kinds)} |" for column in own),
        "",
    )


def _row(column: Column) -> str:
    name = f"*`{column.name}`*" if column.name in REQUIRED else f"`{column.name}`"
    unit, text = column.meaning
    return f"| {name} | {column.type} | {unit} | {text} |"


def _kinds() -> Iterator[str]:
    yield from ("## Kinds", "", "| kind | the line is |", "|---|---|")
    for kind, event_type in EVENT_TYPES.items():
        summary = " ".join((inspect.getdoc(event_type) or "").split())
        yield f"| `{kind}` | {_SENTENCE_END.split(summary, maxsplit=1)[0].rstrip('.')} |"
    yield ""


if __name__ == "__main__":
    sys.stdout.write(events_docs())
