from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

LOG = """\
gpu-07:2311:2401 [3] NCCL INFO Bootstrap : Using eth0:10.20.30.40<0>
gpu-07:2311:2401 [3] NCCL INFO NCCL_SOCKET_IFNAME set by environment to eth0
gpu-07:2311:2401 [3] misc/socket.cc:58 (socketProgress) NCCL WARN socketProgress: Connection closed by remote peer \
gpu-08<41234>
Traceback (most recent call last):
  File "/home/jdoe/acme/train.py", line 12, in <module>
RuntimeError: NCCL error: remote process exited or there was a network error
"""
PRIVATE = re.compile(r"gpu-0[78]|10\.20\.30\.40|jdoe|acme")


@pytest.fixture
def log(here):
    place = here / "acme" / "rank3.log"
    place.parent.mkdir()
    place.write_text(LOG)
    return place


@pytest.mark.parametrize("form", ["json", "html", "text"])
def test_every_form_of_the_report_is_redacted(run, log, form):
    plain = run(log, "--format", form, "-o", "-", "-v")
    public = run(log, "--format", form, "-o", "-", "-v", "--redact")

    assert PRIVATE.search(plain.out)
    assert not PRIVATE.search(public.out)
    assert "host-1" in public.out
    assert "Replaced for publication: " in public.out
    assert public.code == plain.code


def test_the_verdict_on_the_terminal_is_redacted_and_counts(run, log, here):
    printed = run("scan", log, "--redact", "-o", here / "public.json")

    assert not PRIVATE.search(printed.out)
    assert "Redacted  Replaced for publication: " in printed.out
    written = json.loads((here / "public.json").read_text())
    assert written["redacted"]["host"] == 2
    assert not PRIVATE.search(json.dumps(written))


def test_without_the_option_nothing_is_replaced(run, log):
    view = json.loads(run(log, "--format", "json", "-o", "-").out)
    assert "redacted" not in view
    assert view["job"]["hosts"] == ["gpu-07"]


def test_a_scan_that_is_not_redacted_does_not_load_the_stand_ins(log):
    script = (
        "import sys; from nccl_logscan.cli import main; main(sys.argv[1:]); "
        "sys.stderr.write(str('nccl_logscan.report.stand_ins' in sys.modules))"
    )
    words = [sys.executable, "-c", script, str(log), "-q", "-o", "x.html"]
    assert subprocess.run(words, capture_output=True, text=True, check=False).stderr == "False"
