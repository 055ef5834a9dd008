"""The wheel brings the kernel along where there is a compiler, and does without it where there is none."""

from __future__ import annotations

import ctypes
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from hatchling.bridge.app import Application

from nccl_logscan.skim import kernel

ROOT = Path(__file__).parents[1]
SOURCE = "nccl_logscan/skim/kernel.c"
LIBRARY = "nccl_logscan/skim/kernel.lib"
FORCED = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]["targets"]["wheel"][
    "force-include"
]
SHIPPED = [name for name in FORCED if name != "rules"]
BILL = "requirements/nccl-logscan.cdx.json"
OTHERS = (BILL, "pyproject.toml", "hatch_build.py", ".gitignore", "README.md", "LICENSE", "nccl_logscan/version.py")

needs_compiler = pytest.mark.skipif(
    os.environ.get("CI") != "true" and not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="there is no compiler"
)


@pytest.fixture
def checkout(tmp_path):
    """As much of the source tree as a build needs."""
    for name in (SOURCE, "nccl_logscan/__init__.py", "rules/README.md", *SHIPPED, *OTHERS):
        to = tmp_path / "checkout" / name
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, to)
    return tmp_path / "checkout"


def build(checkout, target, **environment):
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(checkout / "dist")],
        cwd=checkout,
        env={name: value for name, value in os.environ.items() if name != "CC"} | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    (built,) = (checkout / "dist").iterdir()
    return built, done.stdout + done.stderr


def version_of(library):
    return ctypes.CDLL(str(library)).skim_version()


@needs_compiler
def test_a_wheel_is_for_the_platform_that_its_kernel_is_for(checkout, tmp_path):
    wheel, said = build(checkout, "wheel")
    assert re.fullmatch(r"nccl_logscan-.*-py3-none-(?!any)\w+\.whl", wheel.name)
    assert "C kernel" not in said
    with zipfile.ZipFile(wheel) as packed:
        packed.extract(LIBRARY, tmp_path)
    assert version_of(tmp_path / LIBRARY) == kernel.INTERFACE
    assert not (checkout / LIBRARY).exists()


@needs_compiler
@pytest.mark.parametrize("target", ["wheel", "sdist"])
def test_the_same_source_gives_the_same_file_in_another_folder_at_another_time_and_with_other_rights(
    checkout, tmp_path, target
):
    other = tmp_path / "a longer name" / "of another folder"
    shutil.copytree(checkout, other)
    for file in filter(Path.is_file, other.rglob("*")):
        os.utime(file, (10**9, 10**9))
        file.chmod(0o640)
    first = build(checkout, target, TZ="UTC", LC_ALL="C")[0]
    earlier = os.umask(0o077)
    try:
        second = build(other, target, TZ="Asia/Tokyo", LC_ALL="C.UTF-8", PYTHONHASHSEED="7")[0]
    finally:
        os.umask(earlier)
    assert first.name == second.name
    assert first.read_bytes() == second.read_bytes()


def test_the_wheel_carries_its_bill_of_materials(checkout):
    wheel, _ = build(checkout, "wheel")
    with zipfile.ZipFile(wheel) as packed:
        [name] = [name for name in packed.namelist() if "/sboms/" in name]
        assert packed.read(name) == (ROOT / BILL).read_bytes()


@pytest.mark.parametrize(
    ("environment", "reason"),
    [
        ({"CC": "/bin/false"}, "/bin/false failed"),
        ({"CC": "no-such-compiler -m64"}, "No such file or directory: 'no-such-compiler'"),
        ({"CC": "true"}, "true failed"),
        ({"CC": "sh -c 'echo kernel.c: too odd; exit 1'"}, "failed: kernel.c: too odd"),
        ({"CC": "'unclosed"}, "CC is no command"),
        ({"PATH": ""}, "there is no compiler (cc, gcc, clang; or name one in CC)"),
    ],
    ids=["fails", "missing", "makes nothing", "says why", "no command", "none"],
)
def test_a_wheel_without_a_compiler_is_for_all_machines_and_says_in_one_line_what_it_lacks(
    checkout, environment, reason
):
    (checkout / LIBRARY).write_bytes(b"left behind by an editable install")
    wheel, said = build(checkout, "wheel", **environment)
    assert wheel.name.endswith("-py3-none-any.whl")
    (line,) = (line for line in said.splitlines() if "C kernel" in line)
    assert reason in line
    with zipfile.ZipFile(wheel) as packed:
        assert LIBRARY not in packed.namelist()


def install_editable(checkout, monkeypatch, **environment):
    """What pip asks of the build for `--editable`, less the file that points to the tree."""
    monkeypatch.delenv("CC", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    hook = runpy.run_path(str(checkout / "hatch_build.py"))["KernelHook"]
    hook(str(checkout), {}, None, None, str(checkout / "dist"), "wheel", Application()).initialize("editable", {})


@needs_compiler
def test_an_editable_install_builds_the_kernel_beside_its_source_unless_it_is_there(checkout, monkeypatch):
    library = checkout / LIBRARY
    install_editable(checkout, monkeypatch)
    assert version_of(library) == kernel.INTERFACE
    library.unlink()  # it is loaded: written over, it would take this process down
    library.write_bytes(b"newer than its source")
    install_editable(checkout, monkeypatch)
    assert library.read_bytes() == b"newer than its source"
    os.utime(library, (0, 0))
    install_editable(checkout, monkeypatch)
    assert library.read_bytes() != b"newer than its source"
    assert sorted(file.name for file in library.parent.iterdir()) == ["kernel.c", "kernel.lib"]


def test_an_editable_install_that_cannot_build_leaves_no_kernel_of_an_older_source(checkout, monkeypatch, capfd):
    library = checkout / LIBRARY
    library.write_bytes(b"older than its source")
    os.utime(library, (0, 0))
    install_editable(checkout, monkeypatch, CC="false")
    assert not library.exists()
    assert "without its C kernel" in "".join(capfd.readouterr())


def test_a_source_archive_holds_the_kernels_source_and_what_builds_it(checkout):
    archive, _ = build(checkout, "sdist")
    shutil.unpack_archive(archive, checkout / "unpacked", filter="data")
    files = {file.relative_to(checkout / "unpacked").as_posix() for file in (checkout / "unpacked").rglob("*")}
    stem = archive.name.removesuffix(".tar.gz")
    assert {f"{stem}/hatch_build.py", f"{stem}/{SOURCE}"} <= files
    assert f"{stem}/{LIBRARY}" not in files


def test_the_source_and_its_reader_speak_of_the_same_interface():
    (number,) = re.findall(r"INTERFACE = (\d+)", (ROOT / SOURCE).read_text(encoding="utf-8"))
    assert int(number) == kernel.INTERFACE


class TestLoading:
    @pytest.fixture(autouse=True)
    def fresh(self):
        kernel.library.cache_clear()
        yield
        kernel.library.cache_clear()

    def loaded_from(self, code, tmp_path, monkeypatch):
        source = tmp_path / "other.c"
        source.write_text(code)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", str(tmp_path / "other.lib"), str(source)], check=True)
        monkeypatch.setattr(kernel, "LIBRARY", tmp_path / "other.lib")
        return kernel.library()

    @needs_compiler
    @pytest.mark.parametrize("code", ["int skim_version(void) { return 0; }", "int skim_new(void) { return 0; }"])
    def test_a_library_of_another_interface_is_as_none(self, code, tmp_path, monkeypatch):
        assert self.loaded_from(code, tmp_path, monkeypatch) is None

    def test_a_file_that_is_no_library_is_as_none(self, tmp_path, monkeypatch):
        (tmp_path / "kernel.lib").write_bytes(b"\x7fELF")
        monkeypatch.setattr(kernel, "LIBRARY", tmp_path / "kernel.lib")
        assert kernel.library() is None

    def test_the_kernel_can_be_left_aside(self, monkeypatch):
        monkeypatch.setenv("NCCL_LOGSCAN_KERNEL", "off")
        assert kernel.library() is None
