"""What the plan makes of a verdict."""

from __future__ import annotations

import shlex

import pytest
from files import diagnosis_of, finding

from nccl_logscan.remedy.plan import make_plan
from nccl_logscan.rulebook.rule import Step
from nccl_logscan.taxonomy import Action


def plan_of(cause, *, consequences=(), **culprit):
    return make_plan(diagnosis_of(cause, action=Action.INSPECT, consequences=consequences, **culprit))


def titles(plan):
    return [step.title for step in plan]


def test_without_a_cause_there_is_nothing_to_do():
    assert plan_of(None) == ()


def test_a_rule_s_fixes_come_in_their_order_and_before_its_checks():
    plan = plan_of(finding(remediation=[Step("mend"), Step("work around")], confirm=[Step("look")]))

    assert titles(plan) == ["mend", "work around", "look"]
    assert [step.id for step in plan] == [f"infiniband/link#{number}" for number in (1, 2, 3)]
    assert {step.because for step in plan} == {"infiniband/link"}


def test_a_step_said_twice_stands_where_it_was_said_first():
    plan = plan_of(finding(remediation=[Step("look", run="ls"), Step("mend")], confirm=[Step("look", run="ls")]))

    assert titles(plan) == ["look", "mend"]


def test_the_same_words_with_another_command_are_another_step():
    plan = plan_of(finding(confirm=[Step("look", run="ls /a"), Step("look", run="ls /b")]))

    assert [step.command for step in plan] == ["ls /a", "ls /b"]


def test_of_consequences_only_the_warnings_are_taken_and_after_the_cause_s_steps():
    echo = finding("echo", remediation=[Step("mend the echo"), Step("raise the time limit", do_not=True)])
    plan = plan_of(finding(remediation=[Step("mend")]), consequences=[echo])

    assert [(step.title, step.do_not, step.because) for step in plan] == [
        ("mend", False, "infiniband/link"),
        ("raise the time limit", True, "infiniband/echo"),
    ]
    assert plan[1].id == "infiniband/echo#2"


def test_a_long_tail_of_consequences_and_steps_does_not_lengthen_the_plan():
    warnings = [finding(f"echo{number}", remediation=[Step(f"not {number}", do_not=True)]) for number in range(50)]

    assert len(plan_of(finding(remediation=[Step("mend")]), consequences=warnings)) < 10
    assert len(plan_of(finding(confirm=[Step(f"look {number}") for number in range(200)]))) < 50


@pytest.mark.parametrize("host", ["$(reboot)", "a; rm -rf /", "`id`", "n1\nreboot", "it's"])
def test_a_name_from_the_log_is_one_word_of_a_command(host):
    [step] = plan_of(finding(confirm=[Step("look", run="ssh {host} dmesg")]), host=host)

    assert shlex.split(step.command) == ["ssh", host, "dmesg"]


def test_what_a_rule_captured_is_quoted_too():
    [step] = plan_of(finding(confirm=[Step("look", run="ibstat {hca}")], captures={"hca": "mlx5_0; reboot"}))

    assert step.command == "ibstat 'mlx5_0; reboot'"


def test_a_command_is_left_out_where_the_log_did_not_say_its_value():
    [step] = plan_of(finding(confirm=[Step("look", run="ssh {host} dmesg")]))

    assert (step.title, step.command) == ("look", None)


def test_where_and_to_what_are_filled():
    given = Step("set it", on="{host}", kind="env", setting="NCCL_IB_GID_INDEX", to="{index}", why="so", risk="none")
    [step] = plan_of(finding(remediation=[given], captures={"index": "3"}), host="n7")

    assert (step.on, step.kind, step.setting, step.to) == ("n7", "env", "NCCL_IB_GID_INDEX", "3")
    assert (step.why, step.risk) == ("so", "none")


def test_where_and_to_what_are_left_open_where_the_log_did_not_say():
    [step] = plan_of(finding(remediation=[Step("set it", on="{host}", to="{index}")]))

    assert (step.on, step.to) == (None, None)
