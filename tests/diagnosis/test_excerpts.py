"""The lines around what was found."""

from __future__ import annotations

import pytest

from nccl_logscan.diagnosis.excerpts import CONTEXT, TEXT_LIMIT, Excerpts
from nccl_logscan.position import Origin, Position

WARN = "n1:10:11 [0] misc/socket.cc:49 NCCL WARN alpha{}"


@pytest.fixture
def evidence(scan, rules):
    """The first line of the one finding in a log."""
    book = rules(alpha="{event: nccl.warn, wordings: [{message: alpha}]}")
    return lambda *lines: scan("\n".join(lines) + "\n", book).findings[0].first


def test_three_lines_before_and_after_are_kept_in_order(evidence):
    around = [f"line {number}" for number in range(10)]
    found = evidence(*around[:5], WARN.format(""), *around[5:])

    assert (found.before, found.text, found.after) == (tuple(around[2:5]), WARN.format(""), tuple(around[5:8]))
    assert found.at.line == 6


def test_at_the_edges_of_a_log_there_are_fewer(evidence):
    assert (evidence(WARN.format(""), "after").before, evidence(WARN.format("")).after) == ((), ())
    assert evidence("before", WARN.format(""), "after").before == ("before",)
    assert evidence("before", WARN.format(""), "after").after == ("after",)


def test_a_line_that_came_before_among_the_same_still_stands_around_the_next(evidence):
    found = evidence("same", "same", "same", "same", WARN.format(""), "same", "same", "same", "same")

    assert (found.before, found.after) == (("same",) * 3, ("same",) * 3)


def test_neighbours_that_are_found_too_are_around_each_other(scan, rules):
    book = rules(
        alpha="{event: nccl.warn, wordings: [{message: alpha}]}", beta="{event: nccl.warn, wordings: [{message: beta}]}"
    )
    one, other = WARN.format(""), WARN.format("").replace("alpha", "beta")
    first, second = scan(f"{one}\n{other}\n", book).findings

    assert (first.first.after, second.first.before) == ((other,), (one,))


def test_the_lines_of_another_file_do_not_stand_around(scan, rules):
    book = rules(alpha="{event: nccl.warn, wordings: [{message: alpha}]}")
    found = scan({"a": "line of a\n", "b": WARN.format("") + "\n", "c": "line of c\n"}, book).findings[0].first

    assert (found.before, found.after) == ((), ())


def test_long_lines_are_cut(evidence):
    found = evidence("b" * 50_000, WARN.format(" " + "x" * 50_000), "a" * 50_000)

    assert all(len(text) <= TEXT_LIMIT for text in (*found.before, found.text, *found.after))
    assert found.text.startswith(WARN.format(" xxx"))


def test_a_line_that_passed_long_ago_is_kept_alone():
    excerpts = Excerpts()
    for number in range(1, 1001):
        excerpts.pass_line(number, f"line {number}")
    excerpt = excerpts.take(Position("log", 2, 0), "line 2", Origin(), None, None)

    assert (excerpt.before, excerpt.after) == ((), [])
    assert excerpts.line(2) is None
    assert excerpts.line(1000) == "line 1000"


def test_a_line_that_is_taken_late_has_the_lines_after_it_and_no_more():
    excerpts = Excerpts()
    for number in range(1, 9):
        excerpts.pass_line(number, f"line {number}")
    late = excerpts.take(Position("log", 7, 0), "line 7", Origin(), None, None)
    for number in range(9, 20):
        excerpts.pass_line(number, f"line {number}")

    assert late.before == ("line 4", "line 5", "line 6")
    assert late.after == [f"line {number}" for number in range(8, 8 + CONTEXT)]
