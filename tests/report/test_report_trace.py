"""The trace is one that Perfetto opens: of the documented form, ranks as tracks, no two slices across each other."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from nccl_logscan.pipeline import scan, scan_text
from nccl_logscan.report.trace import LANES, _laid_out, _Slice, render_trace
from nccl_logscan.report.view import build_view
from nccl_logscan.rulebook.load import builtin_rulebook

CASES = Path(__file__).parents[2] / "fixtures" / "cases"
FORMAT = Draft202012Validator(json.loads(Path(__file__).with_name("trace_event.schema.json").read_text()))
LATE = "recorder/fr-fsdp-late"


def trace_of(view):
    trace = json.loads(render_trace(view))
    FORMAT.validate(trace)
    return trace


def view_of(*names, **texts):
    if texts:
        return build_view(scan_text(texts, builtin_rulebook()))
    return build_view(scan([str(CASES / name) for name in names], builtin_rulebook()))


def names_of(trace, kind):
    return {
        (event["pid"], event["tid"] if kind == "thread_name" else 0): event["args"]["name"]
        for event in trace["traceEvents"]
        if event["name"] == kind
    }


def slices_of(trace):
    """The slices by the names of their process and thread."""
    processes, threads = names_of(trace, "process_name"), names_of(trace, "thread_name")
    found = defaultdict(list)
    for event in trace["traceEvents"]:
        if event["ph"] == "X":
            found[processes[event["pid"], 0], threads[event["pid"], event["tid"]]].append(event)
    return found


@pytest.mark.parametrize(
    "name", [LATE, "recorder/fr-late-pairs", "recorder/fr-healthy-skew", "lab/m8-timeout-rank5", "field/net002"]
)
def test_a_case_gives_a_trace_of_the_format_in_which_no_slice_crosses_another(name):
    trace = trace_of(view_of(name))

    for slices in slices_of(trace).values():
        ends = []
        for one in sorted(slices, key=lambda event: (event["ts"], -event["dur"])):
            while ends and ends[-1] <= one["ts"]:
                ends.pop()
            assert not ends or one["ts"] + one["dur"] <= ends[-1]
            ends.append(one["ts"] + one["dur"])


def test_each_rank_with_a_dump_is_a_process_and_its_groups_are_threads():
    trace = trace_of(view_of(LATE))

    threads = {(process, thread) for process, thread in slices_of(trace) if process.startswith("rank")}
    assert {(f"rank {rank}", "group default_pg 0") for rank in range(4)} <= threads
    assert list(names_of(trace, "process_name").values())[:5] == ["job", "rank 0", "rank 1", "rank 2", "rank 3"]


def test_the_stall_lasts_from_the_call_that_did_not_end_to_the_end_of_the_trace():
    trace = trace_of(view_of(LATE))
    [stall] = slices_of(trace)["job", "stall"]

    assert stall["name"] == "stall: _all_gather_base number 13"
    assert stall["args"]["ranks"] == "0-1, 3"
    ends = [event["ts"] + event.get("dur", 0) for event in trace["traceEvents"] if "ts" in event]
    assert stall["ts"] + stall["dur"] == max(ends)
    waiting = [one for one in slices_of(trace)["rank 0", "group default_pg 0"] if not one["args"]["done"]]
    assert waiting[0]["name"] == "_all_gather_base 13"
    assert waiting[0]["ts"] >= stall["ts"]


def test_dumps_of_a_job_in_which_all_calls_ended_show_no_stall():
    assert ("job", "stall") not in slices_of(trace_of(view_of("recorder/fr-healthy-skew")))


def test_findings_steps_and_the_verdict_are_moments():
    trace = trace_of(view_of(LATE))
    moments = {event["name"]: event["s"] for event in trace["traceEvents"] if event["ph"] == "i"}

    assert moments["first step"] == "t"
    assert moments["collective_timeout/watchdog-timeout"] == "p"


def test_a_line_without_a_year_lies_in_that_of_the_dumps():
    dump = {
        "version": "2.10",
        "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}},
        "entries": [
            {
                "record_id": 0, "process_group": ["0", "default_pg"], "profiling_name": "nccl:all_reduce",
                "collective_seq_id": 1, "state": "completed", "time_created_ns": 1_796_036_400_000_000_000,
                "time_discovered_completed_ns": 1_796_036_401_000_000_000, "retired": True,
            }
        ],
    }  # fmt: skip
    line = "[rank0]:[E1130 11:00:02.000000 ProcessGroupNCCL.cpp:689] [Rank 0] Watchdog caught collective operation "
    line += "timeout: WorkNCCL(SeqNum=13, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=10000) ran for 10005 "
    line += "milliseconds before timing out."
    trace = trace_of(view_of(**{"a.log": line, "fr_0": json.dumps(dump)}))

    [marked] = [event for event in trace["traceEvents"] if event["name"] == "collective_timeout/watchdog-timeout"]
    [call] = slices_of(trace)["rank 0", "group default_pg 0"]
    assert (call["ts"], call["dur"], marked["ts"]) == (0, 1_000_000, 2_000_000)


def test_a_log_that_tells_no_time_gives_a_trace_without_events():
    trace = trace_of(
        view_of(**{"a.log": "node-1:7:9 [0] NCCL WARN Call to ibv_modify_qp failed with error No such device"})
    )

    assert {event["ph"] for event in trace["traceEvents"]} <= {"M"}


_SLICES = st.lists(
    st.builds(
        lambda start, length, kind, track: _Slice(("rank 0", track), "x", start, start + length, kind, {}),
        st.integers(0, 60), st.integers(0, 30), st.sampled_from(["call", "ray"]), st.sampled_from("ab"),
    ),
    max_size=60,
)  # fmt: skip


@given(_SLICES)
def test_slices_are_laid_out_in_few_threads_and_do_not_cross(slices):
    laid = list(_laid_out(slices, 100))

    assert len(laid) == len(slices)
    by_thread = defaultdict(list)
    for one in laid:
        by_thread[one.track].append(one)
    assert len(by_thread) <= 2 * LANES
    for own in by_thread.values():
        ends = []
        for one in sorted(own, key=lambda one: (one.start_us, -one.end_us)):
            while ends and ends[-1] <= one.start_us:
                ends.pop()
            assert not ends or one.end_us <= ends[-1]
            ends.append(one.end_us)
