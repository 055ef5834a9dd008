from __future__ import annotations

from pathlib import Path

from nccl_logscan.report.contract_docs import COMMAND, contract_docs
from nccl_logscan.report.json import schema


def test_the_page_is_fresh():
    page = Path(__file__).parents[2] / "docs" / "report-contract.md"
    assert page.read_text("utf-8") == contract_docs(), f"run: {COMMAND}"


def test_every_field_of_the_report_is_in_the_page():
    page = contract_docs()
    for name in schema()["properties"]:
        assert f"`{name}`" in page
