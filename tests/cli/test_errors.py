"""What goes wrong is told in one line, with what to do in a second, and leaves no report behind."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from nccl_logscan.cli import main

_FIXTURES = Path(__file__).parents[2] / "fixtures"
GALLERY = _FIXTURES / "broken-rules"


@pytest.fixture
def make(tmp_path):
    """Make a bad input of a kind and return its path."""

    def missing(path):
        pass

    def empty(path):
        path.touch()

    def binary(path):
        path.write_bytes(bytes(range(256)) * 64)

    def cut_gzip(path):
        path.write_bytes(gzip.compress(b"node-1:1:1 [0] NCCL INFO x\n" * 99)[:9])

    def empty_folder(path):
        path.mkdir()

    def of_another_program(path):
        path.write_text("GET /index.html 200\n" * 50)

    def loop_of_links(path):
        path.symlink_to(path)

    makers = {maker.__name__: maker for maker in (missing, empty, binary, cut_gzip, empty_folder)}
    makers |= {maker.__name__: maker for maker in (of_another_program, loop_of_links)}

    def make(kind):
        path = tmp_path / f"{kind}.log"
        makers[kind](path)
        return path

    return make


def is_one_error(stderr):
    return re.fullmatch(r"error: [^\n]+\n(?: help: [^\n]+\n)?", stderr) is not None


KINDS = {
    "missing": "does not exist",
    "empty": "is empty",
    "binary": "is not text",
    "cut_gzip": "",
    "empty_folder": "is a folder with no file in it",
    "of_another_program": "there is nothing to judge",
    "loop_of_links": "is a loop of links",
}


@pytest.mark.parametrize(("kind", "words"), KINDS.items())
def test_an_input_that_cannot_be_judged_is_one_error_and_leaves_nothing(run, make, here, kind, words):
    told = run(make(kind))

    assert told.code == 3
    assert is_one_error(told.err), told.err
    assert words in told.err
    assert kind in told.err
    assert " help: " in told.err
    assert told.out == ""
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("kind", KINDS)
def test_an_earlier_report_stays_as_it_was_when_the_input_is_bad(run, make, here, kind):
    earlier = here / "report.html"
    earlier.write_text("the report of yesterday")

    run(make(kind), "-o", earlier)

    assert earlier.read_text() == "the report of yesterday"
    assert [path.name for path in here.iterdir()] == ["report.html"]


def test_a_file_whose_bytes_cannot_be_read_is_told(run):
    # Root may read any file; the memory of a process has nothing at its address 0.
    told = run("/proc/self/mem")

    assert told.code == 3
    assert is_one_error(told.err)
    assert "/proc/self/mem cannot be read: " in told.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_that_the_user_may_not_read_is_told(run, tmp_path):
    log = tmp_path / "private.log"
    log.touch(mode=0o000)

    told = run(log)

    assert told.code == 3
    assert is_one_error(told.err)
    assert "permission denied" in told.err


def test_of_many_bad_inputs_the_first_is_told(run, make):
    told = run(make("missing"), make("empty_folder"))

    assert told.code == 3
    assert is_one_error(told.err)
    assert "missing.log" in told.err


def test_a_pattern_that_fits_nothing_is_told_as_a_pattern(run):
    told = run("logs/*.log")

    assert told.code == 3
    assert told.err.startswith("error: no file matches logs/*.log\n")


def test_a_log_cut_in_the_middle_of_its_compression_is_judged_by_what_there_is(run, tmp_path, failed):
    packed = gzip.compress(failed.read_bytes())
    log = tmp_path / "cut.log.gz"
    log.write_bytes(packed[:-20])

    told = run(log, "-o", "-", "--format", "json")

    assert told.code == 1
    assert told.err == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ("--no-such-option", "x.log"),
        ("x.log", "--format", "pdf"),
        ("x.log", "--rules", "no-such-folder"),
        ("x.log", "--output"),
        ("scan",),
        ("rules", "no-such-command"),
        ("rules", "show", "no/such-rule"),
    ],
)
def test_a_wrong_use_is_one_error_that_names_the_help(run, here, arguments):
    told = run(*arguments)

    assert told.code == 2
    assert is_one_error(told.err), told.err
    assert "--help shows what it takes" in told.err
    assert list(here.iterdir()) == []


def test_a_misspelt_option_meets_a_suggestion(run):
    assert "--format" in run("x.log", "--formt", "json").err


def test_no_argument_at_all_shows_the_help(run):
    told = run()

    assert told.code == 2
    assert "Examples:" in told.err + told.out


def test_a_broken_rule_file_is_shown_and_ends_the_run_before_a_log_is_read(run, here, tmp_path):
    folder = tmp_path / "site" / "infiniband"
    folder.mkdir(parents=True)
    shutil.copy(GALLERY / "several-mistakes" / "rule.yaml", folder / "broken.yaml")

    told = run("no-such.log", "--rules", tmp_path / "site")

    assert told.code == 4
    *shown, last = told.err.splitlines()
    assert last == "error: 5 mistakes in the rules"
    assert sum("broken.yaml:" in line for line in shown) == 5
    assert list(here.iterdir()) == []


def test_a_report_that_cannot_be_written_is_told_before_the_log_is_read(run, tmp_path):
    told = run("no-such.log", "-o", tmp_path / "no-such-folder" / "x.html")

    assert told.code == 5
    assert is_one_error(told.err)
    assert "there is no folder" in told.err


def test_a_folder_in_the_place_of_the_report_is_told(run, failed, tmp_path):
    told = run(failed, "-o", tmp_path)

    assert told.code == 5
    assert is_one_error(told.err)


def test_a_file_called_reports_in_the_way_is_told_and_kept(run, here, failed):
    (here / "reports").write_text("mine")

    told = run(failed)

    assert told.code == 5
    assert is_one_error(told.err)
    assert "--output" in told.err
    assert (here / "reports").read_text() == "mine"


@pytest.mark.parametrize("arguments", [("--format", "json", "-o", "-"), ("-o", "x.html")])
def test_a_full_standard_output_is_an_output_error(start, failed, arguments):
    with Path("/dev/full").open("w") as full:
        process = start(failed, *arguments, stdout=full)
        _, stderr = process.communicate(timeout=60)

    assert process.returncode == 5
    assert is_one_error(stderr.decode())
    assert b"standard output: no space left on device" in stderr


def test_a_full_standard_output_is_an_output_error_of_a_list_of_rules_too(start):
    with Path("/dev/full").open("w") as full:
        process = start("rules", "list", stdout=full)
        _, stderr = process.communicate(timeout=60)

    assert process.returncode == 5
    assert is_one_error(stderr.decode())


def test_a_name_that_would_act_on_the_terminal_is_spelled_out(run):
    told = run("\x1b[31mred\n\udcff.log")

    assert told.code == 3
    assert is_one_error(told.err)
    assert "\x1b" not in told.err


def test_a_closed_standard_input_is_told(run, monkeypatch):
    monkeypatch.setattr("sys.stdin", None)

    told = run("-")

    assert told.code == 3
    assert told.err.startswith("error: standard input is closed\n")


def test_a_defect_of_ours_is_told_as_one_and_asks_for_a_report(run, failed, monkeypatch):
    def broken(*_, **__):
        raise KeyError("rank")

    monkeypatch.setattr("nccl_logscan.cli.scanning.build_view", broken)

    told = run(failed)

    assert told.code == 70
    assert is_one_error(told.err)
    assert "has a defect: KeyError: 'rank'" in told.err


@pytest.mark.usefixtures("here")
def test_a_defect_shows_its_traceback_to_those_who_ask(monkeypatch, failed):
    def broken(*_, **__):
        raise KeyError("rank")

    monkeypatch.setattr("nccl_logscan.cli.scanning.build_view", broken)
    monkeypatch.setenv("NCCL_LOGSCAN_TRACEBACK", "1")

    with pytest.raises(KeyError):
        main([str(failed)])


def test_an_error_is_no_traceback_in_a_process_of_its_own(start):
    process = start("no-such.log", stdout=subprocess.PIPE)
    stdout, stderr = process.communicate(timeout=60)

    assert (process.returncode, stdout) == (3, b"")
    assert is_one_error(stderr.decode())


@pytest.mark.parametrize(
    "words",
    [
        ("",),
        ("log", "-o", ""),
        ("log", "--rules", ""),
        ("log", "--config", ""),
        ("log", "--model", ""),
        ("lint", ""),
        ("lint", "-", "-o", ""),
        ("advise", "--params", "7e9", "--format", "diff", "--script", ""),
        ("events", "", "-o", "-"),
        ("events", "log", "-o", ""),
        ("demo", "--to", ""),
        ("rules", "docs", ""),
        ("rules", "suggest", "log", "-o", ""),
        ("train", "--cases", ""),
        ("train", "-o", ""),
    ],
    ids=" ".join,
)
def test_an_unset_variable_for_a_name_is_told_and_nothing_is_written(run, here, words):
    (here / "log").write_bytes((_FIXTURES / "cases" / "lab" / "ds-overflow" / "driver.log").read_bytes())

    told = run(*words)

    assert told.code in {2, 3, 4, 5}
    assert "empty" in told.err
    assert "defect" not in told.err
    assert [path.name for path in here.iterdir()] == ["log"]
