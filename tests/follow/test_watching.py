"""A watch over real files under a clock that only goes on where it waits."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

import pytest
from growing import DIED, EXIT, FINISHED, RESTART, append, step
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted import CASES, ScriptedClock

from nccl_logscan.errors import InputError
from nccl_logscan.follow import Watch, follow, process
from nccl_logscan.pipeline import Options, scan
from nccl_logscan.rulebook.load import builtin_rulebook


@pytest.fixture
def log(tmp_path):
    return tmp_path / "logs" / "train.log"


# --- what ends a watch ----------------------------------------------------------------------------------------


def test_a_job_that_fails_ends_the_watch_once_its_logs_are_still(watch, clock, log, failed_log):
    for number, line in enumerate(failed_log):
        clock.at(100 + number / 10, append, log, line)

    seen = watch(log, settle=30)

    assert seen.category == "collective_timeout"
    assert seen.result.diagnosis.culprit.rank == 1
    assert seen.why == "the job has failed"
    last_line = 100 + len(failed_log) / 10
    assert last_line + 10 <= seen.ended_at < last_line + 12, "torchrun has told, so a third of the time does"


def test_it_tells_three_times(watch, clock, log, failed_log):
    clock.at(50, append, log, "".join(failed_log))
    told = watch(log).told
    assert told[0] == f"following 0 logs; waiting for {log}"
    assert told[1] == f"a sign of failure in {log}; waiting for what follows"
    assert told[2].startswith("the job has failed; 220 lines of 1 log in ")
    assert len(told) == 3


def test_the_verdict_is_that_of_a_scan(watch, clock, log, failed_log):
    for number, line in enumerate(failed_log):
        clock.at(number / 7, append, log, line)
    seen = watch(log).result
    scanned = scan([log], options=Options(looks_beside=False))
    assert seen.diagnosis == scanned.diagnosis
    assert seen.findings == scanned.findings
    assert seen.timeline == scanned.timeline
    assert seen.inputs == scanned.inputs


def test_a_job_that_ends_well_ends_the_watch(watch, clock, log, healthy_log):
    for number, line in enumerate(healthy_log):
        clock.at(number / 10, append, log, line)
    seen = watch(log)
    assert seen.category == "none"
    assert seen.why == "the job has ended"


def test_the_other_logs_have_their_say_before_the_verdict(watch, clock, log):
    other = log.with_name("kernel.log")
    append(log, step(1))
    clock.at(10, append, log, DIED + EXIT)
    clock.at(
        15, append, other, "[ 1234.567890] NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus.\n"
    )
    seen = watch(log, other)
    assert "gpu_hardware" in {finding.rule.category for finding in seen.result.findings}


def test_a_failure_after_which_the_job_goes_on_does_not_end_it(watch, clock, log):
    for number in range(1, 200):
        clock.at(5 * number, append, log, step(number))
    clock.at(52, append, log, DIED)
    clock.at(1000, append, log, FINISHED)

    seen = watch(log)

    assert seen.ended_at > 1000
    assert seen.category == "none"


def test_a_complaint_between_steps_that_are_far_apart_does_not_end_it(watch, clock, log):
    for number in range(1, 50):
        clock.at(90 * number, append, log, step(number))
    clock.at(90 * 20 + 1, append, log, DIED)
    clock.at(90 * 50, append, log, FINISHED)
    assert watch(log, settle=30).ended_at > 90 * 50


def test_a_job_that_torchrun_starts_again_is_waited_for(watch, clock, log):
    for number in range(1, 5):
        clock.at(number, append, log, step(number))
    clock.at(10, append, log, DIED + EXIT + RESTART)
    clock.at(
        200, append, log, "n1:10:20 [0] NCCL INFO ncclCommInitRank comm 0x1 rank 0 nranks 2 cudaDev 0 - Init START\n"
    )
    for number in range(1, 60):
        clock.at(200 + number, append, log, step(number))
    clock.at(300, append, log, FINISHED)
    seen = watch(log, settle=30)
    assert seen.ended_at > 300
    assert seen.category == "none"


def test_a_failure_in_logs_that_never_fall_still_ends_it(watch, clock, log):
    append(log, step(1) + DIED)
    for second in range(4_000):
        clock.at(second, append, log, f"the dashboard's heartbeat {second}\n")
    seen = watch(log, settle=30)
    assert seen.category == "gpu_oom"
    assert 300 <= seen.ended_at < 310


def test_one_who_ends_the_watch_is_given_the_verdict_at_once(watch, clock, log):
    append(log, step(1))
    clock.at(100, append, log, DIED)
    clock.at(100.5, clock.stop)
    seen = watch(log)
    assert seen.ended_at == 100.5
    assert seen.category == "gpu_oom"
    assert seen.why == "stopped"


def test_what_was_written_at_the_very_end_is_in_the_verdict(watch, clock, log):
    append(log, step(1))

    def die_and_stop():
        append(log, DIED)
        clock.stop()

    clock.at(100, die_and_stop)
    assert watch(log).category == "gpu_oom"


def test_a_watch_that_may_take_so_long_takes_no_longer(watch, log):
    append(log, step(1))
    seen = watch(log, timeout=3600)
    assert seen.ended_at == 3600
    assert seen.category == "none"


# --- silence --------------------------------------------------------------------------------------------------


def test_a_job_that_falls_silent_is_never_taken_for_hung_unless_asked(watch, clock, log):
    append(log, step(1))
    clock.at(90_000, append, log, FINISHED)
    assert watch(log).ended_at > 90_000


def test_a_job_that_falls_silent_is_taken_for_hung_where_asked(watch, clock, log):
    clock.at(100, append, log, step(1) + step(2))
    seen = watch(log, stalled=2700)
    assert 2800 <= seen.ended_at < 2810
    assert seen.category == "unknown"
    assert seen.result.diagnosis.headline == (
        "The job fell silent: no log has grown for 45 min, and none says that it ended."
    )
    assert seen.result.diagnosis.reasons == (f"The last line is {log}:2.",)


def test_bytes_of_a_line_that_has_no_end_yet_are_no_silence(watch, clock, log):
    append(log, step(1) + "  1%|")
    for minute in range(1, 101):
        clock.at(60 * minute, append, log, "#")
    assert watch(log, stalled=600).ended_at >= 6600


def test_silence_after_a_failure_does_not_hide_the_failure(watch, log):
    append(log, step(1) + DIED)
    assert watch(log, stalled=20, settle=30).category == "gpu_oom"


# --- what happens to files ------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["renamed", "truncated", "deleted"])
def test_a_log_that_is_rotated_in_the_midst_of_a_traceback_is_read_as_one(watch, clock, log, failed_log, how):
    def rotate(number):
        if how == "renamed":
            log.rename(log.with_name(f"train.log.{number}"))
        elif how == "deleted":
            log.unlink()
        else:
            log.with_name(f"train.log.{number}").write_bytes(log.read_bytes())
            os.truncate(log, 0)

    middle = next(number for number, line in enumerate(failed_log) if line.startswith("Traceback")) + 3
    clock.at(10, append, log, "".join(failed_log[:100]))
    clock.at(20, rotate, 1)
    clock.at(21, append, log, "".join(failed_log[100:middle]))
    clock.at(22, lambda: None)
    clock.at(30, rotate, 2)
    clock.at(31, append, log, "".join(failed_log[middle:]))

    seen = watch(log.parent)

    assert seen.result.coverage.lines == len(failed_log)
    assert seen.result.diagnosis.culprit.rank == 1
    [kept] = seen.result.inputs
    assert kept.name == str(log)
    assert f"{log} was replaced or truncated 2 times: its lines count from the first that was read" in seen.result.notes


def test_a_rotated_part_that_is_compressed_is_not_read_again(watch, clock, log):
    def rotate():
        log.with_name("train.log.1.gz").write_bytes(gzip.compress(log.read_bytes()))
        log.unlink()
        append(log, step(2))

    append(log, step(1))
    clock.at(10, rotate)
    clock.at(20, append, log, FINISHED)
    assert watch(log.parent).result.coverage.lines == 3


def test_parts_that_were_rotated_before_the_watch_are_read_and_not_again_when_they_are_rotated_on(watch, clock, log):
    def rotate():
        log.with_name("train.log.1").rename(log.with_name("train.log.2"))
        log.rename(log.with_name("train.log.1"))
        append(log, step(3))

    append(log.with_name("train.log.1"), step(1))
    append(log, step(2))
    clock.at(10, rotate)
    clock.at(30, append, log, FINISHED)
    seen = watch(log.parent)
    assert seen.result.coverage.lines == 4
    assert {kept.name for kept in seen.result.inputs} == {str(log), f"{log}.1"}


def test_logs_that_come_later_are_read_from_their_first_line(watch, clock, tmp_path, failed_log):
    folder = tmp_path / "logs"
    clock.at(30, append, folder / "attempt_0" / "0" / "stderr.log", "".join(failed_log[:160]))
    clock.at(60, append, folder / "attempt_0" / "1" / "stderr.log", "".join(failed_log[160:]))
    seen = watch(folder)
    assert seen.category == "collective_timeout"
    assert len(seen.result.inputs) == 2


def test_a_pattern_is_matched_again_and_again(watch, clock, tmp_path):
    clock.at(30, append, tmp_path / "rank10.log", step(1))
    clock.at(60, append, tmp_path / "rank2.log", DIED)
    clock.at(60, append, tmp_path / "notes.txt", "not of the pattern\n")
    seen = watch(tmp_path / "rank*.log")
    assert seen.category == "gpu_oom"
    assert {kept.lines for kept in seen.result.inputs} == {1}


def test_a_later_attempt_supersedes_the_one_before(watch, clock, tmp_path):
    clock.at(10, append, tmp_path / "attempt_0" / "0" / "stderr.log", step(1) + DIED)
    clock.at(25, append, tmp_path / "attempt_1" / "0" / "stderr.log", step(1))
    for number in range(2, 40):
        clock.at(25 + number, append, tmp_path / "attempt_1" / "0" / "stderr.log", step(number))
    clock.at(70, append, tmp_path / "attempt_1" / "0" / "stderr.log", FINISHED)
    seen = watch(tmp_path)
    assert seen.ended_at > 70
    assert seen.category == "none"


def test_one_log_by_two_names_is_read_once(watch, log):
    append(log, step(1) + FINISHED)
    (log.parent / "latest.log").symlink_to(log)
    assert watch(log.parent).result.coverage.lines == 2


def test_what_is_compressed_when_the_watch_begins_is_read_as_by_a_scan(watch, clock, log, failed_log):
    log.parent.mkdir()
    log.with_name("rank0.log.gz").write_bytes(gzip.compress("".join(failed_log[:150]).encode()))
    clock.at(5, append, log, "".join(failed_log[150:]))
    assert watch(log.parent).result.coverage.lines == len(failed_log)


def test_what_is_no_text_is_left_alone(watch, clock, log):
    append(log, step(1))
    clock.at(10, append, log.with_name("model.bin"), os.urandom(4096))
    clock.at(20, append, log, FINISHED)
    result = watch(log.parent).result
    assert f"{log.with_name('model.bin')} is not text and was skipped" in result.notes


def test_a_configuration_file_beside_logs_is_no_log(watch, clock, log):
    append(log, step(1))
    clock.at(10, append, log.with_name("train.sh"), "#!/bin/bash\nexport NCCL_DEBUG=WARN\ntorchrun train.py\n")
    clock.at(20, append, log, FINISHED)
    kinds = {kept.name: kept.kind for kept in watch(log.parent).result.inputs}
    assert kinds[str(log.with_name("train.sh"))] == "config"


def test_dumps_that_the_failing_job_writes_are_in_the_verdict(watch, clock, log, dumps):
    append(log, step(1))
    for dump in dumps:
        clock.at(50, append, log.parent / dump.name, dump.read_bytes())
    clock.at(50, append, log, EXIT)
    result = watch(log.parent).result
    assert sum(kept.kind == "flight_recorder" for kept in result.inputs) == len(dumps)
    assert any(standing.recorded for standing in result.standings)


# --- lines ----------------------------------------------------------------------------------------------------


def test_a_last_line_without_a_line_feed_counts_at_the_end(watch, log):
    append(log, step(1) + DIED.rstrip("\n"))
    assert watch(log, timeout=60).category == "gpu_oom"


def test_a_line_that_comes_in_pieces_is_one_line(watch, clock, log):
    line = "rank 0: \N{SNOWMAN} " + DIED
    encoded = line.encode()
    for number in range(len(encoded)):
        clock.at(number, append, log, encoded[number : number + 1])
    seen = watch(log)
    assert seen.category == "gpu_oom"
    assert seen.result.coverage.lines == 1
    assert seen.result.coverage.replaced_bytes == 0


@given(st.lists(st.integers(0, 39_000), max_size=12))
@settings(deadline=None, max_examples=10)
def test_how_a_log_comes_in_changes_nothing(cuts):
    whole = (CASES / "lab" / "timeout-dataloader" / "driver.log").read_bytes()
    clock = ScriptedClock()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "driver.log"
        for number, (start, end) in enumerate(pairwise([0, *sorted(cuts), len(whole)])):
            clock.at(number, append, log, whole[start:end])
        options = Options(looks_beside=False)
        seen = follow([str(log)], builtin_rulebook(), options, Watch(), clock=clock)
        scanned = scan([log], options=options)
    assert (seen.diagnosis, seen.findings, seen.inputs) == (scanned.diagnosis, scanned.findings, scanned.inputs)


# --- pipes and processes --------------------------------------------------------------------------------------


def test_standard_input_is_followed_to_its_end(watch, clock):
    reader, writer = os.pipe()
    clock.at(10, os.write, writer, step(1).encode())
    clock.at(500, os.write, writer, DIED.encode())
    clock.at(501, os.close, writer)
    seen = watch("-", stdin=reader)
    assert seen.category == "gpu_oom"
    assert seen.why == "the input has ended"
    os.close(reader)


def test_what_is_no_log_in_a_pipe_is_read_away_so_that_its_writer_goes_on(watch, clock, log):
    append(log, step(1))
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    for number in range(10):
        clock.at(10 * number, os.write, writer, gzip.compress(os.urandom(60_000)))
    clock.at(100, os.close, writer)
    clock.at(110, append, log, FINISHED)
    assert watch("-", log, stdin=reader).category == "none"
    os.close(reader)


def test_a_script_in_a_pipe_is_read_as_a_log(watch, clock):
    reader, writer = os.pipe()
    clock.at(1, os.write, writer, ("#!/bin/bash\n" + step(1) + DIED).encode())
    clock.at(20, os.close, writer)
    assert watch("-", stdin=reader).category == "gpu_oom"
    os.close(reader)


def test_the_end_of_a_process_ends_the_watch(watch, clock, log, monkeypatch):
    alive = [True]
    monkeypatch.setattr("nccl_logscan.follow.watch.is_alive", lambda pid: pid != 4711 or alive[0])
    append(log, step(1))
    clock.at(100, alive.clear)
    clock.at(100, alive.append, False)
    clock.at(101, append, log, DIED)
    seen = watch(log, pid=4711)
    assert seen.why == "process 4711 has ended"
    assert seen.category == "gpu_oom"
    assert 102 <= seen.ended_at < 106


def test_a_zombie_is_not_alive():
    child = subprocess.Popen([sys.executable, "-c", ""])
    assert process.is_alive(os.getpid())
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not process.is_alive(child.pid)
    child.wait()
    assert not process.is_alive(child.pid)


# --- cost and errors ------------------------------------------------------------------------------------------


def test_a_silent_job_is_looked_at_every_five_seconds(watch, clock, log):
    append(log, step(1))
    watch(log, timeout=36_000)
    assert clock.waits < 36_000 / 5 + 20


def test_a_look_that_the_system_grants_no_process_for_is_made_up_for(watch, log, monkeypatch):
    fork, asked = os.fork, []

    def refuse_twice():
        asked.append(None)
        if len(asked) <= 2:
            raise BlockingIOError("Resource temporarily unavailable")
        return fork()

    monkeypatch.setattr(os, "fork", refuse_twice)
    append(log, step(1) + DIED)
    assert watch(log, settle=30).category == "gpu_oom"
    assert len(asked) == 3


def test_a_job_that_never_came_is_an_error(watch, tmp_path):
    with pytest.raises(InputError, match="never came"):
        watch(tmp_path / "none.log", timeout=60)


def test_a_configuration_file_that_is_missing_is_told_before_the_watch(watch, clock, log):
    with pytest.raises(InputError, match="no such"):
        watch(log, options=Options(configs=("no-such.sh",)))
    assert clock.waits == 0


def test_nothing_that_a_watch_opened_stays_open_in_the_way_of_the_next(watch, log):
    append(log, step(1) + FINISHED)
    before = len(list(Path("/proc/self/fd").iterdir()))
    watch(log)
    assert len(list(Path("/proc/self/fd").iterdir())) == before
