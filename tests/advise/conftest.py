"""Runs that people have."""

from __future__ import annotations

import itertools

import pytest

from nccl_logscan.advise.run import NETWORKS, Run, frameworks

LAUNCHED_BY = {
    "verl": ("ray",),
    "openrlhf": ("ray",),
    "deepspeed": ("deepspeed", "slurm", "mpirun", "kubernetes"),
    "sglang": ("by-hand", "slurm", "kubernetes"),
    "vllm": ("ray", "kubernetes", "docker"),
}
VERSIONS = [
    (None, None, None),
    ("2.18.5", "2.1.2", "0.4.0"),
    ("2.19.3", "2.2.2", "0.5.0"),
    ("2.21.5", "2.6.0", "0.7.0"),
    ("2.27.5", "2.9.1", "0.8.0"),
    ("2.30.7", "2.14.1", "1.0.0"),
]


@pytest.fixture(params=frameworks())
def runs(request):
    """A framework's runs over its launchers, the networks and versions old and new."""
    framework = frameworks()[request.param]
    launchers = LAUNCHED_BY.get(framework.name, ("torchrun", "slurm", "mpirun", "kubernetes", "accelerate"))
    return [
        Run(
            params=30 * 10**9,
            nodes=1 if network == "none" else 4,
            gpus_per_node=8,
            network=network,
            framework=framework,
            launcher=launcher,
            nccl=nccl,
            torch=torch,
            framework_version=own,
        )
        for launcher, network, (nccl, torch, own) in itertools.product(launchers, NETWORKS, VERSIONS)
    ]


@pytest.fixture
def run_of():
    """Make a run of 30B parameters on four nodes (one without a network)."""

    def run_of(framework, network="ib", **said):
        chosen = frameworks()[framework]
        said = {"nodes": 1 if network == "none" else 4, "launcher": chosen.launcher, **said}
        return Run(params=30 * 10**9, gpus_per_node=8, network=network, framework=chosen, **said)

    return run_of
