"""The hook of .pre-commit-hooks.yaml: its manifest, the files that it is given, and what it does with them."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys

import pytest
from integration_places import ROOT, documents_of

from nccl_logscan.configs.mappings import json, yaml
from nccl_logscan.configs.read import syntax_of
from nccl_logscan.configs.shell import syntax as shell_syntax

MANIFEST = ROOT / ".pre-commit-hooks.yaml"
[[HOOK]] = documents_of(MANIFEST)
KNOWN = [
    *(f"jobs/train{suffix}" for suffix in sorted(shell_syntax._SUFFIXES) if suffix not in {".bashrc", ".profile"}),
    *(f"conf/ds{suffix}" for suffix in json._SUFFIXES),
    *(f"k8s/job{suffix}" for suffix in yaml._SUFFIXES if suffix.count(".") == 1),
    "pyproject.toml",
    "train.py",
    "my job's/run it.sh",
    "Dockerfile",
    "docker/Dockerfile.gpu",
    "Containerfile",
    "train.dockerfile",
    ".env",
    ".env.local",
    "cluster.env",
    "nccl.conf",
    "etc/.nccl.conf",
    "site-nccl.conf",
]
OTHERS = [
    "README.md",
    "Dockerfile.md",
    "notes.txt",
    "nginx.conf",
    "train.log",
    "environment",
    "sh",
    "a.shx",
    "Makefile",
]


def test_pre_commit_takes_the_manifest():
    done = subprocess.run(
        [sys.executable, "-m", "pre_commit", "validate-manifest", MANIFEST],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", KNOWN)
def test_a_file_that_lint_knows_by_its_name_is_given_to_it(name):
    assert re.search(HOOK["files"], name)
    assert syntax_of(name, b"") is not None


@pytest.mark.parametrize("name", OTHERS)
def test_a_file_at_which_lint_would_stop_is_not_given_to_it(name):
    assert not re.search(HOOK["files"], name)


def test_a_wrong_setting_stops_the_commit_and_a_right_one_does_not(run, work, program_on_path):
    (work / "run it.sh").write_text("export NCCL_TIMEOUT=3\n", "utf-8")
    (work / "right.sh").write_text("export NCCL_DEBUG=WARN\n", "utf-8")
    words = shlex.split(HOOK["entry"])
    assert run("env", *words, "right.sh", PATH=program_on_path).code == 0
    stopped = run("env", *words, "run it.sh", "right.sh", PATH=program_on_path)
    assert stopped.code == 1
    assert "NCCL_TIMEOUT" in stopped.out
