"""What outputs of tools, put beside a log, add to its verdict."""

from __future__ import annotations

from pathlib import Path

import pytest

from nccl_logscan.taxonomy import Category, Role

TOOLS = Path(__file__).parents[2] / "fixtures" / "tools"
TELLING = {Role.CAUSE, Role.SYMPTOM}
INIT = (
    "{host}:{pid}:{pid} [0] NCCL INFO ncclCommInitRank comm 0x1 rank {rank} nranks {nranks} cudaDev 0 nvmlDev 0 "
    "busId 60 commId 0xb1c2a79be8cd4410 - Init COMPLETE\n"
)
USES = "{host}:7:7 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/{layer} [1]mlx5_1:1/{layer} [RO]; OOB eth0:{address}<0>\n"
STEPS = "".join(f"step {number} loss 2.1\n" for number in range(1, 4))


def sample(name):
    return (TOOLS / name).read_text("utf-8")


def rules_of(result):
    return {finding.rule.id for finding in result.findings}


def telling(result):
    return {finding.rule.id for finding in result.findings if finding.rule.role in TELLING}


@pytest.mark.parametrize(
    "name",
    [
        "ncclras-healthy.txt",
        "nvidia-smi-healthy.txt",
        "nvidia-smi-q-healthy.txt",
        "nvidia-smi-topo.txt",
        "show_gids.txt",
    ],
)
def test_healthy_values_raise_nothing(scan, name):
    assert telling(scan({"train.log": STEPS, name: sample(name)})) == set()


# --- RAS -------------------------------------------------------------------------------------------------


def test_the_process_that_ras_calls_dead_is_the_culprit_by_its_global_rank_and_host(scan):
    log = INIT.format(host="n3", pid=3081442, rank=21, nranks=32) + INIT.format(host="n1", pid=5, rank=0, nranks=32)
    culprit = scan({"train.log": log, "ras.txt": sample("ncclras-dead.txt")}).diagnosis.culprit

    assert (culprit.rank, culprit.host, culprit.pid) == (21, "n3", 3081442)


def test_an_address_is_the_host_that_says_it_uses_it(scan):
    log = "n3:9:9 [0] NCCL INFO Bootstrap: Using eth0:10.18.4.23<0>\n"

    assert scan({"train.log": log, "ras.txt": sample("ncclras-incomplete.txt")}).diagnosis.culprit.host == "n3"


def test_a_rank_of_a_smaller_communicator_is_no_global_rank(scan):
    log = "".join(INIT.format(host="n1", pid=rank, rank=rank, nranks=64).replace("b1c2", "ffff") for rank in range(64))
    diagnosis = scan({"train.log": log, "ras.txt": sample("ncclras-dead.txt")}).diagnosis

    assert (diagnosis.category, diagnosis.culprit.rank) == (Category.PROCESS_DEATH, None)


def test_counts_of_a_job_that_trains_on_say_nothing(scan):
    assert telling(scan({"train.log": STEPS, "ras.txt": sample("ncclras-behind.txt")})) == set()


def test_a_rank_that_launched_something_else_is_told_from_one_that_is_late(scan):
    late = scan(sample("ncclras-behind.txt")).diagnosis
    other = scan(sample("ncclras-other-operation.txt")).diagnosis

    assert (late.category, late.culprit.rank) == (Category.COLLECTIVE_TIMEOUT, 13)
    assert (other.category, other.culprit.rank) == (Category.COLLECTIVE_MISMATCH, 6)


def test_the_latest_of_two_reports_counts(scan):
    first, second = sample("ncclras-behind.txt"), sample("ncclras-behind.txt").replace("Rank 13", "Rank 14")

    assert scan(first + second).diagnosis.culprit.rank in {14, None}


def test_what_the_log_says_of_a_rank_outweighs_what_ras_sees_of_it(scan):
    log = "[rank13]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"

    assert scan({"train.log": log, "ras.txt": sample("ncclras-dead.txt")}).diagnosis.category is Category.GPU_OOM


# --- Ports -----------------------------------------------------------------------------------------------


def test_a_port_that_nccl_uses_and_that_is_down_is_the_cause(scan):
    log = USES.format(host="n7", layer="IB", address="10.0.0.7")
    diagnosis = scan({"train.log": log, "n7.ibstat.txt": sample("ibstat.txt")}).diagnosis

    assert (diagnosis.category, diagnosis.culprit.host, diagnosis.culprit.adapter) == (
        Category.INFINIBAND,
        "n7",
        "mlx5_1",
    )


def test_a_port_that_nobody_asked_for_is_shown_and_not_blamed(scan):
    log = USES.format(host="n7", layer="IB", address="10.0.0.7").replace(" [1]mlx5_1:1/IB", "")
    result = scan({"train.log": log + STEPS, "n7.ibstat.txt": sample("ibstat.txt")})

    assert "infiniband/port-down-unused" in rules_of(result)
    assert telling(result) == set()


def test_a_port_on_another_host_than_the_one_that_uses_its_name_is_not_blamed(scan):
    log = USES.format(host="n7", layer="IB", address="10.0.0.7")
    log += USES.format(host="n8", layer="IB", address="10.0.0.8").replace(" [1]mlx5_1:1/IB", "")

    assert telling(scan({"train.log": log + STEPS, "n8.ibstat.txt": sample("ibstat.txt")})) == set()


def test_a_wanted_port_that_is_down_explains_a_stall(scan):
    log = "n7:7:7 [0] NCCL INFO NCCL_IB_HCA set by environment to mlx5_0,mlx5_1\n"
    log += USES.format(host="n7", layer="IB", address="10.0.0.7").replace(" [1]mlx5_1:1/IB", "")
    log += "n7:7:7 [0] NCCL WARN NET/IB : Got completion from peer 10.0.0.3<40211> with status=12 opcode=0 len=0\n"

    assert "infiniband/port-down" in rules_of(scan({"train.log": log, "n7.ibstat.txt": sample("ibstat.txt")}))


FAILED = "n7:7:7 [0] NCCL WARN NET/IB : Got completion from peer 10.0.0.3<40211> with status=12 opcode=0 len=0\n"


@pytest.mark.parametrize(
    ("index", "unfit"), [("3", False), ("1", True), ("2", True), ("9", True), ("9" * 5_000, False)]
)
def test_the_row_of_the_gid_table_must_lead_to_other_hosts(scan, index, unfit):
    log = USES.format(host="n7", layer="RoCE", address="10.0.0.7").replace(" [1]mlx5_1:1/RoCE", "")
    log += f"n7:7:7 [0] NCCL INFO NCCL_IB_GID_INDEX set by environment to {index}.\n" + FAILED
    result = scan({"train.log": log, "n7.show_gids.txt": sample("show_gids.txt")})

    assert ("roce_config/gid-row-unfit" in rules_of(result)) is unfit


def test_a_port_without_any_ip_address_cannot_be_reached(scan):
    log = USES.format(host="n7", layer="RoCE", address="10.0.0.7") + FAILED
    diagnosis = scan({"train.log": log, "n7.show_gids.txt": sample("show_gids.txt")}).diagnosis

    assert (diagnosis.category, diagnosis.culprit.adapter) == (Category.ROCE_CONFIG, "mlx5_1")


# --- GPUs ------------------------------------------------------------------------------------------------


def test_a_gpu_that_the_driver_cannot_read_is_the_cause_and_names_its_host(scan):
    diagnosis = scan({"train.log": STEPS, "smi.txt": sample("nvidia-smi-err.txt")}).diagnosis

    assert (diagnosis.category, diagnosis.culprit.host) == (Category.GPU_HARDWARE, "node07")


def test_a_gpus_address_leads_to_the_rank_that_uses_it(scan):
    log = "".join(
        INIT.format(host="node07", pid=100 + rank, rank=rank, nranks=2).replace("busId 60", f"busId {bus}")
        for rank, bus in enumerate(("19000", "2a000"))
    )
    culprit = scan({"train.log": log, "smi.txt": sample("nvidia-smi-err.txt")}).diagnosis.culprit

    assert (culprit.rank, culprit.host) == (1, "node07")


def test_memory_that_waits_for_a_reset_is_context(scan):
    text = sample("nvidia-smi-q-healthy.txt").replace(
        "Pending                           : No", "Pending                           : Yes"
    )
    result = scan({"train.log": STEPS, "smi.txt": text})

    assert "gpu_hardware/smi-remap-pending" in rules_of(result)
    assert telling(result) == set()
