from __future__ import annotations

import re

import pytest
import regex
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nccl_logscan.literals import required_literals
from nccl_logscan.rulebook.rule import Pattern


@pytest.mark.parametrize(
    ("pattern", "literal"),
    [
        (r"NET/IB ?: Got completion from peer (?P<peer>\S+) with error 12", ": Got completion from peer "),
        (r"foo(?=bar)bar\b baz", "foobar baz"),
        (r"(?:ab){3}c", "abababc"),
        (r"(?:a|b)cd", "cd"),
        (r"x(?:yz)+", "xyz"),
        (r"x(?:yz)*w", "x"),
        (r"(?>abc)d", "abcd"),
        (r"\[\d+\] NCCL", "] NCCL"),
    ],
)
def test_the_longest_required_text_is_found(pattern, literal):
    assert required_literals(pattern) == ((literal,), False)


@pytest.mark.parametrize("pattern", [r"\d+", r"foo|\d", r"(?:abc)?", r"(?!abc)\d", r"(unclosed", r"(?i)grün"])
def test_nothing_is_claimed_where_nothing_is_certain(pattern):
    assert required_literals(pattern).texts == ()


@pytest.mark.parametrize(
    ("pattern", "literals"),
    [
        (r"foo|barn", ("barn", "foo")),
        (r"Call to (?:connect|recv) failed", ("Call to connect", "Call to recv")),
        (r"x(?:timed out|refused)", ("xrefused", "xtimed out")),
        (r"(?:a|bc)(?:def|ghi)", ("def", "ghi")),
    ],
)
def test_of_alternatives_one_is_required(pattern, literals):
    assert required_literals(pattern) == (literals, False)


def test_letters_whose_case_is_ignored_are_looked_for_in_lower_case():
    assert required_literals(r"(?i)NCCL warn") == (("nccl warn",), True)
    assert Pattern("(?i)NCCL warn", ("nccl warn",), folded=True).may_match("an Nccl WARN")


_atoms = st.sampled_from(
    ["a", "b", "ab", r"\.", " ", r"\d", "[abc]", "[^a]", ".", r"\w", "x y", r"\[", r"\b", "^", "é"]
)


def _grown(inner):
    joined = st.lists(inner, min_size=1, max_size=3).map("".join)
    return st.one_of(
        joined,
        st.tuples(joined, st.sampled_from(["?", "*", "+", "{2}", "{0,2}", "{1,3}", "{5}", "{2,}?"])).map(
            lambda pair: f"(?:{pair[0]}){pair[1]}"
        ),
        st.tuples(joined, joined).map(lambda pair: f"(?:{pair[0]}|{pair[1]})"),
        joined.map(lambda text: f"({text})"),
        joined.map(lambda text: f"(?i:{text})"),
        joined.map(lambda text: f"(?={text}){text}"),
        joined.map(lambda text: f"(?!{text})b"),
    )


@settings(suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow], deadline=None, max_examples=300)
@given(st.data())
def test_a_literal_is_in_every_text_that_matches(data):
    pattern = data.draw(st.recursive(_atoms, _grown, max_leaves=6))
    text = data.draw(st.from_regex(re.compile(pattern)) | st.text("ab. xyXYAB1[é", max_size=30))

    match = regex.search(pattern, text)

    if match is not None:
        assert Pattern(pattern, *required_literals(pattern)).may_match(text)
