"""Every example of every built-in rule, a test each: on the road that users take."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nccl_logscan.cli import main
from nccl_logscan.diagnosis.detectors import DETECTOR_NAMES
from nccl_logscan.rulebook.lint import lint
from nccl_logscan.rulebook.read import read_folders
from nccl_logscan.rulebook.where import builtin_rules
from nccl_logscan.selfcheck import healthy_logs, prove_healthy, prove_hit, prove_idle, prove_miss
from nccl_logscan.taxonomy import Category

ROOT = Path(__file__).parents[1]
READING = read_folders([builtin_rules()])
RULEBOOK = READING.rulebook
HITS = [
    pytest.param(file, number, id=f"{file.rule.id}: {hit.name}")
    for file in READING.files
    for number, hit in enumerate(file.rule.hits)
]
MISSES = [
    pytest.param(file, number, id=f"{file.rule.id}: {miss.name}")
    for file in READING.files
    for number, miss in enumerate(file.rule.misses)
]
HEALTHY = [pytest.param(name, texts, id=name) for name, texts in healthy_logs(ROOT / "fixtures" / "cases")]


def said(problems):
    return "".join(problem.render() + "\n" for problem in problems)


def test_every_rule_file_can_be_read():
    assert said(READING.problems) == ""


def test_the_rules_fit_together():
    assert said(lint(READING.files, ids=READING.ids, groups=READING.groups, detectors=DETECTOR_NAMES)) == ""


def test_every_group_that_rules_belong_to_is_explained_to_who_writes_rules():
    groups = {group for rule in RULEBOOK.rules.values() for group in rule.groups}
    assert groups == set(re.findall(r"^\| `([a-z-]+)` \|", (ROOT / "rules/README.md").read_text(), re.MULTILINE))


@pytest.mark.parametrize(("file", "number"), HITS)
def test_a_hit_fires_its_rule_and_no_other(file, number):
    assert said(prove_hit(file, number, RULEBOOK)) == ""


@pytest.mark.parametrize(("file", "number"), MISSES)
def test_a_near_miss_leaves_the_rule_silent(file, number):
    assert said(prove_miss(file, number, RULEBOOK)) == ""


@pytest.mark.parametrize("file", READING.files, ids=lambda file: file.rule.id)
def test_every_wording_and_every_exclusion_earns_its_place(file):
    assert said(prove_idle(file)) == ""


@pytest.mark.parametrize(("name", "texts"), HEALTHY)
def test_a_healthy_job_has_neither_cause_nor_symptom(name, texts):
    assert said(prove_healthy([(name, texts)], RULEBOOK)) == ""


def test_every_category_has_rules():
    assert {rule.category for rule in RULEBOOK.rules.values()} == set(Category)


def test_every_detector_has_a_rule_that_words_its_answer():
    assert {rule.match.detector for rule in RULEBOOK.rules.values()} >= DETECTOR_NAMES


@pytest.mark.parametrize("made", ["docs", "schema", "compile"])
def test_what_is_made_from_the_rules_is_fresh(made, monkeypatch):
    monkeypatch.chdir(ROOT)

    assert main(["rules", made, "--check"]) == 0
