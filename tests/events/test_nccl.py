"""What NCCL's lines are read as: fixtures/lines/nccl.yaml, and what holds for all of them."""

from datetime import datetime
from pathlib import Path
from time import perf_counter

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from nccl_logscan.events.dialects.nccl import read
from nccl_logscan.events.model import EVENT_TYPES, CallSite, NcclInfo, NcclInit, NcclWarn
from nccl_logscan.lines.model import LogLine
from nccl_logscan.position import NOBODY, Instant, Origin, Position

AT = Position("rank-0.log", 7, 512)
FIXTURE = yaml.safe_load((Path(__file__).parents[2] / "fixtures" / "lines" / "nccl.yaml").read_text(encoding="utf-8"))
HEAD = "gpu-17:4012:4377 [3] "


def expected_event(row):
    fields = {key: value for key, value in row.items() if key not in {"what", "line", "kind"}}
    fields["origin"] = Origin(**fields["origin"]) if "origin" in fields else NOBODY
    if "when" in fields:
        fields["when"] = Instant(datetime.fromisoformat(fields["when"]), fields["origin"].host)
    if "site" in fields:
        fields["site"] = CallSite(**fields["site"])
    if "devices" in fields:
        fields["devices"] = tuple(fields["devices"])
    return EVENT_TYPES[row["kind"]](at=AT, **fields)


def event_of(text, **rest):
    return read(LogLine(at=AT, text=text, **rest))


@pytest.mark.parametrize("row", FIXTURE["events"], ids=lambda row: row["what"])
def test_a_line_is_read_as_its_event(row):
    assert event_of(row["line"]) == expected_event(row)


@pytest.mark.parametrize("row", FIXTURE["not_nccl"], ids=lambda row: row["what"])
def test_a_line_that_only_mentions_nccl_is_not_its_own(row):
    assert event_of(row["line"]) is None


def test_every_kind_of_nccl_event_has_a_line():
    # What PyTorch repeats of NCCL's last error, and what ncclras prints, is no line of NCCL.
    kinds = {kind for kind in EVENT_TYPES if kind.startswith("nccl.")} - {"nccl.last-error", "nccl.ras"}
    assert {row["kind"] for row in FIXTURE["events"]} == kinds


def test_the_header_knows_the_process_and_the_prefix_knows_the_rest():
    prefix = Origin(
        host="launcher", rank=11, local_rank=3, task=1, pid=1, pod="trainer-1", actor="W", address="10.0.0.9"
    )
    event = event_of(HEAD + "init.cc:5 NCCL WARN x", origin=prefix)
    assert event.origin == Origin(
        host="gpu-17",
        rank=11,
        local_rank=3,
        task=1,
        pid=4012,
        tid=4377,
        device=3,
        pod="trainer-1",
        actor="W",
        address="10.0.0.9",
    )


def test_a_rank_within_a_communicator_is_not_the_global_rank():
    event = event_of(HEAD + "NCCL INFO [Rank 1] ncclCommSplit comm 0x7 rank 1 nranks 2 cudaDev 0 - Init START")
    assert isinstance(event, NcclInit)
    assert (event.rank, event.origin.rank) == (1, None)


def test_the_stamp_of_the_prefix_serves_where_nccl_prints_none():
    collected = Instant(datetime(2026, 1, 2, 3, 4, 5), "collector")
    assert event_of(HEAD + "init.cc:5 NCCL WARN x", when=collected).when == collected
    own = event_of("[2026-01-02 03:04:04] " + HEAD + "init.cc:5 NCCL WARN x", when=collected).when
    assert own == Instant(datetime(2026, 1, 2, 3, 4, 4), "gpu-17")


def test_a_date_that_does_not_exist_is_no_time():
    event = event_of("[2026-13-45 99:99:99] " + HEAD + "init.cc:5 NCCL WARN x")
    assert (type(event), event.when) == (NcclWarn, None)


def test_a_line_that_stands_for_many_says_so():
    assert event_of(HEAD + "NCCL INFO Connected all rings", repeated=7).repeated == 7
    assert event_of(HEAD + "init.cc:5 NCCL WARN x", repeated=7).repeated == 7


def test_a_silenced_warn_printed_as_info_is_no_warn():
    text = "Call to ibv_reg_dmabuf_mr failed with error Operation not supported"
    assert event_of(HEAD + "NCCL INFO " + text) == NcclInfo(
        at=AT, origin=Origin(host="gpu-17", pid=4012, tid=4377, device=3), message=text
    )


def test_the_later_header_counts_where_one_process_wrote_over_another():
    event = event_of("gpu-16:77:78 [1] gpu-17:4012:4377 [3] init.cc:5 NCCL WARN x")
    assert (event.origin.pid, event.site) == (4012, CallSite("init.cc", 5))


@given(st.text(st.characters(blacklist_categories=["Cs"]), max_size=300))
def test_any_text_is_read_without_an_error(text):
    event_of(text)


PIECES = (
    *(" NCCL ", "NCCL", "WARN ", "INFO ", "DIAG ", "ABORT", "version 2.21.5+cuda12.4", "[2026-01-02 03:04:05] "),
    *("a:1:2 [0] ", "x.cc:12 ", "(f) ", "-> 6", "comm 0x1 rank 2 nranks 4", " - Init START", "; OOB", ":", "9" * 30),
    *(
        "NET/IB : Using [0]mlx5_0:1/IB",
        "Channel 00 ",
        " via ",
        "NCCL_A set by environment to",
        "[",
        "]",
        "\ufffd",
        "\t",
    ),
    *("[ERR] [doca.cpp]: 1: f(): ", "Comm config a reset to "),
)


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_pieces_of_headers_in_any_order_are_read_without_an_error(text):
    event = event_of(text)
    assert event is None or event.message in text


@pytest.mark.parametrize(
    "hostile",
    [
        "a" * 2_000_000 + " NCCL WARN x",
        "a:1:" * 500_000 + " NCCL WARN x",
        "[" * 2_000_000 + " NCCL INFO x",
        " NCCL " * 300_000,
        " NCCL WARN" * 200_000,
        HEAD + "NCCL INFO " + "[0]a " * 400_000,
        HEAD + "NCCL INFO NET/IB : Using " + "[0]a " * 400_000,
        HEAD + "NCCL INFO comm " + "rank 1 - START " * 130_000 + "x",
        HEAD + "NCCL INFO " + "a.cc:1 -> " * 200_000,
        HEAD + "NCCL INFO Using network " + " " * 2_000_000 + "x",
        HEAD + "NCCL INFO Parsed environment variable NCCL_A=" + " to 1" * 400_000 + "x",
        "NCCL version 2.1" + ".1" * 1_000_000,
        "[ERR] [doca" * 200_000,
        HEAD + "x (" * 700_000 + " NCCL WARN y",
    ],
    ids=lambda text: f"{text[:12]}...{text[-12:]}",
)
def test_a_hostile_line_of_megabytes_takes_no_longer_than_a_plain_one(hostile):
    began = perf_counter()
    event_of(hostile)
    assert perf_counter() - began < 1.0
