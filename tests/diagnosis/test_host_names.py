import pytest
from hypothesis import given
from hypothesis import strategies as st

from nccl_logscan.diagnosis.host_names import by_lower_case, host_in_name, short_host


@pytest.mark.parametrize(
    ("source", "host"),
    [
        ("logs/gpu-021/dmesg.txt", "gpu-021"),
        ("dmesg_gpu-1.txt", "gpu-1"),
        ("gpu-1234.txt", None),
        ("gpu-1-gpu-021.log", None),
        ("logs.tar!gpu-1/kern.log", "gpu-1"),
        ("xgpu-1-gpu-1.log", "gpu-1"),
    ],
)
def test_a_file_s_name_tells_its_host_only_where_it_names_one(source, host):
    assert host_in_name(source, by_lower_case(("gpu-1", "gpu-021"))) == host


@given(st.text(max_size=400))
def test_no_file_s_name_tells_a_host_that_nobody_knows(name):
    assert host_in_name(name, by_lower_case(("a", "gpu-1"))) in {"a", "gpu-1", None}


@pytest.mark.parametrize(
    ("name", "short"), [("gpu-1.cluster.local", "gpu-1"), ("gpu-1", "gpu-1"), ("10.0.0.3", "10.0.0.3")]
)
def test_a_host_s_name_ends_at_its_first_dot_and_an_address_does_not(name, short):
    assert short_host(name) == short
