from __future__ import annotations

import pytest
from scripted import CASES, ScriptedClock

from nccl_logscan.follow import Watch, follow
from nccl_logscan.pipeline import Options
from nccl_logscan.rulebook.load import builtin_rulebook


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
