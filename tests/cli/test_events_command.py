"""`nccl-logscan events` writes a table for others to query."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import polars as pl
import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("events.parquet", pl.read_parquet),
        ("events.csv", lambda path: pl.read_csv(path, infer_schema=False)),
        ("events.jsonl", pl.read_ndjson),
        ("events.NDJSON", pl.read_ndjson),
    ],
)
def test_the_name_of_the_output_picks_the_format(run, here, failed, name, read):
    told = run("events", failed, "-o", name)

    assert told.code == 0, told.err
    assert told.out.endswith(f"are in {name}\n")
    assert "nccl.info" in read(here / name)["kind"].to_list()


def test_standard_output_takes_json_lines_and_nothing_else(run, failed):
    told = run("events", failed, "-o", "-")

    kinds = {json.loads(line).get("kind") for line in told.out.splitlines()}
    assert {"torch.watchdog-timeout", "train.step"} <= kinds
    assert told.err == ""


def test_standard_output_takes_csv_where_that_is_asked_for(run, failed):
    told = run("events", failed, "--format", "csv", "-o", "-")

    [head, *rows] = csv.reader(told.out.splitlines(keepends=True))
    assert head[:3] == ["order", "source", "line"]
    assert all(len(row) == len(head) for row in rows)


def test_standard_input_is_read(start, here):
    process = start("events", "-", "-o", "-", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    out, err = process.communicate(b"node-1:17:23 [3] NCCL WARN x\n", timeout=60)

    assert (process.returncode, err) == (0, b"")
    assert json.loads(out)["source"] == "-"
    assert list(here.iterdir()) == []


def test_only_the_kinds_and_ranks_that_are_asked_for_are_written(run, failed):
    def kinds(*words):
        told = run("events", failed, "-o", "-", *words)
        return {(row.get("kind"), row.get("rank")) for row in map(json.loads, told.out.splitlines())}

    assert {kind for kind, _ in kinds("--kind", "train.step", "--kind", "nccl")} <= {"train.step", *_of("nccl.")}
    assert {rank for _, rank in kinds("--rank", "1")} == {1}


def _of(family):
    from nccl_logscan.events.model import EVENT_TYPES  # noqa: PLC0415

    return {kind for kind in EVENT_TYPES if kind.startswith(family)}


def test_a_filter_that_nothing_passes_gives_an_empty_table(run, here, failed):
    assert run("events", failed, "-o", "x.parquet", "--rank", "4711").code == 0
    assert pl.read_parquet(here / "x.parquet").height == 0


@pytest.mark.parametrize(
    ("words", "ends"),
    [
        (("-o", "events.txt"), (2, "does not tell a format")),
        ((), (2, "missing option")),
        (("-o", "x.csv", "--kind", "nccl.wrn"), (2, "is no kind of event")),
        (("-o", "none/x.csv"), (5, "there is no folder none")),
    ],
)
def test_what_is_wrong_is_told_in_one_line(run, here, failed, words, ends):
    told = run("events", failed, *words)

    assert told.code == ends[0]
    assert ends[1] in told.err
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("way", ["itself", "its folder"])
def test_no_log_is_replaced_by_its_table(run, here, way):
    log = here / "a.jsonl"
    log.write_text("x\n")

    told = run("events", log if way == "itself" else here, "-o", "a.jsonl")

    assert told.code == 2
    assert log.read_text() == "x\n"


def test_an_empty_input_is_told_and_leaves_nothing(run, here, tmp_path):
    (tmp_path / "empty.log").touch()

    told = run("events", tmp_path / "empty.log", "-o", "x.parquet")

    assert told.code == 3
    assert "is empty" in told.err
    assert list(here.iterdir()) == []


def test_a_reader_that_leaves_is_no_error(start, failed):
    process = start("events", failed, "-o", "-", stdout=subprocess.PIPE)
    process.stdout.read(1)
    process.stdout.close()
    _, err = process.communicate(timeout=60)

    assert (process.returncode, err) == (0, b"")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_run_that_is_ended_takes_its_part_away(start, here, number):
    (here / "x.parquet").write_bytes(b"earlier")
    process = start("events", "-", "-o", "x.parquet", stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    process.stdin.write(b"node-1:17:23 [3] NCCL WARN x\n" * 100_000)
    process.stdin.flush()
    _wait_for(lambda: any(name.startswith(f"{here}/") for name in _held_by(process)))

    process.send_signal(number)
    process.wait(timeout=60)

    assert process.returncode == 128 + number
    assert [path.name for path in here.iterdir()] == ["x.parquet"]
    assert (here / "x.parquet").read_bytes() == b"earlier"


def _held_by(process):
    """The files that a process has open, by their names; one without a name by its folder's and a number."""
    links = []
    for descriptor in Path(f"/proc/{process.pid}/fd").iterdir():
        with suppress(OSError):
            links.append(str(descriptor.readlink()))
    return links


def _wait_for(condition):
    for _ in range(600):
        if condition():
            return
        time.sleep(0.05)
    pytest.fail("it did not come to this within 30 s")


@pytest.mark.parametrize("words", [("--help",), ("{log}", "-q", "--exit-zero"), ("events", "--help")])
def test_polars_is_imported_for_a_table_alone(here, failed, words):
    words = [word.replace("{log}", str(failed)) for word in words]
    program = f"import sys; from nccl_logscan.cli import main; main({words!r}); print('polars' in sys.modules)"
    told = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=here,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=60,
    )

    assert told.stdout.splitlines()[-1] == "False"
