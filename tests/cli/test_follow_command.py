"""`nccl-logscan --follow` as a process: signals, exit codes, reports."""

from __future__ import annotations

import json
import signal
import subprocess

import pytest

STEP = "2026-11-30 06:56:43,075 | rank0 | INFO | trainer:125 - step: 1/9 loss=1.0\n"
DIED = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB\n"
)


@pytest.fixture
def following(start):
    """Start a watch, and return once it has read the logs that are there."""

    def following(*arguments):
        process = start("--follow", *arguments, stdout=subprocess.PIPE)
        assert process.stderr.readline().startswith(b"nccl-logscan: following ")
        return process

    return following


def test_a_failure_ends_with_one_and_a_report(run, here, failed):
    told = run("--follow", failed, "--settle", "0.05s")
    assert told.code == 1
    assert told.out.startswith("FAILED    collective_timeout")
    assert (here / "reports" / "driver.html").exists()


def test_a_job_that_ends_well_ends_with_zero(run, healthy):
    assert run("--follow", healthy, "--settle", "0.05s").code == 0


def test_the_report_takes_the_form_and_place_that_were_asked_for(run, here, failed):
    assert run("--follow", failed, "--settle", "0.05s", "-o", "verdict.json").code == 1
    assert json.loads((here / "verdict.json").read_text())["verdict"]["category"] == "collective_timeout"


def test_a_quiet_watch_says_nothing(run, failed):
    told = run("--follow", failed, "--settle", "0.05s", "-q")
    assert (told.code, told.out, told.err) == (1, "", "")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_gives_the_verdict_on_what_there_is(following, here, number):
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip("whoever runs the tests has the signal ignored, as nohup does, and what they start heeds that")
    log = here / "train.log"
    log.write_text(STEP)
    process = following(log, "--format", "json", "-o", "-")
    with log.open("a") as file:
        file.write(DIED)
    process.send_signal(number)
    out, _ = process.communicate(timeout=20)
    assert process.returncode == 1
    assert json.loads(out)["verdict"]["category"] == "gpu_oom"


def test_a_signal_to_the_watch_of_a_job_that_runs_well_ends_with_zero(following, here):
    (here / "train.log").write_text(STEP)
    process = following("train.log")
    process.terminate()
    out, _ = process.communicate(timeout=20)
    assert process.returncode == 0
    assert out.startswith(b"HEALTHY")


def test_a_signal_before_any_log_came_ends_with_three(following):
    process = following("train.log")
    process.terminate()
    _, err = process.communicate(timeout=20)
    assert process.returncode == 3
    assert b"error: train.log never came" in err


def test_a_signal_that_is_ignored_stays_so(following, here):
    (here / "train.log").write_text(STEP)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup hands it down
    try:
        process = following("train.log")
    finally:
        signal.signal(signal.SIGHUP, before)
    process.send_signal(signal.SIGHUP)
    process.terminate()
    _, err = process.communicate(timeout=20)
    assert process.returncode == 0
    assert err.count(b"stopped") == 1


def test_standard_input_that_ends_is_judged(start):
    process = start("--follow", "-", "--format", "json", "-o", "-", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    out, _ = process.communicate((STEP + DIED).encode(), timeout=20)
    assert process.returncode == 1
    assert json.loads(out)["verdict"]["category"] == "gpu_oom"


def test_the_end_of_the_launcher_ends_the_watch(start, here):
    script = f"printf '%s' {STEP.strip()!r} > train.log; sleep 0.2; printf '\\n%s' {DIED.strip()!r} >> train.log"
    launcher = subprocess.Popen(["/bin/sh", "-c", script], cwd=here)
    process = start("--follow", "train.log", "--pid", str(launcher.pid), stdout=subprocess.PIPE)
    launcher.wait()
    out, _ = process.communicate(timeout=30)
    assert process.returncode == 1
    assert out.startswith(b"FAILED    gpu_oom")


@pytest.mark.parametrize("option", ["--settle", "--stalled", "--timeout"])
@pytest.mark.parametrize("value", ["soon", "0", "-5", "", "5 m", "1e9"])
def test_a_span_that_is_none_is_refused(run, option, value):
    told = run("--follow", "train.log", option, value)
    assert told.code == 2
    assert "is no span of time; write it as 90s, 45m or 1h30m" in told.err


@pytest.mark.parametrize("option", [("--settle", "9"), ("--stalled", "1h"), ("--timeout", "1d2h"), ("--pid", "1")])
def test_options_of_a_watch_are_refused_without_one(run, failed, option):
    told = run(failed, *option)
    assert told.code == 2
    assert f"{option[0]} is of use with --follow only" in told.err


def test_a_place_for_the_report_that_does_not_exist_is_told_before_the_watch(run):
    assert run("--follow", "train.log", "-o", "no/such/place.html").code == 5
