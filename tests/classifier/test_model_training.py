"""Training: splits that share nothing, a model that can be made again, and whether a site's cases help."""

from __future__ import annotations

import json
import re
import sys
from itertools import combinations
from pathlib import Path

import pytest

from nccl_logscan.classifier.data import Message, alike, joined, read_messages, shipped_messages, splits
from nccl_logscan.classifier.measures import Judged, abstention, calibration_error, interval, macro_f1
from nccl_logscan.classifier.model import SHIPPED, read_model
from nccl_logscan.classifier.score import suggest
from nccl_logscan.cli import main
from nccl_logscan.errors import InputError
from nccl_logscan.taxonomy import Category

pytest.importorskip("sklearn")
ROOT = Path(__file__).parents[2]


def test_splits_share_no_scenario_and_no_message_that_is_nearly_the_same():
    messages, tested = shipped_messages(), []
    groups = dict(zip(messages, alike(messages), strict=True))
    for split in splits(messages):
        for one, other in combinations(split, 2):
            assert scenarios_of(one).isdisjoint(scenarios_of(other))
            assert {groups[message] for message in one}.isdisjoint(groups[message] for message in other)
        tested += [message.template for message in split.test]
    assert sorted(tested) == sorted(message.template for message in messages)


def scenarios_of(messages):
    return {scenario for message in messages for scenario in message.scenarios}


def test_messages_of_which_four_words_in_five_are_the_same_are_alike():
    texts = ["ring of rank <n> was cut by a fast peer", "ring of rank <n> was cut by one fast peer", "no peer was fast"]
    one, other, third = alike([Message(text, Category.GPU_OOM, ("s",), "rule") for text in texts])
    assert one == other != third


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


def test_training_makes_the_shipped_files_again():
    made = pytest.importorskip("nccl_logscan.classifier.training").Training
    training = made(shipped_messages())
    head, *rows = map(json.loads, training.text.splitlines())
    shipped, *shipped_rows = map(json.loads, SHIPPED.read_text("utf-8").splitlines())
    # Another machine adds in another order.
    assert [row[0] for row in rows] == [row[0] for row in shipped_rows]
    assert head["categories"] == shipped["categories"]
    for name in ("intercepts", "thresholds", "foreign_weight"):
        assert head[name] == pytest.approx(shipped[name], abs=0.02)
    for row, other in zip(rows, shipped_rows, strict=True):
        assert row[1:] == pytest.approx(other[1:], abs=0.02)
    assert f1_of(training.card) == pytest.approx(f1_of(SHIPPED.with_name("MODEL.md").read_text("utf-8")), abs=0.01)


def test_training_twice_gives_the_same_to_the_last_digit():
    made = pytest.importorskip("nccl_logscan.classifier.training").Training
    some = shipped_messages()[::12]
    assert made(some).text == made(some).text


def f1_of(card):
    return float(re.search(r"macro-F1 on what it answered: \*\*([\d.]+)\*\*", card)[1])


def test_a_site_s_cases_are_trained_on_and_measured(tmp_path, capsys):
    ends = ["lost its gasket", "flange came loose", "seal broke apart", "ring was bent", "valve stuck", "pin is gone"]
    lines = {end.split()[0]: f"NCCL WARN Frobnicator manifold {end}" for end in (*ends, "spring snapped", "axle froze")}
    some = tmp_path / "some.jsonl"
    some.write_text("".join((ROOT / "fixtures/labelled/messages.jsonl").read_text("utf-8").splitlines(True)[::8]))
    for name, line in lines.items():
        folder = tmp_path / "cases" / name
        folder.mkdir(parents=True)
        (folder / "case.yaml").write_text("category: gpu_hardware\n")
        (folder / "job.log").write_text(f"vm:1:2 [0] NCCL INFO Bootstrap : Using eth0\nvm:1:2 [0] x.cc:9 {line}\n")
    model = tmp_path / "own.jsonl"
    assert main(["train", "--data", str(some), "--cases", str(tmp_path / "cases"), "-o", str(model)]) == 0
    told = capsys.readouterr().out
    assert "your 8 messages, judged without your cases: 0 right" in told
    assert "your cases helped" in told
    assert suggest(read_model(model), "Frobnicator manifold seal was bent").category is Category.GPU_HARDWARE


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("category: nonsense", "does not say a category"),
        ("category: unknown", "does not say a category"),
        ("category: [1]", "does not say a category"),
        ("[", "does not say a category"),
        ("[" * 5000, "does not say a category"),
        ("category: gpu_oom", "has no logs"),
        (None, "has no case.yaml"),
    ],
)
def test_cases_that_are_none_are_named(label, said, tmp_path, capsys):
    if label is not None:
        (tmp_path / "case.yaml").write_text(label)
    assert main(["train", "--cases", str(tmp_path)]) == 3
    assert said in capsys.readouterr().err


def test_without_scikit_learn_training_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "nccl_logscan.classifier.training", None)
    assert main(["train"]) == 3
    assert "nccl-logscan[train]" in capsys.readouterr().err


def test_nothing_that_is_read_is_written_over(tmp_path, capsys):
    folder = tmp_path / "cases" / "one"
    folder.mkdir(parents=True)
    (folder / "case.yaml").write_text("category: gpu_oom\n")
    (folder / "job.log").write_text("a log\n")
    for place in (folder / "job.log", folder / "case.yaml"):
        assert main(["train", "--cases", str(tmp_path / "cases"), "-o", str(place)]) == 2
        assert "one of the inputs" in capsys.readouterr().err
    assert (folder / "job.log").read_text() == "a log\n"
    assert main(["train", "-o", str(tmp_path / "none" / "model.jsonl")]) == 5
    assert "there is no folder" in capsys.readouterr().err
    assert main(["train", "-o", str(tmp_path / "same"), "--card", str(tmp_path / "same")]) == 2


def test_a_case_that_cannot_be_judged_is_named(tmp_path, capsys):
    (tmp_path / "case.yaml").write_text("category: gpu_oom\n")
    (tmp_path / "job.log").write_text("nothing of interest\n")
    assert main(["train", "--cases", str(tmp_path)]) == 3
    assert f"case {tmp_path}" in capsys.readouterr().err


@pytest.mark.parametrize("count", [1, 2])
def test_messages_of_too_few_categories_are_told(count, tmp_path, capsys):
    data = tmp_path / "data.jsonl"
    lines = [
        {"template": f"text {n} {name}", "category": name, "scenarios": [f"s{n}"], "origin": "own", "kind": "nccl.warn"}
        for n in range(9)
        for name in ("gpu_oom", "host_oom")[:count]
    ]
    data.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert main(["train", "--data", str(data)]) == 3
    assert f"messages of {count} categories are too few" in capsys.readouterr().err
