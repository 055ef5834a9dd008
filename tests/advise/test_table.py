"""The settings table and the claims, over the runs that people have."""

from __future__ import annotations

import itertools
import re

import pytest

from nccl_logscan.advise.run import CLOUDS, LAUNCHERS, NETWORKS, PRECISIONS, Run, frameworks, gpus
from nccl_logscan.advise.table import Mark, advice_for, place_for, places, rows
from nccl_logscan.advise.view import advise
from nccl_logscan.catalogue.claims import claims
from nccl_logscan.catalogue.load import catalogue
from nccl_logscan.catalogue.model import Kind, Reader
from nccl_logscan.catalogue.versions import version


def marks(run, setting):
    return [advice.row.mark for advice in advice_for(run) if advice.row.setting == setting]


def test_every_row_says_why_at_what_risk_and_where_that_was_read():
    for row in rows():
        assert row.why, row.setting
        assert row.risk, row.setting
        assert "https://" in row.source, row.setting


def test_a_row_that_depends_names_what_tells():
    assert not [row.setting for row in rows() if row.mark is Mark.DEPENDS and not row.tells]


def test_a_needed_row_has_a_value():
    assert not [row.setting for row in rows() if row.mark is Mark.NEEDED and not row.value]


def test_a_needed_variable_can_be_exported():
    for row in rows():
        if row.kind is Kind.ENV and row.mark is Mark.NEEDED:
            assert re.fullmatch(r"[A-Z][A-Z0-9_]*", row.setting)
            assert re.fullmatch(r"\S+", row.value), row.setting


def test_conditions_name_what_there_is():
    for when in (*(row.when for row in rows()), *(place.when for place in places())):
        assert when.networks <= set(NETWORKS)
        assert when.frameworks | when.not_frameworks <= set(frameworks())
        assert when.launchers | when.not_launchers <= set(LAUNCHERS)
        assert when.clouds | when.not_clouds <= set(CLOUDS)
        assert when.precisions <= set(PRECISIONS)
        assert when.gpus <= set(gpus())


def test_every_launcher_has_a_way_to_the_workers():
    for framework, launcher in itertools.product(frameworks().values(), LAUNCHERS):
        assert place_for(Run(10**9, 2, 8, "ib", framework, launcher)).where


def test_no_row_names_a_variable_that_its_reader_lacks_in_this_version(runs):
    for run in runs:
        for advice in advice_for(run):
            row = advice.row
            variable = catalogue().variable(row.setting)
            used = {Reader.NCCL: run.nccl, Reader.TORCH: run.torch}.get(variable.reader) if variable else None
            if used is None or row.mark in {Mark.FOLKLORE, Mark.HARMFUL}:
                continue
            assert variable.since is None or version(variable.since) <= version(used), row.setting
            assert variable.removed_in is None or version(used) < version(variable.removed_in), row.setting


def test_every_variable_in_the_table_is_in_the_catalogue_and_verified():
    for row in rows():
        if row.kind is not Kind.ENV or not re.fullmatch(r"[A-Z][A-Z0-9_]+", row.setting):
            continue
        variable = catalogue().variable(row.setting)
        options = catalogue().options_called(row.setting)
        assert variable or options, row.setting
        if row.mark in {Mark.NEEDED, Mark.DEPENDS}:
            assert any(known.verified for known in (*([variable] if variable else []), *options)), row.setting


def test_every_other_setting_is_an_option_that_was_read_in_a_source():
    for row in rows():
        if row.kind is Kind.HOST_COMMAND or catalogue().variable(row.setting):
            continue
        options = catalogue().options_called(row.setting)
        assert options, row.setting
        assert any(option.verified for option in options), row.setting


def test_no_row_names_an_option_that_the_framework_lacks_in_this_version(runs):
    for run in runs:
        if run.framework_version is None:
            continue
        for advice in advice_for(run):
            if catalogue().variable(advice.row.setting):
                continue
            options = catalogue().options_called(advice.row.setting, run.framework.name)
            if options and advice.row.mark not in {Mark.FOLKLORE, Mark.HARMFUL}:
                assert any(is_there(option, run.framework_version) for option in options), advice.row.setting


def is_there(option, used):
    since = not option.since or version(option.since) <= version(used)
    return since and not option.dead and (not option.until or version(used) <= version(option.until))


def test_no_setting_is_both_needed_and_to_be_left_alone(runs):
    for run in runs:
        certain = {}
        for advice in advice_for(run):
            if not advice.provided:
                certain.setdefault(advice.row.setting, []).append(advice.row.mark)
        assert not {setting: found for setting, found in certain.items() if len(found) > 1}


# --- facts by version ----------------------------------------------------------------------------------------


def test_the_gid_index_is_automatic_from_2_21_on(run_of):
    assert marks(run_of("torchrun", "roce", nccl="2.21.5"), "NCCL_IB_GID_INDEX") == [Mark.DEFAULT]
    assert marks(run_of("torchrun", "roce", nccl="2.20.5"), "NCCL_IB_GID_INDEX") == [Mark.DEPENDS]


def test_without_a_version_both_cases_are_told_with_their_condition(run_of):
    found = [advice for advice in advice_for(run_of("torchrun", "roce")) if advice.row.setting == "NCCL_IB_GID_INDEX"]
    assert {advice.provided for advice in found} == {("NCCL >=2.21",), ("NCCL <2.21",)}


@pytest.mark.parametrize(
    ("torch", "needed"),
    [
        ("2.1", []),
        ("2.6", ["TORCH_NCCL_TRACE_BUFFER_SIZE", "TORCH_NCCL_DUMP_ON_TIMEOUT"]),
        ("2.9.1", ["TORCH_FR_BUFFER_SIZE"]),
        ("2.11", []),
    ],
)
def test_what_the_flight_recorder_needs(run_of, torch, needed):
    found = advice_for(run_of("torchrun", torch=torch))
    assert [a.row.setting for a in found if a.row.mark is Mark.NEEDED and a.row.setting.startswith("TORCH_")] == needed


def test_verl_reads_its_timeout_until_0_7(run_of):
    key = "actor_rollout_ref.nccl_timeout"
    assert marks(run_of("verl", framework_version="0.7.1"), key) == [Mark.DEPENDS]
    assert marks(run_of("verl", framework_version="0.8.0"), key) == [Mark.FOLKLORE]


def test_the_traffic_class_is_for_roce(run_of):
    assert marks(run_of("torchrun", "roce"), "NCCL_IB_TC") == [Mark.DEPENDS]
    assert marks(run_of("torchrun", "ib"), "NCCL_IB_TC") == [Mark.FOLKLORE]


def test_efa_sets_its_own(run_of):
    run = run_of("torchrun", "efa")
    assert marks(run, "NCCL_BUFFSIZE") == [Mark.HARMFUL]
    assert marks(run, "FI_PROVIDER") == [Mark.DEFAULT]


@pytest.mark.parametrize(("gpu", "mark"), [("h100", Mark.NEEDED), ("b200", Mark.DEFAULT)])
def test_megatron_needs_one_queue_before_blackwell(run_of, gpu, mark):
    assert marks(run_of("megatron-lm", gpu=gpus()[gpu]), "CUDA_DEVICE_MAX_CONNECTIONS") == [mark]


def test_what_no_option_says_stays_a_condition(run_of):
    run = run_of("megatron-lm", gpu=gpus()["h100"])
    [found] = [a for a in advice_for(run) if a.row.setting == "CUDA_DEVICE_MAX_CONNECTIONS"]
    assert found.provided == ("tensor or context parallelism above 1, no FSDP",)


def test_accelerate_leaves_adapters_unused_on_rtx_4090(run_of):
    run = run_of("accelerate", "roce", gpu=gpus()["rtx4090"])
    assert [a.row.value for a in advice_for(run) if a.row.setting == "NCCL_IB_DISABLE" and a.row.value] == ["0"]


def test_the_size_changes_no_row():
    small, large = (Run(n, 4, 8, "ib", frameworks()["verl"], "ray") for n in (10**9, 10**12))
    assert advice_for(small) == advice_for(large)


def test_under_ray_verl_gets_variables_as_overrides(run_of):
    assert "+ray_kwargs.ray_init.runtime_env" in place_for(run_of("verl", framework_version="0.9.0")).item
    assert "+ray_kwargs" not in place_for(run_of("verl", framework_version="0.5.0")).item


# --- claims --------------------------------------------------------------------------------------------------


def test_all_22_claims_are_there():
    assert len({claim.id for claim in claims()}) == 22


def test_every_claim_has_a_verdict_a_fact_and_a_source():
    for claim in claims():
        assert claim.claim, claim.id
        assert claim.verdict, claim.id
        assert claim.fact, claim.id
        assert "https://" in claim.source, claim.id


def test_verl_under_ray_meets_all_claims_and_torchrun_those_on_nccl(run_of):
    assert len(advise(run_of("verl"), ()).claims) == 22
    others = {claim.id for claim in advise(run_of("torchrun"), ()).claims}
    assert {"nccl-timeout-variable", "buffer-by-size", "timeout-by-size", "ib-tc-106", "longer-timeout"} <= others
    assert not {"verl-dist-backend", "diagnose-check-nccl", "export-on-head"} & others


def test_what_is_claimed_to_be_read_by_nothing_is_so_in_the_catalogue():
    for claim in claims():
        if claim.verdict == "false, no effect":
            for name in claim.names:
                variable = catalogue().variable(name)
                assert variable is not None, name
                assert variable.reader is Reader.NOBODY, name


@pytest.mark.parametrize(("nccl", "there"), [("2.18.3", False), ("2.19.3", True)])
def test_nccl_decides_on_cumem_from_2_19_on(run_of, nccl, there):
    said = {advice.row.setting for advice in advice_for(run_of("torchrun", nccl=nccl))}
    assert ("NCCL_CUMEM_ENABLE" in said) is there
