"""What an earlier run compiled is what this one would compile, or is not used."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys, regex
from nccl_logscan import kept
from nccl_logscan.expressions import deferred
from nccl_logscan.rulebook.rule import Pattern
calls = []
import re
compile = re._compiler._code
re._compiler._code = lambda *given: calls.append(1) or compile(*given)
one = deferred(r"(?i)(?P<rank>\\d+) of (\\d+)|never")
two = Pattern(r"(?P<peer>\\w+)\\s(?>gone)")
print(one.search("rank 3 OF 8").groupdict(), one.flags, one.groups, one.search("NEVER").span())
print(two.search("node-1 gone").groupdict())
kept.save()
print(len(calls), kept.place())
"""


def run(folder, *options):
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(folder)
    done = subprocess.run(
        [sys.executable, *options, "-c", PROGRAM], capture_output=True, text=True, check=True, env=environment
    )
    *said, last = done.stdout.splitlines()
    calls, _, place = last.partition(" ")
    return said, int(calls), Path(place)


def test_a_second_run_compiles_nothing_and_finds_the_same(tmp_path):
    first, compiled, place = run(tmp_path)
    assert compiled > 0
    assert place.is_file()

    second, compiled, _ = run(tmp_path)
    assert second == first
    assert compiled == 0


@pytest.mark.parametrize("content", [b"", b"no marshal", b"\xe9\x01\x00\x00\x00"])
def test_a_broken_file_is_replaced(tmp_path, content):
    first, _, place = run(tmp_path)
    place.write_bytes(content)

    second, compiled, _ = run(tmp_path)
    assert second == first
    assert compiled > 0
    assert run(tmp_path)[1] == 0


def test_nothing_is_written_where_python_writes_no_bytecode(tmp_path):
    _, _, place = run(tmp_path, "-B")
    assert not place.exists()


def test_a_folder_that_may_not_be_written_is_no_error(tmp_path):
    (tmp_path / "file").write_text("")
    said, compiled, place = run(tmp_path / "file")
    assert said
    assert compiled > 0
    assert not place.exists()
