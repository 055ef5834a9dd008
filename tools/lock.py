"""Locks what is installed, with the digest of each file, and lists what a run needs as a bill of materials (CycloneDX).

python tools/lock.py [--check]

requirements/run.txt is what the program needs, dev.txt that and `.[dev]` (what tools/test installs), ci.txt that and
`.[docs,ray]` (what .ci/run installs); each for every platform and Python that pyproject.toml admits. Without --check it
asks the index for the newest releases by uv (`pip install '.[lock]'`). With --check it asks nobody: the exit code is 1
where pyproject.toml asks for what a lock does not have, or the bill is not that of run.txt.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

_ROOT = Path(__file__).resolve().parents[1]
_FOLDER = _ROOT / "requirements"
BILL = _FOLDER / "nccl-logscan.cdx.json"
LOCKS: dict[str, tuple[str, ...]] = {"run": (), "dev": ("dev",), "ci": ("dev", "docs", "ray")}
"""The extras that each file has beside what the program itself needs."""
_OLDEST = "3.11"
_PINNED = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;]+)(?: ; (?P<marker>.+?))? \\$", re.MULTILINE)


def main() -> int:
    """Write the locks and the bill, or compare them with pyproject.toml."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only say whether they are what pyproject.toml asks for")
    if not parser.parse_args().check:
        _write_locks()
        _write_bill()
    problems = list(stale())
    for problem in problems:
        print(f"{problem}: run python tools/lock.py", file=sys.stderr)
    return 1 if problems else 0


def stale() -> Iterator[str]:
    """Yield what of the locks and the bill is not as pyproject.toml and run.txt have it."""
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text("utf-8"))
    builds = project["build-system"]["requires"]
    for name, extras in LOCKS.items():
        text = (_FOLDER / f"{name}.txt").read_text("utf-8")
        asked = [*project["project"]["dependencies"], *(builds if extras else ())]
        for extra in extras:
            asked += project["project"]["optional-dependencies"][extra]
        yield from (f"requirements/{name}.txt {problem}" for problem in problems_of(text, asked))
    components = {_component(part) for part in json.loads(BILL.read_text("utf-8"))["components"]}
    locked = {pin for pin, marker in _pins((_FOLDER / "run.txt").read_text("utf-8")) if _is_here(marker)}
    if components != locked:
        yield f"{BILL.relative_to(_ROOT)} differs from run.txt in {sorted(components ^ locked)}"


def problems_of(lock: str, asked: list[str]) -> Iterator[str]:
    """Yield what a lock lacks of requirements, has in a version that they do not admit, or has without a digest."""
    pins = [pin for pin, _ in _pins(lock)]
    for block in re.split(r"\n(?=\S)", lock):
        if not block.startswith("#") and block.strip() and "--hash=sha256:" not in block:
            yield f"has no digest for {block.split()[0]}"
    for text in asked:
        requirement = Requirement(text)
        versions = [version for name, version in pins if name == canonicalize_name(requirement.name)]
        if not versions:
            yield f"lacks {requirement.name}"
        elif not any(requirement.specifier.contains(version, prereleases=True) for version in versions):
            yield f"has {requirement.name} {versions[0]}, which {text} does not admit"


def _pins(lock: str) -> Iterator[tuple[tuple[str, str], str | None]]:
    for match in _PINNED.finditer(lock):
        yield (canonicalize_name(match["name"]), match["version"]), match["marker"]


def _is_here(marker: str | None) -> bool:
    """Whether a marker holds where the bill is made: CPython on Linux, x86-64."""
    if marker is None:
        return True
    requirement = Requirement(f"x; {marker}")
    place = {
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
        "os_name": "posix",
        "sys_platform": "linux",
        "platform_system": "Linux",
        "platform_machine": "x86_64",
        "python_version": _OLDEST,
        "python_full_version": f"{_OLDEST}.0",
    }
    assert requirement.marker is not None
    return requirement.marker.evaluate(place)


def _component(part: dict[str, str]) -> tuple[str, str]:
    return canonicalize_name(part["name"]), part["version"]


# --- writing ---------------------------------------------------------------------------------------------------


def _write_locks() -> None:
    _FOLDER.mkdir(exist_ok=True)
    for name, extras in LOCKS.items():
        chosen = [word for extra in extras for word in ("--extra", extra)]
        _uv(
            *("pip", "compile", "pyproject.toml", *chosen, "--universal", "--python-version", _OLDEST, "--upgrade"),
            *("--generate-hashes", "--no-annotate", "--quiet", "--output-file", f"requirements/{name}.txt"),
            *("--custom-compile-command", "python tools/lock.py"),
        )


def _write_bill() -> None:
    """Write what an environment with run.txt, and nothing else, holds."""
    with tempfile.TemporaryDirectory() as scratch:
        python = f"{scratch}/venv/bin/python"
        _uv("venv", "--quiet", f"{scratch}/venv")
        _uv(
            "pip", "install", "--quiet", "--python", python, "--require-hashes", "--requirement", "requirements/run.txt"
        )
        command = [sys.executable, "-m", "cyclonedx_py", "environment", python, "--pyproject", "pyproject.toml"]
        options = ["--mc-type", "application", "--output-reproducible", "--output-format", "JSON"]
        subprocess.run([*command, *options, "--output-file", str(BILL)], cwd=_ROOT, check=True)


def _uv(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "uv", *words], cwd=_ROOT, check=True)


if __name__ == "__main__":
    sys.exit(main())
