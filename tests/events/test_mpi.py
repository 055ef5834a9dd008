"""What becomes of an MPI line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lines_of import given as said
from lines_of import known, line, read_as, strange

from nccl_logscan.events.dialects import mpi


@pytest.mark.parametrize("case", known("mpi"))
def test_a_known_line_becomes_its_exact_event(case):
    read, expected = read_as(case, mpi.read(said(case)))

    assert read == expected


@pytest.mark.parametrize("text", strange("mpi"))
def test_a_strange_line_is_left_to_others(text):
    assert mpi.read(line(text)) is None


@given(st.text(max_size=300))
def test_no_text_raises(text):
    mpi.read(line(text))


@given(st.sampled_from([case.values[0]["text"] for case in known("mpi")]), st.data())
def test_no_piece_of_a_known_line_raises(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))

    mpi.read(line(text[:start] + data.draw(st.text(max_size=20)) + text[end:]))
