"""Rounds: the same lines whoever skims them, and however the input is read."""

from __future__ import annotations

import io
from contextlib import closing

import pytest
from cases import BY_NAME

from benchmarks import logs
from nccl_logscan.lines import Peeler
from nccl_logscan.pipeline import Run
from nccl_logscan.rulebook.load import builtin_rulebook
from nccl_logscan.skim import crew, rounds, windows
from nccl_logscan.skim.asking import Askers
from nccl_logscan.skim.crew import ThreadCrew
from nccl_logscan.skim.rounds import FileRounds, StreamRounds
from nccl_logscan.sources.limits import Limits

LIMITS = Limits()
CASES = ("lab/hf-ok", "recorder/fr-sixteen-late", "blind/a27")


def generated(write):
    log = io.BytesIO()
    write(log, 300_000, 1)
    return log.getvalue()


def logs_to_skim():
    """Logs of many segments."""
    yield pytest.param(generated(logs.write_training), id="training")
    yield pytest.param(generated(logs.write_startup), id="startup")
    for name in CASES:
        for path in BY_NAME[name].inputs:
            if ".log" in path.suffixes:
                yield pytest.param(path.read_bytes(), id=f"{name}/{path.name}")


LOGS = list(logs_to_skim())


@pytest.fixture(autouse=True)
def small(monkeypatch):
    for module in (crew, rounds, windows):
        monkeypatch.setattr(module, "SEGMENT", 5_000)
    monkeypatch.setattr(rounds, "BATCH", 4)


def asker():
    run = Run(builtin_rulebook())
    return Askers(run.matcher, run.listeners).of(Peeler())


def said(found):
    """What rounds say, with what groups and tallies are about in the place of their numbers, which threads give out."""
    found = list(found)

    def named(part, key):
        return None if key is None else (part.groups[key[0]]._replace(text=""), key[1])

    return [
        (
            [(raw, read, named(part, key), part.tallies.get(tally)) for raw, read, key, tally in part.lines],
            sorted((repr(named(part, key)), count) for key, count in part.counts.items() if count),
            sorted((part.tallies[tally], count) for tally, count in part.tally_counts.items() if count),
            part.line_count,
            (part.cutter.replaced, part.cutter.cut_lines),
        )
        for part in found
    ]


def of_file(path, threads):
    return said(rounds_of(path, threads))


def rounds_of(path, threads):
    own = asker()
    with closing(ThreadCrew(path, "log", own, LIMITS, threads)) as threaded:
        yield from FileRounds(threaded, "log", LIMITS, own)


# Of the trainer's log another thread knows other prefixes, so that a line may be one of another sayer's first or last.
@pytest.mark.parametrize("data", [log for log in LOGS if log.id != "training"])
def test_threads_change_nothing(tmp_path, data):
    path = tmp_path / "log"
    path.write_bytes(data)
    alone = of_file(path, 1)
    assert of_file(path, 2) == alone
    assert of_file(path, 5) == alone


@pytest.mark.parametrize("data", LOGS)
@pytest.mark.parametrize("held", [1, 1 << 14, 1 << 25])
def test_a_stream_has_the_rounds_of_a_file(tmp_path, monkeypatch, data, held):
    monkeypatch.setattr(rounds, "HELD", held)
    path = tmp_path / "log"
    path.write_bytes(data)
    filed = of_file(path, 1)
    for size in (977, 20_000):
        blocks = [data[at : at + size] for at in range(0, len(data), size)]
        assert said(StreamRounds(blocks, "log", LIMITS, asker())) == filed


@pytest.mark.parametrize("data", LOGS)
@pytest.mark.parametrize("held", [1, 1 << 25])
def test_each_line_is_given_once_and_in_order(tmp_path, monkeypatch, data, held):
    monkeypatch.setattr(rounds, "HELD", held)
    path = tmp_path / "log"
    path.write_bytes(data)
    lines = data.split(b"\n")
    numbers = []
    count = 0
    for part in rounds_of(path, 2):
        for line in part.lines:
            numbers.append(line.raw.at.line)
            assert line.raw.text == lines[line.raw.at.line - 1].removesuffix(b"\r").decode("utf-8", "replace")
        count += part.line_count
    assert numbers == sorted(set(numbers))
    assert count == len(lines) - (not lines[-1])
