from __future__ import annotations

import doctest
import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

import nccl_logscan

ROOT = Path(__file__).parents[1]
LOG = ROOT / "fixtures" / "cases" / "lab" / "timeout-dataloader" / "driver.log"


def test_the_documented_example_is_true(monkeypatch):
    monkeypatch.chdir(ROOT)

    failures, examples = doctest.testmod(nccl_logscan)

    assert examples > 0
    assert failures == 0


@pytest.mark.parametrize("name", nccl_logscan.__all__)
def test_what_is_public_can_be_had_and_is_listed(name):
    assert getattr(nccl_logscan, name) is not None
    assert name in dir(nccl_logscan)


@pytest.mark.parametrize("name", ["scan", "ScanResult"])
def test_what_is_public_is_documented(name):
    assert len(inspect.getdoc(getattr(nccl_logscan, name)) or "") > 20


def test_what_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'scam'"):
        _ = nccl_logscan.scam


def test_a_scan_gives_a_scan_result():
    assert isinstance(nccl_logscan.scan([str(LOG)]), nccl_logscan.ScanResult)
    assert nccl_logscan.scan([LOG]).diagnosis == nccl_logscan.scan([str(LOG)]).diagnosis


def test_importing_the_package_imports_nothing_else_of_it_or_of_others():
    program = "import sys, nccl_logscan; nccl_logscan.__version__; print(*sys.modules)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment, timeout=60
    ).stdout.split()

    assert {name for name in loaded if name.startswith("nccl_logscan")} == {"nccl_logscan", "nccl_logscan.version"}
    assert {"click", "rich", "regex", "pydantic", "jinja2", "yaml"}.isdisjoint(loaded)
