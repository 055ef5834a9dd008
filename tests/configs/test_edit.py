"""Edits of bytes, made together."""

from __future__ import annotations

import pytest

from nccl_logscan.configs.edit import Edit, applied, lines_put


def test_edits_are_made_from_the_first_to_the_last_whatever_their_order():
    assert applied(b"export A=1 B=2\n", [Edit(13, 14, b"9"), Edit(9, 10, b"")]) == b"export A= B=9\n"


def test_of_two_edits_of_the_same_place_one_is_made():
    assert applied(b"abcdef", [Edit(1, 4, b"X"), Edit(2, 3, b"Y")]) == b"aXef"


def test_the_same_edit_twice_is_made_once():
    assert applied(b"ab", [Edit(1, 1, b"-"), Edit(1, 1, b"-")]) == b"a-b"


def test_edits_at_one_place_keep_their_order():
    assert applied(b"ab", [Edit(1, 1, b"Z"), Edit(1, 1, b"A")]) == b"aZAb"


@pytest.mark.parametrize(
    ("data", "at", "after"),
    [
        (b"", 0, b"x\ny\n"),
        (b"a\n", 0, b"x\ny\na\n"),
        (b"a\n", 2, b"a\nx\ny\n"),
        (b"a\r\n", 3, b"a\r\nx\r\ny\r\n"),
        (b"a", 1, b"a\nx\ny"),
    ],
)
def test_lines_are_put_into_a_file_as_it_ends_its_own(data, at, after):
    assert applied(data, [lines_put(data, at, [b"x", b"y"])]) == after


def test_a_last_line_is_ended_where_that_is_asked_for():
    assert applied(b"a", [lines_put(b"a", 1, [b"x"], closed=True)]) == b"a\nx\n"
