from nccl_logscan.lint.model import Check, Severity

RUN = "torchrun --standalone train.py"


def test_a_variable_that_came_later_than_the_version_in_use_does_nothing(lint_script, said):
    lines = ("export NCCL_IB_SPLIT_DATA_ON_QPS=1", "export NCCL_RAS_ENABLE=0", RUN)

    assert said(lint_script(*lines, nccl="2.21.5")) == [("NCCL_RAS_ENABLE", Check.NOT_YET)]
    assert said(lint_script(*lines, nccl="2.24.3")) == []
    assert said(lint_script(*lines)) == []


def test_a_variable_that_was_removed_is_told_with_its_successor(lint_script):
    [remark] = lint_script("export NCCL_MNNVL=0", RUN, nccl="2.27.5")

    assert (remark.check, remark.severity) == (Check.REMOVED, Severity.ERROR)
    assert "NCCL_MNNVL_ENABLE" in remark.advice
    assert lint_script("export NCCL_MNNVL=0", RUN, nccl="2.20.5") == ()


def test_what_was_removed_long_ago_is_a_warning_without_a_version(lint_script):
    [remark] = lint_script("export NCCL_TREE_THRESHOLD=0", RUN)

    assert (remark.check, remark.severity) == (Check.REMOVED, Severity.WARNING)


def test_what_was_removed_of_late_is_a_note_with_the_command_that_tells(lint_script):
    [remark] = lint_script("export NCCL_SHM_USE_CUDA_MEMCPY=1", RUN)

    assert (remark.severity, remark.fix) == (Severity.NOTE, ())
    assert "nccl.version" in (remark.tells or "")


def test_an_old_name_is_a_note_and_renamed(lint_script, mend):
    [remark] = lint_script("export NCCL_ASYNC_ERROR_HANDLING=1", RUN, torch="2.6.0")

    assert (remark.check, remark.severity) == (Check.DEPRECATED, Severity.NOTE)
    assert "export TORCH_NCCL_ASYNC_ERROR_HANDLING=1" in mend(
        "run.sh", f"#!/bin/bash\nexport NCCL_ASYNC_ERROR_HANDLING=1\n{RUN}\n", torch="2.6.0"
    )
    assert lint_script("export NCCL_ASYNC_ERROR_HANDLING=1", RUN, torch="2.1.2") == ()


def test_an_old_name_beside_the_new_one_is_not_renamed(lint_script):
    remarks = lint_script("export NCCL_DESYNC_DEBUG=1", "export TORCH_NCCL_DESYNC_DEBUG=1", RUN, torch="2.6.0")

    assert all(remark.fix == () for remark in remarks if remark.check is Check.DEPRECATED)


def test_a_version_that_a_file_pins_completes_what_was_not_given(lint_files, said):
    files = {"job.yaml": "setup: pip install torch==2.5.1 nvidia-nccl-cu12==2.21.5\nenv:\n  NCCL_RAS_ENABLE: '1'\n"}

    assert said(lint_files(files)) == [("NCCL_RAS_ENABLE", Check.NOT_YET)]
    assert said(lint_files(files, nccl="2.27.3")) == []
