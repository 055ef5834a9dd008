from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nccl_logscan.errors import Problem
from nccl_logscan.rulebook.located import MAX_CHARACTERS, Located, locate


def located(text):
    found = locate("rule.yaml", text)
    assert isinstance(found, Located), found
    return found


@pytest.mark.parametrize(
    "word", ["yes", "no", "on", "off", "012", "0x10", "2024-01-02", "1:30", "~x", "True", "NULL", ".5"]
)
def test_a_word_that_yaml_likes_to_convert_stays_text(word):
    assert located(f"value: {word}").data == {"value": word}


@pytest.mark.parametrize(
    ("written", "value"),
    [("12", 12), ("-3", -3), ("1.5", 1.5), ("1e5", 1e5), ("true", True), ("false", False), ("null", None), ("", None)],
)
def test_numbers_truth_values_and_nothing_are_themselves(written, value):
    assert located(f"value: {written}").data == {"value": value}


def test_a_quoted_number_is_text():
    assert located("""value: "12"\nother: '12'""").data == {"value": "12", "other": "12"}


def test_every_key_and_value_has_its_place():
    found = located("match:\n  event: [nccl.warn, nccl.info]\n")

    assert (found.keys["match", "event"].line, found.keys["match", "event"].column) == (2, 3)
    assert (found.values["match", "event", 1].line, found.values["match", "event", 1].column) == (2, 22)


def test_a_place_inside_a_single_quoted_text_counts_a_doubled_quote_once():
    found = located("message: 'it''s (bad'\n")

    problem = found.problem(("message",), "is bad", offset=5)

    assert found.lines[0][problem.column - 1] == "("


def test_a_missing_value_is_marked_at_the_key_that_lacks_it():
    problem = located("a: 1\nmatch:\n  event: x\n").problem(("match", "wordings"), "is missing")

    assert (problem.line, problem.column) == (2, 1)


def test_a_key_written_twice_is_told_with_the_first_place():
    [problem] = located("a: 1\nb: 2\na: 3\n").repetitions()

    assert (problem.line, problem.message) == (3, "a: repeats a key first written on line 1")


@pytest.mark.parametrize(
    "text",
    [
        "a: &x [1]\nb: *x",
        "a: !!python/object:os.system x",
        "? [a]\n: 1",
        "a: [",
        "a: 1\n---\nb: 2",
        "a: \x00",
        "[" * 200_000,
    ],
)
def test_what_a_rule_never_needs_is_refused_and_not_obeyed(text):
    assert isinstance(locate("rule.yaml", text), Problem)


def test_a_file_beyond_the_limit_is_refused_before_it_is_parsed():
    problem = locate("rule.yaml", "x" * (MAX_CHARACTERS + 1))

    assert isinstance(problem, Problem)
    assert "longer than" in problem.message


@given(st.text(max_size=300))
def test_any_text_gives_data_or_one_problem(text):
    found = locate("rule.yaml", text)

    assert isinstance(found, Located | Problem)


_keys = st.text(st.characters(codec="ascii", categories=["L"]), min_size=1, max_size=6)
_plain = st.recursive(
    st.integers(-9999, 9999) | st.booleans() | st.text(st.characters(codec="utf-8", categories=["L", "N", "P"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_keys, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(_keys, _plain, min_size=1, max_size=4))
def test_what_json_says_yaml_says_too_and_each_value_has_a_place(data):
    found = located(json.dumps(data, ensure_ascii=False))

    assert found.data == data
    assert all((key,) in found.values and (key,) in found.keys for key in data)
