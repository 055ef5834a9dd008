"""The kernel reads and writes no memory but its own: it is built with the compiler's sanitizers and fed at random."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nccl_logscan.skim import kernel

HERE = Path(__file__).parent
SOURCE = kernel.LIBRARY.with_name("kernel.c")
CHECKS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer", "-g", "-O1"]
FED = """
import sys
from pathlib import Path
from random import Random
from nccl_logscan.skim import kernel
kernel.LIBRARY = Path(sys.argv[1])
from skimmed_blocks import Asked, log_of, skimmed
for seed in range(150):
    for is_wide in (True, False):
        chance = Random(seed)
        log = log_of(chance, 40)
        skimmer = kernel.KernelSkimmer(is_wide=is_wide)
        for _ in range(2):
            skimmer.learn_needs([(frozenset({"error", "info"}), frozenset({"rank"})), (frozenset({"loss:"}),)])
            skimmed(skimmer, log, [0, len(log) // 2, len(log)], Asked(seed, 0.8, prefixes=True))
            skimmer.tell()
print("clean")
"""


def sanitizer():
    """The path of the compiler's address sanitizer; None where there is none."""
    if shutil.which("gcc") is None:
        return None
    found = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=False)
    path = Path(found.stdout.strip())
    return path if path.is_absolute() and path.exists() else None


def test_no_byte_is_touched_that_is_not_its_own(tmp_path):
    library = sanitizer()
    if library is None:
        pytest.skip("no gcc with an address sanitizer")
    built = tmp_path / "kernel.lib"
    words = ["gcc", "-std=gnu11", *CHECKS, "-shared", "-fPIC", str(SOURCE), "-o", str(built)]
    subprocess.run(words, check=True, timeout=300)
    environment = {
        **os.environ,
        "LD_PRELOAD": str(library),
        "ASAN_OPTIONS": "detect_leaks=0",  # of Python's own there are many
        "PYTHONMALLOC": "malloc",
        "PYTHONPATH": os.pathsep.join([str(HERE), *sys.path]),
    }
    ran = subprocess.run(
        [sys.executable, "-c", FED, str(built)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        timeout=600,
    )
    assert (ran.returncode, ran.stdout) == (0, "clean\n"), ran.stderr[-4_000:]
