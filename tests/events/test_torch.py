from datetime import datetime

import pytest
from tokenised import as_written, cases, lines, tokenised

from nccl_logscan.events.dialects import c10, torch_process_group, torch_store
from nccl_logscan.events.tokenise import Tokeniser
from nccl_logscan.lines.model import LogLine
from nccl_logscan.lines.stamps import NO_YEAR
from nccl_logscan.position import Instant, Origin, Position

HEAD = "[rank4]:[E1130 05:41:14.003650367 ProcessGroupNCCL.cpp:689] [Rank 0] "
TIMEOUT = "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=27, OpType=ALLREDUCE, Timeout(ms)=15000)"


def a_line(text, **fields):
    return LogLine(Position("log", 1, 0), text, **fields)


@pytest.mark.parametrize("case", cases("torch"))
def test_a_log_gives_exactly_the_events_of_its_fixture(case):
    log = lines(case["log"])
    assert as_written(tokenised(case["log"]), log) == case["events"]


def test_the_rank_of_a_head_is_global_and_the_one_in_the_text_is_the_groups():
    [event] = Tokeniser().read(a_line(HEAD + TIMEOUT, origin=Origin(rank=9, host="n1")))
    assert (event.origin, event.group_rank) == (Origin(rank=4, host="n1"), 0)


def test_a_group_rank_alone_is_no_global_rank():
    [event] = Tokeniser().read(a_line(f"[E ProcessGroupNCCL.cpp:587] [Rank 2] {TIMEOUT}"))
    assert (event.origin.rank, event.group_rank) == (None, 2)


@pytest.mark.parametrize(
    ("printed", "name"),
    [
        ("[PG 1 Rank 0] ", "1"),
        ("[PG 0 (default_pg) Rank 27] ", "0(default_pg)"),
        ("[PG ID 0 PG GUID 0(default_pg) Rank 7] ", "0(default_pg)"),
        ("[PG ID 2 PG GUID 0:1,3(mesh [dp]) Rank 7] ", "0:1,3(mesh [dp])"),
        ("[Rank 7] ", None),
    ],
)
def test_a_process_group_is_named_alike_by_every_version(printed, name):
    event = torch_process_group.read(a_line(f"[E ProcessGroupNCCL.cpp:587] {printed}{TIMEOUT}"))
    assert event.process_group == name


@pytest.mark.parametrize("head", [HEAD, HEAD.replace("[rank4]:", ""), HEAD.partition(" [Rank")[0] + " "])
def test_a_stamp_counts_seconds_and_its_year_is_that_of_the_lines_own(head):
    stamp = Instant(datetime(2025, 6, 7, 8, 9, 10), "collector")
    event = torch_process_group.read(a_line(head + TIMEOUT, when=stamp, origin=Origin(host="n1")))
    assert event.when == Instant(datetime(2025, 11, 30, 5, 41, 14), "n1:c10")


@pytest.mark.parametrize(
    ("dated", "month", "year"), [("2025-06-01", "11", 2025), ("2025-12-31", "01", 2026), ("2026-01-01", "12", 2025)]
)
def test_the_year_of_a_stamp_is_that_of_the_last_dated_line(dated, month, year):
    tokeniser = Tokeniser()
    tokeniser.read(a_line("step 1", when=Instant(datetime.fromisoformat(dated), "n1")))
    [event] = tokeniser.read(a_line(HEAD.replace("E1130", f"E{month}30") + TIMEOUT))
    assert event.when.value == datetime(year, int(month), 30, 5, 41, 14)


@pytest.mark.parametrize("stamp", ["E1332", "E0230", "E0000"])
def test_a_day_that_does_not_exist_gives_no_time(stamp):
    assert torch_process_group.read(a_line(HEAD.replace("E1130", stamp) + TIMEOUT)).when is None


def test_the_29th_of_february_exists_in_a_year_not_known():
    event = torch_process_group.read(a_line(HEAD.replace("E1130", "E0229") + TIMEOUT))
    assert event.when.value == datetime(NO_YEAR, 2, 29, 5, 41, 14)


@pytest.mark.parametrize("read", [torch_process_group.read, torch_store.read, c10.read])
@pytest.mark.parametrize(
    "text",
    [
        "step 1",
        "see ProcessGroupNCCL.cpp:12",
        "x [E socket.cpp:1] y",
        "[E socket.cpp] y",
        "n:1:2 [0] a.cc:3 NCCL WARN x",
    ],
)
def test_a_line_of_another_program_is_none_of_pytorchs(read, text):
    assert read(a_line(text)) is None
