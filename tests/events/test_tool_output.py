"""What becomes of tools' outputs that somebody puts beside a log or pastes into it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nccl_logscan.events import Tokeniser
from nccl_logscan.events.dialects.tool_output import host_of_file
from nccl_logscan.lines import Peeler
from nccl_logscan.position import Position
from nccl_logscan.sources.raw import RawLine

TOOLS = Path(__file__).parents[2] / "fixtures" / "tools"


def events_of(text, name="log"):
    peeler, tokeniser = Peeler(), Tokeniser()
    lines = [RawLine(Position(name, number, 0), line) for number, line in enumerate(text.split("\n"), start=1)]
    read = [event for raw in lines for line in peeler.peel(raw) for event in tokeniser.read(line)]
    return [*read, *(event for line in peeler.finish() for event in tokeniser.read(line)), *tokeniser.finish()]


def facts_of(text, name="log"):
    return [event for event in events_of(text, name) if event.kind == "host.fact"]


def ras_of(text):
    return [event for event in events_of(text) if event.kind == "nccl.ras"]


def sample(name):
    return (TOOLS / name).read_text("utf-8")


def values(facts, name):
    return {fact.device: fact.value for fact in facts if fact.name == name}


# --- ncclras ---------------------------------------------------------------------------------------------


def test_a_job_in_order_gives_a_summary_and_nothing_else():
    [group] = ras_of(sample("ncclras-healthy.txt"))

    assert (group.state, group.nranks) == ("summary", 4)


@pytest.mark.parametrize(("name", "state"), [("ncclras-dead.txt", "dead"), ("ncclras-incomplete.txt", "unresponsive")])
def test_a_process_that_is_missing_is_named_with_its_node_and_gpu(name, state):
    [process] = [event for event in ras_of(sample(name)) if event.peer_pid and event.rank is None]

    assert (process.state, process.peer, process.peer_pid, process.gpu) == (state, "10.18.4.23", 3081442, 5)


@pytest.mark.parametrize("name", ["ncclras-dead.txt", "ncclras-incomplete.txt"])
def test_the_missing_rank_is_one_of_a_communicator_of_known_size(name):
    [rank] = [event for event in ras_of(sample(name)) if event.rank is not None]

    assert (rank.state, rank.rank, rank.comm, rank.nranks) == ("missing", 21, "0xb1c2a79be8cd4410", 32)


def test_several_missing_ranks_in_one_line_are_told_one_by_one():
    events = ras_of(
        "#0-0 (b1c2a79be8cd4410) INCOMPLETE\n  Missing communicator data from 3 ranks\n  The missing ranks: 3,5,7"
    )

    assert [event.rank for event in events if event.rank is not None] == [3, 5, 7]


def test_counts_say_how_many_ranks_stand_where():
    shares = [(event.launched, event.count, event.rank) for event in ras_of(sample("ncclras-behind.txt"))[2:]]

    assert shares == [(6650, 31, None), (6649, 1, 13)]


def test_members_of_a_group_told_before_count_for_nothing():
    head = "#0-0 (27a079b828ff1a75) MISMATCH\n  Communicator ranks have different collective operation counts\n"
    group = "  26 ranks have launched up to operation 9\n  2 ranks have not launched any operations\n"
    member = "  Rank 4 -- GPU 4 (NVML 0) managed by process 77 on node fe80::1%eth0"
    *_, first, second, rank = ras_of(head + group + member)

    assert (first.count, second.count, second.launched) == (26, 2, 0)
    assert (rank.count, rank.rank, rank.launched, rank.gpu, rank.peer) == (0, 4, 0, 4, "fe80::1%eth0")


def test_an_error_is_told_in_the_words_of_ras():
    told = [(event.said, event.count) for event in ras_of(sample("ncclras-error.txt")) if event.state == "error"]

    assert told == [("Remote process error", 15), ("Unhandled CUDA error", 1)]


def test_json_tells_the_same_however_its_lines_are_broken():
    pretty = sample("ncclras-missing.json")
    compact = "".join(line.strip() for line in pretty.split("\n"))
    told = [
        [(event.state, event.rank, event.launched, event.said, event.count) for event in ras_of(text)]
        for text in (pretty, compact)
    ]

    assert told[0] == told[1]
    assert ("dead", 2, None, None, 1) in told[0]
    assert ("error", 1, None, "System error", 1) in told[0]
    assert ("counts", 1, 399, None, 0) in told[0]


def test_json_says_which_nccl_and_driver_it_is_from():
    kinds = {event.kind: event for event in events_of(sample("ncclras-missing.json"))}

    assert (kinds["nccl.version"].version, kinds["nccl.driver"].cuda_driver) == ("2.29.1", 13000)


def test_a_process_that_dies_while_ras_monitors_is_dead():
    [event] = ras_of("[2025-12-19 13:07:07] PEER_DEAD: Process 1524345 on node 10.0.0.5 managing GPU 1")

    assert (event.state, event.peer_pid, event.peer, event.gpu) == ("dead", 1524345, "10.0.0.5", 1)


def test_json_of_the_monitor_is_told_too():
    text = (
        '{\n  "timestamp": "2025-12-19 13:07:07",\n  "group": "LIFECYCLE",\n  "event": "PEER_DEAD",\n  "peer": {\n'
        '    "host": "10.0.0.5",\n    "pid": 1524345,\n    "cuda_devs": [1],\n    "nvml_devs": [1]\n  },\n'
        '  "details": ""\n}'
    )
    [event] = ras_of(text)

    assert (event.state, event.peer, event.peer_pid) == ("dead", "10.0.0.5", 1524345)


# --- nvidia-smi ------------------------------------------------------------------------------------------


def test_each_gpu_of_the_long_output_has_its_own_values():
    facts = facts_of(sample("nvidia-smi-q-ecc.txt"))
    first, second = "00000000:19:00.0", "00000000:2A:00.0"

    assert {fact.value for fact in facts if fact.name == "driver"} == {"570.86.15"}
    assert values(facts, "gpu_model") == {first: "NVIDIA H100 80GB HBM3", second: "NVIDIA H100 80GB HBM3"}
    assert values(facts, "fabric_state") == {first: "Completed", second: "Completed"}
    assert values(facts, "remap_pending") == {first: "Yes", second: "No"}
    assert values(facts, "recovery_action") == {first: "Reset"}


def test_only_errors_of_this_boot_are_counted():
    text = "GPU 00000000:19:00.0\n    ECC Errors\n        {}\n            DRAM Uncorrectable            : 3\n"

    assert [fact.number for fact in facts_of(text.format("Volatile"))] == [3]
    assert facts_of(text.format("Aggregate")) == []


def test_old_drivers_count_double_bit_errors():
    text = (
        "GPU 00000000:19:00.0\n    ECC Errors\n        Volatile\n            Double Bit\n"
        "                Device Memory             : 2\n                Total                     : 2\n"
    )

    assert [(fact.name, fact.number) for fact in facts_of(text)] == [("ecc_uncorrected", 2)]


def test_a_cell_of_one_section_is_not_taken_for_that_of_another():
    text = "GPU 00000000:19:00.0\n    ECC Mode\n        Pending                           : Enabled\n"

    assert values(facts_of(text), "remap_pending") == {}


def test_the_summary_table_tells_driver_models_errors_and_modes():
    facts = facts_of(sample("nvidia-smi-healthy.txt"))

    assert {fact.name for fact in facts} == {"driver", "cuda_driver", "gpu_model", "ecc_uncorrected", "mig_mode"}
    assert {fact.origin.host for fact in facts} == {"node07"}


def test_a_gpu_whose_cells_are_errors_is_unreadable():
    unreadable = [fact for fact in facts_of(sample("nvidia-smi-err.txt")) if fact.name == "unreadable"]

    assert [fact.device for fact in unreadable] == ["00000000:2A:00.0"]


def test_one_sensor_that_is_an_error_says_nothing_of_the_gpu():
    row = "GPU 00000000:2A:00.0\n    Fan Speed                             : Unknown Error\n"

    assert facts_of(row) == []
    assert [fact.name for fact in facts_of(row + row.split("\n")[1] + "\n" + row.split("\n")[1])] == ["unreadable"]


def test_a_list_and_a_csv_name_the_models():
    listed = "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-5895e020-7d50-0c08-6ec8-e543a425c76c)\n"
    table = "index, name, driver_version\n0, NVIDIA A100-SXM4-80GB, 535.104.05\n"

    assert values(facts_of(listed), "gpu_model") == {"0": "NVIDIA H100 80GB HBM3"}
    assert values(facts_of(table), "gpu_model") == {"0": "NVIDIA A100-SXM4-80GB"}
    assert values(facts_of(table), "driver") == {"0": "535.104.05"}


@pytest.mark.parametrize("text", ["index, of all things", "name, rank and serial number", "count, 3"])
def test_prose_with_commas_is_no_csv(text):
    assert facts_of(text + "\n1, 2") == []


def test_the_topology_tells_what_joins_a_gpu_to_others():
    assert values(facts_of(sample("nvidia-smi-topo.txt")), "gpu_link") == {"GPU0": "NV18", "GPU1": "NV18"}


# --- RDMA ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ibstat.txt", "ibstatus.txt", "ibv_devinfo.txt"])
def test_all_tools_name_a_ports_state_alike(name):
    facts = facts_of(sample(name))

    assert values(facts, "port_state") == {"mlx5_0": "Active", "mlx5_1": "Down"}
    assert {fact.port for fact in facts if fact.name == "port_state"} == {1}


def test_a_rate_is_a_number_of_gigabits():
    rates = {
        name: {fact.device: fact.number for fact in facts_of(sample(name)) if fact.name == "rate"}
        for name in ("ibstat.txt", "ibstatus.txt")
    }

    assert rates["ibstat.txt"] == rates["ibstatus.txt"] == {"mlx5_0": 400.0, "mlx5_1": 10.0}


def test_both_lists_of_gids_show_the_same_address():
    rows = [
        {fact.number: fact.value for fact in facts_of(sample(name)) if fact.name == "gid" and fact.device == "mlx5_0"}
        for name in ("show_gids.txt", "ibv_devinfo.txt")
    ]

    assert rows[0][3.0] == rows[1][3.0] == "v2 10.18.4.21"


def test_rdma_link_tells_states_too():
    facts = facts_of("link mlx5_0/1 state DOWN physical_state DISABLED netdev ens4f0")

    assert values(facts, "port_state") == {"mlx5_0": "Down"}
    assert values(facts, "port_physical") == {"mlx5_0": "Disabled"}


# --- Whose output it is ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "before",
    [
        "[root@node07 ~]# ibstat",
        "user@node07:~$ ibstat",
        "$ ssh node07 ibstat",
        "=== node07 ===",
        "---------\nnode07\n---------",
    ],
)
def test_what_stands_above_an_output_names_its_host(before):
    assert {fact.origin.host for fact in facts_of(before + "\n" + sample("ibstat.txt"))} == {"node07"}


@pytest.mark.parametrize(
    ("name", "host"),
    [
        ("node07.ibstat.txt", "node07"),
        ("tools/ibstat-gpu-node07.txt", "gpu-node07"),
        ("node07/nvidia-smi-q.txt", "node07"),
        ("ibstat.txt", None),
        ("rank3/ibstat.txt", None),
        ("run12/nvidia-smi.log", None),
        ("node07/train.log", None),
    ],
)
def test_a_files_name_may_name_the_host(name, host):
    assert host_of_file(name) == host


def test_an_output_in_the_middle_of_a_log_ends_where_the_log_goes_on():
    log = "step 1 loss 2.0\n" + sample("ibstat.txt") + "step 2 loss 1.9\n  State: Down\n"
    events = events_of(log)

    assert [event.kind for event in events if event.kind != "host.fact"][:2] == ["train.step", "train.step"]
    assert events[-1].kind == "log.text"


# --- Any text at all -------------------------------------------------------------------------------------

LINES = [line for path in sorted(TOOLS.iterdir()) for line in path.read_text("utf-8").split("\n")]


@given(st.lists(st.sampled_from(LINES), max_size=40))
def test_lines_of_all_outputs_in_any_order_raise_nothing(lines):
    events_of("\n".join(lines))


@given(st.sampled_from(LINES), st.text(max_size=60), st.integers(0, 60))
def test_a_torn_line_raises_nothing(line, text, place):
    events_of(LINES[0] + "\n" + line[:place] + text + line[place:] + "\n" + line)


def test_other_json_in_a_log_stays_text():
    log = '{\n  "loss_scale": 0,\n  "ranks": [\n    {\n      "rank": 1\n    }\n  ]\n}\nnext\n'

    assert {event.kind for event in events_of(log)} == {"log.text"}
