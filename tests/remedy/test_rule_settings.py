"""Every setting that a rule's step names is one that exists, in the versions that the step is for."""

from __future__ import annotations

import pytest

from nccl_logscan.catalogue.load import catalogue
from nccl_logscan.catalogue.model import Kind, Reader
from nccl_logscan.catalogue.versions import version
from nccl_logscan.remedy.circumstances import PATHS, is_advice
from nccl_logscan.remedy.values import UNSET, is_relative
from nccl_logscan.rulebook.load import builtin_rulebook

# Settings outside of the catalogue, or in it without a source that was read, and how they are known to exist.
KNOWN_OTHERWISE = {
    "/etc/modprobe.d/nvidia.conf": "NVSHMEM's installation guide: options of the driver's module",
    "HF_HOME": "huggingface_hub's documentation: environment variables",
    "NCCL_IB_PKEY_VALUE": "NCCL 2.31 names it in the message that the rule knows",
    "NVIDIA_DISABLE_REQUIRE": "the NVIDIA container toolkit's documentation",
    "TMPDIR": "POSIX: the folder for temporary files",
    "TRITON_CACHE_DIR": "Triton's cache manager reads it",
    "nvidia-smi -c": "nvidia-smi(1): the compute mode",
}
STEPS = [
    (f"{rule.id}: {step.do[:60]}", step)
    for rule in builtin_rulebook().rules.values()
    for step in (*rule.remediation, *rule.confirm)
]
NAMED = [pytest.param(name, step, id=f"{where} [{name}]") for where, step in STEPS for name in step.settings]


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


def test_what_steps_are_given_for_exists():
    frameworks = {option.framework for option in catalogue().options}
    given = {name for rule in builtin_rulebook().rules.values() for step in rule.remediation for name in step.given}

    assert given <= frameworks | PATHS
