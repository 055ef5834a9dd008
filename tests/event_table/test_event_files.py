"""Parquet, CSV and JSON lines hold the same table, also of a hostile log, and take their place whole or not at all."""

from __future__ import annotations

import gzip
import io
import json
import re
import tarfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from table_files import FORMS, read, written

from nccl_logscan.errors import InputError, OutputError
from nccl_logscan.event_table import frames, parquet
from nccl_logscan.event_table.export import export
from nccl_logscan.event_table.frames import SCHEMA
from nccl_logscan.event_table.write import Form, guarded
from nccl_logscan.sources import open_sources

LAB = Path(__file__).parents[2] / "fixtures" / "cases" / "lab"
WARN = b"node-1:17:23 [3] transport/net_ib.cc:95 NCCL WARN NET/IB : Got async event : port error\n"
HOSTILE = (
    WARN,
    b"=cmd|' /C calc'!A0\n",
    b"'=1+1\n",
    b"''@SUM(1)\n",
    b"-- a list\n",
    b'+"quoted", and, commas\n',
    b"a\0b\0\n",
    b"broken \xff\xfe\xc3 bytes\n",
    b"<script>alert(1)</script>\n",
    b"\x1b[31mred\x1b[0m and \x1b]0;title\x07 and \xc2\x9b2J and \xe2\x80\xae reversed \x7f\n",
    b"a\rb\r\n",
    b"\tindented\n",
    b"[rank1]: step: 3 loss: nan grad_norm: -inf\n",
    b"[rank1]: step: 99999999999999999999999999 loss: 1e400\n",
    b'{"log": "half \\ud800 pair\\n", "stream": "stdout", "time": "2026-11-30T05:40:38.1Z"}\n',
    b'message","host":null,"x":null\n',
    b'a,"loss":null}\n',
    b"x" * 100_000 + b"\n",
    b"2026-11-30 05:40:38,896 | rank1 | INFO | trainer:45 - loading shard data-00012.parquet\n",
    b"node-1:1:1 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE [RO]; OOB eth0:10.0.0.1<0>\n",
    b"no end of line",
)


@pytest.fixture
def hostile(tmp_path):
    """A log that does what it can."""
    path = tmp_path / "hostile.log"
    path.write_bytes(b"".join(HOSTILE))
    return path


def comparable(table):
    """Return a table in which NaN equals NaN and what JSON cannot say is left out."""
    floats = [name for name, dtype in SCHEMA.items() if dtype == pl.Float64]
    finite = [pl.when(pl.col(name).is_finite()).then(pl.col(name)).alias(name) for name in floats]
    return table.with_columns(finite)


@pytest.mark.parametrize("form", FORMS)
def test_every_column_is_read_back_with_its_type(hostile, form):
    assert read(written([hostile, LAB], form), form).schema == SCHEMA


@pytest.mark.parametrize("form", ["csv", "jsonl"])
@pytest.mark.parametrize("log", ["hostile", "lab"])
def test_every_form_holds_the_same_rows(hostile, form, log):
    inputs = [hostile] if log == "hostile" else [LAB]
    of_parquet = comparable(read(written(inputs, "parquet"), "parquet"))
    of_form = comparable(read(written(inputs, form), form))

    assert of_parquet.height >= 20
    for name in SCHEMA:
        assert of_form[name].to_list() == of_parquet[name].to_list(), name


def test_csv_and_parquet_keep_nan_and_all_say_where_it_was(hostile):
    for form in FORMS:
        told = read(written([hostile], form), form).filter(pl.col("not_finite").is_not_null())
        assert told["not_finite"].to_list()[0] == ["loss=NaN", "grad_norm=-Infinity"]
        if form != "jsonl":
            assert told["loss"].is_nan()[0]


def test_json_lines_are_json_without_nulls_and_without_acting_characters(hostile):
    data = written([hostile], "jsonl")

    for line in data.splitlines():
        told = json.loads(line, parse_constant=pytest.fail)
        assert None not in told.values()
        assert next(iter(told)) == "order"
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", data.decode())


def test_no_text_of_a_csv_file_begins_as_a_formula(hostile):
    frame = pl.read_csv(io.BytesIO(written([hostile], "csv")), infer_schema=False)

    assert not [cell for name in ("message", "source", "prefixes") for cell in frame[name] if cell[:1] in "=+-@\t\r"]


FORMULA = re.compile(r"\A(?:[\t\r]|\s*[=+\-@\uff0b\uff0d\uff1d\uff20])")


@given(st.lists(st.one_of(st.text(max_size=6), st.text("'=+-@\t\r a\n\xa0\uff1d\uff20", max_size=6))))
def test_taking_one_quote_away_gives_every_text_back(texts):
    told = pl.DataFrame({"text": texts}, schema={"text": pl.String}).with_columns(guarded(pl.col("text")))
    back = [text[1:] if text[:1] == "'" and FORMULA.match(text.lstrip("'")) else text for text in told["text"]]

    assert back == texts
    assert not any(map(FORMULA.match, told["text"]))


@pytest.mark.parametrize("form", FORMS)
def test_a_table_without_rows_has_its_columns(tmp_path, form):
    log = tmp_path / "blank.log"
    log.write_text("\n  \n")

    data = written([log], form)

    assert data == b"" if form == "jsonl" else read(data, form).schema == SCHEMA


# --- inputs -----------------------------------------------------------------------------------------------------


def test_what_a_scan_takes_gives_the_same_rows(tmp_path):
    plain = tmp_path / "a.log"
    plain.write_bytes(WARN * 3)
    (tmp_path / "b.log.gz").write_bytes(gzip.compress(WARN * 3))
    with tarfile.open(tmp_path / "c.tar.gz", "w:gz") as archive:
        archive.add(plain, "a.log")
        archive.add(plain, "b.log")
    told = read(written([tmp_path], "parquet"), "parquet")

    assert told["source"].unique(maintain_order=True).to_list() == [
        str(tmp_path / name) for name in ("a.log", "b.log.gz", "c.tar.gz!a.log", "c.tar.gz!b.log")
    ]
    assert told["line"].to_list() == [1, 2, 3] * 4
    assert told["order"].to_list() == list(range(12))


def test_inputs_that_hold_no_rows_are_told(tmp_path):
    (tmp_path / "a.log").write_bytes(WARN)
    (tmp_path / "b.log").write_bytes(bytes(range(256)) * 64)
    (tmp_path / "fr_0").write_bytes((LAB / "timeout-net" / "fr_0").read_bytes())

    done = export(open_sources([str(tmp_path)]), Form.JSONL, io.BytesIO())

    assert (done.rows, done.lines) == (1, 1)
    assert [note.removeprefix(str(tmp_path)) for note in done.notes] == [
        "/b.log is not text and was skipped",
        "/fr_0 is a flight recorder's dump, which has no lines, and was left out",
    ]


@pytest.mark.parametrize("form", FORMS)
def test_inputs_without_a_line_leave_no_file(tmp_path, form):
    (tmp_path / "empty.log").touch()
    place = tmp_path / "out"

    with pytest.raises(InputError, match="is empty"):
        export(open_sources([str(tmp_path)]), Form(form), place)

    assert not place.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["empty.log"]


# --- whole or not at all ----------------------------------------------------------------------------------------


class _BrokenError(Exception):
    pass


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("error", [_BrokenError, KeyboardInterrupt])
def test_a_run_that_breaks_leaves_the_earlier_file_and_nothing_else(hostile, monkeypatch, form, error):
    place = hostile.parent / "events"
    place.write_bytes(b"earlier")
    made = frames._frame

    def breaking(rows):
        if rows[0].event.at.line > 4:
            raise error
        return made(rows)

    monkeypatch.setattr(frames, "_ROWS", 2)
    monkeypatch.setattr(frames, "_frame", breaking)

    with pytest.raises(error):
        export(open_sources([str(hostile)]), Form(form), place)

    assert place.read_bytes() == b"earlier"
    assert sorted(path.name for path in hostile.parent.iterdir()) == ["events", "hostile.log"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has a device that is always full")
@pytest.mark.parametrize("form", FORMS)
def test_a_full_disk_is_told(hostile, form):
    with pytest.raises(OutputError, match="no space left on device") as told:
        export(open_sources([str(hostile)]), Form(form), Path("/dev/full"))

    assert "free some space" in (told.value.hint or "")


@pytest.mark.parametrize("form", FORMS)
def test_a_file_keeps_its_mode(hostile, form):
    place = hostile.parent / "events"
    place.touch()
    place.chmod(0o640)

    export(open_sources([str(hostile)]), Form(form), place)

    assert place.stat().st_mode & 0o777 == 0o640
    assert place.stat().st_size > 0


def test_a_parquet_thread_that_fails_early_does_not_hold_the_rest_up(monkeypatch):
    monkeypatch.setattr(parquet, "_PATIENCE", 0.01)
    strange = pl.DataFrame(schema={"strange": pl.Int64()})

    with pytest.raises(pl.exceptions.PolarsError):
        parquet.write_parquet([strange] * 50, io.BytesIO())
