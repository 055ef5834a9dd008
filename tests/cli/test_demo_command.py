"""`nccl-logscan demo` shows a report to those who have no failure yet."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest

from nccl_logscan.cli.demo import DEMOS

ROOT = Path(__file__).parents[2]
CATEGORY = {
    "timeout": "collective_timeout",
    "infiniband": "infiniband",
    "overflow": "mixed_precision_overflow",
    "versions": "version_mismatch",
    "healthy": "HEALTHY",
}


def forced():
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]["targets"]["wheel"]
    return wheel["force-include"]


@pytest.mark.parametrize("name", DEMOS)
def test_each_job_gives_its_verdict_and_a_report(run, here, name):
    told = run("demo", "--case", name)

    assert (told.code, told.err) == (0, "")
    assert CATEGORY[name] in told.out.splitlines()[0]
    assert f"Report    nccl-logscan-demo/{name}/report.html\n" in told.out
    written = {path.name for path in (here / "nccl-logscan-demo" / name).iterdir()}
    assert written == {"report.html", *(Path(file).name for file in DEMOS[name].files)}


@pytest.mark.parametrize(("name", "setting"), [("timeout", "train.py:19"), ("overflow", "ds_config.json:22")])
def test_the_configuration_beside_a_log_is_pointed_to(run, name, setting):
    assert f"nccl-logscan-demo/{name}/{setting}" in run("demo", "--case", name).out


def test_the_address_to_open_leads_to_the_report(run, here):
    told = run("demo", "--to", "a #1 ü%")

    [address] = (line.split()[-1] for line in told.out.splitlines() if line.startswith("Open"))
    assert address.startswith("file:///")
    assert address.isascii()
    assert Path(unquote(urlparse(address).path)) == here / "a #1 ü%" / "timeout" / "report.html"
    assert "<html" in Path(unquote(urlparse(address).path)).read_text("utf-8")


def test_a_second_run_changes_no_file(run, here):
    first = run("demo")
    before = {path: path.stat().st_mtime_ns for path in here.rglob("*")}

    assert run("demo") == first
    assert {path: path.stat().st_mtime_ns for path in here.rglob("*")} == before


@pytest.mark.parametrize("name", ["driver.log", "train.py", "report.html"])
def test_a_file_of_others_is_left_as_it_is(run, here, name):
    place = here / "mine" / "timeout" / name
    place.parent.mkdir(parents=True)
    place.write_text("mine\n")

    told = run("demo", "--to", "mine")

    assert told.code == 5
    assert f"mine/timeout/{name} is there" in told.err
    assert place.read_text() == "mine\n"


def test_where_a_log_is_in_the_way_nothing_is_written(run, here):
    place = here / "mine" / "timeout" / "driver.log"
    place.mkdir(parents=True)

    assert run("demo", "--to", "mine").code == 5
    assert list(place.parent.iterdir()) == [place]


def test_nothing_is_written_through_a_link(run, here):
    place = here / "mine" / "timeout" / "driver.log"
    place.parent.mkdir(parents=True)
    place.symlink_to(here / "elsewhere")

    assert run("demo", "--to", "mine").code == 5
    assert not (here / "elsewhere").exists()


def test_no_pipe_is_waited_for(run, here):
    place = here / "mine" / "timeout" / "driver.log"
    place.parent.mkdir(parents=True)
    os.mkfifo(place)

    assert run("demo", "--to", "mine").code == 5


def test_a_folder_that_cannot_be_made_is_told_in_one_line(run, here):
    (here / "file").touch()

    told = run("demo", "--to", "file/below")

    assert told.code == 5
    assert told.err.startswith("error: cannot make the folder file/below/timeout: ")


def test_the_list_names_every_job_and_writes_nothing(run, here):
    told = run("demo", "--list")

    assert told.code == 0
    assert [line.split()[0] for line in told.out.splitlines()] == list(DEMOS)
    assert list(here.iterdir()) == []


def test_a_job_that_is_not_there_is_a_mistake_of_usage(run, here):
    told = run("demo", "--case", "nope")

    assert told.code == 2
    assert "'infiniband'" in told.err
    assert list(here.iterdir()) == []


def test_the_wheel_gets_the_files_that_the_code_names_and_they_are_small():
    files = [file for demo in DEMOS.values() for file in demo.files]

    shipped = {source: place for source, place in forced().items() if place.startswith("nccl_logscan/_demo/")}
    assert shipped == {f"fixtures/{file}": f"nccl_logscan/_demo/{file}" for file in files}
    assert sum((ROOT / "fixtures" / file).stat().st_size for file in files) < 300_000


def test_an_installed_copy_is_taken_before_a_checkouts(run, here, monkeypatch):
    (here / "package" / "_demo" / "cases/lab/healthy-bf16").mkdir(parents=True)
    text = (ROOT / "fixtures/cases/lab/healthy-bf16/driver.log").read_text("utf-8") + "installed\n"
    (here / "package" / "_demo" / "cases/lab/healthy-bf16/driver.log").write_text(text)
    monkeypatch.setattr("nccl_logscan.cli.demo.resources.files", lambda _: here / "package")

    assert run("demo", "--case", "healthy", "--to", "out").code == 0
    assert (here / "out/healthy/driver.log").read_text() == text
