"""From the command line to a verdict and a report."""

from __future__ import annotations

import gzip
import json
import lzma
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
import zstandard
from jsonschema import Draft202012Validator

from nccl_logscan.report.json import schema
from nccl_logscan.version import __version__

GALLERY = Path(__file__).parents[2] / "fixtures" / "broken-rules"


def verdict(told):
    return json.loads(told.out)["verdict"]["category"]


def as_json(*arguments):
    return (*arguments, "--format", "json", "-o", "-")


# --- exit codes ----------------------------------------------------------------------------------------------


def test_a_healthy_job_ends_with_zero(run, healthy):
    assert run(healthy).code == 0


def test_a_failure_ends_with_one(run, failed):
    assert run(failed).code == 1


def test_a_failure_ends_with_zero_where_that_is_asked_for(run, failed):
    told = run(failed, "--exit-zero")

    assert told.code == 0
    assert "FAILED" in told.out


def test_an_error_is_an_error_also_where_zero_is_asked_for(run):
    assert run("no-such.log", "--exit-zero").code == 3


# --- where the report goes, and in which form ------------------------------------------------------------------


def test_the_report_is_a_page_in_reports_called_like_the_log(run, here, failed):
    told = run(failed)

    [report] = (here / "reports").iterdir()
    assert report.name == "driver.html"
    assert report.read_text("utf-8").startswith("<!DOCTYPE html>")
    assert "reports/driver.html" in told.out


@pytest.mark.parametrize(("form", "name"), [("html", "driver.html"), ("json", "driver.json"), ("text", "driver.txt")])
def test_a_format_gives_the_report_its_suffix(run, here, failed, form, name):
    run(failed, "--format", form)

    assert [report.name for report in (here / "reports").iterdir()] == [name]


@pytest.mark.parametrize(
    ("name", "start"), [("x.html", "<!DOCTYPE html>"), ("x.json", "{"), ("x.txt", "FAILED"), ("x", "<!DOCTYPE html>")]
)
def test_the_name_of_the_output_picks_the_format(run, here, failed, name, start):
    run(failed, "-o", name)

    assert (here / name).read_text("utf-8").startswith(start)
    assert not (here / "reports").exists()


def test_a_format_that_is_given_wins_over_the_name(run, here, failed):
    run(failed, "-o", "x.html", "--format", "json")

    json.loads((here / "x.html").read_text("utf-8"))


def test_a_dash_writes_the_report_and_nothing_else_to_standard_output(run, here, failed):
    told = run(*as_json(failed))

    report = json.loads(told.out)
    Draft202012Validator(schema()).validate(report)
    assert told.err == ""
    assert list(here.iterdir()) == []


def test_a_page_goes_to_standard_output_too(run, failed):
    told = run(failed, "-o", "-")

    assert told.out.startswith("<!DOCTYPE html>")
    assert told.out.rstrip().endswith("</html>")


def test_the_text_on_standard_output_is_the_verdict(run, failed):
    told = run(failed, "--format", "text", "-o", "-")

    assert told.out.startswith("FAILED")
    assert "Evidence" in told.out


def test_quiet_prints_nothing_and_still_writes_the_report(run, here, failed):
    told = run(failed, "-q")

    assert (told.code, told.out, told.err) == (1, "", "")
    assert (here / "reports" / "driver.html").is_file()


def test_verbose_says_no_less(run, failed):
    assert len(run(failed, "-v").out) >= len(run(failed).out)


# --- inputs --------------------------------------------------------------------------------------------------


@pytest.fixture
def by_rank(here, failed):
    """The failed job's log as a file a rank: rank 1's lines in one, all else in the other."""
    lines = failed.read_text("utf-8").splitlines(keepends=True)
    folder = here / "logs"
    folder.mkdir()
    of_one = [line for line in lines if "[rank1]" in line]
    assert of_one
    (folder / "rank0.log").write_text("".join(line for line in lines if "[rank1]" not in line), "utf-8")
    (folder / "rank1.log").write_text("".join(of_one), "utf-8")
    return folder


def test_several_files_a_folder_and_a_pattern_are_the_same_job(run, by_rank):
    files = run(*as_json(by_rank / "rank0.log", by_rank / "rank1.log"))
    folder = run(*as_json(by_rank))
    pattern = run(*as_json(by_rank / "rank*.log"))

    reports = [json.loads(told.out) for told in (files, folder, pattern)]
    assert [len(report["inputs"]) for report in reports] == [2, 2, 2]
    assert {report["verdict"]["category"] for report in reports} == {"collective_timeout"}


@pytest.mark.parametrize(
    ("suffix", "compress"),
    [(".gz", gzip.compress), (".xz", lzma.compress), (".zst", zstandard.ZstdCompressor().compress)],
)
def test_a_compressed_log_is_judged_like_the_plain_one(run, here, failed, suffix, compress):
    log = here / f"driver.log{suffix}"
    log.write_bytes(compress(failed.read_bytes()))

    assert verdict(run(*as_json(log))) == verdict(run(*as_json(failed))) == "collective_timeout"


def test_an_archive_is_judged_like_its_files(run, by_rank, here):
    with tarfile.open(here / "ci.tar.gz", "w:gz") as archive:
        archive.add(by_rank, "logs")

    told = run(*as_json(here / "ci.tar.gz"))

    assert verdict(told) == "collective_timeout"
    assert {entry["name"].partition("!")[2] for entry in json.loads(told.out)["inputs"]} == {
        "logs/rank0.log",
        "logs/rank1.log",
    }


def test_standard_input_is_a_log(start, failed):
    with failed.open("rb") as log:
        process = start(*as_json("-"), stdin=log, stdout=subprocess.PIPE)
        stdout, stderr = process.communicate(timeout=60)

    assert process.returncode == 1
    assert json.loads(stdout)["verdict"]["category"] == "collective_timeout"
    assert stderr == b""


def test_the_report_on_standard_input_is_called_stdin(start, failed, here):
    with failed.open("rb") as log:
        start("-", stdin=log, stdout=subprocess.DEVNULL).communicate(timeout=60)

    assert (here / "reports" / "stdin.html").is_file()


@pytest.mark.parametrize("name", ["trainer log.txt", "--odd.log", "…", "a/../b.log", "x" * 100 + ".log"])
def test_any_name_of_a_log_gives_a_report_below_reports(run, here, failed, name):
    place = here / Path(name)
    (here / "a").mkdir()
    shutil.copy(failed, place)

    told = run("scan", "--", name)

    assert told.code == 1
    [report] = (here / "reports").iterdir()
    assert report.suffix == ".html"


def test_a_log_called_like_a_command_is_scanned_by_its_path(run, here, failed):
    shutil.copy(failed, here / "rules")

    assert run("./rules").code == 1


def test_a_rule_of_the_site_decides(run, here):
    folder = here / "site" / "infiniband"
    folder.mkdir(parents=True)
    text = (GALLERY / "sound.yaml").read_text("utf-8")
    (folder / "broken.yaml").write_text(text.replace("NET/IB", "NET/SITE"), "utf-8")
    log = here / "site.log"
    log.write_text(
        "node-1:2311:2401 [3] transport/net_ib.cc:1298 NCCL WARN NET/SITE : Got completion from peer 10.0.0.3<40211> "
        "with error 12, opcode 0, len 0, vendor err 129\n"
    )

    without = run(*as_json(log))
    told = run(*as_json(log), "--rules", here / "site")

    assert json.loads(without.out)["verdict"]["rule"] != "infiniband/broken"
    assert json.loads(told.out)["verdict"]["rule"] == "infiniband/broken"


# --- help ----------------------------------------------------------------------------------------------------


def test_the_help_teaches_by_example(run):
    told = run("--help")

    assert told.code == 0
    for words in ("Examples:", "nccl-logscan logs/", "| nccl-logscan -", "--format json"):
        assert words in told.out


def test_the_help_of_a_scan_names_the_exit_codes(run):
    told = run("scan", "--help")

    for words in ("1 failure found", "3 unreadable", "--rules DIR", "--exit-zero", "Examples:"):
        assert words in told.out


@pytest.mark.parametrize("arguments", [("--help",), ("scan", "--help"), ("rules", "--help")])
def test_the_help_fits_into_100_columns(run, arguments):
    assert max(map(len, run(*arguments).out.splitlines())) <= 100


def test_the_version_is_told(run):
    told = run("--version")

    assert (told.code, told.out) == (0, f"nccl-logscan, version {__version__}\n")


def test_a_configuration_is_read_from_where_it_is_named(run, here):
    (here / "job.log").write_text("n1:1:2 [0] misc/socket.cc:49 NCCL WARN Bootstrap : no socket interface found\n")
    (here / "conf").mkdir()
    (here / "conf" / "a.sh").write_text("export NCCL_SOCKET_IFNAME=ib9\nsrun torchrun train.py\n")
    (here / "conf" / "b.env").write_text("NCCL_TIMEOUT=1800\n")
    told = run("job.log", "--config", "conf/a.sh", "--config", "conf/b.env", "--format", "json", "-o", "-")

    view = json.loads(told.out)
    assert view["remediation"][0]["where"] == {"file": "conf/a.sh", "line": 1}
    assert [entry["file"] for entry in view["config"]["lint"] if entry["name"] == "NCCL_TIMEOUT"] == ["conf/b.env"]


def test_a_configuration_that_is_missing_is_told(run, here):
    (here / "job.log").write_text("n1:1:2 [0] misc/socket.cc:49 NCCL WARN Bootstrap : no socket interface found\n")
    told = run("job.log", "--config", "missing.sh")

    assert told.code == 3
    assert "missing.sh cannot be read" in told.err
