import pytest

from nccl_logscan.lint.model import Check, Severity

VERL = "python3 -m verl.trainer.main_ppo \\\n    {} \\\n    trainer.nnodes=1"


def test_a_key_that_this_version_no_longer_reads_is_taken_out(lint_script, said, mend):
    override = VERL.format("actor_rollout_ref.nccl_timeout=7200")

    assert said(lint_script(override, verl="0.8.0")) == [("actor_rollout_ref.nccl_timeout", Check.KEY_IGNORED)]
    assert said(lint_script(override, verl="0.7.1")) == []
    assert "nccl_timeout" not in mend("run.sh", f"#!/bin/bash\n{override}\n", verl="0.8.0")


def test_without_a_version_a_dead_key_is_a_note_with_the_command_that_tells(lint_script):
    [remark] = lint_script(VERL.format("actor_rollout_ref.nccl_timeout=7200"))

    assert (remark.check, remark.severity, remark.tells) == (Check.KEY_IGNORED, Severity.NOTE, "pip show verl")


def test_plus_on_a_key_that_exists_aborts(lint_script, said, mend):
    override = VERL.format("+actor_rollout_ref.nccl_timeout=900")

    assert said(lint_script(override, verl="0.7.1")) == [("actor_rollout_ref.nccl_timeout", Check.KEY_ABORTS)]
    assert " actor_rollout_ref.nccl_timeout=900" in mend("run.sh", f"#!/bin/bash\n{override}\n", verl="0.7.1")
    assert said(lint_script(VERL.format("++actor_rollout_ref.nccl_timeout=900"), verl="0.7.1")) == []


@pytest.mark.parametrize(
    "override",
    [
        "+ray_kwargs.ray_init.num_cpus=8",  # null as verl ships it
        "+trainer.max_actor_ckpt_to_keep=2",
        "+actor_rollout_ref.rollout.engine_kwargs.vllm={}",
        "+actor_rollout_ref.rollout.engine_kwargs.vllm.disable_mm_preprocessor_cache=True",
    ],
)
def test_hydra_takes_plus_over_a_null_and_with_a_mapping(lint_script, said, override):
    assert said(lint_script(VERL.format(override), verl="0.7.1")) == []


ENV = "ray_kwargs.ray_init.runtime_env.env_vars."


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        (f"+{ENV}NCCL_NVLS_ENABLE=0", f"+{ENV}NCCL_NVLS_ENABLE=\"'0'\""),
        (f"+{ENV}NCCL_SOCKET_IFNAME=^docker0", f"+{ENV}NCCL_SOCKET_IFNAME=\"'^docker0'\""),
        (f"+{ENV}NCCL_IB_HCA=mlx5_0,mlx5_1", f"+{ENV}NCCL_IB_HCA=\"'mlx5_0,mlx5_1'\""),
        (f"{ENV}NCCL_DEBUG=WARN", f"+{ENV}NCCL_DEBUG=WARN"),
    ],
)
def test_an_environment_that_hydra_or_ray_refuses_is_quoted(lint_script, said, mend, wrong, right):
    found = said(lint_script(VERL.format(wrong), verl="0.9.0"))

    assert [check for _, check in found] == [Check.KEY_ABORTS]
    assert right in mend("run.sh", f"#!/bin/bash\n{VERL.format(wrong)}\n", verl="0.9.0")
    assert said(lint_script(VERL.format(right), verl="0.9.0")) == []


def test_verl_refuses_its_own_variables(lint_script, said):
    assert said(lint_script(VERL.format(f"+{ENV}RANK=\"'0'\""), verl="0.9.0")) == [("RANK", Check.KEY_ABORTS)]


def test_a_flag_that_openrlhf_never_had_aborts(lint_script, said):
    line = "python3 -m openrlhf.cli.train_ppo_ray --nccl_timeout 7200 --save_steps 50"

    assert said(lint_script(line)) == [("--nccl_timeout", Check.KEY_ABORTS)]
    # A flag of a program of one's own is anything.
    assert said(lint_script("python3 mine.py --nccl_timeout 7200")) == []


def test_kubernetes_takes_texts_only(lint_files, said, mend):
    text = (
        "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n    - env:\n        - name: NCCL_IB_SL\n          value: {}\n"
    )

    assert said(lint_files({"pod.yaml": text.format("3")})) == [("NCCL_IB_SL", Check.KEY_ABORTS)]
    assert said(lint_files({"pod.yaml": text.format('"3"')})) == []
    assert 'value: "3"' in mend("pod.yaml", text.format("3"))


def test_ray_takes_texts_only(lint_files, lint_script, said):
    assert said(lint_files({"runtime_env.yaml": "env_vars:\n  NCCL_IB_SL: 3\n"})) == [("NCCL_IB_SL", Check.KEY_ABORTS)]
    submit = 'ray job submit --runtime-env-json=\'{{"env_vars": {{"NCCL_IB_SL": {}}}}}\' -- python a.py'
    assert said(lint_script(submit.format("3"))) == [("NCCL_IB_SL", Check.KEY_ABORTS)]
    assert said(lint_script(submit.format('"3"'))) == []


def test_compose_takes_numbers_and_refuses_true(lint_files, said):
    text = "services:\n  a:\n    environment:\n      NCCL_SHM_DISABLE: {}\n"

    assert said(lint_files({"compose.yaml": text.format("0")})) == []
    assert ("NCCL_SHM_DISABLE", Check.KEY_ABORTS) in said(lint_files({"compose.yaml": text.format("true")}))


def test_another_launcher_s_env_vars_take_numbers(lint_files, said):
    text = "cluster: bcp\nenv_vars:\n  NCCL_NVLS_ENABLE: 0\n"

    assert said(lint_files({"config.yaml": text})) == []
    assert said(lint_files({"config.yaml": f"working_dir: .\n{text}"})) == [("NCCL_NVLS_ENABLE", Check.KEY_ABORTS)]


def test_plus_on_a_key_that_later_versions_lack_is_right_for_those(lint_script, said):
    assert said(lint_script(VERL.format("+trainer.use_legacy_worker_impl=disable"))) == []


@pytest.mark.parametrize("key", ["actor_rollout_ref.actor.strategy=fsdp2 ", ""])
def test_a_key_that_only_the_other_strategy_has_aborts(lint_script, said, key):
    command = f"python3 -m verl.trainer.main_ppo {key}"
    timeout = "actor_rollout_ref.nccl_timeout=1800"
    aborts = [("actor_rollout_ref.nccl_timeout", Check.KEY_ABORTS)]

    assert said(lint_script(command + timeout, verl="0.5.0")) == aborts
    assert said(lint_script(command + timeout, verl="0.6.1")) == []
    assert said(lint_script(command + "+" + timeout, verl="0.5.0")) == []
    assert said(lint_script(command + "+" + timeout, verl="0.6.1")) == aborts
    megatron = f"{command.replace('fsdp2', 'megatron')}--config-name ppo_megatron_trainer {timeout}"
    assert said(lint_script(megatron, verl="0.5.0")) == []
