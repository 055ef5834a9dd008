from __future__ import annotations

import time

from nccl_logscan.rulebook import rule
from nccl_logscan.rulebook.rule import Pattern


def test_a_pattern_finds_what_it_says():
    assert Pattern(r"error (?P<code>\d+)").search("got error 12, opcode 0")["code"] == "12"


def test_a_pattern_sees_only_the_beginning_of_a_line_of_megabytes():
    assert Pattern("needle").search("x" * rule.SEARCHED_CHARACTERS + "needle") is None
    assert Pattern("needle").search("needle" + "x" * 5_000_000) is not None


def test_a_search_that_runs_out_of_time_is_no_match_and_is_counted():
    pattern = Pattern(r"(?:(?:a|aa|aaa)+)+$")
    started = time.process_time()

    assert pattern.search("a" * 5_000 + "!") is None

    assert time.process_time() - started < 2
    assert pattern.stalls == 1


def test_a_pattern_that_keeps_running_out_of_time_is_retired_until_the_next_scan(monkeypatch):
    monkeypatch.setattr(rule, "SEARCH_SECONDS", 0.01)
    pattern = Pattern(r"(?:(?:a|aa|aaa)+)+$")
    for _ in range(rule.STALLS_ALLOWED):
        pattern.search("a" * 5_000 + "!")

    assert pattern.search("aaa") is None
    pattern.rearm()
    assert pattern.search("aaa") is not None


def test_two_patterns_of_one_expression_are_equal_whatever_they_searched():
    used = Pattern("a")
    used.search("a")

    assert used == Pattern("a")
