"""What programs and notebooks have: names, forms, frames, the table of events."""

from __future__ import annotations

import doctest
import io
import json
import re
from html import unescape
from pathlib import Path

import polars as pl
import pytest

import nccl_logscan
from nccl_logscan.api import events as events_module
from nccl_logscan.api import scan as scan_module
from nccl_logscan.api.frames import FRAMES
from nccl_logscan.event_table.frames import SCHEMA

ROOT = Path(__file__).parents[1]
LOG = ROOT / "fixtures" / "cases" / "lab" / "timeout-dataloader" / "driver.log"
HEALTHY = ROOT / "fixtures" / "cases" / "lab" / "healthy-bf16" / "driver.log"
HOSTILE = '</iframe><script>alert(1)</script>" onload="x'


@pytest.fixture(scope="module")
def result():
    return nccl_logscan.scan(LOG)


@pytest.mark.parametrize("module", [events_module, scan_module])
def test_the_documented_examples_are_true(module, monkeypatch):
    monkeypatch.chdir(ROOT)
    finder = doctest.DocTestFinder()
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    names = {**vars(module), "nccl_logscan": nccl_logscan}
    for test in finder.find(module, globs=names):
        runner.run(test)

    assert runner.tries > 0
    assert runner.failures == 0


@pytest.mark.parametrize(
    "paths", [LOG, str(LOG), [LOG], (str(LOG),), iter([LOG])], ids=lambda paths: type(paths).__name__
)
def test_a_name_alone_and_several_are_taken(paths, result):
    assert nccl_logscan.scan(paths).diagnosis == result.diagnosis


def test_an_error_says_what_to_do_also_where_only_a_traceback_is_seen(tmp_path):
    empty = tmp_path / "empty.log"
    empty.write_text("nothing of any kind\n")

    with pytest.raises(nccl_logscan.InputError) as raised:
        nccl_logscan.scan(empty)

    assert raised.value.hint
    assert raised.value.__notes__ == [f"help: {raised.value.hint}"]
    with pytest.raises(nccl_logscan.LogscanError):
        nccl_logscan.scan(tmp_path / "missing.log")


def test_no_input_at_all_is_told():
    with pytest.raises(nccl_logscan.InputError, match="no input is named"):
        nccl_logscan.scan([])


def test_mistakes_in_own_rules_are_told_with_their_places(tmp_path):
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "mine.yaml").write_text("title: 3\n")

    with pytest.raises(nccl_logscan.RulebookError) as raised:
        nccl_logscan.scan(LOG, rules=tmp_path)

    assert any("mine.yaml:1" in note for note in raised.value.__notes__)


def test_progress_tells_name_and_bytes(tmp_path):
    large = tmp_path / "large.log"
    large.write_bytes(LOG.read_bytes() * 90)
    told = []

    nccl_logscan.scan(large, progress=told.append)

    assert told
    assert all(one.name == str(large) and 0 < one.done <= one.size == large.stat().st_size for one in told)


def test_a_config_is_where_advice_points_to():
    result = nccl_logscan.scan(
        ROOT / "fixtures/cases/lab/ds-overflow/driver.log", config=ROOT / "fixtures/launch/ds-overflow/ds_config.json"
    )

    files = result.steps_frame()["where_file"].drop_nulls()
    assert any(name.endswith("ds_config.json") for name in files)


def test_forms_are_those_of_the_command_line(result):
    assert json.loads(result.to_json()) == result.to_dict()
    assert result.to_html().startswith("<!DOCTYPE html>")
    assert "collective_timeout" in result.to_text()
    assert len(result.to_text().splitlines()) <= 24
    assert len(repr(result)) < 160


def test_what_a_redacted_result_shows_names_no_host(tmp_path):
    log = tmp_path / "trainer.log"
    log.write_text(LOG.read_text().replace("vm:", "secrethost7:"))
    result = nccl_logscan.scan(log, redact=True)

    shown = [repr(result), result.to_html(), result.to_json(), result.to_text(verbose=True), result._repr_html_()]
    shown += [str(result._frame(name).to_dicts()) for name in FRAMES]

    assert "secrethost7" in nccl_logscan.scan(log).to_json()
    assert not any("secrethost7" in text for text in shown)


# --- a notebook ------------------------------------------------------------------------------------------------


def test_a_notebook_has_the_page_in_a_frame_without_scripts_and_the_text_beside(result):
    shown = result._repr_html_()
    sandbox, page = re.search(r'sandbox="([^"]*)".* srcdoc="([^"]*)"', shown, re.DOTALL).groups()

    assert "allow-scripts" not in sandbox
    assert "allow-same-origin" not in sandbox
    assert unescape(page) == result.to_html()
    assert "collective_timeout" in shown.partition("</iframe>")[2]


def test_a_hostile_log_does_not_leave_the_frame(tmp_path):
    log = tmp_path / "trainer.log"
    log.write_text(LOG.read_text().replace("vm:", f"{HOSTILE}:") + f"[rank1]: ValueError: {HOSTILE}\n")

    shown = nccl_logscan.scan(log)._repr_html_()

    assert shown.count("</iframe>") == 1
    assert "<script" not in shown


# --- frames ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("log", [LOG, HEALTHY], ids=["failed", "healthy"])
@pytest.mark.parametrize("name", FRAMES)
def test_a_frame_has_its_schema_whatever_the_log_holds(name, log):
    result = nccl_logscan.scan(log)

    frame = getattr(result, f"{name}_frame")()

    assert frame.schema == FRAMES[name].schema
    entries = result.to_dict()
    for part in FRAMES[name].path:
        entries = entries[part]
    assert frame.height == len(entries)


def test_frames_hold_what_the_report_says(result):
    assert result.findings_frame()["rule"][0] == result.to_dict()["findings"][0]["rule"]
    assert result.evidence_frame()["line"][0] == 170
    assert result.timeline_frame()["time"].dtype == pl.Datetime("us")


# --- events ----------------------------------------------------------------------------------------------------


def test_events_are_the_table_that_the_command_writes(tmp_path):
    table = nccl_logscan.read_events(LOG)
    written = nccl_logscan.write_events(str(LOG), tmp_path / "events.parquet")

    assert table.schema == SCHEMA
    assert pl.read_parquet(written).equals(table)
    assert table.height > 100


def test_events_of_no_row_have_the_schema():
    assert nccl_logscan.read_events(LOG, ranks=[4711]).schema == SCHEMA


def test_what_no_table_can_be_made_of_is_told(tmp_path):
    with pytest.raises(ValueError, match=r"'nccl\.wrn' is no kind of event"):
        nccl_logscan.read_events(LOG, kinds=["nccl.wrn"])
    with pytest.raises(ValueError, match="does not tell a format"):
        nccl_logscan.write_events(LOG, tmp_path / "events.xlsx")
    (tmp_path / "empty.log").write_text("")
    with pytest.raises(nccl_logscan.InputError):
        nccl_logscan.read_events(tmp_path / "empty.log")


def test_an_input_is_not_written_over(tmp_path):
    log = tmp_path / "log.csv"
    log.write_bytes(LOG.read_bytes())

    with pytest.raises(nccl_logscan.OutputError, match="one of the inputs"):
        nccl_logscan.write_events(log, log)

    assert log.read_bytes() == LOG.read_bytes()


def test_an_input_that_was_left_out_is_warned_of():
    case = LOG.parent

    with pytest.warns(UserWarning, match="flight recorder"):
        nccl_logscan.read_events([LOG, case / "fr_0"])


@pytest.mark.parametrize("given", [None, 3, b"train.log", [b"train.log"], [None], io.StringIO("a\nb\n"), io.BytesIO()])
def test_what_names_no_file_is_told_by_its_type(given):
    with pytest.raises(TypeError, match="expected a name, as str or Path"):
        nccl_logscan.scan(given)
