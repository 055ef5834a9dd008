"""No command asks a network: each runs where the kernel ends a process that opens a socket to one."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nccl_logscan.cli import COMMANDS

ROOT = Path(__file__).parents[2]
CASE = ROOT / "fixtures" / "cases" / "lab" / "timeout-dataloader"
SCRIPT = ROOT / "fixtures" / "launch" / "memlock" / "bench.sh"
KILLED = 159
"""What a shell tells of a process that SIGSYS ended."""

# A filter of the kernel's (seccomp): socket(2) with AF_INET or AF_INET6 ends the process, also in native code.
CLOSED = """
import ctypes, struct, sys
LOAD, EQUAL, RETURN, ALLOW, KILL = 0x20, 0x15, 0x06, 0x7FFF0000, 0x80000000
SOCKET, IPV4, IPV6 = 41, 2, 10
program = [
    (LOAD, 0, 0, 0), (EQUAL, 0, 4, SOCKET),
    (LOAD, 0, 0, 16), (EQUAL, 1, 0, IPV4), (EQUAL, 0, 1, IPV6), (RETURN, 0, 0, KILL),
    (RETURN, 0, 0, ALLOW),
]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in program))
filter = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program), ctypes.addressof(code)))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0, "no_new_privs"
assert libc.prctl(22, 2, ctypes.c_void_p(ctypes.addressof(filter)), 0, 0) == 0, "seccomp"
"""

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="the filter is for Linux on x86-64"
)


def run_closed(code, here, *words):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "GITHUB_STEP_SUMMARY": str(here / "step.md")}
    command = [sys.executable, "-c", f"{CLOSED}\n{code}", *words]
    return subprocess.run(command, cwd=here, env=environment, capture_output=True, text=True, timeout=300, check=False)


def told_by_shell(ended):
    return 128 - ended.returncode if ended.returncode < 0 else ended.returncode


PROGRAM = "from nccl_logscan.cli import main\nsys.exit(main(sys.argv[1:]))"
RUNS = [
    ("scan", "driver.log", "--config", "bench.sh", "--verbose", "-o", "a.html", "-o", "a.sarif", "-o", "a.md"),
    ("scan", "folder", "--jobs", "2", "--redact", "--format", "json", "-o", "-"),
    ("scan", "large.log", "--jobs", "2", "--format", "text", "-o", "-"),
    ("scan", "--follow", "driver.log", "--stalled", "1s"),
    ("events", "driver.log", "-o", "table.parquet"),
    ("events", "folder", "-o", "table.csv"),
    ("lint", "bench.sh", "--format", "sarif"),
    ("advise", "--params", "7B", "--nodes", "2", "--network", "ib", "--framework", "torchrun"),
    ("explain", "NCCL_IB_TIMEOUT"),
    ("explain", "Watchdog caught collective operation timeout"),
    ("show", "driver.log:170"),
    ("demo",),
    ("rules", "check"),
    ("rules", "list", "--format", "json"),
    ("rules", "suggest", "driver.log"),
    ("train", "--help"),
    ("completion", "bash"),
]


@pytest.fixture
def here(tmp_path):
    shutil.copytree(CASE, tmp_path / "folder")
    shutil.copy(CASE / "driver.log", tmp_path)
    shutil.copy(SCRIPT, tmp_path)
    (tmp_path / "large.log").write_bytes((CASE / "driver.log").read_bytes() * 60)
    return tmp_path


def test_each_command_is_tried():
    assert {words[0] for words in RUNS} == set(COMMANDS)


@pytest.mark.parametrize("words", RUNS, ids=" ".join)
def test_no_command_opens_a_socket(here, words):
    ended = run_closed(PROGRAM, here, *words)

    assert told_by_shell(ended) in {0, 1}, ended.stderr
    assert ended.stdout or (here / words[-1]).exists()


@pytest.mark.parametrize("family", ["AF_INET", "AF_INET6"])
def test_one_that_would_is_ended(here, family):
    ended = run_closed(f"import socket\nsocket.socket(socket.{family})", here)

    assert told_by_shell(ended) == KILLED


def test_a_url_that_the_user_gives_asks_the_network(here):
    ended = run_closed(PROGRAM, here, "scan", "http://127.0.0.1:9/trainer.log")

    assert told_by_shell(ended) == KILLED
