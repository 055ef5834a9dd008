"""A deferred expression is the compiled one, later."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

from nccl_logscan import expressions
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


@pytest.mark.parametrize(
    "case",
    [
        (rb"((?:[^\s#]++|[ \t]++(?!\#)(?=[^\s]))*+)", 0, b"INFO", b"INFO"),
        (r"(?:[a-z]|[A-Z]\d)*+", re.DOTALL, "abC1", "abC1"),
        (r"(?: \w | - )*+", re.VERBOSE | re.ASCII, "a-é", "a-"),
        (r"(?:ab?)++", 0, "abaab", "abaab"),
        (r"(?:a|ab){1,3}+c", 0, "ababc", None),
    ],
)
@pytest.mark.parametrize("mismatches", [False, True], ids=["this re", "an re that mismatches"])
def test_a_possessive_group_gives_nothing_back_by_any_python(monkeypatch, mismatches, case):
    pattern, flags, text, taken = case
    if not mismatches and sys.version_info < (3, 11, 5):
        pytest.skip("this Python's re mismatches")
    monkeypatch.setattr(expressions, "_MISMATCHES", mismatches)

    found = deferred(pattern, flags).match(text)

    assert (found and found[0]) == taken


def test_no_expression_is_compiled_past_what_knows_the_pythons_that_mismatch():
    """`re.compile` itself may not have a possessive group: `deferred` has them compiled by another library there."""
    for path in Path(expressions.__file__).parent.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "re.compile":
                pattern = call.args[0].value if isinstance(call.args[0], ast.Constant) else ""
                assert not expressions._holds_possessive_group(pattern), path
