INIT = (
    "{host}:{pid}:{pid} [{rank}] NCCL INFO ncclCommInitRank comm 0x1 rank {rank} nranks {world} cudaDev {rank} nvmlDev "
    "{rank} busId 60 commId 0xabc - Init {phase}\n"
)


def started(rank: int, world: int, host: str = "n1") -> str:
    return "".join(
        INIT.format(host=host, pid=100 + rank, rank=rank, world=world, phase=phase) for phase in ("START", "COMPLETE")
    )


def test_a_process_is_known_by_its_communicator(scan):
    log = started(0, 4) + started(3, 4, host="n2")
    failed = "n2:103:999 [3] enqueue.cc:37 NCCL WARN Cuda failure 2 'out of memory'\n"
    culprit = scan(log + failed).diagnosis.culprit
    assert (culprit.rank, culprit.host, culprit.pid) == (3, "n2", 103)


def test_the_largest_communicator_is_the_world(scan):
    pair = INIT.format(host="n2", pid=103, rank=1, world=2, phase="COMPLETE").replace("0xabc", "0xdef")
    failed = "n2:103:999 [3] enqueue.cc:37 NCCL WARN Cuda failure 2 'out of memory'\n"
    assert scan(started(0, 4) + started(3, 4, host="n2") + pair + failed).diagnosis.culprit.rank == 3


def test_who_does_not_complain_of_its_peer_is_the_peer(scan):
    closed = "n1:{pid}:200 [0] misc/socket.cc:49 NCCL WARN socketProgress: Connection closed by remote peer <>\n"
    log = started(0, 3) + started(1, 3) + started(2, 3)
    result = scan(log + closed.format(pid=100) + closed.format(pid=102))
    assert (result.diagnosis.category, result.diagnosis.culprit.rank) == ("process_death", 1)


def test_a_file_s_name_tells_the_rank(scan):
    error = (
        "Traceback (most recent call last):\n  File \"/w/train.py\", line 3, in <module>\n    x()\nKeyError: 'labels'\n"
    )
    result = scan({"logs/rank-0.log": started(0, 2), "logs/rank-1.log": error})
    assert (result.diagnosis.category, result.diagnosis.culprit.rank) == ("user_code", 1)


def test_an_exception_without_a_rank_is_that_of_the_process_that_torchrun_saw_fail(scan):
    block = """\
Traceback (most recent call last):
  File "/w/train.py", line 3, in <module>
    x()
KeyError: 'labels'
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
[1]:
  time      : 2026-11-30_05:41:02
  host      : n7
  rank      : 0 (local_rank: 0)
  exitcode  : -15 (pid: 792)
  error_file: <N/A>
  traceback : Signal 15 (SIGTERM) received by PID 792
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-11-30_05:41:02
  host      : n7
  rank      : 1 (local_rank: 1)
  exitcode  : 1 (pid: 793)
  error_file: <N/A>
  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html
============================================================
"""
    assert scan(block).diagnosis.culprit.rank == 1


def failed(host: str, when: str, rank: int) -> str:
    return (
        started(rank, 2, host)
        + f"[{when}] {host}:{100 + rank}:9 [0] enqueue.cc:37 NCCL WARN Cuda failure 2 'out of memory'\n"
    )


def test_of_two_files_the_earlier_line_on_one_clock_is_the_first(scan):
    logs = {
        "a.log": failed("n1", "2026-11-30 10:00:09", 0),
        "b.log": failed("n1", "2026-11-30 10:00:01", 1),
    }
    assert scan(logs).diagnosis.culprit.rank == 1


def test_of_two_files_without_a_common_clock_neither_is_accused(scan):
    logs = {"a.log": failed("n1", "2026-11-30 10:00:09", 0), "b.log": failed("n2", "2026-11-30 10:00:01", 1)}
    assert scan(logs).diagnosis.culprit.rank is None


def test_an_absurd_world_size_gives_a_verdict(scan):
    log = INIT.format(host="n1", pid=1, rank=0, world=300_000_000, phase="START")
    assert scan(log).job.world_size is None
