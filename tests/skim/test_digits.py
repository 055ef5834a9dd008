"""What a rule's expression says of one text it says of every text of the same shape, or it asks for digits."""

from __future__ import annotations

import re
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nccl_logscan.diagnosis.number_wise import NumberWise
from nccl_logscan.digits import RUN, asks_for_digits, marked, marks_of
from nccl_logscan.rulebook.load import builtin_rulebook

BOOK = builtin_rulebook()
PATTERNS = [wording.pattern for rule in BOOK.rules.values() for wording in rule.match.wordings]
LINES = sorted(
    {
        line
        for rule in BOOK.rules.values()
        for example in rule.hits
        for log in ([example.log] if isinstance(example.log, str) else example.log.values())
        for line in log.split("\n")
        if line
    }
)


def with_other_digits(text, chance):
    """The text with another decimal digit in the place of each."""
    return "".join(str(chance.randrange(10)) if "0" <= letter <= "9" else letter for letter in text)


def with_other_runs(text, chance):
    """A text of the same shape: other runs, shorter and longer, in the place of each."""

    def other(_match):
        letters = [chance.choice("0123456789abcdef") for _ in range(chance.randrange(1, 9))]
        letters[chance.randrange(len(letters))] = chance.choice("0123456789")
        return "".join(letters)

    return RUN.sub(other, text)


@pytest.mark.parametrize("seed", range(3))
def test_a_pattern_that_asks_for_no_digit_says_the_same_whatever_the_digits(seed):
    chance = Random(seed)  # noqa: S311 - no secret
    indifferent = [re.compile(pattern.text) for pattern in PATTERNS if not asks_for_digits(pattern.text)]
    assert len(indifferent) > len(PATTERNS) // 2
    for line in chance.sample(LINES, 150):
        other = with_other_digits(line, chance)
        differing = [one.pattern for one in indifferent if bool(one.search(line)) != bool(one.search(other))]
        assert differing == [], (line, other)


@pytest.mark.parametrize("seed", range(3))
def test_of_each_line_that_such_a_pattern_takes_other_numbers_are_looked_at(seed):
    chance = Random(seed)  # noqa: S311 - no secret
    asking = [pattern for pattern in PATTERNS if asks_for_digits(pattern.text)]
    assert asking
    for pattern in asking:
        number_wise, expression = NumberWise([pattern]), re.compile(pattern.text)
        for line in (line for line in LINES if expression.search(line)):
            other = with_other_runs(line, chance)
            assert number_wise.may_match(other), (pattern.text, line, other)


@given(
    before=st.text("af9 x0", max_size=5), literal=st.text("abcdefxyz019 :", min_size=1, max_size=8),
    behind=st.text("af9 x0", max_size=5), seed=st.integers(0, 99),
)  # fmt: skip
@settings(max_examples=500, deadline=None)
def test_a_text_with_a_literal_leaves_one_of_its_marks(before, literal, behind, seed):
    text = before + literal + behind
    assert any(form in marked(text) for form in marks_of(literal)), (text, literal)
    other = with_other_runs(text, Random(seed))  # noqa: S311 - no secret
    assert marked(other) == marked(text)


@pytest.mark.parametrize(
    ("pattern", "asks"),
    [
        (r"\d+ bytes", False),
        (r"status=12", True),
        (r"[0-9a-f]+", False),
        (r"[1-9]\d*", True),
        (r"[^0]", True),
        (r"\w+", False),
        (".", False),
    ],
)
def test_which_patterns_ask_for_digits(pattern, asks):
    assert asks_for_digits(pattern) == asks
