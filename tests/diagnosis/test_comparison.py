"""Facts compared across hosts and ranks: what differs, whether it may, and who is the odd one out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nccl_logscan.diagnosis.comparison import MUST_AGREE, Comparison, harmless, odd_one_out, short_name
from nccl_logscan.diagnosis.verdict import Culprit
from nccl_logscan.events.model import NcclEnv
from nccl_logscan.position import Origin, Position
from nccl_logscan.taxonomy import Category

INIT = (
    "{host}:{pid}:{pid} [{device}] NCCL INFO ncclCommInitRank comm 0x1 rank {rank} nranks {nranks} cudaDev 0 nvmlDev 0 "
    "busId 60 commId 0xabc - Init {phase}\n"
)


def said(host, text, pid=100):
    return f"{host}:{pid}:{pid} [0] NCCL INFO {text}\n"


def env(host, name, value, pid=100):
    return said(host, f"{name} set by environment to {value}.", pid)


def detected(result, rule_id):
    return [finding for finding in result.findings if finding.rule.id == rule_id]


def differences(result):
    return {difference.name: difference for difference in result.job.differences}


@pytest.mark.parametrize(
    ("first", "other", "rule"),
    [
        ("cudaDriverVersion 12020", "cudaDriverVersion 12040", "heterogeneous_driver/driver-versions-differ"),
        (
            "NCCL_ALGO set by environment to Tree",
            "NCCL_ALGO set by environment to Ring",
            "invalid_config/settings-differ",
        ),
        (
            "NCCL_BUFFSIZE set by environment to 1.",
            "NCCL_BUFFSIZE set by environment to 2.",
            "invalid_config/settings-differ",
        ),
        (
            "NET/Plugin: Loaded net plugin A (v8)",
            "NET/Plugin: Loaded net plugin A (v9)",
            "version_mismatch/plugins-differ",
        ),
        ("TUNER/Plugin: Using A (v4)", "TUNER/Plugin: Using B (v4)", "version_mismatch/plugins-differ"),
        ("Using network AWS Libfabric", "Using network IB", "version_mismatch/plugins-differ"),
        ("NCCL version 2.18.3+cuda12.1", "NCCL version 2.21.5+cuda12.4", "version_mismatch/nccl-versions-differ"),
    ],
)
def test_the_host_that_differs_from_all_others_is_named(scan, first, other, rule):
    result = scan(said("n1", other) + said("n2", first) + said("n3", other) + said("n4", other))
    [finding] = detected(result, rule)

    assert (finding.captures["host"], finding.hosts) == ("n2", ("n2",))
    assert result.diagnosis.culprit.host == "n2"


@pytest.mark.parametrize("hosts", [("n1", "n2"), ("n1", "n2", "n1b", "n2b")])
def test_where_it_is_one_against_one_nobody_is_the_odd_one(scan, hosts):
    log = "".join(env(host, "NCCL_ALGO", "Tree" if host.startswith("n1") else "Ring") for host in hosts)
    result = scan(log)
    [finding] = detected(result, "invalid_config/settings-differ")

    assert not {"host", "rank"} & finding.captures.keys()
    assert result.diagnosis.culprit == Culprit()


def test_within_one_host_the_rank_that_differs_is_named(scan):
    log = "".join(
        INIT.format(host="n1", pid=100 + rank, device=rank, rank=rank, nranks=4, phase=phase)
        for rank in range(4)
        for phase in ("START", "COMPLETE")
    )
    log += "".join(env("n1", "NCCL_PROTO", "LL" if rank == 2 else "Simple", 100 + rank) for rank in range(4))
    result = scan(log)

    assert result.diagnosis.category is Category.INVALID_CONFIG
    assert (result.diagnosis.culprit.rank, result.diagnosis.culprit.host) == (2, "n1")


def test_a_variable_that_one_host_does_not_have_differs_too(scan):
    log = "".join(env(host, "NCCL_DEBUG_SUBSYS", "ENV") for host in ("n1", "n2", "n3"))
    log += "".join(env(host, "NCCL_ALGO", "Ring") for host in ("n1", "n2"))
    log += "".join(
        INIT.format(host=f"n{rank + 1}", pid=100, device=0, rank=rank, nranks=3, phase="COMPLETE") for rank in range(3)
    )
    [finding] = detected(scan(log), "invalid_config/settings-differ")

    assert finding.captures["host"] == "n3"
    assert "(not set) on n3" in finding.captures["values"]


@pytest.mark.parametrize(
    "name",
    ["NCCL_DEBUG", "NCCL_DEBUG_FILE", "NCCL_SOCKET_IFNAME", "NCCL_HOSTID", "NCCL_IB_HCA"],
)
def test_what_each_host_may_have_of_its_own_is_a_harmless_difference(scan, name):
    result = scan(env("n1", name, "a") + env("n2", name, "b") + env("n3", name, "b"))

    assert result.findings == ()
    assert differences(result)[name].harmless


def test_a_job_that_was_started_again_with_another_setting_differs_from_nobody(scan):
    log = "".join(
        INIT.format(host="n1", pid=pid + rank, device=rank, rank=rank, nranks=2, phase="COMPLETE")
        + env("n1", "NCCL_ALGO", algorithm, pid + rank)
        for pid, algorithm in ((100, "Ring"), (200, "Tree"))
        for rank in range(2)
    )
    result = scan(log)

    assert detected(result, "invalid_config/settings-differ") == []
    assert differences(result) == {}


def test_a_setting_that_must_agree_is_no_harmless_difference(scan):
    assert (
        differences(scan(env("n1", "NCCL_ALGO", "Ring") + env("n2", "NCCL_ALGO", "Tree")))["NCCL_ALGO"].harmless is None
    )


def test_no_variable_both_must_agree_and_may_differ():
    names = ["NCCL_ALGO", "NCCL_NET", "NCCL_IB_DISABLE", "NCCL_COMM_ID", "NCCL_P2P_NET_CHUNKSIZE", "NCCL_MIN_CTAS"]

    assert all(MUST_AGREE.fullmatch(name) and harmless(name) is None for name in names)


def test_models_are_the_same_model_however_much_of_the_name_a_tool_prints(scan):
    table = "#  Rank  0 Group  0 Pid 188204 on    n1 device  0 [0x17] NVIDIA H100 80GB HBM3\n"
    listed = (
        "[root@n2 ~]# nvidia-smi -L\nGPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-5895e020-7d50-0c08-6ec8-e543a425c76c)\n"
    )

    assert detected(scan(said("n1", "hello") + table + listed), "heterogeneous_driver/gpu-models-differ") == []


def test_drivers_are_compared_between_outputs_of_nvidia_smi(scan):
    head = "| NVIDIA-SMI {0}              Driver Version: {0}      CUDA Version: 12.8     |\n"
    texts = {f"n{number}.nvidia-smi.txt": head.format("570.86.15") for number in (1, 2, 3)}
    texts["n4.nvidia-smi.txt"] = head.format("550.54.15")
    [finding] = detected(scan(texts), "heterogeneous_driver/driver-versions-differ")

    assert finding.captures["host"] == "n4"


def test_a_host_with_fewer_adapters_is_a_difference_that_may_matter(scan):
    log = said("n1", "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0:10.0.0.1<0>")
    log += said("n2", "NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.0.0.2<0>")
    result = scan(log)

    assert differences(result)["adapters"].harmless is None


def test_adapters_that_are_only_called_otherwise_are_harmless(scan):
    log = said("n1", "NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.0.0.1<0>")
    log += said("n2", "NET/IB : Using [0]mlx5_9:1/IB [RO]; OOB eth0:10.0.0.2<0>")

    assert differences(scan(log))["adapters"].harmless


@given(st.dictionaries(st.text(max_size=3), st.lists(st.sampled_from("abcdef"), max_size=4, unique=True), max_size=5))
def test_the_odd_one_holds_a_value_of_its_own_against_several(holders):
    odd = odd_one_out(holders)

    if odd is not None:
        assert [odd] in [list(who) for who in holders.values()]
        assert sum(map(len, holders.values())) >= 3


@pytest.mark.parametrize(
    ("host", "name"), [("n7.cluster.example", "n7"), ("10.0.0.7", "10.0.0.7"), ("a/b.log", "a/b.log")]
)
def test_a_hosts_name_ends_at_its_first_dot(host, name):
    assert short_name(host) == name


def test_what_is_remembered_of_who_has_what_is_bounded():
    comparison = Comparison(limit=100)
    for number in range(1_000):
        event = NcclEnv(
            at=Position("log", 1, 0), origin=Origin(host=f"n{number}", pid=1), name="NCCL_ALGO", value="Ring"
        )
        comparison.note("NCCL_ALGO", "Ring", event)

    assert sum(len(who) for known in comparison.facts.values() for who in known.values.values()) <= 100
