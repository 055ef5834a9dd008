from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nccl_logscan.rulebook.expression import danger_of, fault_of


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?:a+)+b",
        r"(?:\w+\s*)*:",
        r"(?:\S+ ?)+x",
        r"((?:a*)*)b",
        r"(?:a|b+)+c",
        r"x(?:(?:\d+)|y)*z",
        r"(?:(?:ab)*c?)*d",
    ],
)
def test_a_repeat_that_a_repeat_can_fill_is_dangerous(pattern):
    assert "exponential" in danger_of(pattern)


@pytest.mark.parametrize(
    "pattern",
    [r"(?:[^,]+, )*x", r"(?:a,)+b", r"\S+ \S+ \S+", r"(?:\[\d+\])+", r"(?:a{1,3})+b", r"(?P<x>.*) end", r"(?:a|b)+c"],
)
def test_a_repeat_with_a_separator_is_none(pattern):
    assert danger_of(pattern) is None


def test_a_leading_anything_is_told():
    assert "begins with" in danger_of(r".*NCCL WARN")


@pytest.mark.parametrize(("pattern", "offset"), [("(a", 0), ("a[b", 1), ("a**", 2), (r"ab{x", 2), (r"error {e<=1}", 6)])
def test_a_fault_is_told_with_its_place(pattern, offset):
    assert fault_of(pattern).offset == offset


@pytest.mark.parametrize("pattern", ["", "a*", "(?:ab)?", r"\b", "^", "(?=x)"])
def test_an_expression_that_matches_every_line_is_none(pattern):
    assert "every line" in fault_of(pattern).message


@pytest.mark.parametrize("pattern", [r"a\{b\}", r"[{]x", r"\d{3}", r"a{2,}", r"a{,3}b", r"[]{]x", r"\\\{"])
def test_a_brace_that_counts_or_is_escaped_is_fine(pattern):
    assert fault_of(pattern) is None


@given(st.text(max_size=40))
def test_any_text_is_an_expression_or_has_a_fault(pattern):
    fault = fault_of(pattern)

    assert fault is None or fault.message
    if fault is None:
        danger_of(pattern)
