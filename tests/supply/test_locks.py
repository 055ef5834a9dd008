"""What is installed is locked with digests, listed in a bill of materials, and justified in the documentation."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from lock import BILL, LOCKS, problems_of, stale  # noqa: E402 - tools are scripts and no package

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
DECLARED = [
    *PROJECT["project"]["dependencies"],
    *(text for extra in PROJECT["project"]["optional-dependencies"].values() for text in extra),
]
LOCK = """\
# made by a tool
click==8.1.7 \\
    --hash=sha256:00
isal==1.7.2 ; sys_platform == 'linux' \\
    --hash=sha256:01 \\
    --hash=sha256:02
"""


def name_of(requirement):
    return re.split(r"[\[<>=;]", requirement)[0].strip()


def test_the_locks_have_what_is_declared():
    assert list(stale()) == []


@pytest.mark.parametrize(
    ("lock", "asked", "told"),
    [
        (LOCK, ["click>=8.1", "isal>=1.7"], []),
        (LOCK, ["rich>=13"], ["lacks rich"]),
        (LOCK, ["click>=8.2"], ["has click 8.1.7, which click>=8.2 does not admit"]),
        (LOCK.replace("    --hash=sha256:00\n", ""), ["isal"], ["has no digest for click==8.1.7"]),
    ],
    ids=["fresh", "missing", "too old", "no digest"],
)
def test_a_lock_that_is_behind_is_told(lock, asked, told):
    assert list(problems_of(lock, asked)) == told


def test_what_ci_and_the_tests_install_is_locked():
    for script, lock in ((".ci/run", "ci"), (".ci/run", "run"), ("tools/test", "dev")):
        assert f"--require-hashes --requirement requirements/{lock}.txt" in (ROOT / script).read_text("utf-8")
    for script in (".ci/run", "tools/test"):
        for line in (ROOT / script).read_text("utf-8").splitlines():
            if "pip install" in line:
                assert "--require-hashes" in line or "--no-deps" in line
    assert set(LOCKS) == {path.stem for path in (ROOT / "requirements").glob("*.txt")}


def test_each_component_of_the_bill_has_a_licence():
    bill = json.loads(BILL.read_text("utf-8"))
    assert bill["bomFormat"] == "CycloneDX"
    silent = ["ahocorasick_rs"]  # its wheel names none; docs/dependencies.md has it from its repository
    assert [part["name"] for part in bill["components"] if not part.get("licenses")] == silent


def test_each_dependency_is_justified():
    text = (ROOT / "docs" / "dependencies.md").read_text("utf-8")
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("|")]
    justified = {name for row in rows for name in re.findall(r"[\w.-]+", row)}
    assert sorted({name_of(text) for text in DECLARED} - justified) == []
