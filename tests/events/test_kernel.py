"""What becomes of a kernel line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lines_of import given as said
from lines_of import known, line, read_as, strange

from nccl_logscan.events.dialects import kernel


@pytest.mark.parametrize("case", known("kernel"))
def test_a_known_line_becomes_its_exact_event(case):
    read, expected = read_as(case, kernel.read(said(case)))

    assert read == expected


@pytest.mark.parametrize("text", strange("kernel"))
def test_a_strange_line_is_left_to_others(text):
    assert kernel.read(line(text)) is None


@given(st.text(max_size=300))
def test_no_text_raises(text):
    kernel.read(line(text))


@given(st.sampled_from([case.values[0]["text"] for case in known("kernel")]), st.data())
def test_no_piece_of_a_known_line_raises(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))

    kernel.read(line(text[:start] + data.draw(st.text(max_size=20)) + text[end:]))
