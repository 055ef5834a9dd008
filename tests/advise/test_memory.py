"""What the number of parameters decides, against figures worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nccl_logscan.advise.memory import memory_of
from nccl_logscan.advise.run import Run, framework_called, frameworks, gpus, read_params


def run_of(params, framework="torchrun", *, nodes=1, per_node=8, gpu=None):
    chosen = frameworks()[framework]
    return Run(read_params(params), nodes, per_node, "ib", chosen, chosen.launcher, gpu=gpus()[gpu] if gpu else None)


def states(run):
    return {state.scheme: state.gigabytes for state in memory_of(run, ()).states}


def test_the_state_of_7b_on_8_gpus_is_as_zero_counts_it():
    found = states(run_of("7B"))
    # 16 x 7 = 112; 4 x 7 + 12 x 7 / 8 = 38.5; 2 x 7 + 14 x 7 / 8 = 26.25; 112 / 8 = 14.
    assert found == pytest.approx({"ddp": 112, "zero1": 38.5, "zero2": 26.25, "zero3": 14})


def test_zero_own_example_of_7_5b_on_64_gpus():
    # Figure 1 of https://arxiv.org/abs/1910.02054: 120, 31.4, 16.6 and 1.9 GB.
    found = states(run_of("7.5B", nodes=8))
    assert [round(size, 1) for size in found.values()] == [120.0, 31.4, 16.6, 1.9]


def test_megatron_takes_the_least_model_parallelism_that_fits():
    # 70B on 64 GPUs: 12 x 70 / 64 = 13.125 for the optimizer; 6 x 70 / m = 420 / m for the rest, so that 420 / 8 =
    # 52.5 is the first that fits into 80 GB with it: 65.625.
    found = memory_of(run_of("70B", "megatron-lm", nodes=8, gpu="h100"), ()).states[-1]
    assert found.gigabytes == pytest.approx(65.625)
    assert "TP x PP = 8" in found.title
    assert found.fits is True


def test_whether_it_fits_is_not_said_of_an_unknown_gpu():
    assert {state.fits for state in memory_of(run_of("70B"), ()).states} == {None}


def test_a_checkpoint_of_30b_at_one_gigabyte_a_second():
    found = memory_of(run_of("30B", nodes=4), (1.0,))
    [saving] = found.savings
    # 14 x 30 = 420 GB, 420 s. 50,000 h / 32 GPUs = 1562.5 h = 5,625,000 s; sqrt(2 x 5625000 x 420) = 68,738.6 s.
    assert found.checkpoint == pytest.approx(420)
    assert found.hours_to_failure == pytest.approx(1562.5)
    assert saving.seconds == pytest.approx(420)
    assert saving.interval == 68_739


def test_a_server_has_weights_and_no_optimizer():
    found = memory_of(run_of("70B", "vllm"), (1.0,))
    assert [state.gigabytes for state in found.states] == [pytest.approx(17.5)]
    assert found.savings == ()


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("7B", 7_000_000_000),
        ("0.5b", 500_000_000),
        ("671B", 671_000_000_000),
        ("1T", 10**12),
        ("350M", 350_000_000),
        ("7000000000", 7_000_000_000),
        ("7e9", 7_000_000_000),
        ("7_000M", 7_000_000_000),
        (" 30 B ", 30_000_000_000),
    ],
)
def test_sizes_as_people_write_them(text, count):
    assert read_params(text) == count


@pytest.mark.parametrize(
    "text", ["", "B", "30", "-7B", "thirty", "7GB", "1e99", "nan", "7.B", "0B", "999T", "٣B", "7B\n7"]
)
def test_what_is_no_size_is_refused(text):
    assert read_params(text) is None


@given(st.text() | st.from_regex(r"\A ?[0-9]{1,20}(\.[0-9]{1,14})?(e[0-9]{1,3})? ?[kmbtKMBT]?\Z"))
def test_any_text_is_a_size_of_a_model_or_none(text):
    count = read_params(text)
    assert count is None or 10**6 <= count <= 10**14


@given(st.text())
def test_any_text_is_a_framework_or_none(text):
    found = framework_called(text)
    assert found is None or found.name in frameworks()
