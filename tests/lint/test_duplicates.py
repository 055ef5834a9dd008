import pytest

from nccl_logscan.lint.model import Check, Severity

RUN = "torchrun --standalone train.py"


def test_a_value_that_is_set_again_before_anything_runs_has_no_effect(lint_script, said, mend):
    lines = ("export NCCL_CROSS_NIC=0", "export NCCL_NTHREADS=256", "export NCCL_CROSS_NIC=1", RUN)
    remarks = lint_script(*lines)

    assert said(remarks) == [("NCCL_CROSS_NIC", Check.CONTRADICTION)]
    assert remarks[0].at.line == 2
    assert "NCCL_CROSS_NIC=0" not in mend("run.sh", "#!/bin/bash\n" + "\n".join(lines) + "\n")


@pytest.mark.parametrize(
    "between",
    [
        RUN,
        "if [ $A ]; then",
        "fi",
        "[ -n $A ] &&\\",
        "exit 0",
        "for i in 1 2; do",
        'echo "$NCCL_CROSS_NIC"; f "$NCCL_CROSS_NIC"',
    ],
)
def test_where_the_first_value_may_count_nothing_is_said(lint_script, said, between):
    assert said(lint_script("export NCCL_CROSS_NIC=0", between, "export NCCL_CROSS_NIC=1", RUN)) == []


def test_a_line_of_a_branch_or_function_is_no_duplicate(lint_script, said):
    assert said(lint_script("export NCCL_CROSS_NIC=0", "  export NCCL_CROSS_NIC=1", RUN)) == []


def test_the_same_value_twice_is_none(lint_script, said):
    assert said(lint_script("export NCCL_CROSS_NIC=1", "export NCCL_CROSS_NIC=1", RUN)) == []


def test_in_nccl_conf_the_first_value_counts(lint_files):
    [remark] = lint_files({"nccl.conf": "NCCL_CROSS_NIC=0\nNCCL_CROSS_NIC=1\n"})

    assert (remark.at.line, remark.check) == (2, Check.CONTRADICTION)
    assert '"0" in line 1' in remark.problem


def test_stages_of_a_build_have_their_own_environment(lint_files, said):
    text = "FROM a AS build\nENV NCCL_CROSS_NIC=0\nFROM b\nENV NCCL_CROSS_NIC=1\n"

    assert said(lint_files({"Dockerfile": text})) == []


def test_two_values_in_two_files_are_a_note_that_names_the_other(lint_files):
    remarks = lint_files({"a.env": "NCCL_CROSS_NIC=0\n", "b.env": "\nNCCL_CROSS_NIC=1\n"})

    [remark] = [remark for remark in remarks if remark.check is Check.CONTRADICTION]
    assert (remark.severity, remark.at.source, remark.at.line) == (Severity.NOTE, "b.env", 2)
    assert "a.env:1" in remark.problem
