"""When the calls of a hang ended, Ray's timeline says which tasks were at work; a job that runs on has no stall."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from nccl_logscan.errors import InputError
from nccl_logscan.pipeline import scan
from nccl_logscan.report.view import build_view
from nccl_logscan.sources import Kind, open_sources

RECORDER = Path(__file__).parents[2] / "fixtures" / "cases" / "recorder"
LATE = RECORDER / "fr-fsdp-late"
STALL_US = 1_796_035_596_830_144
WORKER = {"pid": "10.0.0.7", "tid": "worker:0123456789abcdef", "ph": "X"}


def event(category, start, length, task="Trainer.fit", **changes):
    args = {"func_or_class_name": task}
    return {"cat": category, "name": category, "ts": start, "dur": length, "args": args, **WORKER, **changes}


def scanned(folder, *events):
    (folder / "ray-timeline.json").write_text(json.dumps(list(events)))
    return scan([str(LATE), str(folder / "ray-timeline.json")])


def said(result):
    return [note for note in result.notes if "Ray" in note]


def test_a_stall_has_the_tasks_that_ran_and_those_that_waited(tmp_path):
    loader = {"tid": "worker:fedcba9876543210"}
    result = scanned(
        tmp_path,
        event("task::Trainer.fit", STALL_US - 9_000_000, 60_000_000),
        event("task:execute", STALL_US - 8_000_000, 50_000_000),
        event("ray.get", STALL_US - 20_000, 40_000_000),
        event("task::load_shard", STALL_US - 30_000, 90_000_000, task="load_shard", **loader),
        event("task::load_shard", STALL_US - 900_000, 10_000, task="load_shard", **loader),
    )

    assert result.spans.stall.sequence == 13
    assert [(one.task, one.waits) for one in result.spans.stall.slices] == [
        ("Trainer.fit", True),
        ("load_shard", False),
    ]
    [note] = said(result)
    assert note == (
        "when ranks came to _all_gather_base number 13 of group 0, which did not end, Ray's workers were in: "
        "Trainer.fit on 10.0.0.7 (waiting in ray.get), load_shard on 10.0.0.7"
    )


def test_a_timeline_of_another_time_says_so(tmp_path):
    result = scanned(tmp_path, event("task::Trainer.fit", STALL_US - 9_000_000, 1_000))

    [note] = said(result)
    assert note.startswith("Ray's timeline does not cover the moment when ranks came to _all_gather_base number 13 of")


def test_a_timeline_changes_nothing_of_the_verdict(tmp_path):
    with_timeline, without = scanned(tmp_path, event("task::Trainer.fit", STALL_US, 9)), scan([str(LATE)])

    assert build_view(with_timeline)["verdict"] == build_view(without)["verdict"]


def test_a_call_that_runs_in_a_healthy_job_is_no_stall():
    result = scan([str(RECORDER / "fr-healthy-ondemand")])

    assert result.spans.stall is None
    assert result.spans.ranks


def test_a_job_without_dumps_and_timelines_has_no_spans():
    assert scan([str(LATE / "driver.log")]).spans is None


@pytest.mark.parametrize("packed", [False, True])
def test_a_timeline_is_known_by_its_content_and_is_nothing_to_judge_alone(tmp_path, packed):
    text = json.dumps([event("task::Trainer.fit", STALL_US, 9)]).encode()
    name = tmp_path / "anything.log"
    name.write_bytes(gzip.compress(text) if packed else text)

    [source] = open_sources([str(name)])
    assert source.kind is Kind.RAY_TIMELINE
    assert list(source.lines()) == []
    with pytest.raises(InputError, match="nothing to judge"):
        scan([str(name)])


def test_a_damaged_timeline_is_told_and_costs_nothing_else(tmp_path):
    (tmp_path / "ray-timeline.json").write_text(json.dumps([event("task::f", 1, 2)])[:-9])
    result = scan([str(LATE), str(tmp_path / "ray-timeline.json")])

    assert any("ray-timeline.json is cut off or damaged" in note for note in result.notes)
    assert result.spans.slices == ()
