import pytest

from nccl_logscan.diagnosis.verdict import ScanResult

WORLD_OF_FOUR = "[rank1]:world_size=4 torch=2.11.0\n"


def timed_out(rank: int, operation: str = "ALLREDUCE", numel: int = 64, sequence: int = 27) -> str:
    return (
        f"[rank{rank}]:[E1130 05:40:53.502925148 ProcessGroupNCCL.cpp:689] [Rank {rank}] Watchdog caught collective "
        f"operation timeout: WorkNCCL(SeqNum={sequence}, OpType={operation}, NumelIn={numel}, NumelOut={numel}, "
        "Timeout(ms)=15000) ran for 15024 milliseconds before timing out.\n"
    )


def status(rank: int, enqueued: int, group: str = "PG ID 0 PG GUID 0(default_pg)") -> str:
    return (
        f"[rank{rank}]:[E1130 05:40:53.503112557 ProcessGroupNCCL.cpp:2303] [{group} Rank {rank}]  failure detected by "
        f"watchdog at work sequence id: 27 PG status: last enqueued work: {enqueued}, last completed work: 26\n"
    )


def told(result: ScanResult) -> tuple[str, str, int | None]:
    verdict = result.diagnosis
    return verdict.category, verdict.finding.rule.id.partition("/")[2], verdict.culprit.rank


def test_of_many_ranks_the_one_with_another_shape_is_odd(scan):
    log = "".join(timed_out(rank, numel=96 if rank == 2 else 64) for rank in range(4))
    assert told(scan(log)) == ("collective_mismatch", "watchdog-mismatch", 2)


def test_of_two_ranks_the_one_behind_left_a_call_out(scan):
    log = timed_out(1, numel=1024) + status(1, 28) + timed_out(0, numel=7) + status(0, 29)
    assert told(scan(log)) == ("collective_mismatch", "watchdog-mismatch", 1)


def test_of_two_ranks_that_are_level_neither_is_accused(scan):
    log = timed_out(0, "ALLREDUCE") + status(0, 29) + timed_out(1, "BROADCAST") + status(1, 29)
    assert told(scan(log)) == ("collective_mismatch", "watchdog-mismatch", None)


def test_two_groups_may_use_one_number_for_different_calls(scan):
    one, two = "PG ID 1 PG GUID 3(tp)", "PG ID 2 PG GUID 5(dp)"
    log = timed_out(0, "ALLREDUCE") + status(0, 28, one) + timed_out(1, "_ALLGATHER_BASE") + status(1, 28, two)
    assert scan(log).diagnosis.category == "collective_timeout"


@pytest.mark.parametrize("late", [0, 3])
def test_the_rank_that_did_not_wait_is_the_late_one(scan, late):
    log = "".join(timed_out(rank) for rank in range(4) if rank != late)
    world = WORLD_OF_FOUR
    assert told(scan(world + log)) == ("collective_timeout", "rank-absent", late)


def test_ranks_outside_of_a_sub_group_are_not_accused(scan):
    group = "PG ID 1 PG GUID 3(tp)"
    log = "".join(timed_out(rank) + status(rank, 28, group) for rank in (0, 1, 2))
    assert scan(WORLD_OF_FOUR + log).diagnosis.finding.rule.id != "collective_timeout/rank-absent"


def test_the_late_rank_s_last_words_are_told(scan):
    words = "2026-11-30 05:40:38,896 | rank1 | INFO | trainer:45 - loading shard data-00012.parquet\n"
    dump = (
        "[rank1]:[E1130 05:40:53.542719017 ProcessGroupNCCL.cpp:1914] [PG ID 0 PG GUID 0(default_pg) Rank 1] Received "
        "a dump signal due to a collective timeout from  rank 0 and we will try our best to dump the debug info. Last "
        "enqueued NCCL work: 26, last completed NCCL work: 26.This is most likely caused by incorrect usages\n"
    )
    result = scan(words + timed_out(0) + status(0, 28) + dump)
    assert told(result) == ("collective_timeout", "rank-behind", 1)
    assert any("loading shard" in reason for reason in result.diagnosis.reasons)
    assert 1 in {cited.evidence.at.line for cited in result.diagnosis.evidence}


def test_of_two_late_ranks_both_are_named_and_neither_is_accused(scan):
    log = WORLD_OF_FOUR.replace("4", "6") + "".join(timed_out(rank) for rank in range(6) if rank not in {2, 4})
    result = scan(log)
    assert told(result) == ("collective_timeout", "rank-absent", None)
    assert "2, 4" in result.diagnosis.headline


def unnamed(rank: int, group_rank: int, operation: str, sequence: int) -> str:
    """A time-out as PyTorch 2.1 to 2.3 print it: the rank within a group that is not named."""
    return timed_out(rank, operation, sequence=sequence).replace(f"[Rank {rank}]", f"[Rank {group_rank}]")


def test_where_all_wait_the_one_that_waits_alone_called_something_else(scan):
    pairs = [(0, 0, "ALLREDUCE", 27), (1, 1, "ALLREDUCE", 27), (2, 0, "ALLREDUCE", 12), (3, 1, "BROADCAST", 12)]
    others = [(4, 0, "ALLREDUCE", 12), (5, 1, "ALLREDUCE", 27)]
    log = WORLD_OF_FOUR.replace("4", "6") + "".join(unnamed(*pair) for pair in (*pairs, *others))
    assert told(scan(log)) == ("collective_mismatch", "watchdog-mismatch", 3)


def test_of_two_that_wait_alone_neither_is_accused(scan):
    pairs = [(0, 0, "ALLREDUCE", 27), (1, 1, "ALLREDUCE", 27), (2, 0, "REDUCE", 12), (3, 1, "BROADCAST", 12)]
    log = WORLD_OF_FOUR + "".join(unnamed(*pair) for pair in pairs)
    assert told(scan(log))[2] is None
