"""A deferred expression is the compiled one, later."""

from __future__ import annotations

import re

import pytest

from nccl_logscan.expressions import deferred, flags_of


def test_it_finds_what_the_compiled_expression_finds():
    text = "rank 3 of 8\nRANK 4"
    for pattern, flags in ((r"rank (?P<number>\d)", 0), (r"^rank (\d)", re.IGNORECASE | re.MULTILINE), (r"(?i)x?", 0)):
        own, other = deferred(pattern, flags), re.compile(pattern, flags)
        assert own.findall(text) == other.findall(text)
        assert [match.span() for match in own.finditer(text, 2)] == [match.span() for match in other.finditer(text, 2)]
        assert (own.match(text) is None) == (other.match(text) is None)
        assert (own.fullmatch("rank 3") is None) == (other.fullmatch("rank 3") is None)
        assert own.sub("_", text) == other.sub("_", text)
        assert own.split(text) == other.split(text)
        assert (own.groupindex, own.groups, own.flags, own.pattern) == (
            other.groupindex, other.groups, other.flags, other.pattern
        )  # fmt: skip
    assert deferred(rb"\d").search(b"a1").span() == (1, 2)


def test_it_is_compiled_when_it_is_first_used_and_not_before():
    broken = deferred("(")

    with pytest.raises(re.error):
        broken.search("text")
    with pytest.raises(AttributeError):
        _ = broken.no_such_method


def test_its_flags_are_known_before_that():
    assert flags_of(deferred("(", re.IGNORECASE)) == re.IGNORECASE
    assert flags_of(re.compile("a", re.IGNORECASE)) == re.IGNORECASE
