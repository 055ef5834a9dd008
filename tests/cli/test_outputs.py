"""The forms of a report that CI reads, as the command line writes them."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from nccl_logscan.cli.scanning import run_scan

LAB = Path(__file__).parents[2] / "fixtures" / "cases" / "lab"


def test_a_name_that_ends_in_xml_gets_junit(tmp_path: Path) -> None:
    place = tmp_path / "junit.xml"
    assert run_scan((str(LAB / "abort"),), output=str(place), quiet=True) == 1
    root = ET.fromstring(place.read_bytes())  # noqa: S314 - what this program wrote
    assert root.find("testsuite/testcase/failure") is not None


def test_an_annotation_is_all_that_standard_output_gets(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_scan((str(LAB / "abort"),), "github", "-") == 1
    printed = capsys.readouterr().out
    assert printed.startswith("::error ")
    assert printed.count("\n") == 1
