"""What an end or later steps prove about a fault, and what they do not."""

from __future__ import annotations

import pytest

from nccl_logscan import scan as scan_files

STEP = "step: {}/500 loss=0.99 grad_norm=0.01\n"
TRACEBACK = (
    'Traceback (most recent call last):\n  File "/opt/main.py", line 88, in <module>\n    main()\nValueError: x\n'
)
END = "Training complete in 3h 12m.\n"
DESTROY = "n1:10:10 [0] NCCL INFO comm 0x7f01 rank 0 nranks 2 cudaDev 0 busId 1b000 - Destroy COMPLETE\n"
COMPLETE = (
    "n1:10:77 [0] NCCL INFO comm 0x7f01 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1b000 commId 0xa - Init COMPLETE\n"
)
NO_DEVICE = "n1:10:77 [0] net_ib.cc:400 NCCL WARN NET/IB : Unable to open device mlx5_5\n"
WATCHDOG = (
    "[rank0]:[E1130 05:40:53.502925148 ProcessGroupNCCL.cpp:689] [Rank 0] Watchdog caught collective operation "
    "timeout: WorkNCCL(SeqNum=27, OpType=ALLREDUCE, NumelIn=64, NumelOut=64, Timeout(ms)=15000) ran for 15024 "
    "milliseconds before timing out.\n"
)


def steps(first, last):
    return "".join(STEP.format(number) for number in range(first, last))


def behind(prefix, text):
    return "".join(prefix + line for line in text.splitlines(keepends=True))


@pytest.mark.parametrize("end", [DESTROY, "exit code: 0\n", "log-uploader exited with exit code 0\n"])
def test_an_orderly_exit_is_no_proof_that_an_exception_was_caught(scan, end):
    assert scan(steps(0, 9) + TRACEBACK + end).diagnosis.category == "user_code"


def test_an_exception_in_the_middle_of_a_job_that_goes_on_is_no_failure(scan):
    assert scan(steps(0, 9) + TRACEBACK + steps(9, 20) + END).diagnosis.category == "none"


def test_the_end_or_the_steps_of_another_rank_do_not_clear_an_exception(scan):
    failed = steps(0, 9) + behind("[rank1]: ", TRACEBACK)

    assert scan(failed + f"[rank0]: {END}").diagnosis.culprit.rank == 1
    assert scan(failed + behind("[rank0]: ", steps(9, 16))).diagnosis.culprit.rank == 1


def test_an_end_told_right_after_a_process_was_lost_does_not_clear_it(scan):
    lost = "srun: error: n2: task 2: Segmentation fault\n"

    assert scan(steps(0, 9) + lost + END).diagnosis.category == "process_death"


def test_a_warning_of_the_start_is_cleared_by_the_communicator_that_follows(scan):
    assert scan(NO_DEVICE + COMPLETE + steps(0, 12) + END).diagnosis.category == "none"


def test_output_that_was_appended_behind_the_errors_is_no_progress_after_them(scan):
    assert scan(WATCHDOG + steps(0, 80)).diagnosis.category == "collective_timeout"


@pytest.mark.parametrize(
    "last",
    [
        "n1:10:77 [0] x.cc:3 NCCL WARN Some new words of a later NCCL\n",
        "n1:10:77 [0] x.cc:3 NCCL WARN Cuda failure 1 'some new text'\n",
        "[E1130 09:00:00.000000000 TCPStore.cpp:12] TCPStoreMasterDaemon::run() failed with exception: x\n",
        "train.service: Main process exited, code=killed, status=9/KILL\n",
    ],
)
def test_a_warning_that_no_rule_knows_is_not_a_healthy_end(scan, last):
    told = scan(steps(0, 50) + last).diagnosis
    assert (told.finding, told.category == "none") == (None, False)
    assert scan(steps(0, 50) + last + END).diagnosis.category == "none"


def test_a_warning_that_no_rule_knows_is_none_of_a_job_that_goes_on(scan):
    warning = "n1:10:77 [0] x.cc:3 NCCL WARN Some new words of a later NCCL\n"

    assert scan(steps(0, 50) + warning + steps(50, 60)).diagnosis.category == "none"


def test_a_failed_test_of_nccl_does_not_end_well(scan):
    log = COMPLETE + "# Out of bounds values : 2 FAILED\n# Avg bus bandwidth    : 12.3\n"

    assert scan(log).diagnosis.category != "none"


def test_of_two_files_with_zones_the_earlier_one_is_first_in_any_order(tmp_path):
    late, early = tmp_path / "a.log", tmp_path / "b.log"
    late.write_text(behind("2026-11-30T09:01:40.000000000Z [rank0]: ", TRACEBACK))
    early.write_text(behind("2026-11-30T09:00:40.000000000Z [rank1]: ", TRACEBACK))

    assert scan_files([late, early]).diagnosis.culprit.rank == 1
    assert scan_files([early, late]).diagnosis.culprit.rank == 1


@pytest.mark.parametrize("names", [("w.err", "w.out"), ("w.out", "w.err")])
def test_the_last_words_of_a_file_of_errors_stand_against_the_end_in_another(scan, names):
    texts = {"w.out": steps(0, 30) + END, "w.err": TRACEBACK}

    assert scan({name: texts[name] for name in names}).diagnosis.category == "user_code"
    texts["w.err"] += "tracking is switched off, training goes on\n" * 3
    assert scan({name: texts[name] for name in names}).diagnosis.category == "none"


def test_nccls_rank_behind_a_launchers_label_is_the_rank(scan):
    log = behind("[default0]:", COMPLETE.replace("rank 0 nranks 2", "rank 2 nranks 4"))
    log += behind("[default1]:", COMPLETE.replace("rank 0 nranks 2", "rank 3 nranks 4").replace(":10:", ":11:"))

    assert scan(log + behind("[default1]:", TRACEBACK)).diagnosis.culprit.rank == 3
