"""Edits of bytes, made together and one after the other."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from nccl_logscan.configs.edit import Edit, applied, composed


def test_edits_are_made_from_the_first_to_the_last_whatever_their_order():
    assert applied(b"export A=1 B=2\n", [Edit(13, 14, b"9"), Edit(9, 10, b"")]) == b"export A= B=9\n"


def test_of_two_edits_of_the_same_place_one_is_made():
    assert applied(b"abcdef", [Edit(1, 4, b"X"), Edit(2, 3, b"Y")]) == b"aXef"


def test_the_same_edit_twice_is_made_once():
    assert applied(b"ab", [Edit(1, 1, b"-"), Edit(1, 1, b"-")]) == b"a-b"


def test_edits_at_one_place_keep_their_order():
    assert applied(b"ab", [Edit(1, 1, b"Z"), Edit(1, 1, b"A")]) == b"aZAb"


def test_an_edit_of_what_another_wrote_changes_that():
    assert composed([Edit(2, 4, b"long")], [Edit(3, 5, b"a")]) == (Edit(2, 4, b"lag"),)


def test_an_edit_beside_another_stays_one_of_its_own():
    assert composed([Edit(0, 1, b"xyz")], [Edit(6, 7, b"")]) == (Edit(0, 1, b"xyz"), Edit(4, 5, b""))


@st.composite
def edits_of(draw, size):
    bounds = st.tuples(st.integers(0, size), st.integers(0, size)).map(sorted)
    return [Edit(*draw(bounds), draw(st.binary(max_size=3))) for _ in range(draw(st.integers(0, 4)))]


@given(st.data(), st.binary(max_size=20))
def test_edits_composed_do_what_they_do_one_after_the_other(data, text):
    first = data.draw(edits_of(len(text)))
    between = applied(text, first)
    later = data.draw(edits_of(len(between)))

    assert applied(text, composed(first, later)) == applied(between, later)
