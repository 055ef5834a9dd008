"""Reports of this program among the logs of a folder: they quote what failed, and are no logs."""

from __future__ import annotations

import pytest
from cases import BY_NAME

from nccl_logscan import scan, write_events
from nccl_logscan.errors import InputError
from nccl_logscan.pipeline import scan_text
from nccl_logscan.report.forms import FORMS, render
from nccl_logscan.report.view import build_view
from nccl_logscan.rulebook.load import builtin_rulebook
from nccl_logscan.sources import open_sources
from nccl_logscan.sources.own_reports import is_own_report

CASES = ["lab/timeout-dataloader", "lab/healthy-bf16", "lab/sigkill"]
FORMS_OF_LOGS = [form for form in FORMS if form != "gitlab"]  # that one is a list of JSON, which is no log


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("form", FORMS_OF_LOGS)
def test_a_report_is_known_by_how_it_begins(tmp_path, name, form):
    view = build_view(scan_text(BY_NAME[name].texts(), builtin_rulebook()))
    text = render(view, form)
    report = tmp_path / f"report{FORMS[form].suffix}"
    report.write_text(text, "utf-8")

    assert is_own_report(report) or not text.strip()


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_a_table_of_events_is_known_by_how_it_begins(tmp_path, suffix):
    table = tmp_path / f"events{suffix}"
    write_events(BY_NAME["lab/sigkill"].inputs, str(table))

    assert is_own_report(table)


@pytest.mark.parametrize("name", ["lab/timeout-dataloader", "lab/sigkill"])
def test_a_folder_is_judged_a_second_time_as_the_first(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    [(log, text)] = BY_NAME[name].texts().items()
    (tmp_path / "driver.log").write_text(text, "utf-8")
    (tmp_path / "reports").mkdir()
    first = scan(".")
    for form in FORMS:
        place = tmp_path / "reports" / f"report{FORMS[form].suffix}"
        place.write_text(render(build_view(scan_text({log: text}, builtin_rulebook())), form), "utf-8")

    second = scan(".")
    assert second.to_dict()["verdict"] == first.to_dict()["verdict"]
    assert [source.name for source in open_sources(["**/*"])] == ["driver.log", "reports/report.codequality.json"]


def test_a_report_that_is_named_itself_is_read(tmp_path):
    report = tmp_path / "report.txt"
    report.write_text("FAILED    collective_timeout  likely, 72%  x\n")

    assert [source.name for source in open_sources([str(report)])] == [str(report)]
    with pytest.raises(InputError, match="no file in it but reports of nccl-logscan"):
        open_sources([str(tmp_path)])


def test_no_log_of_ours_is_taken_for_a_report():
    assert not [path for case in BY_NAME.values() for path in case.inputs if is_own_report(path)]


def test_an_empty_name_is_no_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.log").write_text("x\n")

    with pytest.raises(InputError, match="the name of an input is empty"):
        open_sources([""])
