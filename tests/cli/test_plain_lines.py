"""A command line that is taken without Click asks for what Click would have made of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nccl_logscan.cli import scan as scan_command
from nccl_logscan.cli.plain import plain_scan

WORDS = (
    "a.log",
    "b.log",
    "-",
    "-q",
    "--quiet",
    "-v",
    "--verbose",
    "--exit-zero",
    "-o",
    "--output",
    "x.json",
    "",
    "--format",
    "-qv",
)


def by_click(words):
    """What the scan command is called with."""
    command = scan_command.scan_command
    context = command.make_context("scan", list(words))
    return context.params


@given(st.lists(st.sampled_from(WORDS), max_size=6))
def test_what_is_taken_without_click_is_what_click_makes_of_it(words):
    taken = plain_scan(words)
    if taken is None:
        return
    asked = by_click(words)
    assert taken._asdict() == {name: asked[name] for name in taken._fields}
    assert asked["forms"] == ()
    assert not asked["configs"]
    assert not asked["folders"]
    assert not asked["follow"]


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["-q"],
        ["a.log", "--help"],
        ["a.log", "--format", "json"],
        ["a.log", "--follow"],
        ["a.log", "-o"],
        ["a.log", "-o", ""],
        ["a.log", "-o", "-q"],
        ["a.log", "-ox.json"],
        ["a.log", "--output=x.json"],
        ["a.log", "-qv"],
        ["--", "-a.log"],
    ],
)
def test_what_is_unusual_is_left_to_click(words):
    assert plain_scan(words) is None
