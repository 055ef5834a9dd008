from __future__ import annotations

import dataclasses
import json
from typing import Any

import jsonschema
import pytest

from nccl_logscan.diagnosis.verdict import Difference
from nccl_logscan.report.json import render_json, schema
from nccl_logscan.report.view import TEXT_LIMIT, build_view
from nccl_logscan.taxonomy import Action, Basis, Category, Family, Level, Role, Severity

RESULTS = ["sample_result", "healthy_result", "unknown_result", "hostile_result"]


def rendered(result: Any) -> dict[str, Any]:
    return json.loads(render_json(build_view(result)))


@pytest.mark.parametrize("name", RESULTS)
def test_every_report_fulfils_the_schema(name, request):
    validator = jsonschema.Draft202012Validator(schema())
    assert [error.message for error in validator.iter_errors(rendered(request.getfixturevalue(name)))] == []


def test_nothing_in_it_is_a_command_to_a_ci_runner(sample_result):
    view = build_view(sample_result)
    view["verdict"]["headline"] = "##[error]owned"

    assert "##[" not in render_json(view)
    assert json.loads(render_json(view)) == view


def test_the_schema_itself_is_valid():
    jsonschema.Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize(
    ("path", "closed_set"),
    [
        (("verdict", "family"), Family),
        (("verdict", "basis"), Basis),
        (("verdict", "level"), Level),
        (("verdict", "action"), Action),
        (("findings", "role"), Role),
        (("findings", "severity"), Severity),
    ],
)
def test_the_schema_knows_the_closed_sets(path, closed_set):
    table, field = path
    part = schema()["properties"][table]
    part = part.get("items", part)
    assert part["properties"][field]["enum"] == [member.value for member in closed_set]
    assert schema()["$defs"]["category"]["enum"] == [category.value for category in Category]


def test_a_report_without_one_of_the_contracts_fields_is_refused(sample_result):
    validator = jsonschema.Draft202012Validator(schema())
    report = rendered(sample_result)
    for name in schema()["required"]:
        without = {key: value for key, value in report.items() if key != name}
        assert not validator.is_valid(without), name
    for name in schema()["properties"]["verdict"]["required"]:
        without = {key: value for key, value in report["verdict"].items() if key != name}
        assert not validator.is_valid({**report, "verdict": without}), name


def test_the_same_result_gives_the_same_bytes(sample_result):
    assert render_json(build_view(sample_result)) == render_json(build_view(sample_result))


def test_the_order_in_which_findings_arrive_does_not_matter(sample_result):
    backwards = dataclasses.replace(sample_result, findings=sample_result.findings[::-1])
    assert build_view(backwards) == build_view(sample_result)


def test_the_cascade_is_what_the_cause_explains(sample_result):
    first, second = rendered(sample_result)["cascade"]
    assert (first["rule"], first["count"], len(first["ranks"])) == ("collective_timeout/watchdog-timeout", 127, 127)
    assert first["first"] == {"file": "logs/train-7431.log", "line": 60012, "time": "2026-03-14T02:21:07.120000"}
    assert second["rule"] == "process_death/sigterm-by-agent"


def test_a_step_says_the_present_value_and_where_and_the_change(sample_result):
    step = rendered(sample_result)["remediation"][2]
    assert (step["setting"], step["from"], step["to"]) == ("NCCL_IB_TIMEOUT", "20", "22")
    assert step["where"] == {"file": "train.sbatch", "line": 12}
    assert step["diff"] == sample_result.plan[2].diff


def test_a_diff_is_shown_whole_or_not_at_all(sample_result):
    def shown(diff):
        step = dataclasses.replace(sample_result.plan[2], diff=diff)
        return rendered(dataclasses.replace(sample_result, plan=(step,)))["remediation"][0]["diff"]

    long = sample_result.plan[2].diff + " line\n" * 1_000
    assert shown(long) == long
    assert shown(long + " line\n" * 10_000) is None


def test_what_lint_says_is_in_the_report(sample_result):
    first, second = rendered(sample_result)["config"]["lint"]
    assert (first["file"], first["line"], first["name"], first["value"]) == ("train.sbatch", 13, "NCCL_TIMEOUT", "1800")
    assert (first["check"], first["severity"]) == ("read-by-nothing", "error")
    assert first["diff"].endswith("-export NCCL_TIMEOUT=1800\n")
    assert (second["value"], second["diff"]) == ("[redacted]", None)


def test_the_most_common_value_of_a_difference_comes_first(sample_result):
    [difference] = rendered(sample_result)["config"]["differs_between_hosts"]
    assert [value["value"] for value in difference["values"]] == ["575.51.03", "570.86.15"]


def test_a_difference_that_may_matter_comes_before_one_that_does_no_harm(sample_result):
    names = {"n1": ("n1",), "n2": ("n2",)}
    job = dataclasses.replace(
        sample_result.job,
        differences=(Difference("NCCL_DEBUG", names, "it changes what is logged"), Difference("NCCL_ALGO", names)),
    )
    shown = rendered(dataclasses.replace(sample_result, job=job))["config"]["differs_between_hosts"]
    assert [(entry["name"], entry["harmless"], entry["why"]) for entry in shown] == [
        ("NCCL_ALGO", False, None),
        ("NCCL_DEBUG", True, "it changes what is logged"),
    ]


def test_json_is_ascii_so_that_nothing_in_it_acts_on_a_terminal(hostile_result):
    text = render_json(build_view(hostile_result))
    assert text.isascii()
    assert not set(text) & {chr(code) for code in (*range(10), *range(11, 32), 127)}


def texts(part: Any) -> list[str]:
    if isinstance(part, dict):
        return [text for key, value in part.items() for text in (key, *texts(value))]
    if isinstance(part, list):
        return [text for entry in part for text in texts(entry)]
    return [part] if isinstance(part, str) else []


def test_no_text_is_longer_than_the_limit(hostile_result):
    assert max(map(len, texts(build_view(hostile_result)))) <= TEXT_LIMIT


def test_lists_are_bounded_and_the_rest_is_counted(huge_result):
    view = build_view(huge_result)
    limits = {"cascade": 50, "findings": 200, "timeline": 500, "unclaimed": 50}
    assert {name: len(view[name]) for name in limits} == limits
    assert len(view["verdict"]["evidence"]) == 30
    assert view["omitted"]["timeline"] == len(huge_result.timeline) - 500


def test_benign_findings_make_room_for_causes(sample_result):
    benign, cause, *_ = sample_result.findings
    flooded = dataclasses.replace(sample_result, findings=(*[benign] * 500, cause))
    assert cause.rule.id in {finding["rule"] for finding in build_view(flooded)["findings"]}


def test_a_shortened_timeline_keeps_how_it_began_and_how_it_ended(sample_result):
    entry = sample_result.timeline[0]
    many = tuple(dataclasses.replace(entry, rank=number) for number in range(5_000))
    ranks = [moment["rank"] for moment in build_view(dataclasses.replace(sample_result, timeline=many))["timeline"]]
    assert (ranks[0], ranks[-1], len(ranks)) == (0, 4_999, 500)


def test_secrets_never_reach_the_report(sample_result):
    assert "hf_abc" not in render_json(build_view(sample_result))


def test_of_too_many_ranks_those_are_shown_that_are_blamed_or_stand_like_few_others(sample_result):
    first = sample_result.standings[0]
    standings = tuple(
        dataclasses.replace(first, rank=rank, process_group=str(group), last_enqueued=8 if rank != 3777 else 7)
        for rank in range(4096)
        for group in range(30)
    )
    culprit = dataclasses.replace(sample_result.diagnosis.culprit, rank=4095)
    diagnosis = dataclasses.replace(sample_result.diagnosis, culprit=culprit)
    report = rendered(dataclasses.replace(sample_result, standings=standings, diagnosis=diagnosis))
    shown = [row["rank"] for row in report["ranks"]]
    assert (shown.count(4095), shown.count(3777)) == (30, 30)
    assert shown == sorted(shown)
    assert len(shown) + report["omitted"]["ranks"] == 4096 * 30
    assert len(json.dumps(report["ranks"])) < 400_000
