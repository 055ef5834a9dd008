from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from nccl_logscan.cli import main

ROOT = Path(__file__).parents[2]
CASES = ROOT / "fixtures" / "cases"


@pytest.fixture
def failed():
    """The real log of a failed job."""
    return CASES / "lab" / "timeout-dataloader" / "driver.log"


@pytest.fixture
def healthy():
    """The real log of a healthy job."""
    return CASES / "lab" / "m8-healthy" / "driver.log"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder, which is the working directory."""
    place = tmp_path / "here"
    place.mkdir()
    monkeypatch.chdir(place)
    return place


@pytest.fixture
def run(here, capsys):  # noqa: ARG001 - where it runs
    """Run the command line in this process, in an empty working directory."""

    def run(*arguments):
        code = main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return SimpleNamespace(code=code, out=printed.out, err=printed.err)

    return run


@contextmanager
def _interrupts_are_heard():
    """Have a process that is started not ignore interrupts, as those do that a shell runs in the background."""
    earlier = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, earlier)


@pytest.fixture
def start(here):
    """Start the program as a process of its own, in an empty working directory."""
    started = []

    def start(*arguments, **how):
        words = [sys.executable, "-m", "nccl_logscan", *map(str, arguments)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100", **how.pop("env", {})}
        with _interrupts_are_heard():
            process = subprocess.Popen(words, cwd=here, env=environment, stderr=subprocess.PIPE, **how)
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()
