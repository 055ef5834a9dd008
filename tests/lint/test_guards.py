"""What a script's own switch asks for is no leftover."""

import pytest

from nccl_logscan.lint.model import Check

TRACE = "export NCCL_DEBUG=TRACE"


@pytest.mark.parametrize(
    "lines",
    [
        ('if [ "$DEBUG" = 1 ]; then', f"  {TRACE}", "fi"),
        (f'[[ -n "$NCCL_TRACE" ]] && {TRACE}',),
        ('if [ -z "$VERBOSE" ]; then', "  :", "else", f"  {TRACE}", "fi"),
        (f'if [ -n "$DEBUG" ]; then {TRACE}; fi',),
        ("if [ -d /sys/class/infiniband ]; then", "  :", "else", "  export NCCL_IB_DISABLE=1", "fi"),
        ("if ! command -v ibv_devinfo; then", "  export NCCL_IB_DISABLE=1", "fi"),
    ],
)
def test_what_a_switch_asks_for_is_left(lint_script, said, lines):
    assert said(lint_script(*lines, "torchrun --nnodes 2 train.py")) == []


@pytest.mark.parametrize(
    "lines",
    [
        (TRACE,),
        ('if [ "$DEBUG" = 1 ]; then', "  :", "fi", TRACE),
        ('if [ "$NODES" -gt 1 ]; then', f"  {TRACE}", "fi"),
        ('if [ "$DEBUG" = 1 ]; then', "  :", "fi", 'if [ "$NODES" -gt 1 ]; then', f"  {TRACE}", "fi"),
    ],
)
def test_what_no_switch_asks_for_is_told(lint_script, said, lines):
    assert said(lint_script(*lines, "torchrun --nnodes 2 train.py")) == [("NCCL_DEBUG", Check.LEFTOVER)]
