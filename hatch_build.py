"""Builds the skim's kernel, nccl_logscan/skim/kernel.c, into the wheel; beside its source for an editable install.

Where there is no compiler, the wheel is one for all machines, without it, and plain Python does the same more slowly.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import sys_tags

_FOLDER = "nccl_logscan/skim"
_LIBRARY = "kernel.lib"
_FLAGS = ("-std=gnu11", "-O3", "-shared", "-fPIC")
_COMPILERS = ("cc", "gcc", "clang")


class KernelHook(BuildHookInterface[Any]):
    """Compiles the kernel with `$CC`, or with cc, gcc or clang."""

    _built: Path | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Put the kernel into a wheel, and name the platform it is for."""
        source = Path(self.root, _FOLDER, "kernel.c")
        if version == "editable":
            beside = source.with_name(_LIBRARY)
            if not beside.exists() or beside.stat().st_mtime < source.stat().st_mtime:
                self._build(source, beside)
            return
        self._built = Path(tempfile.mkdtemp(prefix="nccl-logscan-"))
        library = self._built / _LIBRARY
        if self._build(source, library):
            build_data["force_include"][str(library)] = f"{_FOLDER}/{_LIBRARY}"
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{_platform()}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Leave nothing behind."""
        if self._built is not None:
            shutil.rmtree(self._built)

    def _build(self, source: Path, library: Path) -> bool:
        """Compile the library, or say why there is none; one of an older source does not stay."""
        try:
            compile_kernel(source, library)
        except CompilerError as error:
            library.unlink(missing_ok=True)
            self.app.display_warning(f"nccl-logscan is built without its C kernel and reads large logs slowly: {error}")
            return False
        return True


class CompilerError(Exception):
    """There is no compiler, or it made no library; in one line."""


def compile_kernel(source: Path, library: Path) -> None:
    """Make the library of the source, in one step: a process that has the one before loaded keeps that.

    Raises CompilerError.
    """
    command = _compiler()
    new = library.with_name(f"{library.name}.{os.getpid()}")
    try:
        # Run beside the source, so that the library holds no path.
        done = subprocess.run(
            [*command, *_FLAGS, "-o", str(new.absolute()), source.name],
            cwd=source.parent,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        if done.returncode != 0 or not new.exists():
            said = done.stdout.decode("utf-8", "replace").strip().splitlines()
            raise CompilerError(f"{shlex.join(command)} failed{f': {said[0]}' if said else ''}")
        new.chmod(0o755)
        new.replace(library)
    except OSError as error:
        raise CompilerError(str(error)) from error
    finally:
        new.unlink(missing_ok=True)


def _compiler() -> list[str]:
    if named := os.environ.get("CC", "").strip():
        try:
            return shlex.split(named)
        except ValueError as error:
            raise CompilerError(f"CC is no command: {error}") from error
    found = next(filter(None, map(shutil.which, _COMPILERS)), None)
    if found is None:
        raise CompilerError(f"there is no compiler ({', '.join(_COMPILERS)}; or name one in CC)")
    return [found]


def _platform() -> str:
    """The machine that the compiler builds for; that a library also runs on older systems is for auditwheel to say."""
    return next(tag.platform for tag in sys_tags() if not tag.platform.startswith(("manylinux", "musllinux")))
