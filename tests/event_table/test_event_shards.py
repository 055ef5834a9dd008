"""Several processes write what one process writes, to the byte."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from table_files import FORMS, read, written

from nccl_logscan.event_table import shards
from nccl_logscan.event_table.rows import Choice
from nccl_logscan.event_table.shards import Shard, processes_for, shards_of
from nccl_logscan.sources import open_sources

LAB = Path(__file__).parents[2] / "fixtures" / "cases" / "lab"


@pytest.mark.parametrize("form", FORMS)
def test_any_number_of_processes_gives_the_same_bytes(monkeypatch, form):
    monkeypatch.setattr(shards, "_SHARD_BYTES", 200_000)

    assert written([LAB], form, processes=3) == written([LAB], form, processes=1)


def test_what_the_processes_left_is_gone(tmp_path):
    place = tmp_path / "events.csv"
    shards_here = shards_of(open_sources([str(LAB / "abort"), str(LAB / "m8-healthy")]))
    assert len(shards_here) == 1

    from nccl_logscan.event_table.export import export  # noqa: PLC0415
    from nccl_logscan.event_table.write import Form  # noqa: PLC0415

    export(open_sources([str(LAB)]), Form.CSV, place, processes=2)

    assert [path.name for path in tmp_path.iterdir()] == ["events.csv"]


def test_a_member_of_an_archive_and_a_pipe_are_read_here(tmp_path):
    read_end, write_end = os.pipe()
    os.close(write_end)
    (tmp_path / "a.log").write_text("x\n")
    sources = open_sources([str(tmp_path / "a.log"), f"/dev/fd/{read_end}", str(tmp_path)])

    assert [shard.is_portable for shard in shards_of(sources)] == [True, False]
    os.close(read_end)


def test_small_neighbours_are_read_together_and_large_files_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(shards, "_SHARD_BYTES", 100)
    for number, size in enumerate([40, 40, 40, 400, 10]):
        (tmp_path / f"{number}.log").write_text("x" * size)

    assert [len(shard.sources) for shard in shards_of(open_sources([str(tmp_path)]))] == [2, 1, 1, 1]


def test_a_further_process_must_be_worth_it():
    small = [Shard([], 1000, is_portable=True)] * 4
    large = [Shard([], 1 << 24, is_portable=True)] * 4

    assert processes_for(small) == 1
    assert processes_for(small, 3) == 3
    assert processes_for(large, 64) == 4
    assert processes_for([*large[:1], Shard([], 1 << 24, is_portable=False)], 2) == 1


def test_what_a_process_that_was_killed_did_not_read_is_read_here(tmp_path, monkeypatch):
    monkeypatch.setattr(shards, "_SHARD_BYTES", 1)
    for name in ("a.log", "b.log"):
        (tmp_path / name).write_text("hello\n")
    monkeypatch.setattr(shards, "_read_shards", _dies)

    told = read(written([tmp_path], "jsonl", processes=2, choice=Choice()), "jsonl")

    assert told["message"].to_list() == ["hello", "hello"]


def _dies(*_given):
    os.kill(os.getpid(), signal.SIGKILL)
