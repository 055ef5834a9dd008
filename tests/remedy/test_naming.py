"""Settings in the terms of the user's framework, and by the name that the version in use has."""

from __future__ import annotations

import pytest
from files import circumstances, plan_for

from nccl_logscan.rulebook.rule import Step

WAIT = Step(
    "Give the process group a longer deadline.",
    kind="python_kwarg",
    setting="init_process_group(timeout=)",
    to="at least datetime.timedelta(minutes=60)",
    effect="workaround",
    run="edit train.py",
)
BF16 = Step("Train in bfloat16.", kind="cli_flag", setting="--bf16", to="true", effect="fix")
MICRO = Step(
    "Halve the micro-batch.", kind="cli_flag", setting="--per_device_train_batch_size", to="half", effect="fix"
)
SHARE = Step("Lower its share.", kind="cli_flag", setting="--gpu-memory-utilization", to="three quarters", effect="fix")


def shown(step):
    return step.setting, step.to, step.unit


@pytest.mark.parametrize(
    ("step", "frameworks", "expected"),
    [
        (WAIT, (), ("init_process_group(timeout=)", "datetime.timedelta(minutes=60)", "timedelta")),
        (WAIT, ("megatron-lm", "slurm"), ("--distributed-timeout-minutes", "60", "minutes")),
        (WAIT, ("transformers", "deepspeed"), ("--ddp_timeout", "3600", "seconds")),
        (WAIT, ("accelerate",), ("InitProcessGroupKwargs(timeout=)", "datetime.timedelta(minutes=60)", "timedelta")),
        (WAIT, ("torchtitan",), ("--comm.train_timeout_seconds", "3600", "seconds")),
        (BF16, ("deepspeed",), ("bf16.enabled", "true", None)),
        (BF16, ("lightning",), ("Trainer(precision=)", "bf16-mixed", None)),
        (BF16, ("verl", "ray", "vllm"), ("actor_rollout_ref.actor.fsdp_config.dtype", "bfloat16", None)),
        (MICRO, ("transformers",), ("--per_device_train_batch_size", "4", "sequences")),
        (MICRO, ("megatron-lm",), ("--micro-batch-size", None, "sequences")),
        (SHARE, ("verl", "vllm"), ("actor_rollout_ref.rollout.gpu_memory_utilization", "0.38", "fraction")),
        (SHARE, ("sglang",), ("--mem-fraction-static", None, "fraction")),
    ],
)
def test_each_framework_has_its_own_name_and_unit(asks_for, step, frameworks, expected):
    [planned] = plan_for(asks_for(step), circumstances(frameworks=frameworks))

    assert shown(planned) == expected


def test_what_the_files_configure_weighs_more_than_what_the_log_shows(asks_for):
    around = circumstances({"ds.json": '{"zero_optimization": {"stage": 2}}\n'}, frameworks=("transformers",))
    [planned] = plan_for(asks_for(BF16), around)

    assert planned.setting == "bf16.enabled"


def test_another_framework_s_setting_keeps_no_command_of_the_first(asks_for):
    [own] = plan_for(asks_for(WAIT), circumstances())
    [other] = plan_for(asks_for(WAIT), circumstances(frameworks=("megatron-lm",)))

    assert (own.command, other.command) == ("edit train.py", None)
    assert "Megatron-LM" in other.source


@pytest.mark.parametrize(
    ("torch", "name"),
    [("2.4.0", "TORCH_NCCL_TRACE_BUFFER_SIZE"), ("2.9.0", "TORCH_FR_BUFFER_SIZE"), (None, "TORCH_FR_BUFFER_SIZE")],
)
def test_a_variable_has_the_name_of_the_version_in_use(asks_for, torch, name):
    step = Step(
        "Set TORCH_FR_BUFFER_SIZE.",
        kind="env",
        setting="TORCH_FR_BUFFER_SIZE",
        to="2000",
        run="export TORCH_FR_BUFFER_SIZE=2000",
        since="2.8",
    )
    [planned] = plan_for(asks_for(step), circumstances(torch=[torch] if torch else []))

    assert (planned.title, planned.setting) == (f"Set {name}.", name)
    assert planned.command == f"export {name}=2000"


def test_the_old_name_of_error_handling_is_given_to_the_old_version_alone(asks_for):
    step = Step("Set it.", kind="env", setting="TORCH_NCCL_ASYNC_ERROR_HANDLING", to="1")

    def name(version):
        return plan_for(asks_for(step), circumstances(torch=[version]))[0].setting

    assert (name("1.13.1"), name("2.6.0")) == ("NCCL_ASYNC_ERROR_HANDLING", "TORCH_NCCL_ASYNC_ERROR_HANDLING")


@pytest.mark.parametrize(("nccl", "count"), [("2.18.5", 0), ("2.21.5", 1), (None, 1)])
def test_a_step_for_later_versions_is_left_out(asks_for, nccl, count):
    step = Step("Let NCCL choose.", kind="env", setting="NCCL_IB_GID_INDEX", to="unset", since="2.21")

    assert len(plan_for(asks_for(step), circumstances(nccl=[nccl] if nccl else []))) == count


@pytest.mark.parametrize(("nccl", "count"), [("2.18.5", 0), ("2.21.5", 1)])
def test_a_variable_that_the_version_does_not_read_is_no_advice(asks_for, nccl, count):
    step = Step("Go without.", kind="env", setting="NCCL_MNNVL_ENABLE", to="0")

    assert len(plan_for(asks_for(step), circumstances(nccl=[nccl]))) == count


def test_where_versions_differ_a_step_for_one_of_them_stays(asks_for):
    step = Step("Go without.", kind="env", setting="NCCL_MNNVL_ENABLE", to="0")

    assert len(plan_for(asks_for(step), circumstances(nccl=["2.18.5", "2.21.5"]))) == 1


def test_bounds_of_another_program_are_not_held_against_nccl(asks_for):
    step = Step("Keep every line.", kind="env", setting="RAY_DEDUP_LOGS", to="0", since="Ray 2.5")

    assert len(plan_for(asks_for(step), circumstances(nccl=["2.4.8"]))) == 1


def test_a_dead_setting_is_never_put_in_place_of_another(asks_for):
    around = circumstances({"run.sh": "python -m openrlhf.cli.train_ppo_ray --nccl_timeout 600\n"})
    [planned] = plan_for(asks_for(WAIT), around)

    assert planned.setting != "--nccl_timeout"


def test_the_same_last_key_elsewhere_in_a_file_is_another_setting(asks_for):
    script = "python3 -m verl.trainer.main_ppo critic.model.fsdp_config.dtype=float16 trainer.nnodes=2\n"
    [planned] = plan_for(asks_for(BF16), circumstances({"run.sh": script}))

    assert planned.setting == "actor_rollout_ref.actor.fsdp_config.dtype"
    assert planned.present is None
