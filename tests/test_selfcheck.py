from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from nccl_logscan.rulebook.find import RuleSource
from nccl_logscan.rulebook.read import read_rule
from nccl_logscan.rulebook.rule import Rulebook
from nccl_logscan.selfcheck import healthy_logs, prove, prove_healthy, prove_hit
from nccl_logscan.taxonomy import Role

SOUND = Path(__file__).parents[1] / "fixtures" / "broken-rules" / "sound.yaml"


@pytest.fixture
def file():
    return read_rule(RuleSource("rule.yaml", "infiniband/broken", SOUND.read_bytes()))


def rulebook(*rules):
    return Rulebook({rule.id: rule for rule in rules}, "")


def with_also(file, *also):
    [hit] = file.rule.hits
    return dataclasses.replace(file, rule=dataclasses.replace(file.rule, hits=(dataclasses.replace(hit, also=also),)))


def test_a_sound_rule_is_proved(file):
    assert prove(file, rulebook(file.rule)) == ()


def test_a_second_rule_on_a_hit_is_told_unless_the_example_names_it(file):
    other = dataclasses.replace(file.rule, id="roce_config/other")
    both = rulebook(file.rule, other)

    [problem] = prove_hit(file, 0, both)

    assert problem.message.endswith("also fires roce_config/other; name it in `also` if both are right")
    assert prove_hit(with_also(file, "roce_config/other"), 0, both) == ()
    assert prove_hit(with_also(file, "roce_config/*"), 0, both) == ()


@pytest.mark.parametrize("role", [Role.BENIGN, Role.CONTEXT])
def test_a_rule_that_decides_nothing_may_fire_beside_another(file, role):
    other = dataclasses.replace(file.rule, id="none/other", role=role)

    assert prove_hit(file, 0, rulebook(file.rule, other)) == ()


def test_a_log_with_nothing_to_judge_fires_nothing(file):
    [hit] = file.rule.hits
    unknown = dataclasses.replace(file.rule, hits=(dataclasses.replace(hit, log="hello\n"),))

    [problem] = prove_hit(dataclasses.replace(file, rule=unknown), 0, rulebook(unknown))

    assert problem.message.endswith("its log is read as log.text: hello")


@pytest.mark.parametrize(("role", "found"), [(Role.CAUSE, 1), (Role.SYMPTOM, 1), (Role.ECHO, 0), (Role.BENIGN, 0)])
def test_a_healthy_job_may_have_neither_cause_nor_symptom(file, tmp_path, role, found):
    job = tmp_path / "healthy-run"
    job.mkdir()
    (job / "case.yaml").write_text("category: none")
    (job / "rank-0.log").write_text("node-1:1:1 [0] NCCL INFO Init\n" + file.rule.hits[0].log, "utf-8")
    rule = dataclasses.replace(file.rule, role=role)

    problems = list(prove_healthy(healthy_logs(tmp_path), rulebook(rule)))

    assert len(problems) == found
    for problem in problems:
        assert (problem.file, problem.line) == (str(job / "rank-0.log"), 2)
        assert problem.message == "a healthy job (healthy-run) fires infiniband/broken"


def test_only_jobs_that_are_labelled_healthy_are_taken_for_healthy(tmp_path):
    for name, category in (("a", "none"), ("b", "gpu_oom")):
        (tmp_path / "kind" / name).mkdir(parents=True)
        (tmp_path / "kind" / name / "case.yaml").write_text(f"category: {category}")
        (tmp_path / "kind" / name / "x.log").write_text("x")

    assert [name for name, _ in healthy_logs(tmp_path)] == ["a"]
