"""How an input is cut into windows: each line is in one of them, however it is read."""

from __future__ import annotations

import os
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nccl_logscan.skim import windows
from nccl_logscan.skim.windows import FileWindows, stream_windows
from nccl_logscan.sources.limits import Limits

LIMITS = Limits()


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Windows of which a short text has many, and lines that are giants."""
    monkeypatch.setattr(windows, "SEGMENT", 64)
    monkeypatch.setattr(windows, "BESIDE", 16)
    monkeypatch.setattr(windows, "_LONGEST", 200)
    monkeypatch.setattr(windows, "_PIECE", 50)


def text_of(chance, most=30):
    lines = [b"x" * chance.choice((0, 1, 5, 15, 16, 17, 62, 63, 64, 65, 130, 199, 264, 265, 700)) for _ in range(most)]
    return b"\n".join(lines[: chance.randrange(most)]) + chance.choice((b"", b"\n", b"\n\n"))


def own_of(window):
    """A window's own lines, with their offsets; its giant last."""
    found, at = [], window.start
    while at < window.own_end:
        feed = window.buffer.find(b"\n", at, window.end)
        end = window.end if feed < 0 else feed
        found.append((window.base + at, bytes(window.buffer[at:end])))
        at = end + 1
    if window.giant is not None:
        found.append((window.base + window.end, window.giant.text.encode()))
    return found


def own_of_all(cut):
    """The windows that have lines: segment, lines, and what is seen behind them."""
    found = [(window.segment, own_of(window), bytes(window.buffer[window.own_end : window.end])) for window in cut]
    return [window for window in found if window[1]]


def of_file(path, data):
    path.write_bytes(data)
    descriptor = os.open(path, os.O_RDONLY)
    try:
        reader = FileWindows(descriptor, len(data), "log", LIMITS)
        return own_of_all(reader.read(segment) for segment in range(-(-len(data) // windows.SEGMENT)))
    finally:
        os.close(descriptor)


def blocks_of(data, chance):
    at = 0
    while at < len(data):
        size = chance.choice((1, 7, 50, 300, 5_000))
        yield data[at : at + size]
        at += size


@given(seed=st.integers(0, 1 << 32))
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_and_a_stream_have_the_same_lines_in_the_same_segments(tmp_path, seed):
    chance = Random(seed)
    data = text_of(chance)
    streamed = own_of_all(stream_windows(blocks_of(data, chance), "log", LIMITS))
    assert of_file(tmp_path / "log", data) == streamed


@given(seed=st.integers(0, 1 << 32))
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_all_windows_lines_are_the_files(tmp_path, seed):
    data = text_of(Random(seed))
    lines = [text for _, lines, _ in of_file(tmp_path / "log", data) for _, text in lines]
    wanted = data.split(b"\n")[: -1 if data.endswith(b"\n") or not data else None]
    assert lines == wanted


@pytest.mark.parametrize("left", [0, 1, 63, 64, 65, 100, 128, 500])
@pytest.mark.parametrize("line", [9, 1_000])
def test_a_file_that_is_cut_off_while_it_is_read_ends_there(tmp_path, left, line):
    data = (b"x" * line + b"\n") * (2_000 // line)
    path = tmp_path / "log"
    path.write_bytes(data)
    descriptor = os.open(path, os.O_RDONLY)
    try:
        reader = FileWindows(descriptor, len(data), "log", LIMITS)
        os.truncate(path, left)
        read = [text for segment in range(len(data) // 64) for _, text in own_of(reader.read(segment))]
    finally:
        os.close(descriptor)
    assert b"\n".join(read) == data[:left].removesuffix(b"\n")
