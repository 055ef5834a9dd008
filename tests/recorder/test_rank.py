"""Which rank a dump is of."""

import pickle

import pytest

from nccl_logscan.recorder import read_dump
from nccl_logscan.recorder.rank import rank_in_dump_name


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("fr_5", 5),
        ("out/fr_0", 0),
        ("/scratch/nccl_trace_rank_12", 12),
        ("/root/.cache/torch/comm_lib_trace_rank_1023", 1023),
        ("nccl_trace_rank_12.pkl", 12),
        ("nccl_trace_rank_12.pkl.gz", 12),
        ("fr_3.json", 3),
        ("a.tar!fr_3", 3),
        ("run7/dumps2.tar.gz!out/fr_11.zst", 11),
        ("trace_7", 7),
        ("trace_rank7_node3", 7),
        ("rank=4.pickle", 4),
        ("RANK-4", 4),
        ("node3_fr_6", 6),
        ("fr_6_20260102", 6),
        ("fr_5.1", 5),
        ("global_rank_9_local_rank_1.json", 9),
        ("local_rank_1_global_rank_9", 9),
        ("job-8231-my_prefix_15", 15),
        ("15", 15),
        ("hccl_trace_rank_2", 2),
        ("fr_3.pt!archive/data.pkl", 3),
        ("run7.tar!dump.json", None),
        ("node_rank_2/rank_3/dump", 3),
        ("node_rank_2/dump", None),
        ("fr_3/dump", None),
        ("dumps", None),
        ("-", None),
        ("dump.json", None),
        ("fr_20260102030405", None),
        ("", None),
    ],
)
def test_a_files_name_tells_the_rank(name, rank):
    assert rank_in_dump_name(name) == rank


def dump_of(name, entries=(), **ranks):
    config = {group: {"name": group, "desc": "", "ranks": str(members)} for group, members in ranks.items()}
    content = {"version": "2.10", "pg_config": config, "pg_status": {}, "entries": list(entries)}
    return read_dump(pickle.dumps(content, 2), name)


def sending(name):
    return {"pg_id": 0, "process_group": ("tp", ""), "record_id": 0, "profiling_name": name, "state": "started"}


def test_a_name_without_a_rank_leaves_it_to_the_groups():
    assert dump_of("dump", world=[0, 1, 2, 3], tp=[2, 3], dp=[0, 2]).rank == 2


def test_groups_that_share_more_than_one_rank_do_not_tell_it():
    dump = dump_of("dump", world=[0, 1, 2, 3], tp=[2, 3])

    assert (dump.rank, dump.problems) == (None, ())


def test_a_dump_without_groups_has_its_names_rank():
    assert dump_of("fr_7").rank == 7


def test_a_name_that_no_group_knows_is_no_rank():
    dump = dump_of("fr_8", tp=[0, 1])

    assert (dump.rank, dump.problems) == (None, ("is named after rank 8, which is in none of its groups' ranks",))


@pytest.mark.parametrize("call", ["nccl:send 1->0", "nccl:recv 1<-0"])
def test_who_sends_and_receives_tells_the_rank(call):
    assert dump_of("dump", [sending(call)], tp=[6, 7]).rank == 7


def test_a_name_against_the_calls_is_no_rank():
    dump = dump_of("fr_6", [sending("nccl:send 1->0")], tp=[6, 7])

    assert (dump.rank, dump.problems) == (None, ("is named after rank 6, but its calls are those of rank 7",))


def test_calls_of_several_ranks_say_nothing_against_a_name():
    calls = [sending("nccl:send 1->0"), sending("nccl:send 0->1")]

    assert dump_of("fr_6", calls, tp=[6, 7]).rank == 6
