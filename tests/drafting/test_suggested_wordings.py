"""A message gives an expression for its kind."""

from __future__ import annotations

from time import perf_counter

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from nccl_logscan.drafting.wording import worded
from nccl_logscan.events.mask import pieces, template
from nccl_logscan.report.redact import redact
from nccl_logscan.rulebook.expression import danger_of, fault_of

UUID = "GPU-8a56a4bc-e184-a047-2620-be19fdf913d5"


def hostile_texts():
    """Return texts as a hostile log may hold them."""
    parts = st.one_of(
        st.text(max_size=40),
        st.sampled_from(
            [
                "NET/X : strange thing",
                "peer 10.0.0.3<40211>",
                "global rank 7",
                "(a+)+$",
                "{e<=1}",
                "[[:alpha:]]",
                "---",
                "- a: b # c",
                "'\"\\",
                "##[command]",
                "::error::x",
                "\u202egnal",
                "\x1b[31m",
                "<n> <path>",
                "/var/lib/nccl-x",
                "12345678" * 9,
                "2026-01-02 03:04:05,678",
                UUID,
                "password=hunter22",
                "[redacted]",
                "x" * 700,
            ]
        ),
    )
    return st.lists(parts, max_size=8).map(" ".join)


@pytest.mark.parametrize(
    ("message", "others"),
    [
        ("Glitch 17 of card 3 was ignored", ["Glitch 1 of card 12345 was ignored"]),
        ("Glitch took -3.5 s altogether", ["Glitch took 1e-05 s altogether", "Glitch took 4 s altogether"]),
        ("cannot bind to 10.0.0.3:29500 at all", ["cannot bind to [fe80::1%eth0]:1 at all"]),
        ("cannot open /dev/shm/nccl-Ab: full", ["cannot open /tmp/x/y/z.so.1: full"]),
        (f"{UUID} has gone away", ["MIG-8a56a4bc-e184-a047-2620-be19fdf913d5 has gone away"]),
        ("comm 0x7f23aabb08 was destroyed", ["comm 0xdead was destroyed"]),
        ("GPU 0000:b3:00.0 has gone away", ["GPU b3:00.0 has gone away"]),
        ("stalled at 2026-01-02 03:04:05,678 for good", ["stalled at 2026-01-02T03:04:05Z for good"]),
        ("odd   blanks\tare kept apart", ["odd blanks are kept apart"]),
    ],
)
def test_other_messages_of_the_kind_match_as_well(message, others):
    expression = worded(message).expression

    assert all(template(other) == template(message) for other in others)
    assert all(regex.search(expression, other) for other in others)


def test_what_only_looks_like_an_expression_is_matched_as_it_stands():
    expression = worded("Queue [a-z]* (of {n}) is broken").expression

    assert not regex.search(expression, "Queue zzz of n is broken")


def test_a_peer_and_a_global_rank_are_captured():
    found = worded("lost peer 10.0.0.3<40211>, which is global rank 7")

    assert found.captures == {"peer": "10.0.0.3<40211>", "rank": "7"}


def test_the_rank_of_a_communicator_is_not_captured():
    assert worded("Duplicate thing of rank 7 and another").captures == {}


def test_a_message_of_a_word_is_for_the_whole_message_alone():
    expression = worded("boom").expression

    assert regex.search(expression, "boom")
    assert not regex.search(expression, "no boom today")


def test_a_few_letters_before_a_very_long_word_are_not_taken_for_all_of_the_message():
    message = "peer " + "1.1.1.1:1-" * 100
    expression = worded(message).expression

    assert regex.search(expression, message)
    assert not regex.search(expression, "peer")
    assert not regex.search(expression, "the peer is gone")


@pytest.mark.parametrize("message", ["a:1<2>," * 60, "of 1.1.1.1:1-" * 20, "/a/b " * 50, "12x" * 90])
def test_a_message_in_which_much_varies_gives_an_expression_that_is_soon_told(message):
    found = worded("strange " + message)
    began = perf_counter()

    assert regex.search(found.expression, f"strange {message}")
    assert not regex.search(found.expression, "strang " + message.replace("<", "(") * 10)
    assert len(found.expression) < 500
    assert perf_counter() - began < 2


@pytest.mark.parametrize("message", ["", "12", "0x12 10.0.0.3", "\x1b\x00", "--- ***"])
def test_a_message_without_words_gives_none(message):
    assert worded(message) is None


def test_a_secret_is_in_no_expression_and_its_line_matches_with_and_without_it():
    message = "login failed with hf_abcdefghijklmnopqrst1 at the door"
    found = worded(message)

    assert "abcdefg" not in found.expression
    assert regex.search(found.expression, message)
    assert regex.search(found.expression, redact(message))


@given(hostile_texts())
def test_an_expression_matches_its_message_and_passes_the_lint(message):
    found = worded(message)
    if found is None:
        return

    assert fault_of(found.expression) is None
    assert danger_of(found.expression) is None
    assert regex.search(found.expression, message)
    assert found.expression.isprintable()


@given(hostile_texts())
def test_the_pieces_of_a_message_are_the_message(message):
    assert "".join(piece.text for piece in pieces(message)) == message


@given(hostile_texts())
def test_the_pieces_masked_are_the_template(message):
    masked = "".join(piece.text if piece.mask is None else f"<{piece.mask}>" for piece in pieces(message[:2000]))

    assert " ".join(masked.split())[:300] == template(message).strip() or not masked.isprintable()
