"""Every setting that a rule's step names is one that exists, in the versions that the step is for."""

from __future__ import annotations

import pytest

from nccl_logscan.catalogue.load import catalogue
from nccl_logscan.catalogue.model import Kind, Reader
from nccl_logscan.catalogue.versions import version
from nccl_logscan.remedy.circumstances import is_advice
from nccl_logscan.remedy.values import UNSET, is_relative
from nccl_logscan.rulebook.load import builtin_rulebook

# Settings outside of the catalogue, or in it without a source that was read, and how they are known to exist.
KNOWN_OTHERWISE = {
    "--constraint": "sbatch(1): nodes with a feature, such as a GPU model",
    "--network-interfaces": "horovodrun --help: the interfaces for its own connections",
    "--node-rank": "torchrun --help: this node's number where no rendezvous gives it",
    "--pids-limit": "docker-run(1): how many processes a container may have",
    "--time": "sbatch(1): the limit of the job's run time",
    "--ulimit nofile": "docker-run(1): the container's limits",
    "/etc/modprobe.d/nvidia.conf": "NVSHMEM's installation guide: options of the driver's module",
    "HDF5_USE_FILE_LOCKING": "HDF5's documentation: file locking",
    "HF_HUB_OFFLINE": "huggingface_hub's documentation: environment variables",
    "LD_LIBRARY_PATH": "ld.so(8)",
    "NCCL_IB_PKEY_VALUE": "NCCL 2.31 names it in the message that the rule knows",
    "NVIDIA_DISABLE_REQUIRE": "the NVIDIA container toolkit's documentation",
    "NVIDIA_DRIVER_CAPABILITIES": "the NVIDIA container toolkit's documentation",
    "NVIDIA driver": "what nvidia-smi shows; no setting of a file",
    "PYTHONFAULTHANDLER": "the Python documentation: command line and environment",
    "TORCH_CUDA_ARCH_LIST": "torch.utils.cpp_extension: for which GPUs an extension is built",
    "torch.multiprocessing.set_start_method('spawn')": "torch.multiprocessing, as multiprocessing has it",
    "@torch.distributed.elastic.multiprocessing.errors.record": "torch.distributed.elastic: a decorator",
    "accelerator.pad_across_processes()": "accelerate's Accelerator: a method",
    "hvd.allreduce(name=...)": "Horovod's API: an argument of allreduce",
    "init_process_group(backend=)": "torch.distributed: an argument of init_process_group",
    "intel_iommu": "the Linux kernel's parameters",
    "kernel command line": "the Linux kernel's parameters",
    "model.generate(synced_gpus=True)": "transformers' generation: an argument of generate",
    "monitored_barrier(timeout=)": "torch.distributed: an argument of monitored_barrier",
    "nvidia-smi -c": "nvidia-smi(1): the compute mode",
    "resources.limits.memory": "Kubernetes: resources of a container",
    "resources.requests.ephemeral-storage": "Kubernetes: local ephemeral storage",
    "resources.requests.memory": "Kubernetes: resources of a container",
    "torch.autograd.set_detect_anomaly": "torch.autograd: a function",
    "torch.cuda.set_device": "torch.cuda: a function",
    "ulimit -n": "bash(1): the limit of open files",
}
STEPS = [
    (f"{rule.id}: {step.do[:60]}", step)
    for rule in builtin_rulebook().rules.values()
    for step in (*rule.remediation, *rule.confirm)
]
NAMED = [
    pytest.param(name, step, id=f"{where} [{name}]")
    for where, step in STEPS
    if step.setting
    for name in step.setting.split(", ")
]


@pytest.mark.parametrize(("name", "step"), NAMED)
def test_a_named_setting_exists_and_may_be_advised(name, step):
    variable = catalogue().variable(name) if step.kind == Kind.ENV else None
    options = catalogue().options_called(name)

    assert step.kind, "a setting has a kind"
    if name in KNOWN_OTHERWISE:
        return
    if variable is not None:
        assert variable.reader is not Reader.NOBODY or step.do_not, "nobody reads it"
        assert variable.verified or step.do_not, "it was only seen as a string in a binary"
        return
    assert options, "the catalogue has no such setting"
    may_go = step.do_not or step.to == UNSET
    assert may_go or any(map(is_advice, options)), "it is dead, harmful, or of no source that was read"
    assert any(option.kind == step.kind for option in options), {option.kind.value for option in options}


def test_nothing_is_known_otherwise_that_no_rule_names_or_the_catalogue_knows():
    named = {param.values[0] for param in NAMED}
    assert set(KNOWN_OTHERWISE) - named == set()
    known = {
        name
        for name in KNOWN_OTHERWISE
        if any(map(is_advice, catalogue().options_called(name)))
        or ((variable := catalogue().variable(name)) is not None and variable.verified)
    }
    assert known == set()


@pytest.mark.parametrize(("name", "step"), [param for param in NAMED if param.values[1].kind == Kind.ENV])
def test_a_step_speaks_of_versions_that_read_its_variable(name, step):
    variable = catalogue().variable(name)
    if variable is None or variable.reader not in {Reader.NCCL, Reader.TORCH}:
        return
    if variable.removed_in and not step.do_not:
        assert step.until or step.to == UNSET, f"removed in {variable.removed_in}"
    if step.until and variable.since:
        assert version(step.until) >= version(variable.since)
    if step.since and variable.removed_in:
        assert version(step.since) < version(variable.removed_in)


@pytest.mark.parametrize(("where", "step"), STEPS)
def test_a_value_belongs_to_a_setting(where, step):
    assert step.to is None or step.setting, where
    assert step.to is None or not is_relative(step.to) or step.kind != Kind.HOST_COMMAND or "ulimit" in step.setting


@pytest.mark.parametrize(("where", "step"), [entry for entry in STEPS if entry[1].do_not])
def test_what_not_to_do_says_why(where, step):
    assert step.why, where
