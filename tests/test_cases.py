"""The program's verdict on every labelled case.

What differs today stands in known_differences.yaml and is expected to fail, strictly: a repaired difference fails here
until its entry is taken out.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from cases import ALL, BY_NAME, report_of
from jsonschema import Draft202012Validator

from nccl_logscan.report.json import schema

KNOWN = yaml.safe_load((Path(__file__).parent / "known_differences.yaml").read_text("utf-8")) or {}
CHECKS = {"category", "rank", "evidence"}
SCHEMA = Draft202012Validator(schema())


def each(check, holds_for):
    """Return a test for each case that the check is about; what is known to differ is expected to fail."""
    return [
        pytest.param(case, id=case.name, marks=_marks(KNOWN.get(case.name, {}).get(check)))
        for case in ALL
        if holds_for(case)
    ]


def _marks(why):
    return [pytest.mark.xfail(strict=True, reason=why, raises=AssertionError)] if why else []


@pytest.fixture(scope="session")
def report(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("unpacked"))
    return lambda case: report_of(case, folder)


@pytest.mark.parametrize("case", each("category", bool))
def test_the_verdict_is_the_label(report, case):
    assert report(case)["verdict"]["category"] == case.label["category"]


@pytest.mark.parametrize("case", each("rank", lambda case: case.label.get("culprit_rank") is not None))
def test_the_culprit_is_the_rank_at_fault(report, case):
    assert report(case)["verdict"]["culprit"]["rank"] == case.label["culprit_rank"]


@pytest.mark.parametrize("case", each("evidence", lambda case: case.evidence_lines and not case.is_healthy))
def test_a_line_that_decides_is_cited(report, case):
    assert case.evidence_lines & {cited["line"] for cited in report(case)["verdict"]["evidence"]}


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in ALL])
def test_one_of_a_thing_is_told_in_the_singular(report, case):
    told = [report(case)["verdict"]["headline"], *report(case)["verdict"]["reasons"]]
    assert not re.findall(r"\b1 (?:other )?(?:lines|times|ranks|hosts|processes|errors)\b", "\n".join(told))


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in ALL if case.is_healthy])
def test_a_healthy_job_raises_no_cause_and_no_symptom(report, case):
    assert [entry["rule"] for entry in report(case)["findings"] if entry["role"] in {"cause", "symptom"}] == []


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in ALL if not case.is_healthy])
def test_no_failure_is_called_healthy(report, case):
    assert report(case)["verdict"]["category"] != "none" or "none" in case.acceptable


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in ALL])
def test_every_report_fulfils_the_contract(report, case):
    SCHEMA.validate(report(case))


def test_every_known_difference_is_of_a_case_and_gives_its_reason():
    assert set(KNOWN) <= set(BY_NAME)
    for differences in KNOWN.values():
        assert set(differences) <= CHECKS
        assert all(len(reason) > 15 for reason in differences.values())


def test_most_cases_are_judged_strictly_right():
    wrong = sum("category" in differences for differences in KNOWN.values())

    assert wrong <= 0.08 * len(ALL)
