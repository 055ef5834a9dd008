import pytest

from nccl_logscan.lint.model import Check

RUN = "torchrun --standalone train.py"


@pytest.mark.parametrize(
    ("name", "wrong", "right"),
    [
        ("NCCL_BUFFSIZE", "8M", "8388608"),
        ("NCCL_P2P_DISABLE", "true", "1"),
        ("NCCL_SHM_DISABLE", "false", "0"),
        ("TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC", "20m", "1200"),
        ("TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC", "900s", "900"),
    ],
)
def test_a_value_that_was_surely_meant_is_written(lint_script, said, mend, name, wrong, right):  # noqa: PLR0917
    assert (name, Check.BAD_VALUE) in said(lint_script(f"export {name}={wrong}", RUN))
    assert f"export {name}={right}\n" in mend("run.sh", f"#!/bin/bash\nexport {name}={wrong}\n{RUN}\n")


def test_what_nccl_makes_of_a_word_is_said(lint_script):
    [remark] = lint_script("export NCCL_P2P_DISABLE=true", RUN)

    assert '"true"' in remark.problem
    assert "read as 0" in remark.problem


@pytest.mark.parametrize(
    "setting", ["NCCL_IB_RETRY_CNT=15", "NCCL_DEBUG=VERBOSE", "NCCL_SOCKET_FAMILY=ipv4", "NCCL_IB_TIMEOUT=50"]
)
def test_a_value_out_of_range_or_choice_is_told(lint_script, said, setting):
    assert said(lint_script(f"export {setting}", RUN)) == [(setting.partition("=")[0], Check.BAD_VALUE)]


@pytest.mark.parametrize(
    "setting",
    ["NCCL_BUFFSIZE=4194304", "NCCL_IB_TIMEOUT=22", "NCCL_IB_TIMEOUT=$((18+EXTRA))", "NCCL_DEBUG=warn",
     "NCCL_DEBUG=$LEVEL", "NCCL_IB_HCA==mlx5_0,mlx5_1", "NCCL_SOCKET_IFNAME=^docker,lo", "NCCL_ALGO=^NVLS",
     "TORCH_NCCL_ENABLE_TIMING=true"],
)  # fmt: skip
def test_a_right_value_or_one_that_is_not_told_is_none(lint_script, said, setting):
    assert said(lint_script(f"export {setting}", RUN)) == []


def test_a_number_in_the_place_of_a_text_loses_its_quotes(mend):
    text = '[comm]\ninit_timeout_seconds = 600\ntrain_timeout_seconds = "5m"\n[training]\nsteps = 10\n'

    assert "train_timeout_seconds = 300\n" in mend("train.toml", text)


def test_the_mark_is_under_the_value(lint_script):
    [remark] = lint_script("export NCCL_P2P_DISABLE=true", RUN)

    assert (remark.at.line, remark.column, remark.end_column) == (2, 25, 29)


@pytest.mark.parametrize("value", ["${HAS_NVLINK}", "{{ nvls }}", "<nvls>", "CONFIG_NVLS_ENABLE", "@NVLS@"])
def test_what_something_else_fills_in_later_is_no_value(lint_files, said, value):
    assert said(lint_files({"job.yaml": f"env:\n  NCCL_NVLS_ENABLE: '{value}'\n"})) == []


def test_a_switch_set_to_2_is_on_and_no_error(lint_script, said):
    assert said(lint_script("export NCCL_IB_SPLIT_DATA_ON_QPS=2", "torchrun a.py")) == []
    assert said(lint_script("export NCCL_IB_SPLIT_DATA_ON_QPS=on", "torchrun a.py")) != []


@pytest.mark.parametrize(
    "call",
    ["dist.init_process_group('nccl', timeout=1800)", "dist.new_group(ranks, timeout=60.0)",
     "InitProcessGroupKwargs(timeout=5400)", "FSDPStrategy(timeout=3600)"],
)  # fmt: skip
def test_a_number_where_a_duration_is_due_is_told(lint_files, said, call):
    imports = "import torch.distributed as dist\nfrom lightning.pytorch.strategies import FSDPStrategy\n"
    text = f"{imports}from accelerate import InitProcessGroupKwargs\n{call}\n"

    assert [check for _, check in said(lint_files({"train.py": text}))] == [Check.BAD_VALUE]
    in_minutes = text.replace("timeout=", "timeout=timedelta(minutes=").replace(")\n", "))\n")
    assert said(lint_files({"train.py": in_minutes})) == []


def test_a_unit_written_out_where_a_number_is_read_is_told(lint_files, lint_script, said):
    assert said(lint_files({"a.yaml": "do_train: true\nbf16: true\nddp_timeout: 30 min\n"})) == [
        ("ddp_timeout", Check.BAD_VALUE)
    ]
    assert said(lint_script("torchrun pretrain_gpt.py --bf16 --distributed-timeout-minutes 1h")) == [
        ("--distributed-timeout-minutes", Check.BAD_VALUE)
    ]
    assert said(lint_script("torchrun pretrain_gpt.py --bf16 --distributed-timeout-minutes 60")) == []


@pytest.mark.parametrize("value", ["10.0.0.4", "10.0.0.0/24", "eth0,192.168.1.4"])
def test_an_address_is_no_interface(lint_script, said, value):
    assert said(lint_script(f"export NCCL_SOCKET_IFNAME={value}", RUN)) == [("NCCL_SOCKET_IFNAME", Check.BAD_VALUE)]


@pytest.mark.parametrize("value", ["eth0.100", "bond0.10", "=enp1s0f0np0,ib0", "^docker,lo", "vlan10.0"])
def test_an_interface_with_dots_is_one(lint_script, said, value):
    assert said(lint_script(f"export NCCL_SOCKET_IFNAME={value}", RUN)) == []


@pytest.mark.parametrize(
    ("version", "right", "wrong"),
    [("0.15.0", "bf16", "bfp16"), ("0.13.1", "bfp16", "bf16"), ("0.16.9", "FP32", "half")],
)
def test_a_choice_is_that_of_the_version_in_use(lint_files, said, version, right, wrong):
    def linted(value):
        text = f'{{"zero_optimization": {{"stage": 2}}, "communication_data_type": "{value}"}}\n'
        return said(lint_files({"ds.json": text}, deepspeed=version))

    assert linted(right) == []
    assert linted(wrong) == [("communication_data_type", Check.BAD_VALUE)]


def test_a_rendezvous_of_sglang_has_a_port(lint_script, said):
    serve = "python -m sglang.launch_server --model-path m --nnodes 2 --dist-init-addr"

    assert said(lint_script(f"{serve} 10.0.0.5")) == [("--dist-init-addr", Check.BAD_VALUE)]
    assert said(lint_script(f"{serve} 10.0.0.5:5000")) == said(lint_script(f"{serve} $HEAD:5000")) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.sh", "torchrun pretrain_gpt.py --micro-batch-size 1 --ckpt-format pickle\n"),
        ("run.sh", "torchrun pretrain_gpt.py --micro-batch-size four\n"),
        ("run.sh", "torchrun --rdzv-backend c10 train.py\n"),
        ("run.sh", "accelerate launch --main_process_port 99500 train.py\n"),
        ("run.sh", "export VERL_LOGGING_LEVEL=info\npython -m verl.trainer.main_ppo trainer.nnodes=1\n"),
        ("run.sh", "python -m verl.trainer.main_ppo actor_rollout_ref.actor.use_dynamic_bsz=maybe\n"),
        ("ds_config.json", '{"zero_optimization": {"stage": 2, "overlap_comm": "maybe"}}'),
    ],
)
def test_what_the_reader_refuses_is_no_value(lint_files, name, text):
    assert [remark.check for remark in lint_files({name: text})] == [Check.BAD_VALUE]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.sh", "torchrun pretrain_gpt.py --micro-batch-size 1 --ckpt-format zarr\n"),
        ("run.sh", "torchrun pretrain_gpt.py --micro-batch-size $MBS\n"),
        ("run.sh", "torchrun --rdzv-backend etcd-v2 train.py\n"),
        ("run.sh", "torchrun --rdzv_backend=${BACKEND:-c10d} train.py\n"),
        ("run.sh", "export VERL_LOGGING_LEVEL=INFO\npython -m verl.trainer.main_ppo trainer.nnodes=1\n"),
        ("ds_config.json", '{"train_micro_batch_size_per_gpu": "auto", "gradient_clipping": "auto"}'),
        ("ds_config.json", '{"zero_optimization": {"stage": 2, "overlap_comm": "true"}}'),
    ],
)
def test_what_one_version_takes_or_nobody_knows_is_left(lint_files, name, text):
    assert lint_files({name: text}) == ()


def test_choices_are_those_of_the_version_in_use(lint_files):
    text = "torchrun pretrain_gpt.py --micro-batch-size 1 --ckpt-format {}\n"

    for taken, version, checks in (("zarr", "0.15.0", []), ("zarr", "0.16.0", [Check.BAD_VALUE])):
        remarks = lint_files({"run.sh": text.format(taken)}, **{"megatron-lm": version})
        assert [remark.check for remark in remarks] == checks


def test_the_last_release_with_a_value_is_told_from_the_next(lint_files):
    text = '{"communication_data_type": "bfp16", "zero_optimization": {"stage": 2}}'

    assert lint_files({"ds_config.json": text}, deepspeed="0.14.0") == ()
    assert [remark.check for remark in lint_files({"ds_config.json": text}, deepspeed="0.14.2")] == [Check.BAD_VALUE]


@pytest.mark.parametrize(("medium", "checks"), [("memory", [Check.BAD_VALUE]), ("Memory", []), ("HugePages-2Mi", [])])
def test_a_field_of_a_pod_is_known_in_any_kind_of_object(lint_files, medium, checks):
    text = "apiVersion: v1\nkind: Pod\nspec:\n  volumes:\n  - name: shm\n    emptyDir: {medium: MEDIUM}\n"
    job = "apiVersion: batch/v1\nkind: Job\nspec:\n  template:\n    spec:\n      volumes:\n"
    job += "      - name: shm\n        emptyDir: {medium: MEDIUM}\n"

    for manifest in (text, job):
        remarks = lint_files({"pod.yaml": manifest.replace("MEDIUM", medium)})
        assert [remark.check for remark in remarks] == checks
