"""Earlier reports among the logs of a job are none of its logs."""

from __future__ import annotations

import json
import shutil

import pytest
from cases import BY_NAME

from nccl_logscan import InputError, scan
from nccl_logscan.cli import main
from nccl_logscan.report.forms import FORMS, render
from nccl_logscan.report.view import build_view
from nccl_logscan.sources import open_sources
from nccl_logscan.sources.own_reports import is_own_report

FAILED, HEALTHY, UNCLEAR = BY_NAME["lab/timeout-dataloader"], BY_NAME["lab/m8-healthy"], BY_NAME["field/net049"]


@pytest.fixture
def logs(tmp_path):
    """A folder with a log and a report of it in each form."""
    folder = tmp_path / "logs"
    folder.mkdir()
    shutil.copy(FAILED.folder / "driver.log", folder)
    outputs = [word for form in FORMS.values() for word in ("-o", str(folder / f"report{form.suffix}"))]
    assert main([str(folder / "driver.log"), "-q", *outputs]) == 1
    return folder


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("case", [FAILED, HEALTHY, UNCLEAR], ids=lambda case: case.name)
def test_a_report_of_each_form_is_known_by_its_beginning(tmp_path, form, case):
    report = tmp_path / f"a{FORMS[form].suffix}"
    report.write_text(render(build_view(scan(case.inputs)), form), "utf-8")

    assert is_own_report(report)


@pytest.mark.parametrize("case", BY_NAME.values(), ids=BY_NAME)
def test_no_input_of_a_case_is_taken_for_a_report(tmp_path, case):
    for path in case.inputs:
        as_text = tmp_path / "log.txt"
        as_text.write_bytes(path.read_bytes()[:8192])
        assert not is_own_report(as_text)


@pytest.mark.parametrize("given", ["", "*"])
def test_reports_in_a_folder_or_a_pattern_are_passed_over(logs, given):
    named = [source.name for source in open_sources([str(logs / given) if given else str(logs)])]

    assert named == [str(logs / "driver.log")]


def test_a_second_scan_of_a_folder_says_the_same_as_the_first(logs, tmp_path):
    for name in ("first.json", "second.json"):
        main([str(logs), "-q", "-o", str(tmp_path / name)])
    first, second = (json.loads((tmp_path / name).read_text()) for name in ("first.json", "second.json"))

    assert first["inputs"] == second["inputs"]
    assert first["verdict"] == second["verdict"]


def test_a_folder_of_reports_alone_is_told(logs):
    (logs / "driver.log").unlink()

    with pytest.raises(InputError, match="has reports of this program in it and nothing else"):
        open_sources([str(logs)])


def test_a_report_beside_a_log_is_no_configuration(logs):
    assert [one.name for one in scan([logs / "driver.log"]).inputs] == [str(logs / "driver.log")]


def test_a_report_that_is_named_is_read(logs):
    assert [source.name for source in open_sources([str(logs / "report.html")])] == [str(logs / "report.html")]
