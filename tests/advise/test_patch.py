"""The patch to a launch script: what it changes, what it leaves, and that git takes it."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nccl_logscan.advise.patch import patch
from nccl_logscan.advise.run import Run, frameworks
from nccl_logscan.advise.view import advise
from nccl_logscan.configs.read import read_text


@pytest.fixture
def patched(tmp_path):
    """Patch a file with git and return the lines taken out, those put in, and the notes."""
    git = shutil.which("git")

    def patched(run, name, text):
        file = tmp_path / name
        file.write_bytes(text.encode())
        config = read_text(name, text.encode())
        assert config is not None
        found = patch(advise(run, ()), config, lambda line: "SECRET" not in line)
        if found.diff:
            for more in (["--check"], []):
                subprocess.run([git, "apply", *more, "-"], input=found.diff, cwd=tmp_path, check=True)
        old, new = text.splitlines(), file.read_bytes().decode().splitlines()
        return [line for line in old if line not in new], [line for line in new if line not in old], found.notes

    return patched


def test_dead_variables_go_and_needed_ones_come(patched, run_of):
    text = "# ours\nNCCL_TIMEOUT=1800\nNCCL_SOCKET_IFNAME=bond0\nNCCL_DEBUG=INFO\nWANDB_MODE=offline\n"
    gone, come, _ = patched(run_of("torchrun", torch="2.9", nccl="2.27.5"), "job.env", text)
    assert gone == ["NCCL_TIMEOUT=1800", "NCCL_DEBUG=INFO"]
    assert sorted(come) == ["NCCL_DEBUG=WARN", "TORCH_FR_BUFFER_SIZE=2000"]


def test_a_setting_that_is_right_stays(patched, run_of):
    text = "NCCL_DEBUG=WARN\nTORCH_FR_BUFFER_SIZE=20000\n"
    gone, come, _ = patched(run_of("torchrun", torch="2.9"), "job.env", text)
    assert (gone, come) == ([], [])


def test_what_depends_on_a_version_not_said_is_a_note(patched, run_of):
    _, come, notes = patched(run_of("torchrun"), "job.env", "NCCL_DEBUG=WARN\n")
    assert come == []
    assert any("TORCH_FR_BUFFER_SIZE" in note and "PyTorch >=2.8" in note for note in notes)


@pytest.mark.parametrize(("network", "goes"), [("ib", True), ("roce", False)])
def test_a_copied_traffic_class_goes_where_it_does_nothing_and_stays_where_the_site_may_have_it(
    patched, run_of, network, goes
):
    gone, _, _ = patched(run_of("torchrun", network), "job.env", "NCCL_DEBUG=WARN\nNCCL_IB_TC=136\n")
    assert ("NCCL_IB_TC=136" in gone) is goes


def test_efa_loses_a_buffer_size_that_others_may_keep(patched, run_of):
    text = "NCCL_DEBUG=WARN\nNCCL_BUFFSIZE=8388608\n"
    assert patched(run_of("torchrun", "efa"), "job.env", text)[0] == ["NCCL_BUFFSIZE=8388608"]
    assert patched(run_of("torchrun", "ib"), "job.env", text)[0] == []


def test_disabled_adapters_go_only_where_they_are_disabled(patched, run_of):
    text = "NCCL_DEBUG=WARN\nNCCL_IB_DISABLE={}\n"
    assert patched(run_of("torchrun"), "job.env", text.format(1))[0] == ["NCCL_IB_DISABLE=1"]
    assert patched(run_of("torchrun"), "job.env", text.format(0))[0] == []


def test_a_secret_beside_the_change_is_not_shown(run_of):
    run = run_of("torchrun", torch="2.9", nccl="2.27.5")
    far = read_text("job.env", b"SECRET=1\nA=1\nNCCL_TIMEOUT=9\nB=1\nTORCH_FR_BUFFER_SIZE=1\nNCCL_DEBUG=WARN\n")
    near = read_text("job.env", b"SECRET=1\nNCCL_TIMEOUT=9\nB=1\nTORCH_FR_BUFFER_SIZE=1\nNCCL_DEBUG=WARN\n")
    shown, hidden = (patch(advise(run, ()), config, lambda line: "SECRET" not in line) for config in (far, near))
    assert b"-NCCL_TIMEOUT=9" in shown.diff
    assert b"SECRET" not in shown.diff
    assert hidden.diff == b""
    assert "secret" in hidden.notes[0]


@given(data=st.binary(max_size=400), name=st.sampled_from(["x.env", "x.sh", "nccl.conf", "x.slurm"]))
def test_any_bytes_give_a_patch_or_none(data, name):
    run = Run(7 * 10**9, 2, 8, "ib", frameworks()["torchrun"], "torchrun", torch="2.9")
    config = read_text(name, data)
    if config is not None:
        patch(advise(run, ()), config, lambda _: True)
