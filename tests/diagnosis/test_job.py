"""What a log says of the job itself."""

from __future__ import annotations

import pytest

HEAD = "{host}:{pid}:{pid} [0] NCCL INFO "
INIT = "ncclCommInitRank comm 0x1 rank {rank} nranks 4 cudaDev 0 nvmlDev 0 busId 60 commId 0xabc - Init {phase}\n"


def said(text, host="n1", pid=100):
    return HEAD.format(host=host, pid=pid) + text + "\n"


def test_every_version_of_nccl_in_the_log_is_told_once(scan):
    log = "NCCL version 2.21.5+cuda12.4\n" * 3 + said("NCCL version 2.18.3+cuda12.1", host="n2")

    assert scan(log).job.nccl_versions == ("2.18.3", "2.21.5")


@pytest.mark.parametrize("text", ["PyTorch version: 2.5.1+cu124", "torch 2.5.1+cu124", "torch==2.5.1+cu124"])
def test_the_version_of_pytorch_is_taken_from_what_programs_print(scan, text):
    assert scan(said("hello") + text + "\n").job.torch_versions == ("2.5.1+cu124",)


@pytest.mark.parametrize("text", ["world_size: 16", "World size = 16", "'world_size': 16", "num_processes: 16"])
def test_the_world_is_as_large_as_the_program_says(scan, text):
    assert scan(said("hello") + text + "\n").job.world_size == 16


def test_ranks_that_began_and_ranks_that_were_ready_are_told_by_communicator(scan):
    log = "".join(
        HEAD.format(host="n1", pid=100 + rank) + INIT.format(rank=rank, phase=phase)
        for rank, phases in {0: ("START", "COMPLETE"), 2: ("START",)}.items()
        for phase in phases
    )
    [communicator] = scan(log).job.communicators

    assert (communicator.comm_id, communicator.nranks) == ("0xabc", 4)
    assert (communicator.started, communicator.completed) == ((0, 2), (0,))


def test_ranks_that_wrote_nothing_are_silent(scan):
    log = "".join(HEAD.format(host="n1", pid=100 + rank) + INIT.format(rank=rank, phase="START") for rank in (0, 2))
    job = scan(log).job

    assert (job.world_size, job.ranks_seen, job.ranks_silent, job.hosts) == (4, (0, 2), (1, 3), ("n1",))


def test_a_setting_is_told_once_with_its_source_and_its_first_line(scan):
    [setting] = scan(said("NCCL_IB_HCA set by environment to mlx5_0.") * 3).job.settings

    assert (setting.name, setting.value, setting.origin, setting.at.line) == ("NCCL_IB_HCA", "mlx5_0", "environment", 1)


def test_a_setting_that_differs_between_hosts_is_a_difference(scan):
    log = said("NCCL_IB_HCA set by environment to mlx5_0.") + said("NCCL_IB_HCA set by environment to mlx5_1.", "n2")
    [difference] = scan(log).job.differences

    assert (difference.name, dict(difference.values)) == ("NCCL_IB_HCA", {"mlx5_0": ("n1",), "mlx5_1": ("n2",)})


def test_a_setting_that_all_hosts_share_is_none(scan):
    log = said("NCCL_DEBUG set by environment to INFO.") + said("NCCL_DEBUG set by environment to INFO.", "n2")

    assert scan(log).job.differences == ()


def test_a_driver_that_differs_between_hosts_is_a_difference(scan):
    job = scan(said("cudaDriverVersion 12020") + said("cudaDriverVersion 11080", "n2")).job

    assert job.cuda_driver == ("11.8", "12.2")
    assert dict(job.differences[0].values) == {"11.8": ("n2",), "12.2": ("n1",)}


def test_the_networks_and_transports_in_use_are_told(scan):
    channels = "".join(said(f"Channel 0{number}/0 : 0[0] -> 1[1] via P2P/IPC") for number in (0, 1))
    job = scan(said("Using network IB") + channels).job

    assert job.network == ("IB",)
    assert dict(job.topology) == {"P2P/IPC": "2"}


def test_a_log_without_any_of_it_says_so(scan):
    job = scan("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n").job

    assert (job.nccl_versions, job.torch_versions, job.cuda_driver, job.network) == ((), (), (), ())
    assert (job.world_size, job.settings, job.differences, job.communicators) == (None, (), (), ())


def test_a_log_of_ever_new_facts_fills_nothing_without_end(scan):
    log = "".join(
        said(f"NCCL_X{number} set by environment to {number}.", f"n{number}")
        + said("NCCL_IB_HCA set by environment to " + f"mlx5_{number}.", f"n{number}")
        + said(f"NCCL version 2.{number}.1+cuda12.1")
        + said(INIT.format(rank=0, phase="START").replace("0xabc", hex(number)).rstrip())
        for number in range(1500)
    )
    job = scan(log).job

    assert all(len(facts) < 1500 for facts in (job.settings, job.hosts, job.nccl_versions, job.communicators))
    assert all(len(difference.values) < 1500 for difference in job.differences)
