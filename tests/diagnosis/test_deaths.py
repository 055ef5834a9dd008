"""Who died is reached by nobody, and whoever waits gives up later."""

import pytest

UNANSWERED = (
    "{host}:{pid}:2401 [3] transport/net_ib.cc:1861 NCCL WARN NET/IB: Got completion from peer {peer}<40211> with "
    "status=12 opcode=0 len=0 vendor err 129 (Send) localGid ::ffff:10.1.0.1 remoteGids::ffff:10.1.0.3 hca mlx5_4\n"
)
CLOSED = (
    "{host}:{pid}:41 [0] misc/socket.cc:50 NCCL WARN socketProgress: Connection closed by remote peer {peer}<55231>\n"
)
TIMEOUT = (
    "[rank{rank}]:[E1130 05:40:53.502925148 ProcessGroupNCCL.cpp:689] [Rank {rank}] Watchdog caught collective "
    "operation timeout: WorkNCCL(SeqNum=27, OpType=ALLREDUCE, NumelIn=64, NumelOut=64, Timeout(ms)=15000) ran for "
    "15024 milliseconds before timing out.\n"
)
INIT = (
    "{host}:{pid}:{pid} [0] NCCL INFO ncclCommInitRank comm 0x1 rank {rank} nranks 3 cudaDev 0 nvmlDev 0 busId 60 "
    "commId 0xabc - Init {phase}\n"
)
KILLED = (
    "E1130 05:41:34.166000 779 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: {code}) "
    "local_rank: 0 (pid: {pid}) of binary: /usr/bin/python3\n"
)
HOSTS = ("n1", "n2", "n3")


def started() -> str:
    return "".join(
        f"{host}:{100 + rank}:{100 + rank} [0] NCCL INFO Bootstrap: Using eth0:10.0.0.{rank + 1}<0>\n"
        + "".join(INIT.format(host=host, pid=100 + rank, rank=rank, phase=phase) for phase in ("START", "COMPLETE"))
        for rank, host in enumerate(HOSTS)
    )


def unanswered(peer: str = "10.0.0.3") -> str:
    return "".join(UNANSWERED.format(host=host, pid=100 + rank, peer=peer) for rank, host in enumerate(HOSTS[:2]))


def test_a_host_that_nobody_reaches_is_the_network_s_fault_where_nothing_died_there(scan):
    result = scan(started() + unanswered())
    assert (result.diagnosis.category, result.diagnosis.culprit.host) == ("infiniband", "n3")


@pytest.mark.parametrize("code", [-9, -11])
def test_transfers_to_a_process_that_a_signal_killed_are_its_echo(scan, code):
    result = scan({"n1.log": started() + unanswered(), "n3.log": KILLED.format(code=code, pid=102)})
    assert (result.diagnosis.category, result.diagnosis.culprit.rank) == ("process_death", 2)


def test_transfers_to_a_process_that_raised_are_its_echo(scan):
    raised = (
        "[rank2]: Traceback (most recent call last):\n"
        '[rank2]:   File "/w/train.py", line 3, in <module>\n'
        "[rank2]:     x()\n[rank2]: KeyError: 'labels'\n"
    )
    result = scan(started() + raised + unanswered())
    assert (result.diagnosis.category, result.diagnosis.culprit.rank) == ("user_code", 2)


def test_who_aborts_over_the_broken_network_did_not_break_it(scan):
    logs = {"n1.log": started() + unanswered(), "n3.log": KILLED.format(code=-6, pid=102)}
    assert scan(logs).diagnosis.category == "infiniband"


def test_an_exception_on_a_host_that_can_be_reached_explains_no_transfers(scan):
    raised = (
        "[rank0]: Traceback (most recent call last):\n"
        '[rank0]:   File "/w/train.py", line 3, in <module>\n'
        "[rank0]:     x()\n[rank0]: KeyError: 'labels'\n"
    )
    result = scan(started() + unanswered() + raised)
    assert (result.diagnosis.category, result.diagnosis.culprit.host) == ("infiniband", "n3")


def test_a_host_that_hung_up_before_anybody_ran_out_of_time_left_first(scan):
    closed = "".join(CLOSED.format(host=host, pid=100 + rank, peer="10.0.0.3") for rank, host in enumerate(HOSTS[:2]))
    result = scan(started() + closed + TIMEOUT.format(rank=0))
    assert result.diagnosis.finding.rule.id == "process_death/host-left-first"
    assert result.diagnosis.culprit.host == "n3"


def test_a_host_that_ran_out_of_time_hangs_up_too(scan):
    closed = "".join(CLOSED.format(host=host, pid=100 + rank, peer="10.0.0.3") for rank, host in enumerate(HOSTS[:2]))
    result = scan(started() + TIMEOUT.format(rank=0) + closed)
    assert result.diagnosis.finding.rule.id != "process_death/host-left-first"


def test_the_kernel_s_number_of_a_killed_process_tells_its_rank(scan):
    kernel = "Nov 30 05:41:30 n3 kernel: Out of memory: Killed process 102 (python3) total-vm:92184kB\n"
    result = scan({"n1.log": started(), "kernel-n3.log": kernel})
    assert (result.diagnosis.category, result.diagnosis.culprit.rank) == ("host_oom", 2)


def test_a_killed_process_that_is_no_rank_s_names_no_rank(scan):
    kernel = "Nov 30 05:41:30 n3 kernel: Out of memory: Killed process 4711 (python3) total-vm:92184kB\n"
    result = scan({"n1.log": started(), "kernel-n3.log": kernel})
    assert (result.diagnosis.category, result.diagnosis.culprit.rank) == ("host_oom", None)
    assert result.diagnosis.culprit.host == "n3"


def test_the_launcher_tells_whose_exception_it_is_where_its_lines_do_not(scan):
    raised = "Traceback (most recent call last):\n  File \"/w/train.py\", line 3, in <module>\n    x()\nKeyError: 'a'\n"
    exited = KILLED.format(code=1, pid=102)
    result = scan({"n1.log": started(), "log.txt": raised, "launcher.log": exited})
    assert (result.diagnosis.category, result.diagnosis.culprit.rank) == ("user_code", 2)


def test_an_exception_is_nobody_s_where_several_exited_by_themselves(scan):
    raised = "Traceback (most recent call last):\n  File \"/w/train.py\", line 3, in <module>\n    x()\nKeyError: 'a'\n"
    exited = "".join(f"srun: error: n{task + 1}: task {task}: Exited with exit code 1\n" for task in (1, 2))
    result = scan({"n1.log": started(), "log.txt": raised, "launcher.log": exited})
    assert (result.diagnosis.category, result.diagnosis.culprit.rank) == ("user_code", None)


ACTOR_DIED = (
    "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.\n"
    "\tclass_name: TrainWorker\n\tactor_id: 29b42d51ecd351471d8bdc44d05dda65\n\tpid: 102\n\tip: 10.0.0.3\n"
)


def test_the_worker_that_ray_saw_die_without_a_word_is_named(scan):
    result = scan({"n1.log": started() + TIMEOUT.format(rank=0), "job-driver.log": ACTOR_DIED})
    assert (result.diagnosis.category, result.diagnosis.culprit.rank) == ("process_death", 2)


def test_a_worker_that_ray_saw_die_of_its_time_out_is_no_culprit(scan):
    logs = {
        "worker-0123456789abcdef-01000000-102.out": started(),
        "worker-0123456789abcdef-01000000-102.err": TIMEOUT.format(rank=2),
        "job-driver.log": ACTOR_DIED,
    }
    assert "process_death/ray-worker-ended" not in {finding.rule.id for finding in scan(logs).findings}


def test_a_death_whose_host_no_line_tells_may_be_the_host_that_only_its_address_names(scan):
    raised = (
        "[rank2]: Traceback (most recent call last):\n"
        '[rank2]:   File "/w/train.py", line 3, in <module>\n'
        "[rank2]:     x()\n[rank2]: KeyError: 'labels'\n"
    )
    failed = "[rank0]: NET/IB : Got completion from peer 10.0.0.3<40211> with error 12, opcode 0, len 0, vendor err 9\n"
    assert scan({"a.log": failed, "b.log": raised}).diagnosis.category == "user_code"


def test_the_one_rank_of_a_host_that_failed_is_named_where_each_host_has_one(scan):
    failed = "slurmstepd: error: *** JOB 4711 ON n3 CANCELLED AT 2026-04-13T16:44:49 DUE TO NODE FAILURE, SEE LOG ***\n"
    result = scan({"n1.log": started(), "slurm.out": failed})
    assert (result.diagnosis.finding.rule.id, result.diagnosis.culprit.host) == ("process_death/node-failed", "n3")
    assert result.diagnosis.culprit.rank == 2
