"""Several reports of one scan, and what GitHub's summary of a step gets."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from nccl_logscan.cli import outputs, scanning
from nccl_logscan.cli.plain import plain_scan
from nccl_logscan.errors import OutputError
from nccl_logscan.report.forms import FORMS, form_of

BEGINNINGS = {
    "html": "<!DOCTYPE html>",
    "json": "{",
    "text": "FAILED",
    "markdown": "#",
    "sarif": "{",
    "junit": "<?xml",
    "github": "::error",
    "gitlab": "[",
    "openmetrics": "#",
    "trace": "{",
}


@pytest.fixture(autouse=True)
def _no_runner(monkeypatch):
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)


@pytest.fixture
def scans(monkeypatch):
    """How often logs were read."""
    times = []
    real = scanning.scan
    monkeypatch.setattr(scanning, "scan", lambda *given, **named: times.append(given) or real(*given, **named))
    return times


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("a.html", "html"),
        ("a.HTM", "html"),
        ("a.htm", "html"),
        ("verdict.json", "json"),
        ("result.sarif", "sarif"),
        ("result.sarif.json", "sarif"),
        ("gl-code-quality-report.json", "gitlab"),
        ("out/codequality.json", "gitlab"),
        ("node.prom", "openmetrics"),
        ("out.trace.json", "trace"),
        ("job.perfetto.json", "trace"),
        ("summary.md", "markdown"),
        ("junit.xml", "junit"),
        ("a", None),
        ("-", None),
    ],
)
def test_the_longest_ending_that_a_name_has_tells_the_form(name, form):
    assert form_of(name) == form


@pytest.mark.parametrize("form", FORMS)
def test_each_form_has_a_name_of_its_own_by_which_it_is_known(form):
    assert form_of(f"trainer{FORMS[form].suffix}") == form


def test_each_place_gets_its_form_and_logs_are_read_once(run, failed, here, scans):
    names = [f"out{form.suffix}" for form in FORMS.values()]

    ran = run(failed, *(word for name in names for word in ("-o", name)))

    assert ran.code == 1
    assert len(scans) == 1
    for form, name in zip(FORMS, names, strict=True):
        assert (here / name).read_text().startswith(BEGINNINGS[form])
    assert [line.split()[-1] for line in ran.out.splitlines()[-len(names) :]] == names
    assert json.loads((here / "out.json").read_text())["verdict"]["category"] == "collective_timeout"


def test_several_forms_without_a_place_go_to_files_named_after_the_log(run, failed, here):
    assert run(failed, "--format", "html", "--format", "sarif", "--format", "html", "-q").code == 1

    assert sorted(path.name for path in (here / "reports").iterdir()) == ["driver.html", "driver.sarif"]


def test_a_format_is_for_the_place_whose_name_asks_for_none(run, failed, here):
    ran = run(failed, "-o", "a.html", "-o", "-", "-o", "b", "--format", "github", "--format", "json")

    assert ran.out.startswith("::error")
    assert (here / "a.html").read_text().startswith("<!DOCTYPE html>")
    assert (here / "b").read_text().startswith("{")


def test_a_format_alone_decides_over_the_ending_of_a_place_alone(run, failed, here):
    run(failed, "-o", "a.html", "--format", "json")

    assert (here / "a.html").read_text().startswith("{")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-o", "a.html", "-o", "a.html"], "a.html and a.html are one place"),
        (["-o", "a.html", "-o", "./b/../a.html"], "are one place"),
        (["-o", "a.html", "-o", "link.html"], "are one place"),
        (["-o", "old.html", "-o", "hard.html"], "are one place"),
        (["-o", "-", "-o", "-"], "are one place"),
        (["-o", "a.html", "-o", "b.json", "--format", "sarif"], "no --output is left for sarif"),
        (["-o", "a.html", "-o", "LOG"], "is one of the inputs"),
        (["-o", "a.html", "-o", ""], "the name is empty"),
        (["-o", "-", "-o", "/dev/stdout"], "are one place"),
    ],
)
def test_what_cannot_be_is_refused_before_a_line_is_read(run, failed, here, words, said):
    (here / "b").mkdir()
    (here / "link.html").symlink_to("a.html")
    (here / "old.html").write_text("the report of yesterday")
    os.link(here / "old.html", here / "hard.html")
    words = [failed if word == "LOG" else word for word in words]

    for more in ([], ["--jobs", "1"]):  # without and with a parser of command lines
        ran = run(failed, *words, *more)

        assert ran.code == 2
        assert said in ran.err
        assert not (here / "a.html").exists()
        assert (here / "old.html").read_text() == "the report of yesterday"


def test_a_folder_that_is_missing_is_told_before_a_line_is_read(run, failed, here, scans):
    ran = run(failed, "-o", "a.html", "-o", "none/b.json")

    assert (ran.code, scans, list(here.iterdir())) == (5, [], [])
    assert "there is no folder none" in ran.err


@pytest.mark.parametrize("others", [["-o", "a.html"], []])
def test_a_place_that_cannot_be_written_keeps_no_other_from_its_report(run, failed, here, monkeypatch, others):
    real = outputs.write_atomically

    def write(place, content):
        if place.suffix != ".html":
            raise OutputError(f"cannot write the report to {place}: no space left on device")
        real(place, content)

    monkeypatch.setattr(outputs, "write_atomically", write)

    ran = run(failed, "-o", "one.json", *others, "-o", "two.xml")

    assert ran.code == 5
    assert "one.json" in ran.err
    assert "two.xml" in ran.err
    assert [path.name for path in here.iterdir()] == others[1:]
    assert ran.out.startswith("FAILED")
    assert [line.split()[-1] for line in ran.out.splitlines() if line.startswith("Report")] == others[1:]


def test_a_full_disk_behind_standard_output_is_told_beside_the_others(start, failed, here):
    (here / "scripts").mkdir()
    with open("/dev/full", "w") as full:  # noqa: PTH123 - a device
        process = start(failed, "-o", "a.html", stdout=full)
        _, stderr = process.communicate(timeout=60)

    assert process.returncode == 5
    assert b"standard output" in stderr
    assert (here / "a.html").read_text().startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        (["logs", "-o", "logs/driver.log"], "logs/driver.log"),
        (["logs/*.log", "-o", "logs/driver.log"], "logs/driver.log"),
        (["l*", "-o", "logs/driver.log"], "logs/driver.log"),
        (["logs/driver.log", "-o", "logs/run.sh"], "logs/run.sh"),
        (["reports/driver.txt", "--format", "text"], "reports/driver.txt"),
        (["logs/driver.log", "-o", "fold"], "logs/driver.log"),
    ],
)
def test_no_report_takes_the_place_of_a_file_of_the_job(run, failed, here, words, kept):
    for folder in ("logs", "reports", "fold"):
        (here / folder).mkdir()
    (here / "logs" / "driver.log").write_bytes(failed.read_bytes())
    (here / "reports" / "driver.txt").write_bytes(failed.read_bytes())
    (here / "logs" / "run.sh").write_text("#!/bin/bash\nexport NCCL_DEBUG=INFO\n")
    before = (here / kept).read_bytes()

    ran = run(*words)

    assert ran.code in {2, 5}
    assert ran.err.startswith("error: ")
    assert (here / kept).read_bytes() == before


def test_an_earlier_report_in_the_folder_of_the_logs_is_replaced(run, failed, here):
    (here / "logs").mkdir()
    (here / "logs" / "driver.log").write_bytes(failed.read_bytes())

    for _ in range(2):
        assert run("logs", "-q", "-o", "logs/report.html", "-o", "logs/report.json").code == 1

    assert len(json.loads((here / "logs" / "report.json").read_text())["inputs"]) == 1


def test_a_defect_of_one_form_costs_none_of_the_others(run, failed, here, monkeypatch):
    def broken(_view):
        raise IndexError("list index out of range")

    monkeypatch.setattr("nccl_logscan.report.sarif.render_sarif", broken)
    ran = run(failed, "-o", "a.sarif", "-o", "a.html", "-o", "a.xml")

    assert ran.code == 70
    assert "has a defect: IndexError" in ran.err
    assert sorted(path.name for path in here.iterdir()) == ["a.html", "a.xml"]
    assert ran.out.startswith("FAILED")


def test_standard_output_by_its_other_names_has_the_report_and_no_verdict(run, failed):
    for name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
        ran = run(failed, "--format", "json", "-o", name)

        assert json.loads(ran.out)["verdict"]["category"] == "collective_timeout"


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/stderr", "/dev/fd/2"])
def test_a_file_that_the_shell_appends_to_keeps_what_it_holds(failed, here, name):
    kept = here / "all.txt"
    kept.write_text("of an earlier command\n")
    command = [sys.executable, "-m", "nccl_logscan", str(failed), "-q", "--format", "json", "-o", name]
    with kept.open("ab") as stream:
        ran = subprocess.run(command, stdout=stream, stderr=stream, check=False)

    first, _, rest = kept.read_text().partition("\n")
    assert (ran.returncode, first) == (1, "of an earlier command")
    assert json.loads(rest)["verdict"]["category"] == "collective_timeout"


def test_a_descriptor_that_is_not_open_is_told_as_any_place_that_cannot_be_written(run, failed):
    ran = run(failed, "-o", "/dev/fd/987")

    assert ran.code == 5
    assert "cannot write the report to /dev/fd/987: bad file descriptor" in ran.err


def test_ordinary_words_with_several_places_need_no_parser():
    scan = plain_scan(["a.log", "-o", "a.html", "--output", "-", "-q"])

    assert scan.outputs == ("a.html", "-")
    assert plain_scan(["a.log", "-o"]) is None
    assert plain_scan(["a.log", "-o", "-x"]) is None


# --- GITHUB_STEP_SUMMARY ---------------------------------------------------------------------------------------


def test_a_step_of_a_job_gets_its_summary_behind_what_others_wrote(run, failed, here, monkeypatch):
    summary = here / "summary"
    summary.write_text("## Tests\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))

    ran = run(failed, "-o", "a.md")

    assert summary.read_text() == f"## Tests\n\n{(here / 'a.md').read_text()}"
    assert (ran.code, ran.err) == (1, "")


def test_a_summary_that_is_named_as_a_report_is_written_once(run, failed, here, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(here / "summary"))

    run(failed, "-q", "--format", "markdown", "-o", "summary")

    assert (here / "summary").read_text().count("## FAILED") == 1


def test_no_summary_is_written_where_the_variable_is_empty(run, failed, here, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "")

    run(failed, "-q", "-o", "a.json")

    assert [path.name for path in here.iterdir()] == ["a.json"]


def test_a_summary_for_the_public_is_redacted(run, failed, here, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(here / "summary"))

    run(failed, "--redact", "-q", "-o", "a.json")

    assert str(failed.parent) not in (here / "summary").read_text()


def test_a_summary_that_is_a_log_is_left_as_it_is(run, failed, here, monkeypatch):
    (here / "driver.log").write_bytes(failed.read_bytes())
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(here / "driver.log"))

    ran = run("driver.log", "-q", "-o", "a.json")

    assert "is a file that this scan has read" in ran.err
    assert (here / "driver.log").read_bytes() == failed.read_bytes()


def test_a_pipe_is_no_summary(run, failed, here, monkeypatch):
    os.mkfifo(here / "summary")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(here / "summary"))

    assert "it is no file" in run(failed, "-q").err


@pytest.mark.parametrize("place", [".", "none/summary", "a\0b"])
def test_a_summary_that_cannot_be_written_is_a_warning(run, healthy, monkeypatch, place):
    monkeypatch.setattr(os, "environ", {**os.environ, "GITHUB_STEP_SUMMARY": place})

    ran = run(healthy, "-q")

    assert ran.code == 0
    assert ran.err.startswith("warning: cannot append to the step's summary")


def test_a_summary_that_github_would_not_show_is_left_as_it_is(run, failed, here, monkeypatch):
    summary = here / "summary"
    summary.write_text("x" * (1 << 20))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))

    ran = run(failed, "-q")

    assert summary.stat().st_size == 1 << 20
    assert "larger than GitHub shows" in ran.err


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("a" * 255, "a" * 200),
        ("\u65e5" * 85, "\u65e5" * 66),
        ("a\u3164\u202e\x1b[2J b", "a____2J_b"),
        ("::error::x", "__error__x"),
        ("..\n", "report"),
    ],
)
def test_whatever_a_log_is_called_its_report_has_a_plain_name_that_fits(run, here, failed, name, stem):
    (here / name).write_bytes(failed.read_bytes())

    assert run(f"./{name}", "-q").code == 1
    assert [path.name for path in (here / "reports").iterdir()] == [f"{stem}.html"]
