"""The map of hosts, ranks, GPUs and adapters, and the links that NCCL printed: bounded, marked in words, redacted."""

from __future__ import annotations

import json

import pytest
from cases import BY_NAME

from nccl_logscan.diagnosis.machines import Machine, RankPlace
from nccl_logscan.diagnosis.verdict import Culprit
from nccl_logscan.pipeline import Options, scan, scan_text
from nccl_logscan.report.html import render_html
from nccl_logscan.report.machines import GPUS, ROWS, machines_of
from nccl_logscan.report.public import public_view
from nccl_logscan.report.view import build_view
from nccl_logscan.rulebook.load import builtin_rulebook
from nccl_logscan.skim.choice import Skimming

HCAS = tuple(f"mlx5_{port}:1/IB" for port in range(8))
FAILURE = (
    "gpu-5:4042:5042 [2] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer 10.0.3.1<40211> with "
    "status=12 opcode=0 len=0 vendor err 129 (Send) localGid fe80::1 remoteGids fe80::2 hca mlx5_2"
)


def machine(host, first, ranks=8, adapters=HCAS):
    places = tuple(RankPlace(first + n, n, n, f"0000:{0x1B + 8 * n:x}:00", adapters) for n in range(ranks))
    return Machine(host, places, adapters)


def fleet(hosts):
    return [machine(f"gpu-{number}", 8 * number) for number in range(hosts)]


def view_of(name):
    return build_view(scan_text(BY_NAME[name].texts(), builtin_rulebook()))


def log_of(hosts, extra=()):
    lines = []
    for rank in range(2 * hosts):
        head = f"gpu-{rank // 2}:{4000 + rank}:{5000 + rank} [{rank % 2}] NCCL INFO "
        init = f"rank {rank} nranks {2 * hosts} cudaDev {rank % 2} nvmlDev {rank % 2} busId {1 + rank % 2}b000"
        lines += [
            f"{head}NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_2:1/RoCE [RO]; OOB eth0:10.0.0.{rank}<0>",
            f"{head}comm 0x55aa {init} commId 0xabc - Init START",
            *(f"{head}{line}" for line in extra),
            f"{head}comm 0x55aa {init} commId 0xabc - Init COMPLETE",
        ]
    return "\n".join((*lines, FAILURE, ""))


def view_of_log(text):
    return build_view(scan_text(text, builtin_rulebook()))


# --- The map ---------------------------------------------------------------------------------------------------


def test_equal_hosts_are_one_row_and_those_that_matter_come_first():
    machines = fleet(128)
    machines[77] = machine("gpu-77", 616, adapters=(*HCAS[:3], *HCAS[4:]))
    machines[51] = machine("gpu-51", 408, ranks=7)

    drawn = machines_of(machines, Culprit(rank=805, host="gpu-100.cluster", adapter="mlx5_5"))

    assert [row["hosts"][:1] for row in drawn["rows"]] == [["gpu-100"], ["gpu-51"], ["gpu-77"], ["gpu-0"]]
    assert [row["host_count"] for row in drawn["rows"]] == [1, 1, 1, 125]
    assert [row["differs"] for row in drawn["rows"]] == [
        [],
        ["7 ranks seen; most hosts have 8"],
        ["does not use mlx5_3:1/IB, as most hosts do"],
        [],
    ]
    at_fault = drawn["rows"][0]
    assert at_fault["culprit_adapter"] == "mlx5_5:1/IB"
    assert [seat["rank"] for seat in at_fault["gpus"] if seat["culprit"]] == [805]
    assert all(seat["rank"] is None for seat in drawn["rows"][-1]["gpus"])


def test_however_many_hosts_and_ranks_there_are_the_map_is_bounded_and_says_what_it_leaves_out():
    unlike = [machine(f"gpu-{n}", 8 * n, adapters=(f"mlx5_{n}:1/IB",)) for n in range(1_250)]
    crowded = [machine("dgx", 0, ranks=10_000)]

    drawn = machines_of(unlike, Culprit(host="gpu-1200"))

    assert len(drawn["rows"]) == ROWS
    assert drawn["rows"][0]["hosts"] == ["gpu-1200"]
    assert (drawn["host_count"], drawn["rank_count"]) == (1_250, 10_000)
    assert drawn["notes"] == ["The hosts use different adapters."]
    [row] = machines_of(crowded, Culprit(rank=9_999))["rows"]
    assert (len(row["gpus"]), row["gpu_count"], row["rank_count"]) == (GPUS, 10_000, 10_000)
    assert [seat["rank"] for seat in row["gpus"] if seat["culprit"]] == [9_999]


def test_two_hosts_that_differ_are_both_named_and_neither_is_called_the_odd_one():
    drawn = machines_of([machine("a", 0), machine("b", 8, adapters=HCAS[:2])], Culprit())

    assert drawn["notes"] == ["The hosts use different adapters."]
    assert [row["differs"] for row in drawn["rows"]] == [[], []]


def test_where_the_log_shows_no_machine_there_is_no_map():
    assert machines_of([], Culprit(rank=0, host="node-1")) is None


@pytest.mark.parametrize(
    ("name", "hosts", "adapters", "at_fault"),
    [
        ("field/net009", ["job-llm-worker-0", "job-llm-master-0"], ["erdma_0:1/RoCE"], 8),
        ("lab/m8-timeout-rank5", ["vm"], ["eth0"], 5),
        ("blind/c008", ["hgx-01"], [f"mlx5_{port}:1/RoCE" for port in range(8)], None),
    ],
)
def test_real_logs_give_hosts_ranks_gpus_and_adapters(name, hosts, adapters, at_fault):
    drawn = view_of(name)["machines"]

    assert [host for row in drawn["rows"] for host in row["hosts"]] == hosts
    assert drawn["rows"][0]["culprit"]
    assert drawn["rows"][0]["adapters"] == adapters
    assert [seat["rank"] for seat in drawn["rows"][0]["gpus"] if seat["culprit"]] == [at_fault] * (at_fault is not None)


def test_ranks_that_share_a_gpu_are_told():
    drawn = view_of("lab/m8-timeout-rank5")["machines"]

    assert drawn["notes"] == ["On one host several ranks share a GPU."]
    assert {seat["bus_id"] for seat in drawn["rows"][0]["gpus"]} == {"0000:00:06", "0000:00:07"}


# --- Links -----------------------------------------------------------------------------------------------------

PRINTED = (
    "=== System : maxBw 40.0 totalBw 370.8 ===",
    "Pattern 4, crossNic 0, nChannels 16, bw 40.000000/20.000000, type NVL/PIX, sameChannels 1",
    "Pattern 3, crossNic 2, nChannels 1, speed 0.100000/0.100000, type SYS/SYS, sameChannels 1",
    "16 coll channels, 0 nvls channels, 32 p2p channels, 2 p2p channels per peer",
)


def test_bandwidths_paths_and_channels_are_told_once_with_the_hosts_that_printed_them():
    links = view_of_log(log_of(6, PRINTED))["links"]

    [system] = links["systems"]
    assert (system["largest"], system["total"], system["who_count"]) == (40.0, 370.8, 6)
    tree, ring = links["graphs"]
    assert (ring["name"], ring["channels"], ring["path_within"], ring["path_between"]) == ("ring", 16, "NVL", "PIX")
    assert (ring["bandwidth_within"], ring["bandwidth_between"], ring["remark"]) == (40.0, 20.0, None)
    assert "found no path" in tree["remark"]
    [channels] = links["channels"]
    assert (channels["collective"], channels["collnet"], channels["nvls"], channels["per_peer"]) == (16, None, 0, 2)


def test_a_log_that_is_skimmed_gives_the_same_map_and_links(tmp_path):
    log = tmp_path / "trainer.log"
    again = ("2 coll channels, 0 nvls channels, 4 p2p channels, 2 p2p channels per peer",)
    log.write_text(log_of(40, (*PRINTED, *again)) + "step 1 of 9\n" * 2_000)
    whole, skimmed = (
        build_view(scan([log], None, Options(skimming=Skimming(large=large), looks_beside=False)))
        for large in (None, 1)
    )

    assert skimmed["machines"] == whole["machines"]
    assert skimmed["links"] == whole["links"]
    [channels] = skimmed["links"]["channels"]
    assert (channels["collective"], channels["who_count"]) == (16, 40)


@pytest.mark.parametrize(
    "line",
    [
        "=== System : maxBw " + "9" * 5_000 + " totalBw 1.0 ===",
        "Pattern 4, crossNic 0, nChannels 2, bw nan/inf, type <b>/NVL, sameChannels 1",
        "Pattern 99999999999999999999, crossNic 0, nChannels 2, bw 1.0/1.0, type NVL/NVL",
        " coll channels, x",
    ],
)
def test_lines_that_only_look_like_links_are_none(line):
    links = view_of_log(log_of(2, (line,)))["links"]

    assert links == {"systems": [], "graphs": [], "channels": []}


def test_very_many_different_links_are_bounded():
    odd = tuple(f"=== System : maxBw {n}.0 totalBw {n}.0 ===" for n in range(500))

    assert len(view_of_log(log_of(1, odd))["links"]["systems"]) == 64


# --- What is shown and hidden ----------------------------------------------------------------------------------


def test_the_page_marks_the_culprit_in_words_and_holds_map_links_and_environment():
    page = render_html(view_of_log(log_of(8, PRINTED)))

    assert page.count("the failure began on this host") == 1
    assert "7 hosts, all alike" in page
    assert "mlx5_2:1/RoCE" in page
    assert "NVL <span" in page


def test_what_differs_and_what_is_the_same_stand_in_one_table():
    page = render_html(view_of("field/net009"))
    table = page[page.index('<table class="environment">') :]
    table = table[: table.index("</table>")]

    assert table.index("adapters") < table.index("NCCL_IGNORE_NET_MISMATCH")
    assert '<span class="apart">differs</span>' in table
    assert page.count("NCCL_IGNORE_NET_MISMATCH</th>") == 1


def test_a_redacted_report_names_no_host_of_the_map():
    view, counts = public_view(view_of_log(log_of(8, PRINTED).replace("gpu-", "fuchsbau-")))

    text = json.dumps(view) + render_html(view)
    assert "fuchsbau" not in text
    assert counts["host"] == 8
    assert view["machines"]["rows"][0]["gpus"][0]["bus_id"] == "0000:1b:00"


def test_a_hostile_host_and_adapter_stay_text():
    text = log_of(6).replace("mlx5_0:1/RoCE", "<script>alert(1)</script>").replace("gpu-", "g<b>u-")

    page = render_html(view_of_log(text))

    assert "<script>alert" not in page
    assert "<b>u-" not in page
