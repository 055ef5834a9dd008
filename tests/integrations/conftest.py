from __future__ import annotations

import os
import subprocess
from types import SimpleNamespace

import pytest
from integration_places import LAB, PROGRAM, ROOT


@pytest.fixture
def failed():
    """The real log of a failed job."""
    return LAB / "timeout-dataloader" / "driver.log"


@pytest.fixture
def healthy():
    """The real log of a healthy job."""
    return LAB / "m8-healthy" / "driver.log"


@pytest.fixture
def work(tmp_path):
    """A folder with a blank and a quote in its name, in which scripts run."""
    place = tmp_path / "it's a work folder"
    place.mkdir()
    return place


@pytest.fixture
def commands(tmp_path):
    """A folder for commands that stand for those of the host system; `commands(name, script)` adds one."""
    place = tmp_path / "commands"
    place.mkdir()

    def add(name, script):
        (place / name).write_text(f"#!/bin/bash\n{script}\n", "utf-8")
        (place / name).chmod(0o755)
        return place

    return add


@pytest.fixture
def run(work):
    """Run a command in the working folder, in an environment that holds what is given and nothing else."""

    def run(*words, **environment):
        given = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8", **environment}
        done = subprocess.run(
            [str(word) for word in words],
            cwd=work,
            env={name: str(value) for name, value in given.items()},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
        return SimpleNamespace(code=done.returncode, out=done.stdout, err=done.stderr)

    return run


@pytest.fixture
def program_on_path():
    """A search path with the program."""
    return f"{PROGRAM.parent}{os.pathsep}/usr/bin{os.pathsep}/bin"
