from nccl_logscan.diagnosis.excerpts import Excerpts, Site
from nccl_logscan.diagnosis.identity import Identity
from nccl_logscan.diagnosis.sayer import Who
from nccl_logscan.events import Tokeniser
from nccl_logscan.lines import Peeler
from nccl_logscan.position import Position
from nccl_logscan.sources.raw import RawLine


def identity_of(**logs: str) -> Identity:
    """Feed logs by name, as the pipeline does."""
    identity, order = Identity(), 0
    for name, log in logs.items():
        identity.learn_source(name)
        peeler, tokeniser = Peeler(), Tokeniser()
        raws = [RawLine(Position(name, number, 0), text) for number, text in enumerate(log.splitlines(), 1) if text]
        lines = [line for raw in raws for line in peeler.peel(raw)] + list(peeler.finish())
        events = [event for line in lines for event in tokeniser.read(line)] + list(tokeniser.finish())
        for event in events:
            order += 1
            identity.feed(event, Site(event.message, Excerpts(), order))
    return identity


def init(rank: int, world: int, comm_id: str = "0xabc", pid: int | None = None, host: str = "n1") -> str:
    pid = 100 + rank if pid is None else pid
    return (
        f"{host}:{pid}:{pid} [{rank}] NCCL INFO ncclCommInitRankConfig comm 0x{pid} rank {rank} nranks {world} cudaDev "
        f"{rank} nvmlDev {rank} busId 60 commId {comm_id} - Init COMPLETE\n"
    )


HEAD = "[rank{rank}]:[E1130 05:41:55.748584373 ProcessGroupNCCL.cpp:689] [PG ID {local} PG GUID {group} Rank {own}] "
TIMEOUT = "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE, NumelIn=1, NumelOut=1)\n"


def test_a_line_with_both_prefixes_tells_a_member_of_a_group():
    log = HEAD.format(rank=5, local=3, group="12(tp)", own=1) + TIMEOUT
    identity = identity_of(log=log + HEAD.format(rank=4, local=2, group="12(tp)", own=0) + TIMEOUT)
    assert identity.members("12(tp)") == {0: 4, 1: 5}
    assert identity.global_of("12", 1) == 5
    assert identity.global_of("12", 2) is None
    assert identity.members("13(tp)") == {}


def test_the_options_of_a_group_tell_the_global_rank():
    line = (
        "[I1130 05:41:55.748584373 ProcessGroupNCCL.cpp:957] [PG ID 1 PG GUID 3(dp) Rank 1] ProcessGroupNCCL "
        "initialization options: size: 2, global rank: 6, TIMEOUT(ms): 600000, USE_HIGH_PRIORITY_STREAM: 0\n"
    )
    assert identity_of(log=line).members("3(dp)") == {1: 6}


def test_a_process_is_a_member_of_a_group_by_the_rank_that_nccl_gives_it():
    log = "".join(init(rank, 4) for rank in range(4))
    line = "[PG ID 1 PG GUID 3(dp) Rank 1] Process group watchdog thread terminated with exception: x\n"
    head = "[E1130 05:41:55.748584373 ProcessGroupNCCL.cpp:957] "
    identity = identity_of(**{"a-rank2.log": head + line, "driver.log": log})
    assert identity.members("3(dp)") == {1: 2}


def test_the_number_that_counts_a_process_s_own_groups_is_no_name_of_a_group():
    log = HEAD.format(rank=5, local=3, group="x", own=1).replace("PG ID 3 PG GUID x", "PG 1") + TIMEOUT
    assert identity_of(log=log).members("1") == {}


def test_a_rank_of_a_group_that_two_claim_is_nobody_s():
    log = "".join(HEAD.format(rank=rank, local=3, group="12(tp)", own=1) + TIMEOUT for rank in (5, 7))
    assert identity_of(log=log).members("12(tp)") == {}


def test_the_default_group_is_the_world():
    identity = identity_of(log="".join(init(rank, 4) for rank in (0, 2)))
    assert identity.members("0(default_pg)") == {0: 0, 1: 1, 2: 2, 3: 3}


def test_a_dump_s_list_of_ranks_goes_before_what_lines_say():
    identity = Identity()
    identity.learn_group("7", [3, 5])
    assert (identity.members("7(tp)"), identity.global_of("7(tp)", 1)) == ({0: 3, 1: 5}, 5)


def test_each_rank_is_last_seen_at_its_last_line():
    log = init(0, 2) + init(1, 2) + "n1:100:100 [0] NCCL INFO bye\n[rank1]: step 3\n[rank1]: step 4\nnobody\n"
    identity = identity_of(log=log)
    zero, one = identity.last_seen(0), identity.last_seen(1)
    assert zero is not None
    assert (zero.at.line, zero.text) == (3, "bye")
    assert one is not None
    assert (one.at.line, one.text) == (5, "step 4")
    assert identity.last_seen(2) is None


def test_what_torchrun_says_of_a_rank_is_not_that_rank_s_last_word():
    log = """\
[rank1]: step 4
Root Cause (first observed failure):
[0]:
  time      : 2026-11-30_05:41:02
  host      : n7
  rank      : 1 (local_rank: 1)
  exitcode  : 1 (pid: 792)
"""
    seen = identity_of(log=log).last_seen(1)
    assert seen is not None
    assert seen.text == "step 4"


def test_a_communicator_s_ranks_are_known_as_global_ones():
    log = "".join(init(rank, 4) for rank in range(4))
    log += init(0, 2, comm_id="0xdef", pid=101) + init(1, 2, comm_id="0xdef", pid=103)
    assert identity_of(log=log).communicator("0xdef") == {0: 1, 1: 3}


def test_a_communicator_that_was_split_off_is_known_by_its_parent_and_colour():
    split = (
        "n1:{pid}:{pid} [0] NCCL INFO ncclCommSplit comm 0x9{pid} rank {rank} nranks 2 cudaDev 0 nvmlDev 0 busId 60 "
        "parent 0x{pid} splitCount 1 color {color} key 0- Init START\n"
    )
    log = "".join(init(rank, 4) for rank in range(4))
    log += "".join(split.format(pid=100 + rank, rank=rank // 2, color=rank % 2) for rank in range(4))
    assert identity_of(log=log).communicator("0xabc/1/1") == {0: 1, 1: 3}


def test_ranks_of_one_process_are_told_apart_by_their_devices():
    log = "".join(init(rank, 4, pid=100) for rank in range(4))
    identity = identity_of(log=log + "n1:100:200 [2] NCCL INFO bye\n")
    seen = identity.last_seen(2)
    assert seen is not None
    assert seen.text == "bye"
    assert identity.rank_of(Who("log", "n1", 100, None, None, None)) is None
    assert (identity.pid_of(3), identity.host_of(3)) == (100, "n1")


def test_the_clock_of_a_file_is_that_of_the_host_that_wrote_it():
    identity = identity_of(
        **{"a.log": init(0, 2), "b.log": init(1, 2, host="n2"), "c.log": "[rank1]: x\n", "d.log": "x\n"}
    )
    assert [identity.place_of(name) for name in ("a.log", "b.log", "c.log", "d.log", "n3.cluster")] == [
        *("n1", "n2", "n2", "d.log", "n3"),
    ]


def test_the_times_of_a_file_that_several_hosts_write_are_of_no_one_clock():
    identity = identity_of(**{"all.log": init(0, 2) + init(1, 2, host="n2"), "b.log": "[rank0]: x\n[rank1]: x\n"})
    assert identity.place_of("all.log") is None
    assert identity.place_of("b.log") is None
