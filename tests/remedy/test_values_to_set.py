"""What a step's value becomes in place of the present one."""

from __future__ import annotations

import pytest

from nccl_logscan.catalogue.load import catalogue
from nccl_logscan.catalogue.model import Kind
from nccl_logscan.remedy.naming import value_in_example
from nccl_logscan.remedy.values import UNSET, converted, depends_on_site, is_value, seconds_in, target, unmade


@pytest.mark.parametrize(
    ("to", "present", "unit", "wanted"),
    [
        ("1", "0", None, "1"),
        ("1", "1", None, None),
        ("True", "true", None, None),
        ("1", None, None, None),
        (None, "3", None, None),
        ("unset", "3", None, "unset"),
        ("unset", "false", None, None),
        ("unset", "auto", None, None),
        ("half", "16", "processes", "8"),
        ("half", "3", None, "1"),
        ("half", "1", None, None),
        ("half", "auto", None, None),
        ("double", "2", None, "4"),
        ("three quarters", "0.9", None, "0.68"),
        ("at least 22", "18", None, "22"),
        ("at least 22", "22", None, None),
        ("at least 22", "23", None, None),
        ("at least 16g", "8g", None, "16g"),
        ("at least 16g", "64Gi", None, None),
        ("at least 1048576:1048576", "1024:2048", None, "1048576:1048576"),
        ("at least 1048576", "unlimited", None, None),
        ("at least 3600", "600", "seconds", "3600"),
        ("at least 3600", "5400", "seconds", "10800"),
        ("at least 60", "60", "minutes", "120"),
        (
            "at least datetime.timedelta(minutes=60)",
            "timedelta(minutes=10)",
            "timedelta",
            "datetime.timedelta(minutes=60)",
        ),
        (
            "at least datetime.timedelta(minutes=60)",
            "datetime.timedelta(hours=2)",
            "timedelta",
            "datetime.timedelta(minutes=240)",
        ),
        ("at least datetime.timedelta(minutes=60)", "TIMEOUT", "timedelta", None),
    ],
)
def test_the_value_that_a_present_one_should_become(to, present, unit, wanted):
    assert target(to, present, unit) == wanted


@pytest.mark.parametrize(
    ("to", "default", "wanted"),
    [("half", "8", "4"), ("half", None, None), ("at least 22", "20", "22"), ("1", None, "1"), (None, "3", None)],
)
def test_a_setting_that_nobody_makes_starts_from_the_default(to, default, wanted):
    assert unmade(to, default) == wanted


def options(name):
    return {option.framework: option for option in catalogue().options_called(name)}


@pytest.mark.parametrize(
    ("name", "framework", "wanted"),
    [
        ("--distributed-timeout-minutes", "megatron-lm", "60"),
        ("--ddp_timeout", "transformers", "3600"),
        ("comm.train_timeout_seconds", "torchtitan", "3600"),
        ("init_process_group(timeout=)", "pytorch", "datetime.timedelta(minutes=60)"),
        ("DEEPSPEED_TIMEOUT", "deepspeed", "60"),
    ],
)
def test_a_duration_is_given_in_the_setting_s_own_unit(name, framework, wanted):
    assert converted(3600, options(name)[framework]) == wanted


@pytest.mark.parametrize(
    ("value", "unit", "seconds"),
    [
        ("datetime.timedelta(minutes=60)", None, 3600),
        ("at least timedelta(hours=1)", None, 3600),
        ("10", "minutes", 600),
        ("600", "seconds", 600),
        ("22", None, None),
        ("soon", "seconds", None),
    ],
)
def test_a_duration_is_read_in_its_unit(value, unit, seconds):
    assert seconds_in(value, unit) == seconds


@pytest.mark.parametrize(
    ("kind", "to", "may_be_written"),
    [
        (Kind.ENV, "^lo,docker", True),
        (Kind.ENV, "the index of that row", False),
        (Kind.PYTHON_KWARG, 'torch.device("cuda", int(os.environ["LOCAL_RANK"]))', True),
        (Kind.PYTHON_KWARG, "the rank's own device", False),
        (Kind.CLI_FLAG, "", False),
    ],
)
def test_a_description_is_no_value(kind, to, may_be_written):
    assert is_value(kind, to) is may_be_written


@pytest.mark.parametrize(
    ("name", "to", "depends"),
    [
        ("NCCL_IB_GID_INDEX", "3", True),
        ("NCCL_IB_GID_INDEX", UNSET, False),
        ("NCCL_SOCKET_IFNAME", "eth0", True),
        ("NCCL_SOCKET_IFNAME", "^lo,docker", False),
        ("NCCL_P2P_DISABLE", "1", False),
    ],
)
def test_what_only_the_site_can_tell(name, to, depends):
    assert depends_on_site(name, to) is depends


@pytest.mark.parametrize(
    ("name", "framework", "value"),
    [
        ("--bf16", "megatron-lm", "true"),
        ("bf16.enabled", "deepspeed", "true"),
        ("--mixed_precision", "accelerate", "bf16"),
        ("Trainer(precision=)", "lightning", "bf16-mixed"),
        ("actor_rollout_ref.actor.fsdp_config.dtype", "verl", "bfloat16"),
    ],
)
def test_the_catalogue_s_example_tells_how_another_framework_says_it(name, framework, value):
    assert value_in_example(options(name)[framework]) == value
