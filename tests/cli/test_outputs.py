"""The forms of a report that CI reads, as the command line writes them."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from nccl_logscan.cli.scanning import run_scan

LAB = Path(__file__).parents[2] / "fixtures" / "cases" / "lab"


def test_a_name_that_ends_in_xml_gets_junit(tmp_path: Path) -> None:
    place = tmp_path / "junit.xml"
    assert run_scan((str(LAB / "abort"),), outputs=(str(place),), quiet=True) == 1
    root = ET.fromstring(place.read_bytes())  # noqa: S314 - what this program wrote
    assert root.find("testsuite/testcase/failure") is not None


def test_an_annotation_is_all_that_standard_output_gets(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_scan((str(LAB / "abort"),), ("github",), ("-",)) == 1
    printed = capsys.readouterr().out
    assert printed.startswith("::error ")
    assert printed.count("\n") == 1


FORMS = {
    "markdown": ("md", "## FAILED: `"),
    "sarif": ("sarif", '{\n  "$schema"'),
    "gitlab": ("codequality.json", '[\n  {\n    "description"'),
    "openmetrics": ("prom", "# HELP nccl_logscan_build_info "),
    "github": ("github.txt", "::error "),
    "trace": ("trace.json", '{"otherData": {"tool": "nccl-logscan '),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_form_is_chosen_by_its_name_and_by_the_ending_of_the_file(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ending, start = FORMS[form]
    log = str(LAB / "abort" / "driver.log")

    assert run_scan((log,), (form,), quiet=True) == 1
    assert run_scan((log,), outputs=(f"x.{ending}",), quiet=True) == 1
    by_name, by_ending = Path(f"reports/driver.{ending}").read_text("utf-8"), Path(f"x.{ending}").read_text("utf-8")
    assert by_name.startswith(start)
    assert by_ending.startswith(start)


@pytest.mark.parametrize("form", FORMS)
def test_a_form_goes_to_standard_output_whole_and_alone(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_scan((str(LAB / "abort"),), (form,), ("-",)) == 1
    printed = capsys.readouterr().out

    assert printed.startswith(FORMS[form][1])
    assert printed.endswith("\n")
    assert "Report    " not in printed


@pytest.mark.parametrize(("form", "wanted"), [("sarif", '"results": []'), ("gitlab", "[]\n"), ("markdown", "HEALTHY")])
def test_a_healthy_job_gives_a_form_with_nothing_to_mend(
    form: str, wanted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_scan((str(LAB / "m8-healthy" / "driver.log"),), (form,), ("-",)) == 0
    assert wanted in capsys.readouterr().out


@pytest.mark.parametrize("form", FORMS)
def test_no_form_of_a_public_report_names_the_machine(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    log = LAB.parent / "field" / "net002" / "trainer.log"

    run_scan((str(log),), (form,), ("-",), redact=True)
    printed = capsys.readouterr().out
    assert printed.startswith(FORMS[form][1])
    assert "pretrain-w07" not in printed
    assert "10.61.14.27" not in printed
