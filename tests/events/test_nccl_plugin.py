"""Lines of SHARP under headers of its own."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nccl_logscan.events.dialects.nccl_plugin import read
from nccl_logscan.events.model import CallSite, NcclInfo, NcclWarn
from nccl_logscan.lines.model import LogLine
from nccl_logscan.position import Instant, Origin, Position

AT = Position("rank-0.log", 7, 512)


def event_of(text, **rest):
    return read(LogLine(at=AT, text=text, **rest))


def test_an_error_of_sharp_is_a_warn_with_its_call_site():
    assert event_of("[gpu-17:1:19373 - comm.c:370] ERROR Failed to lock SAT tree(ID:0x40 ret:0x4)") == NcclWarn(
        at=AT,
        origin=Origin(host="gpu-17", pid=19373),
        message="Failed to lock SAT tree(ID:0x40 ret:0x4)",
        site=CallSite("comm.c", 370),
    )


def test_an_error_of_sharps_job_names_no_call_site():
    event = event_of("[gpu-17:0:3745196 unique id 9370583446459220315][2024-09-24 16:15:29] ERROR Job error in x.")
    assert event == NcclWarn(
        at=AT,
        origin=Origin(host="gpu-17", pid=3745196),
        when=Instant(datetime(2024, 9, 24, 16, 15, 29), "gpu-17"),
        message="Job error in x.",
    )


def test_an_error_of_sharps_daemon_names_its_thread():
    event = event_of("[gpu-17][Sep 24 16:15:29 847428][GENERAL][3745742][error] - Cannot connect to SMX")
    assert event == NcclWarn(at=AT, origin=Origin(host="gpu-17", tid=3745742), message="Cannot connect to SMX")


@pytest.mark.parametrize(
    "text",
    [
        "[gpu-17:0:24972 - context.c:702] INFO job (ID: 1201360188720575732) resource request quota",
        "[gpu-17:0:24972 - context.c:702][2024-09-24 16:15:29] WARN slow",
        "[gpu-17][Sep 24 16:15:29 847428][GENERAL][3745742][warn ] - Begin job id: 1 failed with status: No resource",
    ],
)
def test_what_sharp_does_not_call_an_error_is_no_warn(text):
    assert isinstance(event_of(text), NcclInfo)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[rank0]: ERROR x",
        "[2024-09-24 16:15:29] ERROR x",
        "[gpu-17:0:24972] ERROR x",
        "see [gpu-17:1:19373 - comm.c:370] ERROR x",
        "[1716343707.920238] [gpu-17:1021882:2]    cuda_copy_md.c:483  UCX  WARN  x",
    ],
)
def test_other_lines_in_brackets_are_left_to_others(text):
    assert event_of(text) is None


def test_the_prefix_knows_the_rank():
    event = event_of("[gpu-17:1:19373 - comm.c:370] ERROR x", origin=Origin(host="launcher", rank=4))
    assert event.origin == Origin(host="gpu-17", pid=19373, rank=4)


@given(st.text(st.characters(blacklist_categories=["Cs"])).map("[".__add__))
def test_any_text_in_brackets_is_read_without_an_error(text):
    event_of(text)
