"""Offsets to lines and columns."""

from __future__ import annotations

import pytest

from nccl_logscan.configs.model import LineIndex
from nccl_logscan.position import Position, Span

_TEXT = "é=1\r\nexport B=2\n\nlast".encode()


@pytest.mark.parametrize(
    ("offset", "line", "column"), [(0, 1, 1), (2, 1, 2), (6, 2, 1), (13, 2, 8), (17, 3, 1), (21, 4, 4)]
)
def test_lines_and_columns_count_from_one_and_columns_count_characters(offset, line, column):
    index = LineIndex(_TEXT)
    assert (index.line_of(offset), index.column_of(offset)) == (line, column)


def test_a_position_has_the_offset_of_its_line():
    assert LineIndex(_TEXT).position("f", 13) == Position("f", 2, 6)


def test_whole_lines_take_the_line_feed_with_them():
    index = LineIndex(_TEXT)
    assert index.whole_lines(Span(7, 9)) == Span(6, 17)
    assert index.whole_lines(Span(18, 22)) == Span(18, 22)


@pytest.mark.parametrize(
    ("first", "last", "span"), [(1, 1, Span(0, 6)), (2, 3, Span(6, 18)), (-2, 1, Span(0, 6)), (4, 9, Span(18, 22))]
)
def test_the_bytes_of_lines_are_those_that_the_file_has(first, last, span):
    assert LineIndex(_TEXT).bytes_of(first, last) == span
