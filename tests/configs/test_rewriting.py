from hypothesis import given
from hypothesis import strategies as st

from nccl_logscan.configs.edit import Edit, applied
from nccl_logscan.configs.rewriting import Rewriting


@st.composite
def _edits(draw, length):
    cuts = sorted(draw(st.sets(st.integers(0, length), max_size=8)))
    return [Edit(start, end, draw(st.binary(max_size=4))) for start, end in zip(cuts[::2], cuts[1::2], strict=False)]


@given(st.data(), st.binary(max_size=40), st.integers(1, 5))
def test_rounds_of_edits_are_edits_of_the_file_as_it_was(data, before, rounds):
    rewriting = Rewriting.of(before)
    for _ in range(rounds):
        edits = data.draw(_edits(len(rewriting.data)))
        expected = applied(rewriting.data, edits)
        rewriting = rewriting.with_edits(edits)
        assert rewriting.data == expected

    assert applied(before, rewriting.edits()) == rewriting.data


def test_a_byte_is_told_where_it_was():
    rewriting = Rewriting.of(b"one\ntwo\nthree\n").with_edits([Edit(0, 4, b"")]).with_edits([Edit(0, 0, b"more\n")])

    assert rewriting.data == b"more\ntwo\nthree\n"
    assert rewriting.origin(rewriting.data.index(b"three")) == 8
    assert rewriting.origin(0) == 0
