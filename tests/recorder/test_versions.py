"""Dumps made by hand in the shape of each version and writer, as their sources have it."""

import json
import pickle

import pytest

from nccl_logscan.recorder import Frame, Group, State, Status, read_dump

FRAMES = [
    {"name": "all_reduce", "filename": "/opt/torch/distributed_c10d.py", "line": 2696},
    {"name": "<module>", "filename": "train.py", "line": 44},
]
STACK = (Frame("all_reduce", "/opt/torch/distributed_c10d.py", 2696), Frame("<module>", "train.py", 44))
NOW = 1_724_779_239_936_775_119


def read(value, name="fr_0"):
    return read_dump(pickle.dumps(value, 2), name)


def entry_of_2_10(**changes):
    return {
        "frames": FRAMES,
        "record_id": 0,
        "pg_id": 0,
        "process_group": ("0", "default_pg"),
        "thread_name": "pt_main_thread",
        "thread_id": "140037748889280",
        "collective_seq_id": 1,
        "p2p_seq_id": 0,
        "op_id": 1,
        "profiling_name": "nccl:all_reduce",
        "time_created_ns": NOW,
        "duration_ms": 1.5,
        "input_sizes": [[3, 4]],
        "input_dtypes": ["Float"],
        "output_sizes": [[3, 4]],
        "output_dtypes": ["Float"],
        "state": "completed",
        "time_discovered_started_ns": NOW + 1,
        "time_discovered_completed_ns": NOW + 2,
        "retired": True,
        "timeout_ms": 600000,
        "is_p2p": False,
        **changes,
    }


def dump_of_2_10(*entries, **changes):
    return {
        "version": "2.10",
        "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1, 2, 3]"}},
        "comm_lib_version": "2.28.9",
        "pg_status": {
            "0": {"last_enqueued_collective": 2, "last_started_collective": -1, "last_completed_collective": 1}
        },
        "entries": list(entries),
        **changes,
    }


def test_the_bare_list_of_pytorch_2_2():
    """TraceUtils.h before there was a version: microseconds, no groups' names, no record_id."""
    entry = {
        "pg_id": 0,
        "seq_id": 7,
        "profiling_name": "nccl:all_reduce",
        "time_created_us": NOW // 1000,
        "input_sizes": [[3, 4]],
        "output_sizes": [[3, 4]],
        "state": "started",
        "retired": False,
        "frames": FRAMES,
    }

    dump = read([entry, {**entry, "seq_id": 8, "state": "scheduled"}], "nccl_trace_rank_5")

    assert (dump.version, dump.library, dump.rank, dump.problems) == ("0", None, 5, ())
    assert dump.groups == {"0": Group("0")}
    first, second = dump.calls
    assert (first.record, first.group, first.operation, first.sequence) == (0, "0", "all_reduce", 7)
    assert (first.state, first.created_ns, first.retired) == (State.STARTED, NOW // 1000 * 1000, False)
    assert (first.input_sizes, first.input_dtypes, first.frames) == (((3, 4),), (), STACK)
    assert (second.record, second.sequence, second.state) == (1, 8, State.SCHEDULED)


def test_version_1_1_has_no_groups():
    entry = {
        "pg_id": 1,
        "seq_id": 3,
        "profiling_name": "nccl:broadcast",
        "time_created_ns": NOW,
        "input_sizes": [[5]],
        "output_sizes": [[5]],
        "state": "completed",
        "time_discovered_started_ns": None,
        "time_discovered_completed_ns": NOW + 2,
        "retired": True,
        "frames": [],
    }

    dump = read({"entries": [entry], "version": "1.1"})

    assert (dump.version, dump.groups, dump.problems) == ("1.1", {"1": Group("1")}, ())
    [call] = dump.calls
    assert (call.group, call.sequence, call.created_ns, call.completed_ns) == ("1", 3, NOW, NOW + 2)


def test_version_1_4_has_ranks_by_the_groups_number():
    entry = {
        "record_id": 40,
        "pg_id": 1,
        "seq_id": 3,
        "op_id": 3,
        "profiling_name": "nccl:all_gather",
        "state": "started",
    }

    dump = read({"entries": [entry], "version": "1.4", "nccl_comm_state": {}, "pg_config": {0: [0, 1, 2], 1: [0, 2]}})

    assert dump.groups == {"0": Group("0", ranks=(0, 1, 2)), "1": Group("1", ranks=(0, 2))}
    [call] = dump.calls
    assert (call.record, call.group, call.sequence, call.input_sizes, call.frames) == (40, "1", 3, (), ())


def test_version_2_0_names_groups_but_counts_in_one_sequence():
    collective = {
        "record_id": 0,
        "pg_id": 3,
        "process_group": ("a1b2", "tensor_parallel"),
        "seq_id": 4,
        "op_id": 4,
        "profiling_name": "nccl:_all_gather_base",
        "state": "scheduled",
        "time_discovered_started_ns": None,
        "time_discovered_completed_ns": None,
    }
    send = {**collective, "record_id": 1, "seq_id": 5, "profiling_name": "nccl:send 1->0"}
    config = {"a1b2": {"name": "a1b2", "desc": "tensor_parallel", "ranks": "[2, 3]"}}

    dump = read({"entries": [collective, send], "version": "2.0", "pg_config": config}, "fr_3")

    assert dump.groups == {"a1b2": Group("a1b2", "tensor_parallel", (2, 3))}
    first, second = dump.calls
    assert (first.group, first.sequence, first.p2p_sequence, first.peers) == ("a1b2", 4, None, None)
    assert (second.operation, second.sequence, second.p2p_sequence, second.peers) == ("send", None, 5, (1, 0))
    assert dump.problems == ()


@pytest.mark.parametrize(
    ("version", "left_out"),
    [
        ("2.2", ["thread_name", "thread_id", "timeout_ms"]),
        ("2.3", ["thread_name", "thread_id", "timeout_ms"]),
        ("2.4", ["thread_name", "thread_id"]),
        ("2.7", ["thread_name", "thread_id"]),
        ("2.10", []),
        ("2.11", []),
        ("3.0", ["duration_ms"]),
    ],
)
@pytest.mark.parametrize("library", ["nccl_version", "comm_lib_version"])
def test_version_2_2_and_all_after_it(version, left_out, library):
    entry = {key: value for key, value in entry_of_2_10().items() if key not in left_out}
    content = dump_of_2_10(entry, version=version)
    content[library] = content.pop("comm_lib_version")

    dump = read(content)

    assert (dump.version, dump.library, dump.rank, dump.problems) == (version, "2.28.9", 0, ())
    assert dump.groups == {"0": Group("0", "default_pg", (0, 1, 2, 3))}
    assert dump.statuses == {"0": Status(2, None, 1)}
    [call] = dump.calls
    assert (call.record, call.group, call.operation, call.state) == (0, "0", "all_reduce", State.COMPLETED)
    assert (call.sequence, call.p2p_sequence, call.peers) == (1, None, None)
    assert (call.input_sizes, call.output_sizes) == (((3, 4),), ((3, 4),))
    assert (call.input_dtypes, call.output_dtypes) == (("Float",), ("Float",))
    assert (call.created_ns, call.started_ns, call.completed_ns) == (NOW, NOW + 1, NOW + 2)
    assert (call.retired, call.frames) == (True, STACK)
    assert call.timeout_ms == (None if "timeout_ms" in left_out else 600000)


@pytest.mark.parametrize("indent", [None, 2])
def test_the_json_form_has_texts_for_numbers_and_0_for_a_time_not_seen(indent):
    """FlightRecorderDetail.hpp, dump_json."""
    entry = entry_of_2_10(
        state="scheduled",
        time_discovered_started_ns=0,
        time_discovered_completed_ns=0,
        process_group=["0", "default_pg"],
    )
    del entry["frames"]
    status = {"last_enqueued_collective": "2", "last_started_collective": "-1", "last_completed_collective": "1"}
    content = dump_of_2_10(entry, pg_status={"0": status})

    dump = read_dump(json.dumps(content, indent=indent, sort_keys=True).encode(), "fr_0.json")

    assert (dump.rank, dump.statuses, dump.problems) == (0, {"0": Status(2, None, 1)}, ())
    [call] = dump.calls
    assert (call.state, call.started_ns, call.completed_ns, call.frames) == (State.SCHEDULED, None, None, ())


def test_the_json_form_leaves_entries_out_if_there_are_none():
    content = dump_of_2_10()
    del content["entries"]

    dump = read_dump(json.dumps(content).encode(), "fr_0")

    assert (dump.calls, dump.statuses, dump.problems) == ((), {"0": Status(2, None, 1)}, ())


def test_a_receive_names_its_receiver_first():
    dump = read(dump_of_2_10(entry_of_2_10(profiling_name="nccl:recv 1<-0", is_p2p=True, p2p_seq_id=9)), "fr_1")

    [call] = dump.calls
    assert (call.operation, call.peers, call.sequence, call.p2p_sequence) == ("recv", (0, 1), None, 9)


def test_a_coalesced_group_of_sends_counts_among_them():
    """ProcessGroupNCCL::endCoalescing: the group's own entry comes last, with the sequence number of its calls."""
    dump = read(
        dump_of_2_10(
            entry_of_2_10(profiling_name="nccl:send 0->1", is_p2p=True, p2p_seq_id=4),
            entry_of_2_10(record_id=1, profiling_name="nccl:recv 0<-3", is_p2p=True, p2p_seq_id=4),
            entry_of_2_10(record_id=2, profiling_name="nccl:coalesced", is_p2p=True, p2p_seq_id=4, input_sizes=[]),
        )
    )

    assert [call.operation for call in dump.calls] == ["send", "recv", "coalesced"]
    assert [call.peers for call in dump.calls] == [(0, 1), (3, 0), None]
    assert [(call.sequence, call.p2p_sequence) for call in dump.calls] == [(None, 4)] * 3


def test_a_coalesced_group_of_collectives_has_their_number():
    dump = read(dump_of_2_10(entry_of_2_10(profiling_name="nccl:coalesced"), entry_of_2_10(record_id=1)))

    assert [(call.operation, call.sequence) for call in dump.calls] == [("coalesced", 1), ("all_reduce", 1)]


@pytest.mark.parametrize(
    ("name", "operation", "peers"),
    [
        ("nccl:all_reduce", "all_reduce", None),
        ("nccl:_reduce_scatter_base", "_reduce_scatter_base", None),
        ("nccl:all_reduce_barrier", "all_reduce_barrier", None),
        ("nccl:ALLGATHER_coalesced", "ALLGATHER_coalesced", None),
        ("xccl:send 10->2", "send", (10, 2)),
        ("hccl:recv 3<-12", "recv", (12, 3)),
        ("gloo:all_reduce", "all_reduce", None),
        ("ncclx:all_to_all_v_single", "all_to_all_v_single", None),
        ("c10d::allreduce_", "allreduce_", None),
        ("all_gather", "all_gather", None),
        ("nccl:send", "send", None),
        ("nccl:send 0->", "send", None),
        ("", "", None),
    ],
)
def test_an_operations_name_is_without_its_library_and_peers(name, operation, peers):
    [call] = read(dump_of_2_10(entry_of_2_10(profiling_name=name)), "x").calls

    assert (call.operation, call.peers) == (operation, peers)


def test_torchcomms_has_no_status_and_ranks_without_spaces():
    """comms/torchcomms/hooks/fr/FlightRecorder.cpp."""
    content = dump_of_2_10(
        entry_of_2_10(process_group=("comm_main", "ncclx"), profiling_name="ncclx:all_reduce", collective_seq_id=0),
        pg_config={"comm_main": {"name": "comm_main", "desc": "ncclx", "ranks": "[0,1,2]"}},
        comm_lib_version="",
        pg_status={},
    )

    dump = read(content, "comm_lib_trace_rank_2")

    assert (dump.rank, dump.library, dump.statuses, dump.problems) == (2, None, {}, ())
    assert dump.groups == {"comm_main": Group("comm_main", "ncclx", (0, 1, 2))}
    assert dump.calls[0].sequence == 0


def test_the_cupti_plugin_puts_ranks_into_entries():
    """torch/profiler/_cupti: a Python pickle, whose pg_config may be empty."""
    content = dump_of_2_10(
        entry_of_2_10(process_group=["tp", "tensor"], process_group_ranks=[4, 5], time_created_ns=0, duration_ms=None),
        pg_config={"0": {"name": "0", "desc": "", "ranks": "[]"}},
    )

    dump = read_dump(pickle.dumps(content), "comm_lib_trace_rank_5")

    assert dump.groups == {"0": Group("0"), "tp": Group("tp", "tensor", (4, 5))}
    assert (dump.rank, dump.calls[0].created_ns, dump.problems) == (5, None, ())


def test_what_the_analyser_hands_on_says_its_rank():
    """torch/distributed/flight_recorder/components/loader.py, read_dump."""
    content = {"host_name": "host_rank3", "rank": 3, **dump_of_2_10(entry_of_2_10())}

    assert read(content, "pickled").rank == 3


def test_torchft_counts_each_replicas_ranks_from_0():
    """components/builder.py, transform_ft: the file has the rank among all replicas, the dump that within its own."""
    dump = read(dump_of_2_10(entry_of_2_10()), "fr_9")

    assert (dump.rank, dump.problems) == (None, ("is named after rank 9, which is in none of its groups' ranks",))


@pytest.mark.parametrize(
    ("config", "groups"),
    [
        ({"0": {"name": "0", "desc": "d", "ranks": [0, 1]}}, {"0": Group("0", "d", (0, 1))}),
        ({"0": {"name": "0", "desc": "d", "ranks": (0, 1)}}, {"0": Group("0", "d", (0, 1))}),
        ({"0": {"name": "0", "desc": "d", "ranks": ["0", "1"]}}, {"0": Group("0", "d", (0, 1))}),
        ({"0": {"name": "0", "desc": "d", "ranks": "0-3,8"}}, {"0": Group("0", "d", (0, 1, 2, 3, 8))}),
        ({"0": {"name": "0", "desc": "d", "ranks": "[4-5, 7]"}}, {"0": Group("0", "d", (4, 5, 7))}),
        ({"0": {"name": "0", "desc": "d", "ranks": "range(0, 8, 2)"}}, {"0": Group("0", "d", (0, 2, 4, 6))}),
        ({"0": {"name": "0", "desc": "d", "ranks": "range(2, 4)"}}, {"0": Group("0", "d", (2, 3))}),
        ({"0": {"name": "0", "desc": "d", "ranks": "(0, 1)"}}, {"0": Group("0", "d", (0, 1))}),
        ({"0": {"name": "0", "desc": "d"}}, {"0": Group("0", "d")}),
        ({"0": "[0, 1]"}, {"0": Group("0", ranks=(0, 1))}),
        ({0: {"dp": {"desc": "d", "ranks": "[0, 1]"}}}, {"dp": Group("dp", "d", (0, 1))}),
        ([{"pg_name": "dp", "pg_desc": "d", "ranks": [1, 0]}], {"dp": Group("dp", "d", (1, 0))}),
        ({}, {}),
    ],
)
def test_groups_come_in_several_shapes(config, groups):
    dump = read({"version": "2.1", "pg_config": config, "pg_status": {}, "entries": []}, "x")

    assert (dump.groups, dump.problems) == (groups, ())


def test_a_status_is_that_of_the_group_whose_entries_have_its_number():
    """`pg_id` is a number of the process, which corresponds to nothing in pg_config (components/builder.py)."""
    status = {"last_enqueued_collective": 5, "last_started_collective": 5, "last_completed_collective": 4}
    content = dump_of_2_10(
        entry_of_2_10(pg_id=1, process_group=("3", "tp")),
        pg_config={
            name: {"name": name, "desc": desc, "ranks": "[0, 1]"} for name, desc in [("0", "default_pg"), ("3", "tp")]
        },
        pg_status={"0": status, "1": status, "2": status},
    )

    dump = read(content)

    assert dump.statuses == {"0": Status(5, 5, 4), "3": Status(5, 5, 4)}
    assert dump.problems == ("does not say which group its status 2 is of",)


def test_calls_are_in_the_order_of_their_numbers():
    dump = read(dump_of_2_10(*(entry_of_2_10(record_id=number) for number in [5, 6, 3, 4])))

    assert [call.record for call in dump.calls] == [3, 4, 5, 6]


@pytest.mark.parametrize(
    ("times", "state"),
    [
        ({"time_discovered_completed_ns": NOW}, State.COMPLETED),
        ({"time_discovered_started_ns": NOW}, State.STARTED),
    ],
)
def test_a_state_that_is_not_said_shows_in_the_times(times, state):
    entry = {"pg_id": 0, "seq_id": 1, "profiling_name": "nccl:reduce", **times}

    assert read([entry]).calls[0].state is state


@pytest.mark.parametrize(
    "frames",
    [
        ["all_reduce at /opt/torch/distributed_c10d.py:2696", "<module> at train.py:44"],
        ["#0 all_reduce from /opt/torch/distributed_c10d.py:2696", "#1 <module> from train.py:44"],
        tuple(FRAMES),
    ],
)
def test_frames_come_as_texts_too(frames):
    assert read(dump_of_2_10(entry_of_2_10(frames=frames))).calls[0].frames == STACK


def test_frames_and_sizes_that_calls_share_are_kept_once():
    first, second = read(dump_of_2_10(entry_of_2_10(), entry_of_2_10(record_id=1))).calls

    assert first.frames is second.frames
    assert first.input_sizes is second.input_sizes
