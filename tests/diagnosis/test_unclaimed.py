"""Warnings that no rule knows."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from nccl_logscan.diagnosis.unclaimed import Unclaimed
from nccl_logscan.events.model import LogText, NcclAttn, NcclInfo, NcclWarn, PythonException, TorchC10
from nccl_logscan.position import Origin, Position

WARN = "n1:10:11 [0] misc/socket.cc:49 NCCL WARN {}\n"


def warning(message, line=1, repeated=1):
    return NcclWarn(at=Position("log", line, 0), origin=Origin(), message=message, repeated=repeated)


def grouped(*events, limit=200):
    unclaimed = Unclaimed(limit)
    for event in events:
        unclaimed.feed(event, event.at.line)
    return unclaimed


def test_warnings_that_differ_in_numbers_and_addresses_are_one_group():
    [group] = grouped(warning("Glitch 17 of <10.0.0.1:4000>", 3), warning("Glitch 18 of <10.0.0.2:4001>", 9)).conclude()

    assert (group.count, group.first.line, group.sample) == (2, 3, "Glitch 17 of <10.0.0.1:4000>")


def test_the_largest_group_comes_first():
    groups = grouped(warning("rare"), warning("often"), warning("often")).conclude()

    assert [(group.sample, group.count) for group in groups] == [("often", 2), ("rare", 1)]


def test_a_line_that_stands_for_many_counts_as_many():
    assert grouped(warning("glitch", repeated=5)).conclude()[0].count == 5


def test_a_line_that_came_again_counts_each_time_as_many_as_it_stands_for():
    unclaimed = grouped(warning("glitch", repeated=5))
    unclaimed.feed(warning("glitch", repeated=5), 9, 3)

    assert unclaimed.conclude()[0].count == 20


def test_what_finds_no_group_any_more_is_counted():
    unclaimed = grouped(warning("a"), warning("b"), warning("c", repeated=4), warning("a"), limit=2)

    assert [group.count for group in unclaimed.conclude()] == [2, 1]
    assert unclaimed.dropped == 4


def test_only_warnings_and_errors_are_kept():
    place = {"at": Position("log", 1, 0), "origin": Origin()}
    kept = (NcclAttn(**place, message="a"), TorchC10(**place, message="b", severity="E"))
    left = (NcclInfo(**place, message="c"), LogText(**place, message="d"), TorchC10(**place, message="e", severity="W"))

    assert [group.sample for group in grouped(*kept, *left).conclude()] == ["a", "b"]


def test_an_exception_that_no_rule_knows_is_kept():
    event = PythonException(at=Position("log", 1, 0), origin=Origin(), message="OddError: x", exception="OddError")

    assert len(grouped(event).conclude()) == 1


def test_a_long_text_is_cut():
    assert len(grouped(warning("x y " * 50_000)).conclude()[0].sample) <= 500


def test_what_a_rule_claims_is_not_among_the_unclaimed(scan, rules):
    book = rules(known="{event: nccl.warn, wordings: [{message: known}]}")
    result = scan(WARN.format("known") * 3 + WARN.format("strange thing") * 4, book)

    assert [(group.sample, group.count) for group in result.unclaimed] == [("strange thing", 4)]
    assert result.coverage.unrecognised_nccl_lines == 4


def test_a_group_tells_the_kind_and_the_first_line_as_it_stood(scan, rules):
    book = rules(known="{event: nccl.warn, wordings: [{message: known}]}")
    [group] = scan(WARN.format("strange thing") * 4, book).unclaimed

    assert (group.kind, group.line) == ("nccl.warn", WARN.format("strange thing").rstrip())


@given(st.lists(st.tuples(st.sampled_from("abcdefgh"), st.integers(1, 9)), max_size=40), st.integers(1, 5))
def test_no_warning_is_lost_between_groups_and_the_rest(told, limit):
    unclaimed = grouped(*(warning(text, repeated=times) for text, times in told), limit=limit)

    assert sum(group.count for group in unclaimed.conclude()) + unclaimed.dropped == sum(times for _, times in told)
