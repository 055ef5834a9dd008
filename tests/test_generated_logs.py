"""The logs that benchmarks/speed.py scans are the ones they are said to be."""

from __future__ import annotations

import io

import pytest

from benchmarks import logs
from nccl_logscan import scan

SIZE = 2_000_000
WRITERS = {
    "training": lambda log, seed: logs.write_training(log, SIZE, seed),
    "startup": lambda log, seed: logs.write_startup(log, SIZE, seed),
    "short": logs.write_short,
}


def written(kind, seed=1):
    log = io.BytesIO()
    WRITERS[kind](log, seed)
    return log.getvalue()


def verdict_of(folder, text):
    path = folder / "job.log"
    path.write_bytes(text)
    return scan([path]).diagnosis


def is_nccl(line):
    return b" NCCL " in line


@pytest.mark.parametrize("kind", WRITERS)
def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(kind):
    assert written(kind) == written(kind)
    assert written(kind) != written(kind, seed=2)


@pytest.mark.parametrize(
    ("kind", "category", "rank"),
    [("training", "collective_timeout", 13), ("startup", "infiniband", 9), ("short", "collective_timeout", 5)],
)
def test_each_log_gets_the_verdict_that_it_was_made_for(tmp_path, kind, category, rank):
    verdict = verdict_of(tmp_path, written(kind))
    assert (verdict.category, verdict.culprit.rank) == (category, rank)


def test_a_file_a_rank_gets_the_verdict_of_the_rank_that_failed(tmp_path):
    logs.write_rank_files(tmp_path / "ranks", 60_000, 1, ranks=16, failing=9)
    files = sorted((tmp_path / "ranks").iterdir())
    assert len(files) == 16
    verdict = scan(files).diagnosis
    assert (verdict.category, verdict.culprit.rank) == ("infiniband", 9)


def test_of_a_trainers_lines_three_in_a_hundred_are_nccls():
    log = io.BytesIO()
    logs.write_training(log, 30_000_000, 1)
    lines = log.getvalue().split(b"\n")
    assert 0.02 < sum(map(is_nccl, lines)) / len(lines) < 0.04


def test_of_a_start_ups_lines_nine_in_ten_are_nccls():
    lines = written("startup").split(b"\n")
    assert 0.88 < sum(map(is_nccl, lines)) / len(lines) < 0.92


def test_the_short_log_has_two_hundred_lines():
    assert written("short").count(b"\n") == 200


def test_no_two_samples_of_the_model_are_alike():
    samples = [line for line in written("training").split(b"\n") if b"TaskRunner" in line and b"[" not in line]
    assert len(samples) > 100
    assert len(set(samples)) == len(samples)


def test_a_log_is_named_only_when_it_is_whole_and_then_kept(tmp_path):
    path = logs.made(tmp_path, "b", 1)
    assert path.name == "b1.log"
    before = path.stat().st_mtime_ns
    assert logs.made(tmp_path, "b", 1).stat().st_mtime_ns == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["b1.log"]
