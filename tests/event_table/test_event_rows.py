"""What a line becomes: one row, with what it tells in columns."""

from __future__ import annotations

import datetime as dt
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nccl_logscan.event_table import frames, text_cells
from nccl_logscan.event_table.columns import REQUIRED
from nccl_logscan.event_table.frames import SCHEMA
from nccl_logscan.event_table.rows import Choice, rows_of
from nccl_logscan.event_table.text_cells import TEXT_LIMIT, cell
from nccl_logscan.sources import CUT_MARK
from nccl_logscan.sources.line_source import TextSource

WARN = "node-1:17:23 [3] transport/net_ib.cc:95 NCCL WARN NET/IB : Got async event : port error"
TRACEBACK = """\
Traceback (most recent call last):
  File "train.py", line 7, in <module>
    main()
ValueError: no such shard"""


def test_a_warning_of_nccl_tells_who_wrote_it_and_where(row):
    told = row(WARN)

    assert told["kind"] == "nccl.warn"
    assert told["message"] == "NET/IB : Got async event : port error"
    assert (told["host"], told["pid"], told["tid"], told["device"]) == ("node-1", 17, 23, 3)
    assert (told["site_file"], told["site_line"]) == ("transport/net_ib.cc", 95)
    assert "rank" not in told


def test_a_watchdog_tells_the_collective(row):
    told = row(
        "[rank5]:[E1130 05:59:53.502925148 ProcessGroupNCCL.cpp:689] [Rank 5] Watchdog caught collective operation "
        "timeout: WorkNCCL(SeqNum=27, OpType=ALLREDUCE, NumelIn=1048576, NumelOut=1048576, Timeout(ms)=600000) ran for "
        "600015 milliseconds before timing out."
    )

    assert told["kind"] == "torch.watchdog-timeout"
    assert (told["collective"], told["sequence"], told["timeout_ms"]) == ("ALLREDUCE", 27, 600_000)
    assert told["rank"] == 5


def test_the_rank_within_a_communicator_is_not_the_global_one(row):
    told = row(
        "node-1:17:23 [3] NCCL INFO ncclCommInitRank comm 0x55d0 rank 5 nranks 8 cudaDev 3 nvmlDev 3 busId 3b000 "
        "commId 0xabc - Init COMPLETE"
    )

    assert (told["nccl_init_rank"], told["nranks"], told["phase"]) == (5, 8, "complete")
    assert "rank" not in told


def test_a_number_that_is_not_finite_is_named(row):
    told = row("step: 3 loss: nan grad_norm: inf")

    assert told["kind"] == "train.step"
    assert math.isnan(told["loss"])
    assert told["not_finite"] == ["loss=NaN", "grad_norm=Infinity"]


def test_a_number_of_more_than_64_bits_is_null():
    told = frames._series("step", [1 << 70, 3], 2)

    assert told.to_list() == [None, 3]


# --- lines and rows ---------------------------------------------------------------------------------------------


def test_the_lines_of_a_traceback_are_rows_without_a_kind(table):
    told = table(TRACEBACK)

    assert told["line"].to_list() == [1, 2, 3, 4]
    assert told["kind"].to_list() == [None, None, None, "python.exception"]
    assert told["message"][1].strip() == 'File "train.py", line 7, in <module>'
    assert (told["file"][3], told["python_exception_line"][3]) == ("train.py", 7)


def test_a_blank_line_is_no_row(table):
    assert table(f"{WARN}\n\n   \n{WARN}")["line"].to_list() == [1, 4]


def test_a_traceback_that_is_cut_off_is_told_at_the_end(table):
    told = table("\n".join(TRACEBACK.split("\n")[:2]))

    assert told["exception"].to_list() == [None, None, "TracebackCutOff"]
    assert told["line"].to_list() == [1, 2, 2]


def test_the_place_of_a_line_is_its_number_and_the_bytes_before_it(table):
    told = table(f"é\n\n{WARN}")

    assert told.select("order", "line", "byte_offset").rows() == [(0, 1, 0), (1, 3, 4)]


def test_the_prefixes_of_a_line_and_its_level_are_told(row):
    told = row("2026-11-30 05:40:38,896 | rank1 | INFO | trainer:45 - loading shard data-00012.parquet")

    assert (told["rank"], told["level"]) == (1, "INFO")
    assert told["message"] == "loading shard data-00012.parquet"
    assert told["prefixes"]


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_where_a_frame_ends_changes_nothing(table, monkeypatch, size):
    text = "\n".join([WARN, TRACEBACK, "step: 3 loss: nan", "  ", WARN])
    whole = table(text)
    monkeypatch.setattr(frames, "_ROWS", size)

    assert table(text).equals(whole)


def test_a_frame_of_long_lines_ends_early(monkeypatch):
    monkeypatch.setattr(frames, "_CHARACTERS", 1000)
    source = TextSource("log", "\n".join(["x" * 600] * 8))

    assert [frame.height for frame in frames.frames_of(rows_of(source))] == [2, 2, 2, 2]


def test_only_rows_that_are_asked_for_are_given():
    text = f"{WARN}\n[rank1]: step: 3 loss: 1.0\n[rank2]: step: 3 loss: 2.0\n"

    def given(**asked):
        return [row.event.at.line for row in rows_of(TextSource("log", text), Choice(**asked))]

    assert given(kinds=frozenset({"nccl.warn"})) == [1]
    assert given(ranks=frozenset({2})) == [3]
    assert given(kinds=frozenset({"nccl.warn"}), ranks=frozenset({2})) == []


# --- times ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stamp", "when", "offset"),
    [
        ("2026-11-30T05:40:38.123456Z", dt.datetime(2026, 11, 30, 5, 40, 38, 123456), 0),
        ("2026-11-30T05:40:38.123456+05:30", dt.datetime(2026, 11, 30, 5, 40, 38, 123456), 19_800),
        ("2026-11-30 05:40:38,123", dt.datetime(2026, 11, 30, 5, 40, 38, 123000), None),
    ],
)
def test_a_time_is_as_printed_and_its_zone_apart(row, stamp, when, offset):
    told = row(f"{stamp} {WARN}")

    assert told["when"] == when
    assert told.get("utc_offset") == offset


def test_a_stamp_without_a_year_gets_that_of_the_stamp_before_it(table):
    told = table("Nov 30 05:40:38 node-1 kernel: NVRM: x\n2026-11-30 05:40:39,000 a\nNov 30 05:40:40 node-1 kernel: y")

    assert [when.year for when in told["when"]] == [1904, 2026, 2026]


# --- texts ------------------------------------------------------------------------------------------------------


def test_secrets_are_taken_out_of_every_column(table):
    key = "hf_" + "a1B2" * 8
    told = table(f"{WARN} token={key}\nValueError: {key}\nnode-1:1:1 [0] NCCL INFO NCCL_X set by environment to {key}")

    assert key not in repr(told.to_dicts())
    assert told["exception"].to_list() == [None, "ValueError", None]


def test_a_variable_whose_name_says_that_it_is_a_secret_has_no_value(row):
    told = row("node-1:1:1 [0] NCCL INFO NCCL_PASSWORD set by environment to swordfish.")

    assert told["value"] == "[redacted]"
    assert "swordfish" not in told["message"]


def test_a_long_text_keeps_its_ends():
    told = cell("a" * 50_000 + "b" * 50_000)

    assert len(told) <= TEXT_LIMIT
    assert CUT_MARK in told
    assert (told[0], told[-1]) == ("a", "b")


def test_a_secret_at_the_cut_leaves_no_half():
    key = "hf_" + "a1B2" * 8
    half = text_cells._HALF

    assert "a1B2" not in cell("x" * (half - 10) + f" {key} " + "y" * TEXT_LIMIT)


def test_half_a_surrogate_pair_is_replaced(table):
    told = table('{"log": "a \\ud800 b\\n", "stream": "stdout", "time": "2026-11-30T05:40:38.1Z"}')

    assert told["message"].to_list() == ["a \ufffd b"]


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.one_of(
            st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=40),
            st.sampled_from(
                [WARN, *TRACEBACK.split("\n"), "[rank1]: step: 3 loss: nan", "=cmd|' /C calc'!A0", "\x1b[2J"]
            ),
        ),
        max_size=12,
    )
)
def test_any_text_gives_a_table_and_a_row_for_every_line_that_is_not_blank(lines):
    rows = list(rows_of(TextSource("log", "\n".join(lines))))
    [*told] = frames.numbered(frames.frames_of(rows))

    written = [number for number, line in enumerate(lines, start=1) if any(part.strip() for part in line.split("\r"))]
    numbers = {number for frame in told for number in frame["line"]}
    assert numbers <= set(range(1, len(lines) + 1))
    assert {row.event.at.line for row in rows} == numbers
    assert all(frame.schema == SCHEMA for frame in told)
    assert all(frame[name].null_count() == 0 for frame in told for name in REQUIRED)
    assert len(numbers) <= len(written)
