"""Training: splits that share nothing, a model that can be made again, and whether a site's cases help."""

from __future__ import annotations

import pytest

from nccl_logscan.classifier.data import Message, joined, read_messages, shipped_messages, splits
from nccl_logscan.classifier.features import terms
from nccl_logscan.classifier.measures import Judged, abstention, calibration_error, interval, macro_f1
from nccl_logscan.errors import InputError
from nccl_logscan.taxonomy import Category

pytest.importorskip("sklearn")


def test_splits_share_no_template_and_no_scenario():
    tested = []
    for split in splits(shipped_messages()):
        parts = {name: getattr(split, name) for name in split._fields}
        for one, other in (("train", "test"), ("train", "calibrate"), ("calibrate", "test")):
            scenarios = [
                {scenario for message in parts[name] for scenario in message.scenarios} for name in (one, other)
            ]
            texts = [{frozenset(terms(message.template)) for message in parts[name]} for name in (one, other)]
            if other == "test":
                own = {message.scenarios[0] for message in split.test}
                assert not own & scenarios[0]
            assert not texts[0] & texts[1]
        tested += [message.template for message in split.test]
    assert sorted(tested) == sorted(message.template for message in shipped_messages())


def judged(is_, best, probability, *, answers=True):
    return Judged(Message("text", is_, ("s",), "rule"), best, probability, best if answers else None)


def test_measures():
    oom, ib = Category.GPU_OOM, Category.INFINIBAND
    told = [judged(oom, oom, 0.9), judged(oom, ib, 0.6), judged(ib, ib, 0.8), judged(ib, oom, 0.3, answers=False)]
    assert abstention(told) == 0.25
    assert macro_f1(told) == pytest.approx((2 / 3 + 2 / 3) / 2)
    assert calibration_error(told) == pytest.approx((0.1 + 0.6 + 0.2 + 0.3) / 4)
    low, high = interval(8, 10)
    assert low < 0.8 < high
    assert interval(0, 0) == (0.0, 1.0)


def test_a_template_that_is_told_twice_is_one_message_of_both_scenarios():
    one = Message("text", Category.GPU_OOM, ("a",), "rule")
    other = Message("text", Category.INFINIBAND, ("b",), "site")
    assert joined([one, other]) == (Message("text", Category.GPU_OOM, ("a", "b"), "rule"),)


@pytest.mark.parametrize(
    "line", ["nonsense", "{}", '{"template": "x", "category": "bad", "scenarios": [], "origin": "a"}']
)
def test_a_line_that_is_no_message_is_named(line, tmp_path):
    path = tmp_path / "messages.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(InputError, match=r"messages\.jsonl:1 is no labelled message"):
        read_messages(path)
