"""When ranks spoke first and last, and when the failure reached them, on an axis on which all can be compared."""

from __future__ import annotations

import pytest
from cases import BY_NAME

from nccl_logscan.pipeline import scan_text
from nccl_logscan.rulebook.load import builtin_rulebook

WATCHDOG = (
    "ProcessGroupNCCL.cpp:632] [Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=5, "
    "OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600001 milliseconds before timing out."
)


def activity_of(texts):
    return scan_text(texts, builtin_rulebook()).activity


def waited(rank, time):
    return f"[rank{rank}]:[E305 {time} {WATCHDOG.format(rank=rank)}"


def test_a_rank_speaks_from_its_first_line_to_its_last_and_is_in_trouble_from_its_first_line_of_the_failure_on():
    log = [waited(0, "11:28:40.100000000"), waited(1, "11:28:42.100000000"), waited(0, "11:28:49.100000000")]
    activity = activity_of("\n".join([*log, ""]))

    first, second = activity.courses
    assert (first.last.place - first.first.place, first.trouble) == (9.0, first.first)
    assert (second.first.place - first.first.place, second.first, second.trouble.at.line) == (2.0, second.last, 2)
    assert activity.file is None


def test_lines_without_a_time_are_passed_over_where_others_have_one():
    untimed = "[rank1]: RuntimeError: the loss went away"
    log = [waited(0, "11:28:40.100000000"), waited(1, "11:28:42.100000000"), untimed]
    [_, second] = activity_of("\n".join([*log, ""])).courses

    assert (second.last.at.line, second.last.time.second) == (2, 42)


def test_without_times_the_lines_of_the_one_log_are_the_axis():
    log = "\n".join(f"[rank{rank}]:[E {WATCHDOG.format(rank=rank)}" for rank in (0, 1, 2, 0)) + "\n"
    activity = activity_of({"job.log": log})

    assert (activity.file, activity.clock) == ("job.log", None)
    assert [(course.rank, course.first.place, course.last.place) for course in activity.courses] == [
        (0, 1, 4), (1, 2, 2), (2, 3, 3),
    ]  # fmt: skip


def stamped(host, zone):
    said = {rank: f"{host}{rank} [rank{rank}]:[E {WATCHDOG.format(rank=rank)}\n" for rank in range(3)}
    return {f"rank_{rank}.log": f"2026-03-05T11:28:4{rank}.000{zone} {text}" for rank, text in said.items()}


def test_times_of_clocks_that_nothing_ties_are_compared_only_where_they_state_a_zone():
    naive, zoned = activity_of(stamped("node-", "")), activity_of(stamped("node-", "Z"))

    assert naive is None
    assert (zoned.clock, zoned.uncertainty, len(zoned.courses)) == ("UTC", 5.0, 3)


@pytest.mark.parametrize("name", ["lab/m8-healthy", "lab/healthy-bf16"])
def test_of_a_job_that_did_not_fail_there_is_none(name):
    assert activity_of(BY_NAME[name].texts()) is None


def test_one_rank_alone_has_nothing_to_be_compared_with():
    assert activity_of(waited(0, "11:28:40.100000000") + "\n" + waited(0, "11:28:41.100000000") + "\n") is None


def test_the_last_second_of_the_calendar_is_a_time_like_others():
    texts = {name: text.replace("2026-03-05", "9999-12-31") for name, text in stamped("node-", "-12:00").items()}
    scan_text(texts, builtin_rulebook())


def test_where_a_clock_is_set_back_a_rank_speaks_from_its_earliest_line_to_its_latest():
    [(name, text)] = BY_NAME["lab/m8-timeout-rank5"].texts().items()
    there = activity_of({name: text})
    here = activity_of({name: "\n".join(reversed(text.split("\n")))})

    assert len(here.courses) == len(there.courses) == 8
    assert all(course.first.place <= course.last.place for course in here.courses)
