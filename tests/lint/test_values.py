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
