"""Versions that files pin, and the packages that frameworks are installed as."""

from __future__ import annotations

import pytest

from nccl_logscan.configs.pins import package_of, pins_in


@pytest.mark.parametrize(
    "framework", ["verl", "megatron-lm", "nemo", "llama-factory", "deepspeed", "lightning", "vllm", "ms-swift"]
)
def test_a_framework_s_package_is_the_one_that_pins_it(framework):
    assert pins_in(f"{package_of(framework)}==1.2") == {framework: "1.2"}


def test_pytorch_is_installed_as_torch():
    assert package_of("pytorch") == "torch"
