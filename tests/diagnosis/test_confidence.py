"""How sure a verdict is: its level in words and its number."""

from __future__ import annotations

import pytest

from nccl_logscan.taxonomy import Level

WARN = "n1:10:11 [0] misc/socket.cc:49 NCCL WARN {}\n"


def rule(word, strength, **more):
    extra = "\n".join([f"strength: {strength}", *(f"{key}: {value}" for key, value in more.items())])
    return f"{{event: nccl.warn, wordings: [{{message: {word}}}]}}", extra


def judged(scan, book, *texts):
    return scan("".join(WARN.format(text) for text in texts), book).diagnosis


@pytest.fixture
def of_strength(scan, rules):
    """The verdict over one finding of a rule of this strength."""
    return lambda strength: judged(scan, rules(one=rule("alpha", strength)), "alpha")


def test_the_stronger_the_rule_the_surer_the_verdict(of_strength):
    numbers = [of_strength(strength).confidence for strength in (5, 20, 40, 60, 80, 95)]

    assert numbers == sorted(set(numbers))
    assert all(0 < number < 1 for number in numbers)


@pytest.mark.parametrize(
    ("strength", "level"),
    [(95, Level.ESTABLISHED), (80, Level.ESTABLISHED), (60, Level.LIKELY), (35, Level.LIKELY), (34, Level.SUGGESTED)],
)
def test_a_level_follows_the_strength_of_a_cause_that_stands_alone(of_strength, strength, level):
    assert of_strength(strength).level is level


def test_a_cause_is_established_where_its_consequences_are_known_to_come_later(scan, rules):
    book = rules(cause=rule("alpha", 80), echo=rule("beta", 40, role="symptom"))

    assert judged(scan, book, "alpha", "beta").level is Level.ESTABLISHED
    assert judged(scan, book, "beta", "alpha").level is Level.LIKELY


def test_of_two_files_without_a_common_clock_the_order_is_not_known(scan, rules):
    book = rules(cause=rule("alpha", 80), echo=rule("beta", 40, role="symptom"))
    result = scan({"a": WARN.format("alpha"), "b": WARN.format("beta")}, book)

    assert result.diagnosis.level is Level.LIKELY


def test_the_plainest_words_establish_a_cause_whatever_came_first(scan, rules):
    book = rules(cause=rule("alpha", 95), echo=rule("beta", 40, role="symptom"))

    assert judged(scan, book, "beta", "alpha").level is Level.ESTABLISHED


def test_a_rival_of_another_category_takes_confidence_away(scan, rules, tmp_path):
    rules(one=rule("alpha", 80))
    other = (tmp_path / "user_code" / "one.yaml").read_text()
    (tmp_path / "gpu_oom").mkdir()
    (tmp_path / "gpu_oom" / "two.yaml").write_text(
        other.replace("user_code/one", "gpu_oom/two").replace("alpha", "beta").replace("title: one", "title: two")
    )
    book = rules()

    alone, with_rival = judged(scan, book, "alpha"), judged(scan, book, "alpha", "beta")

    assert with_rival.category == alone.category
    assert with_rival.confidence < alone.confidence
    assert [alternative.category for alternative in with_rival.alternatives] == ["gpu_oom"]


def test_a_rival_of_the_same_category_or_a_far_weaker_one_takes_none_away(scan, rules):
    book = rules(one=rule("alpha", 80), two=rule("beta", 80), weak=rule("gamma", 20))
    alone = judged(scan, book, "alpha").confidence

    assert judged(scan, book, "alpha", "beta").confidence == alone
    assert judged(scan, book, "alpha", "gamma").confidence == alone


def test_where_there_is_no_cause_nothing_is_sure(scan, rules):
    verdict = judged(scan, rules(echo=rule("beta", 40, role="echo")), "beta")

    assert (verdict.category, verdict.level, verdict.confidence) == ("unknown", Level.NONE, 0.0)
