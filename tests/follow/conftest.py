from __future__ import annotations

from pathlib import Path

import pytest

from nccl_logscan.follow import Watch, follow
from nccl_logscan.pipeline import Options
from nccl_logscan.rulebook.load import builtin_rulebook

CASES = Path(__file__).parents[2] / "fixtures" / "cases"
LATEST = 100_000.0


class ScriptedClock:
    """A clock that stands still but in `wait`, where what was arranged for that time is done."""

    def __init__(self):
        self.stopped = False
        self.time = 0.0
        self.waits = 0
        self.arranged = []

    def at(self, time, act, *arguments):
        self.arranged.append((time, len(self.arranged), act, arguments))
        self.arranged.sort()

    def stop(self):
        self.stopped = True

    def now(self):
        return self.time

    def wait(self, seconds, files=()):  # noqa: ARG002 - it waits for no pipe
        assert self.time < LATEST, "the watch does not end"
        self.waits += 1
        until = self.time + seconds
        while self.arranged and self.arranged[0][0] <= until and not self.stopped:
            time, _, act, arguments = self.arranged.pop(0)
            self.time = max(self.time, time)
            act(*arguments)
        if not self.stopped:
            self.time = until


class Watched:
    """What a watch under a scripted clock came to."""

    def __init__(self, clock, told, result):
        self.clock, self.told, self.result = clock, told, result

    @property
    def category(self):
        return str(self.result.diagnosis.category)

    @property
    def ended_at(self):
        return self.clock.time

    @property
    def why(self):
        return self.told[-1].partition(";")[0]


@pytest.fixture
def clock():
    return ScriptedClock()


@pytest.fixture
def watch(clock):
    """Follow paths under the scripted clock."""

    def watch(*paths, stdin=None, options=None, **when):
        told = []
        result = follow(
            [str(path) for path in paths],
            builtin_rulebook(),
            options or Options(looks_beside=False),
            Watch(**when),
            clock=clock,
            tell=told.append,
            stdin=stdin,
        )
        return Watched(clock, told, result)

    return watch


@pytest.fixture
def failed_log():
    """The lines of a real job that failed."""
    return (CASES / "lab" / "timeout-dataloader" / "driver.log").read_text().splitlines(keepends=True)


@pytest.fixture
def healthy_log():
    """The lines of a real job that ended well."""
    return (CASES / "lab" / "m8-healthy" / "driver.log").read_text().splitlines(keepends=True)


@pytest.fixture
def dumps():
    """The flight recorders' dumps of a real job."""
    folder = CASES / "recorder" / "fr-tp-late-eager"
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix not in {".log", ".yaml"})
