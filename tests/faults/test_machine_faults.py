"""Whatever fails of the machine: a sentence, a documented exit code, no part of a file, and the earlier one whole."""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CASE = ROOT / "fixtures" / "cases" / "lab" / "timeout-dataloader"
SCRIPT = ROOT / "fixtures" / "launch" / "memlock" / "bench.sh"
EARLIER = b"what stood there before\n"

WRITING = {
    "html": ("scan", "driver.log", "-o", "OUT.html"),
    "json": ("scan", "driver.log", "-o", "OUT.json"),
    "sarif": ("scan", "driver.log", "-o", "OUT.sarif"),
    "junit": ("scan", "driver.log", "-o", "OUT.xml"),
    "markdown": ("scan", "driver.log", "-o", "OUT.md"),
    "text": ("scan", "driver.log", "-o", "OUT.txt"),
    "openmetrics": ("scan", "driver.log", "-o", "OUT.prom"),
    "trace": ("scan", "driver.log", "-o", "OUT.trace.json"),
    "csv": ("events", "driver.log", "-o", "OUT.csv"),
    "jsonl": ("events", "driver.log", "-o", "OUT.jsonl"),
    "parquet": ("events", "driver.log", "-o", "OUT.parquet"),
    "lint": ("lint", "bench.sh", "--format", "sarif", "-o", "OUT.sarif"),
}
"""Commands that write one file; OUT stands for its folder and stem."""


@pytest.fixture
def here(tmp_path):
    """A folder with a log and a script; `out` in it is for what is written."""
    shutil.copy(CASE / "driver.log", tmp_path)
    shutil.copy(SCRIPT, tmp_path)
    (tmp_path / "out").mkdir()
    return tmp_path


def command(*words):
    return [sys.executable, "-m", "nccl_logscan", *words]


def start(here, *words, **options):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)} | options.pop("env", {})
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    return subprocess.Popen(command(*words), cwd=here, env=environment, **pipes)


def run(here, *words, **options):
    process = start(here, *words, **options)
    out, err = process.communicate(timeout=120)
    return process.returncode, (out or b"").decode(), (err or b"").decode()


def writing(kind, folder="out", stem="report"):
    """The words of a command, and what it writes."""
    words = [word.replace("OUT", f"{folder}/{stem}") for word in WRITING[kind]]
    return words, words[-1]


def must_be_told(err, *parts):
    assert "Traceback" not in err
    assert "defect" not in err
    for part in parts:
        assert part in err


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# --- places that take nothing --------------------------------------------------------------------------------


@pytest.fixture(params=["none before", "one before"])
def before(request, here):
    """Lay an earlier file at a place, or none."""

    def before(name):
        if request.param == "one before":
            (here / name).write_bytes(EARLIER)
        return contents(here)

    return before


@pytest.mark.parametrize("kind", WRITING)
def test_a_file_that_may_not_grow_leaves_the_earlier_one(here, before, kind):
    words, name = writing(kind)
    was = before(name)

    def small():
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    code, _, err = run(here, *words, preexec_fn=small)

    assert code == 5
    must_be_told(err, f"to {name}: ", "file too large")
    assert contents(here) == was


@pytest.fixture
def mounted(here):
    """A file system of a few pages, mounted at `out`."""
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(here / "out")]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("nothing can be mounted here")
    yield here / "out"
    subprocess.run(["umount", str(here / "out")], check=True)


@pytest.mark.parametrize("kind", WRITING)
def test_a_full_disk_leaves_the_earlier_file(here, mounted, kind):
    words, name = writing(kind)
    (here / name).write_bytes(EARLIER)
    filler = mounted / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (4096, 1):
            try:
                while True:
                    file.write(b"\0" * size)
            except OSError:
                pass

    code, _, err = run(here, *words)

    assert code == 5
    must_be_told(err, f"to {name}: ", "no space left")
    assert (here / name).read_bytes() == EARLIER
    assert {path.name for path in mounted.iterdir()} == {Path(name).name, "filler"}


@pytest.mark.parametrize("kind", WRITING)
def test_a_read_only_file_system_leaves_the_earlier_file(here, mounted, kind):
    words, name = writing(kind)
    (here / name).write_bytes(EARLIER)
    subprocess.run(["mount", "-o", "remount,ro", str(mounted)], check=True)

    code, _, err = run(here, *words)

    assert code == 5
    must_be_told(err, f"to {name}: ")
    assert re.search("may not write there|read-only file system|permission denied", err)
    assert contents(here / "out") == {Path(name).name: EARLIER}


@pytest.mark.parametrize("kind", WRITING)
def test_another_user_s_folder_is_told(here, kind):
    words, name = writing(kind)
    (here / name).write_bytes(EARLIER)
    mine = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]  # what makes root more than others
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("needs root, and setpriv, to be another user")
    os.chown(here / "out", 65534, 65534)
    os.chown(here / name, 65534, 65534)

    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run([*mine, *command(*words)], cwd=here, env=environment, capture_output=True, check=False)

    assert ended.returncode == 5
    must_be_told(ended.stderr.decode(), f"to {name}: ")
    assert re.search("may not write there|permission denied", ended.stderr.decode())
    assert contents(here / "out") == {Path(name).name: EARLIER}


@pytest.mark.parametrize("name", ["é" * 120 + ".html", "日" * 80 + ".json", "a" * 250 + ".md"])
def test_a_name_as_long_as_a_name_may_be_is_written(here, name):
    code, _, err = run(here, "scan", "driver.log", "-o", f"out/{name}")

    assert (code, err) == (1, "")
    assert [path.name for path in (here / "out").iterdir()] == [name]


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_closed_stream_costs_no_report(here, stream):
    words = [*command("scan", "driver.log", "-o", "out/a.html")]
    shell = f'"$@" {"1" if stream == "stdout" else "2"}>&-'
    ended = subprocess.run(
        ["sh", "-c", shell, "sh", *words], cwd=here, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False
    )

    assert ended.returncode == 1
    assert (here / "out" / "a.html").read_bytes().startswith(b"<!DOCTYPE html>")


# --- what ends the program -----------------------------------------------------------------------------------


LINE = b"node-1:1:1 [0] NCCL INFO Connected all rings\n"
SIGNALS = {signal.SIGINT: "interrupted", signal.SIGTERM: "ended by SIGTERM", signal.SIGHUP: "ended by SIGHUP"}


def wait_until_it_reads(process):
    """Write more than a pipe holds: once all is taken, the program reads, and waits for more."""
    for _ in range(40):
        process.stdin.write(LINE * 500)
    process.stdin.flush()
    time.sleep(0.3)


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
@pytest.mark.parametrize("kind", ["html", "json", "csv", "jsonl", "parquet"])
def test_a_signal_ends_a_run_and_it_is_said_what_was_done(here, kind, number):
    words, name = writing(kind)
    (here / name).write_bytes(EARLIER)
    process = start(here, words[0], "-", *words[2:], stdin=subprocess.PIPE)
    wait_until_it_reads(process)

    process.send_signal(number)
    process.wait(timeout=60)

    assert process.returncode == 128 + number
    assert process.stderr.read().decode().lstrip() == f"error: {SIGNALS[number]}; nothing was written\n"
    assert contents(here / "out") == {Path(name).name: EARLIER}


def test_a_signal_between_two_reports_names_the_one_that_is_there(here):
    os.mkfifo(here / "out" / "b.json")
    process = start(here, "scan", "driver.log", "-o", "out/a.html", "-o", "out/b.json")
    deadline = time.monotonic() + 60
    while not (here / "out" / "a.html").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(0.3)  # now it waits for a reader of the pipe

    process.send_signal(signal.SIGTERM)
    process.wait(timeout=60)

    assert process.returncode == 128 + signal.SIGTERM
    told = f"error: ended by SIGTERM; written before that: {here}/out/a.html\n"
    assert process.stderr.read().decode().lstrip() == told


def test_nohup_s_wish_is_kept(here):
    words = ["sh", "-c", 'trap "" HUP; exec "$@"', "sh", *command("scan", "-", "-o", "out/a.json")]
    process = subprocess.Popen(
        words, cwd=here, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdin=subprocess.PIPE, stderr=subprocess.PIPE
    )
    wait_until_it_reads(process)
    process.send_signal(signal.SIGHUP)
    process.stdin.write((CASE / "driver.log").read_bytes())
    process.stdin.close()

    assert process.wait(timeout=60) == 1
    assert (here / "out" / "a.json").exists()


def test_what_a_killed_run_left_disturbs_no_later_one(here):
    process = start(here, "scan", "-", "-o", "out/a.json", stdin=subprocess.PIPE)
    wait_until_it_reads(process)
    process.kill()
    process.wait()

    code, _, err = run(here, "scan", "driver.log", "-o", "out/a.json")

    assert (code, err) == (1, "")
    assert [path.name for path in (here / "out").iterdir()] == ["a.json"]


# --- what the machine does not give --------------------------------------------------------------------------


@pytest.mark.parametrize("megabytes", [90, 130, 200, 300])
@pytest.mark.parametrize("kind", ["html", "json", "csv", "parquet"])
def test_too_little_memory_ends_with_a_sentence_or_with_the_verdict(here, kind, megabytes):
    words, name = writing(kind)
    (here / name).write_bytes(EARLIER)
    (here / "driver.log").write_bytes((CASE / "driver.log").read_bytes() * 200)

    def little():
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    code, _, err = run(here, *words, preexec_fn=little)

    assert "Traceback" not in err
    assert "defect" not in err
    if code in {0, 1}:
        assert (here / name).read_bytes() != EARLIER
    else:
        assert code in {71, 134, -6}
        assert contents(here / "out") == {Path(name).name: EARLIER}
    assert [path.name for path in (here / "out").iterdir()] == [Path(name).name]


@pytest.mark.parametrize("files", [5, 8, 12, 16])
def test_too_few_open_files_end_with_a_sentence(here, files):
    def few():
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    code, _, err = run(here, "scan", "driver.log", "-o", "out/a.json", preexec_fn=few)

    assert "Traceback" not in err
    assert "defect" not in err
    assert code in {1, 3, 5}
    assert [path.name for path in (here / "out").iterdir()] == (["a.json"] if code == 1 else [])


def test_a_working_directory_that_is_gone_is_no_defect(here):
    gone = here / "gone"
    gone.mkdir()
    code, _, err = run(
        gone, "scan", str(here / "driver.log"), "-o", str(here / "out" / "a.json"), preexec_fn=gone.rmdir
    )

    assert "Traceback" not in err
    assert (code, err) == (1, "")


def test_a_home_and_a_folder_for_temporary_files_that_are_not_there_are_no_defect(here):
    environment = {"HOME": "/nonexistent", "TMPDIR": "/nonexistent", "XDG_CACHE_HOME": "/nonexistent"}
    for kind in ("html", "parquet"):
        words, name = writing(kind)
        code, _, err = run(here, *words, env=environment)
        assert code == (1 if kind == "html" else 0), err
        assert (here / name).exists()


def test_four_runs_that_write_one_report_leave_one_whole(here):
    runs = [start(here, "scan", "driver.log", "-o", "out/a.json") for _ in range(4)]
    for one in runs:
        one.communicate(timeout=120)

    assert [one.returncode for one in runs] == [1] * 4
    assert [path.name for path in (here / "out").iterdir()] == ["a.json"]
    assert (here / "out" / "a.json").read_bytes().rstrip().endswith(b"}")
