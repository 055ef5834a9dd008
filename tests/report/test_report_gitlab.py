"""GitLab's code quality: every remark has what GitLab asks for, and is told apart from the others."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from nccl_logscan.pipeline import Options, scan
from nccl_logscan.report.gitlab import render_gitlab
from nccl_logscan.report.view import build_view
from nccl_logscan.rulebook.load import builtin_rulebook

FIXTURES = Path(__file__).parents[2] / "fixtures"


def view_of(*names, configs=()):
    logs = [str(FIXTURES / "cases" / name) for name in names]
    return build_view(scan(logs, builtin_rulebook(), Options(configs=configs)))


def issues_of(view):
    return json.loads(render_gitlab(view))


def must_be_code_quality(issues):
    for issue in issues:
        assert set(issue) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert issue["description"]
        assert issue["check_name"]
        assert re.fullmatch("[0-9a-f]{32}", issue["fingerprint"])
        assert issue["severity"] in {"info", "minor", "major", "critical", "blocker"}
        assert not issue["location"]["path"].startswith(("/", "./"))
        assert issue["location"]["lines"]["begin"] >= 1
    assert len({issue["fingerprint"] for issue in issues}) == len(issues)


@pytest.mark.parametrize("name", ["lab/m8-timeout-rank5", "field/net002", "lab/mix-2.18.3-2.21.5", "lab/sigkill"])
def test_a_case_begins_with_its_verdict(name):
    view = view_of(name)
    issues = issues_of(view)

    must_be_code_quality(issues)
    assert issues[0]["description"].rstrip(".") == view["verdict"]["headline"].rstrip(".")
    assert issues[0]["severity"] == "critical"
    assert issues[0]["location"]["lines"]["begin"] == view["verdict"]["evidence"][0]["line"]


@pytest.mark.parametrize("name", ["sample_result", "unknown_result", "huge_result", "hostile_result"])
def test_any_result_is_code_quality(name, request):
    view = build_view(request.getfixturevalue(name))
    text = render_gitlab(view)

    must_be_code_quality(json.loads(text))
    assert text.isascii()
    assert "##[" not in text
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202e\u2028]", "".join(i["description"] for i in json.loads(text)))


def test_a_setting_is_told_at_its_file():
    config = FIXTURES / "launch" / "ds-overflow" / "ds_config.json"
    issues = issues_of(view_of("lab/ds-overflow/driver.log", configs=(str(config),)))

    told = {(Path(issue["location"]["path"]).name, issue["location"]["lines"]["begin"]) for issue in issues}
    assert ("ds_config.json", 22) in told
    assert any("Set bf16.enabled from false to true." in issue["description"] for issue in issues)


def test_a_healthy_job_has_none():
    assert issues_of(view_of("lab/m8-healthy/driver.log")) == []


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("./logs/a b.log", "logs/a b.log"),
        ("logs//x/../a.log", "logs/a.log"),
        ("HERE/logs/a.log", "logs/a.log"),
        ("/elsewhere/a.log", "elsewhere/a.log"),
        ("-", "stdin"),
        ("a.tar!b.log", "a.tar!b.log"),
    ],
)
def test_paths_are_from_the_folder_of_the_run(sample_result, name, path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    view = build_view(sample_result)
    view["verdict"]["evidence"][0]["file"] = name.replace("HERE", str(Path.cwd()))

    assert issues_of(view)[0]["location"]["path"] == path


def test_fingerprints_are_the_same_when_the_job_fails_again(sample_result):
    first, again = build_view(sample_result), build_view(sample_result)
    again["verdict"]["evidence"][0] |= {"line": 7, "text": "another time"}
    again["verdict"]["headline"] = "Rank 3 did it."

    assert [issue["fingerprint"] for issue in issues_of(first)] == [issue["fingerprint"] for issue in issues_of(again)]
