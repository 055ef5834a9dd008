"""The kernel in C says what the skim in Python says."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from skimmed_blocks import Asked, log_of, skimmed, told_of

from nccl_logscan.skim.kernel import KernelSkimmer, library
from nccl_logscan.skim.plain import PlainSkimmer
from nccl_logscan.skim.told import LONGEST, MOST_CLASSES, Answer

pytestmark = pytest.mark.skipif(library() is None, reason="the kernel was not built")

WIDTHS = pytest.mark.parametrize("is_wide", [True, False], ids=["wide", "narrow"])
_WORDS = ("error", "info", "rank", "abc", "bc", "c", "loss:", "warn", "node", "step", "zz", "x", "net/ib", "traceback")


def cuts_of(log, chance, most=5):
    return sorted({0, len(log), *(chance.randrange(len(log) + 1) for _ in range(chance.randrange(most)))})


def tale_of(skimmer, log, cuts, ask):
    """What a skimmer tells of a log twice over: the second time it knows the answers."""
    return [(skimmed(skimmer, log, cuts, ask), told_of(skimmer.tell()), ask.questions) for _ in range(2)]


@WIDTHS
@given(seed=st.integers(0, 1 << 32), lines=st.sampled_from([0, 1, 3, 10, 40]), folding=st.sampled_from([0.5, 0.8, 1.0]))
@settings(max_examples=60, deadline=None)
def test_it_tells_the_same_of_hostile_lines(is_wide, seed, lines, folding):
    chance = Random(seed)  # noqa: S311 - no secret
    log = log_of(chance, lines)
    cuts = cuts_of(log, chance)
    told = tale_of(KernelSkimmer(is_wide=is_wide), log, cuts, Asked(seed, folding))
    assert told == tale_of(PlainSkimmer(), log, cuts, Asked(seed, folding))


@WIDTHS
@given(
    blocks=st.lists(st.binary(max_size=40) | st.sampled_from([b"\n", b"\r\n", b"\r", b"a1b2 ", b"\n\n"]), max_size=30),
    salt=st.integers(0, 255),
)
@settings(max_examples=80, deadline=None)
def test_it_tells_the_same_of_any_bytes(is_wide, blocks, salt):
    log = b"".join(blocks)
    cuts = [0, len(log) // 3, len(log)]
    told = tale_of(KernelSkimmer(is_wide=is_wide), log, cuts, Asked(salt))
    assert told == tale_of(PlainSkimmer(), log, cuts, Asked(salt))


@WIDTHS
@given(seed=st.integers(0, 1 << 32))
@settings(max_examples=40, deadline=None)
def test_it_takes_the_same_lines_for_text_without_meaning(is_wide, seed):
    chance = Random(seed)  # noqa: S311 - no secret
    log = log_of(chance, chance.choice((3, 10, 40)))
    needs = [
        tuple(frozenset(chance.sample(_WORDS, chance.randrange(1, 3))) for _ in range(chance.randrange(1, 4)))
        for _ in range(chance.randrange(1, 4))
    ]
    cuts = cuts_of(log, chance)

    def told_by(skimmer):
        skimmer.learn_needs(needs)
        return tale_of(skimmer, log, cuts, Asked(seed, 0.9, prefixes=True))

    wanted = told_by(PlainSkimmer())
    # The kernel forgets that it met a shape when another one falls on its place: not at three seeds in a row.
    assert any(told_by(KernelSkimmer(is_wide=is_wide)) == wanted for _ in range(3))


@WIDTHS
@pytest.mark.parametrize("length", [LONGEST - 1, LONGEST, LONGEST + 1])
@pytest.mark.parametrize("end", [b"", b"\n", b"\rx", b"\r\n", b"\nx"])
@pytest.mark.parametrize("letter", [b"x", b"7", b"f"])
def test_parts_about_as_long_as_they_may_be(is_wide, length, end, letter):
    log = letter * length + end
    told = tale_of(KernelSkimmer(is_wide=is_wide), log, [0, len(log)], Asked(1))
    assert told == tale_of(PlainSkimmer(), log, [0, len(log)], Asked(1))


@pytest.mark.parametrize("make", [KernelSkimmer, PlainSkimmer])
@pytest.mark.parametrize(("times", "asked"), [(1, 1), (200, 1), (300, 2)])
def test_text_without_meaning_is_asked_about_only_where_it_comes_often(make, times, asked):
    log = b"node: the first\n" + b"".join(b"node: saved %d files\n" % number for number in range(times))
    answer = Answer(folds=True, tally=3, sayer=1, plain=True, prefix=len(b"node: "))
    questions = []

    def ask(text, _shape):
        questions.append(text)
        return answer

    skimmer = make()
    skimmer.learn_needs([(frozenset({"error"}),)])
    skimmer.skim(bytearray(log), 0, len(log), len(log), base=0, segment=0, ask=ask)
    assert len(questions) == asked


def test_more_classes_than_are_kept_apart_are_counted_together():
    log = b"".join(b"step %d\n" % number for number in range(MOST_CLASSES + 5))
    answer = Answer(folds=True, tally=3, group=1, keyed=1, firsts=1, lasts=1)

    def told_by(skimmer):
        skimmer.skim(bytearray(log), 0, len(log), len(log), base=0, segment=0, ask=lambda _text, _shape: answer)
        return told_of(skimmer.tell())

    told = told_by(KernelSkimmer())
    assert told == told_by(PlainSkimmer())
    assert told[-1]


def test_skimmers_with_and_without_wide_registers_do_not_change_each_other():
    log = log_of(Random(5), 40)  # noqa: S311 - no secret
    wide, narrow = KernelSkimmer(is_wide=True), KernelSkimmer(is_wide=False)
    told = [tale_of(skimmer, log, [0, len(log)], Asked(5)) for skimmer in (wide, narrow)]
    assert told[0] == told[1]
