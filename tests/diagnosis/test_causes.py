import gzip

import pytest

from nccl_logscan.pipeline import scan as scan_files
from nccl_logscan.rulebook.load import builtin_rulebook

OOM = (
    "[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of "
    "79.10 GiB of which 1.00 GiB is free.\n"
)
TIMEOUT = (
    "[rank0]:[E1130 05:40:53.502925148 ProcessGroupNCCL.cpp:689] [Rank 0] Watchdog caught collective operation "
    "timeout: WorkNCCL(SeqNum=27, OpType=ALLREDUCE, NumelIn=64, NumelOut=64, Timeout(ms)=15000) ran for 15024 "
    "milliseconds before timing out.\n"
)
CLOSED = "n1:10:11 [0] misc/socket.cc:49 NCCL WARN socketProgress: Connection closed by remote peer n2<4000>\n"
STEP = "[rank0]:step: {}/30 loss=0.99 grad_norm=0.01\n"


def test_a_category_names_the_cause_and_not_the_loudest_line(scan):
    result = scan(OOM + TIMEOUT * 50)
    assert result.diagnosis.category == "gpu_oom"
    assert "collective_timeout/watchdog-timeout" in {finding.rule.id for finding in result.diagnosis.consequences}


def test_the_cause_is_the_same_where_its_echo_was_written_first(scan):
    assert scan(TIMEOUT + OOM).diagnosis.category == "gpu_oom"


def test_a_fault_that_training_lived_through_is_no_failure(scan):
    steps = "".join(STEP.format(number) for number in range(5, 12))
    warning = "n1:10:11 [0] misc/socket.cc:49 NCCL WARN socketProgress: Connection closed by remote peer n2<4000>\n"
    assert scan(STEP.format(4) + warning + steps).diagnosis.category == "none"
    assert scan(STEP.format(4) + warning).diagnosis.category != "none"


def test_a_vague_line_does_not_explain_a_plain_one_away(scan, rules):
    book = rules(
        plain=("{event: nccl.warn, wordings: [{message: plain}]}", "strength: 84"),
        vague=(
            "{event: nccl.warn, wordings: [{message: vague}]}",
            'role: symptom\nstrength: 30\nexplains: ["user_code/*"]',
        ),
    )
    head = "n1:10:11 [0] a.cc:1 NCCL WARN "
    assert scan(f"{head}vague\n{head}plain\n", book).diagnosis.finding.rule.id == "user_code/plain"


@pytest.mark.parametrize("first", ["one", "two"])
def test_of_two_causes_about_as_plain_the_first_in_a_log_is_taken(scan, rules, first):
    book = rules(
        one=("{event: nccl.warn, wordings: [{message: one}]}", "strength: 80"),
        two=("{event: nccl.warn, wordings: [{message: two}]}", "strength: 76"),
    )
    second = {"one": "two", "two": "one"}[first]
    head = "n1:10:11 [0] a.cc:1 NCCL WARN "
    result = scan(f"{head}{first}\n{head}{second}\n", book)
    assert result.diagnosis.finding.rule.id == f"user_code/{first}"


def test_the_order_of_two_files_without_a_common_clock_is_not_guessed(scan, rules):
    book = rules(
        one=("{event: nccl.warn, wordings: [{message: one}]}", "strength: 76"),
        two=("{event: nccl.warn, wordings: [{message: two}]}", "strength: 80"),
    )
    logs = {"a.log": "n1:10:11 [0] a.cc:1 NCCL WARN one\n", "b.log": "n2:10:11 [0] a.cc:1 NCCL WARN two\n"}
    assert scan(logs, book).diagnosis.finding.rule.id == "user_code/two"


def test_only_echoes_are_an_unknown_failure(scan, rules):
    book = rules(echo=("{event: nccl.warn, wordings: [{message: boom}]}", "role: echo"))
    result = scan("n1:10:11 [0] a.cc:1 NCCL WARN boom\n", book)
    assert (result.diagnosis.category, result.diagnosis.confidence) == ("unknown", 0.0)


def test_set_up_alone_is_neither_healthy_nor_failed(scan):
    complete = (
        "n1:10:10 [0] NCCL INFO ncclCommInitRank comm 0x1 rank 0 nranks 1 cudaDev 0 nvmlDev 0 busId 60 commId 0x2 - "
        "Init COMPLETE\n"
    )
    assert scan(complete).diagnosis.category == "unknown"


def test_two_independent_causes_do_not_explain_each_other(scan, rules):
    book = rules(
        one=("{event: nccl.warn, wordings: [{message: one}]}", "strength: 95"),
        two=("{event: nccl.warn, wordings: [{message: two}]}", "strength: 70"),
        three=("{event: nccl.warn, wordings: [{message: three}]}", "role: symptom\nstrength: 20"),
    )
    head = "n1:10:11 [0] a.cc:1 NCCL WARN "
    diagnosis = scan(f"{head}one\n{head}two\n{head}three\n", book).diagnosis
    assert diagnosis.finding.rule.id == "user_code/one"
    assert [finding.rule.id for finding in diagnosis.consequences] == ["user_code/three"]


@pytest.mark.parametrize(
    ("log", "category"),
    [
        pytest.param("training finished\n" + TIMEOUT, "collective_timeout", id="a failure after the end stays one"),
        pytest.param(CLOSED + "training finished\n", "none", id="an end after a weak fault is an end"),
        pytest.param(TIMEOUT + "training finished\n", "collective_timeout", id="a watchdog ends its process"),
    ],
)
def test_an_end_counts_only_after_the_fault(scan, log, category):
    assert scan(log).diagnosis.category == category


def test_another_rank_s_file_does_not_end_a_rank_that_failed(scan):
    logs = {"rank0.log": STEP.format(3) + TIMEOUT, "rank1.log": STEP.format(3) + "training finished\n"}
    assert scan(logs).diagnosis.category == "collective_timeout"


XID = "Apr 14 22:08:13 n7 kernel: NVRM: Xid (PCI:0000:cb:00): 79, pid=733108, GPU has fallen off the bus.\n"
CAUGHT = (
    'Traceback (most recent call last):\n  File "/w/train.py", line 3, in <module>\n    import flash_attn\n'
    "ModuleNotFoundError: No module named 'flash_attn'\n"
)


def steps(first: int, count: int) -> str:
    return "".join(STEP.format(number) for number in range(first, first + count))


@pytest.mark.parametrize(
    ("log", "category"),
    [
        pytest.param(steps(0, 20) + XID + steps(20, 3), "gpu_hardware", id="three late steps after an Xid"),
        pytest.param(steps(0, 20) + XID + steps(5, 30), "gpu_hardware", id="old steps that a buffer held"),
        pytest.param(steps(0, 20) + TIMEOUT + steps(20, 6), "collective_timeout", id="steps after a time-out"),
        pytest.param(steps(0, 20) + XID + "job exit code: 0\n", "gpu_hardware", id="an exit code of a pipe"),
        pytest.param(CAUGHT + steps(0, 20) + "training finished\n", "none", id="a caught import error"),
        pytest.param(CAUGHT, "user_code", id="an import error"),
        pytest.param(steps(0, 9) + CAUGHT.rpartition("Module")[0], "unknown", id="a traceback cut off"),
        pytest.param(steps(0, 9) + "container exited with status 1\n", "process_death", id="an exit status"),
        pytest.param(steps(0, 9), "none", id="steps and no end"),
    ],
)
def test_what_a_job_lives_through(scan, log, category):
    assert scan(log).diagnosis.category == category


def test_an_attempt_that_failed_and_one_that_went_well(scan):
    begun = (
        "n1:{pid}:9 [0] NCCL INFO ncclCommInitRank comm 0x1 rank 0 nranks 1 cudaDev 0 nvmlDev 0 busId 60 commId "
        "0x{pid} - Init {phase}\n"
    )
    first = begun.format(pid=10, phase="START") + steps(0, 5) + OOM
    second = begun.format(pid=20, phase="START") + begun.format(pid=20, phase="COMPLETE") + steps(5, 20)
    assert scan(first).diagnosis.category == "gpu_oom"
    assert scan(first + second + "training finished\n").diagnosis.category == "none"


def test_a_torn_input_is_never_called_healthy(tmp_path):
    whole = gzip.compress("".join(STEP.format(number) for number in range(5_000)).encode())
    (tmp_path / "torn.log.gz").write_bytes(whole[: len(whole) // 2])
    result = scan_files([str(tmp_path / "torn.log.gz")], builtin_rulebook())
    assert result.diagnosis.category == "unknown"
