"""The labelled lint fixtures, and how remarks and mended files are compared with them."""

import sys
from collections import Counter
from pathlib import Path

import pytest
import yaml

from nccl_logscan.lint.model import Check

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))

from lint_labels import Found, labels_of, score, unlike  # noqa: E402 - tools are scripts and no package

FOLDERS = sorted(path.parent for path in (ROOT / "fixtures" / "lint").glob("*/expected.yaml"))


def expected(folder):
    return yaml.safe_load((folder / "expected.yaml").read_text("utf-8"))


def text(folder, name):
    return (folder / name).read_text("utf-8").split("\n")


def all_labels():
    return [label for folder in FOLDERS for label in labels_of(folder.name, expected(folder))]


def remark(label, **changed):
    given = {
        "file": label.file,
        "line": label.line,
        "name": label.name,
        "check": label.check,
        "severity": label.severity,
    }
    return Found(**{**given, **changed})


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_label_stands_at_a_line_that_holds_its_setting(folder):
    for label in labels_of(folder.name, expected(folder)):
        lines = text(folder, label.file)
        bare = label.name.rstrip("=)").split("(")[-1].split(".")[-1]
        own, _ = label.places[0]
        assert any(bare in lines[number - 1] for number in own), label


def test_every_check_occurs_five_times_in_several_constructs():
    labels = all_labels()
    counted = Counter(label.check for label in labels if label.check)
    for check in Check:
        assert counted[check] >= 5, check
        assert len({label.construct for label in labels if label.check == check}) >= 4, check


def test_two_hundred_settings_are_labelled_and_half_of_them_are_right():
    labels = [label for label in all_labels() if not label.either]
    assert len(labels) >= 200
    assert sum(label.check is None for label in labels) >= len(labels) / 2


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_remarks_as_labelled_meet_every_label(folder):
    labels = labels_of(folder.name, expected(folder))
    scored = score(labels, [remark(label) for label in labels if label.check], folder.name)
    assert not scored.missed
    assert not scored.wrong


def test_another_check_both_misses_the_setting_and_is_wrong():
    label = next(label for label in all_labels() if label.checks == {"read-by-nothing"})
    scored = score([label], [remark(label, check="bad-value")], "")
    assert scored.missed == [label]
    assert len(scored.wrong) == 1


def test_a_note_neither_finds_an_error_nor_is_a_false_one():
    label = next(label for label in all_labels() if label.severity == "error")
    right = next(label for label in all_labels() if label.check is None and not label.either)
    notes = [remark(label, severity="note"), remark(right, check="misspelt", severity="note")]
    scored = score([label, right], notes, "")
    assert scored.missed == [label]
    assert not scored.wrong


def test_a_warning_on_a_right_setting_or_on_no_setting_is_wrong():
    right = next(label for label in all_labels() if label.check is None and not label.either)
    warnings = [remark(right, check="misspelt", severity="warning"), Found("x", 1, "Y", "misspelt", "error")]
    assert len(score([right], warnings, "").wrong) == 2


def test_the_partner_of_a_contradiction_may_carry_the_remark():
    label = next(label for label in all_labels() if label.check == "contradiction" and len(label.places) > 1)
    lines, name = label.places[1]
    assert not score([label], [remark(label, line=lines[0], name=name)], "").missed


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_files_mended_as_labelled_read_as_they_should(folder):
    entries = expected(folder).get("fixed", ())
    for name in {entry["file"] for entry in entries}:
        before = text(folder, name)
        own = [entry for entry in entries if entry["file"] == name]
        after = list(before)
        for entry in sorted(own, key=lambda entry: -entry["line"]):
            first = next((read for read in entry["reads"] if not isinstance(read, dict)), None)
            start = entry["line"] - 1
            after[start : start + entry.get("lines", 1)] = [] if first is None else first.split("\n")
        assert not unlike(before, after, own, ())


def test_a_line_that_should_have_been_mended_and_one_that_should_not_are_both_told():
    before = ["a", "b", "c", ""]
    fixed = [{"line": 2, "reads": [None]}]
    assert not unlike(before, ["a", "c", ""], fixed, ())
    assert [line for line, _ in unlike(before, before, fixed, ())] == [2]
    assert [line for line, _ in unlike(before, ["a", "C", ""], fixed, ())] == [3]
    assert len(unlike(before, ["a", "new", "c", ""], fixed, ())) == 1
    assert not unlike(before, ["a", "new", "c", ""], fixed, ("n.w",))
