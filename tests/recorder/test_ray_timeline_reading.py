"""Which task ran on which worker, as `ray timeline` writes it: with names up to Ray 2.2, and with numbers after it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nccl_logscan.measured.ray_timeline import SLICES, Slice, read_ray_timeline

NAMED = {"pid": "10.0.0.1", "tid": "worker:0a1b"}
NUMBERED = {"pid": 0, "tid": 4}
NAMES = [
    {"ph": "M", "name": "process_name", "pid": 0, "args": {"name": "Node 10.0.0.1"}},
    {"ph": "M", "name": "thread_name", "pid": 0, "tid": 4, "args": {"name": "worker:0a1b"}},
]


def event(category, start, length, **changes):
    return {"cat": category, "name": category, "ph": "X", "ts": start, "dur": length, "args": {}, **NAMED, **changes}


def read(*events):
    return read_ray_timeline(json.dumps(list(events)).encode())


@pytest.mark.parametrize(("names", "place"), [((), NAMED), (NAMES, NUMBERED)])
def test_a_task_has_its_node_its_worker_and_its_time(names, place):
    told = read(event("task::train_step", 1_760_000_000_000_000.0, 2_500_000.0, **place), *names)

    assert told.slices == (
        Slice(
            "10.0.0.1", "worker:0a1b", "task::train_step", "task::train_step", "train_step",
            1_760_000_000_000_000, 1_760_000_002_500_000,
        ),
    )  # fmt: skip
    assert told.problem is None


def test_a_slice_within_a_task_says_whose_it_is_and_whether_it_waits():
    told = read(
        event("task:execute", 10, 90, args={"func_or_class_name": "Trainer.fit"}),
        event("ray.get", 20, 30, args={"func_or_class_name": "Trainer.fit"}),
    )

    assert [(one.task, one.waits) for one in told.slices] == [("Trainer.fit", False), ("Trainer.fit", True)]


def test_slices_are_in_the_order_of_their_starts_and_the_outer_one_comes_first():
    told = read(event("task:execute", 5, 10), event("task::late", 9, 1), event("task::f", 5, 20))

    assert [one.category for one in told.slices] == ["task::f", "task:execute", "task::late"]


def test_of_too_many_the_latest_are_kept_and_the_others_are_counted():
    told = read(*(event("task::f", start, 1) for start in range(SLICES + 7)))

    assert (len(told.slices), told.slices[0].start_us, told.left_out) == (SLICES, 7, 7)


@pytest.mark.parametrize(
    "change",
    [
        {"ts": "soon"},
        {"ts": True},
        {"ts": -1},
        {"dur": 1e300},
        {"dur": float("nan")},
        {"ts": 10**400},
        {"pid": None},
        {"cat": "", "name": 7},
    ],
)
def test_an_event_without_a_time_or_a_name_is_left_out_and_counted(change):
    told = read(event("task::f", 1, 1), event("task::f", 2, 1, **change))

    assert [one.start_us for one in told.slices] == [1]
    assert told.problem == "has 1 event without a time or a name, left out"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'[{"cat": "task::f", "ph": "X"', "cut off or damaged"),
        (b'{"a": 1}', "a list of events"),
        (b"[" * 100_000, "nested too deep"),
        (b"[" * 2_000_001, "larger than what is read"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(data, said):
    told = read_ray_timeline(data)

    assert told.slices == ()
    assert said in (told.problem or "")


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["cat", "name", "ph", "pid", "tid", "ts", "dur", "args"]), inner, max_size=8)
    ),
)


@given(
    st.lists(
        _VALUES | st.fixed_dictionaries({"ph": st.sampled_from("XM"), "ts": _VALUES, "pid": _VALUES, "args": _VALUES})
    )
)
def test_whatever_the_list_holds_it_is_read(events):
    for one in read_ray_timeline(json.dumps(events).encode()).slices:
        assert one.end_us >= one.start_us >= 0
