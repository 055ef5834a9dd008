import pytest

from nccl_logscan.catalogue.load import catalogue
from nccl_logscan.lint.model import Check, Severity, Versions
from nccl_logscan.lint.seen import lint_seen

RUN = "torchrun --nnodes 2 train.py"


@pytest.mark.parametrize(
    ("lines", "name", "check"),
    [
        (("export NCCL_IB_HCA=mlx5_0", "export NCCL_IB_DISABLE=1"), "NCCL_IB_HCA", Check.CONTRADICTION),
        (("export NCCL_MIN_CTAS=32", "export NCCL_MAX_CTAS=16"), "NCCL_MIN_CTAS", Check.CONTRADICTION),
        (("export NCCL_BUFFSIZE=1048576",), "NCCL_BUFFSIZE", Check.HARMFUL_COPY),
        (("export NCCL_DEBUG=TRACE",), "NCCL_DEBUG", Check.LEFTOVER),
        (("export CUDA_LAUNCH_BLOCKING=1",), "CUDA_LAUNCH_BLOCKING", Check.LEFTOVER),
        (("export NCCL_P2P_DISABLE=1",), "NCCL_P2P_DISABLE", Check.LEFTOVER),
    ],
)
def test_a_practice_speaks_at_the_setting_that_it_is_about(lint_script, said, lines, name, check):
    assert said(lint_script(*lines, RUN)) == [(name, check)]


def test_what_contradicts_is_not_also_called_left_over(lint_script, said):
    found = said(lint_script("export NCCL_P2P_LEVEL=NVL", "export NCCL_P2P_DISABLE=1", RUN))

    assert found == [("NCCL_P2P_LEVEL", Check.CONTRADICTION)]


def test_what_is_set_for_one_command_or_taken_back_is_not_left_over(lint_script, said):
    assert said(lint_script("NCCL_P2P_DISABLE=1 torchrun check.py", RUN)) == []
    assert said(lint_script("export NCCL_P2P_DISABLE=1", "python check.py", "unset NCCL_P2P_DISABLE", RUN)) == []


def test_without_a_second_host_no_adapter_is_missed(lint_script, said):
    assert said(lint_script("export NCCL_IB_DISABLE=1", "torchrun --standalone train.py")) == []
    assert said(lint_script("export NCCL_IB_DISABLE=1", RUN)) == [("NCCL_IB_DISABLE", Check.LEFTOVER)]


def test_variables_of_two_commands_make_no_pair(lint_script, said):
    one = "NCCL_IB_HCA=mlx5_0 torchrun --nnodes 2 a.py"
    other = "NCCL_IB_DISABLE=1 torchrun --nnodes 2 b.py"

    assert said(lint_script(one, other)) == []
    assert said(lint_script("NCCL_IB_DISABLE=1 " + one)) == [("NCCL_IB_HCA", Check.CONTRADICTION)]


def test_a_pair_across_files_is_a_note(lint_files, said):
    files = {"run.sh": f"#!/bin/bash\nexport NCCL_IB_HCA=mlx5_0\n{RUN}\n", "job.env": "NCCL_IB_DISABLE=1\n"}
    remarks = lint_files(files)

    assert ("NCCL_IB_HCA", Check.CONTRADICTION) not in said(remarks)
    assert ("NCCL_IB_HCA", Check.CONTRADICTION) in said(remarks, notes=True)


def test_a_note_is_not_mended(mend):
    text = f"#!/bin/bash\nexport NCCL_DEBUG=INFO\n{RUN}\n"

    assert mend("run.sh", text) == text


def _env(settings):
    return "".join(f"{name}={value}\n" for name, value in settings.items())


@pytest.mark.parametrize("practice", catalogue().practices, ids=lambda practice: practice.id)
def test_each_practice_s_own_examples_are_linted_so(lint_files, practice):
    for settings in practice.hits:
        if any("." in name or not name.isupper() for name in settings) or practice.nccl or practice.torch:
            continue
        remarks = lint_files({"job.env": _env(settings)})
        # A remark that says more of the same setting may stand for it.
        assert any(remark.name == practice.when[0].name for remark in remarks), settings


def test_what_a_log_shows_is_judged_without_a_fix(logged):
    placed = [logged("NCCL_IB_DISABLE", "1"), logged("NCCL_IB_HCA", "mlx5_0"), logged("NCCL_ASYNC_ERROR_HANDLING", "1")]
    remarks = lint_seen(placed, Versions(nccl="2.21.5", torch="2.6.0"))

    assert [(remark.name, remark.check) for remark in remarks] == [
        ("NCCL_IB_HCA", Check.CONTRADICTION),
        ("NCCL_ASYNC_ERROR_HANDLING", Check.DEPRECATED),
    ]
    assert all(remark.fix == () for remark in remarks)
    assert remarks[0].severity is Severity.WARNING


def test_a_name_that_a_log_shows_is_not_asked_who_reads_it(logged):
    assert lint_seen([logged("NCCL_WHAT_NOBODY_KNOWS", "1")], Versions()) == ()


def test_two_ways_of_one_script_make_no_pair(lint_script, said):
    lines = ("if [ $PR = fp16 ]; then", 'P="--fp16"', "else", 'P="--bf16"', "fi", "torchrun pretrain_gpt.py $P")

    assert said(lint_script(*lines)) == []
    assert said(lint_script("torchrun pretrain_gpt.py --fp16 --bf16")) == [("--bf16", Check.CONTRADICTION)]
    assert said(
        lint_script("if [ $A ]; then", "export NCCL_IB_DISABLE=1", "else", "export NCCL_IB_HCA=a", "fi", RUN)
    ) == [("NCCL_IB_DISABLE", Check.LEFTOVER)]


@pytest.mark.parametrize(
    ("value", "site"),
    [("41", "# OCI cluster network"), ("41", "#SBATCH --constraint=BM.GPU.H100.8"), ("136", "# PAI DLC, Lingjun"),
     ("106", "# DSCP 26 is the lossless queue")],
)  # fmt: skip
def test_a_traffic_class_is_right_where_the_file_names_its_site(lint_script, said, value, site):
    export = f"export NCCL_IB_TC={value}"

    assert said(lint_script(export, RUN)) == [("NCCL_IB_TC", Check.HARMFUL_COPY)]
    assert said(lint_script(site, export, RUN)) == []
    assert said(lint_script(site, export, RUN), notes=True) == [("NCCL_IB_TC", Check.HARMFUL_COPY)]


def test_an_algorithm_that_is_turned_off_beside_contradicts(lint_script, said):
    assert said(lint_script("export NCCL_ALGO=NVLS NCCL_NVLS_ENABLE=0", RUN)) == [("NCCL_ALGO", Check.CONTRADICTION)]
    assert said(lint_script("export NCCL_ALGO=Ring,NVLS NCCL_NVLS_ENABLE=0", RUN)) == []


def test_accelerate_s_debug_is_a_note_and_another_s_is_none(lint_files, said):
    accelerate = "compute_environment: LOCAL_MACHINE\ndebug: true\ndistributed_type: FSDP\n"

    assert said(lint_files({"a.yaml": accelerate}), notes=True) == [("debug", Check.LEFTOVER)]
    assert said(lint_files({"a.yaml": "debug: true\nseed: 1\n"}), notes=True) == []


def test_deepspeed_s_and_megatron_s_minutes_are_no_seconds(lint_script, said):
    deepspeed = ("export DEEPSPEED_TIMEOUT=7200", "deepspeed --num_gpus 8 train.py")

    assert said(lint_script(*deepspeed)) == [("DEEPSPEED_TIMEOUT", Check.BAD_VALUE)]
    assert said(lint_script(deepspeed[0].replace("7200", "120"), deepspeed[1])) == []
