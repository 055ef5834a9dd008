import pytest
from tokenised import as_written, cases, lines, tokenised

from nccl_logscan.events.dialects.torch_elastic import FailureBlock, read, signal_number

FAILED = "failed (exitcode: -9) local_rank: 2 (pid: 204) of binary: /usr/bin/python3"
HEADS = [
    "ERROR:torch.distributed.elastic.multiprocessing.api:",
    "torch.distributed.elastic.multiprocessing.api:",
    "[2024-05-08 08:47:31,877] torch.distributed.elastic.multiprocessing.api: [ERROR] ",
    "torch.distributed.elastic.multiprocessing.api: [ERROR] ",
    "E1130 05:41:55.166000 779 torch/distributed/elastic/multiprocessing/api.py:986] ",
    "torch/distributed/elastic/multiprocessing/api.py:986] ",
    "",
]


@pytest.mark.parametrize("case", cases("elastic"))
def test_a_log_gives_exactly_the_events_of_its_fixture(case):
    log = lines(case["log"])
    assert as_written(tokenised(case["log"]), log) == case["events"]


@pytest.mark.parametrize("head", HEADS)
def test_a_workers_end_is_read_alike_behind_every_head(head):
    [line] = lines(["@rank=0,pid=779,host=n1 " + head + FAILED])
    event = read(line)
    assert (event.exit_code, event.signal, event.local_rank, event.message) == (-9, 9, 2, FAILED)
    assert (event.origin.rank, event.origin.local_rank, event.origin.pid, event.origin.host) == (None, 2, 204, "n1")


@pytest.mark.parametrize("head", HEADS)
def test_the_agents_signal_is_read_alike_behind_every_head(head):
    [line] = lines([head + "Sending process 71520 closing signal SIGTERM"])
    assert (read(line).signal, read(line).message) == (15, "Sending process 71520 closing signal SIGTERM")


@pytest.mark.parametrize(("name", "number"), [("SIGTERM", 15), ("9", 9), ("SIGNONE", None), ("1234", None)])
def test_a_signal_has_a_number(name, number):
    assert signal_number(name) == number


def test_the_fields_of_a_block_mean_nothing_outside_of_it():
    block = FailureBlock()
    fields = ["  rank      : 3 (local_rank: 3)", "  exitcode  : 5 (pid: 1)"]
    assert [block.read(line) for line in lines(fields)] == [None, None]
    assert block.worker is None


def test_a_block_cut_short_still_tells_whom_it_knows():
    block = FailureBlock()
    *_, event = [block.read(line) for line in lines(["Root Cause (first observed failure):", "  exitcode  : 1"])]
    assert (event.exit_code, event.origin.pid, event.root_cause) == (1, None, True)
