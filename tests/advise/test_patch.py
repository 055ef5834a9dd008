"""The patch to a launch script: what it changes, what it leaves, and that git takes it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nccl_logscan.advise.patch import patch
from nccl_logscan.advise.run import Run, frameworks
from nccl_logscan.advise.script import informed_by, launcher_in
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


@pytest.mark.parametrize("network", ["tcp", "efa"])
def test_disabled_adapters_stay_where_the_run_uses_none(patched, run_of, network):
    assert patched(run_of("torchrun", network), "job.env", "NCCL_DEBUG=WARN\nNCCL_IB_DISABLE=1\n")[0] == []


def test_each_change_is_told_with_its_source(run_of):
    config = read_text("job.env", b"NCCL_TIMEOUT=9\nNCCL_DEBUG=INFO\nNCCL_IB_TC=106\n")
    found = patch(advise(run_of("torchrun", torch="2.9", nccl="2.27.5"), ()), config, lambda _: True)
    assert [reason.partition(":")[0].partition("=")[0] for reason in found.reasons] == [
        "NCCL_TIMEOUT",
        "NCCL_IB_TC",
        "NCCL_DEBUG",
        "TORCH_FR_BUFFER_SIZE",
    ]
    assert all("https://" in reason for reason in found.reasons)


def test_a_secret_beside_the_change_is_not_shown(run_of):
    run = run_of("torchrun", torch="2.9", nccl="2.27.5")
    far = read_text("job.env", b"SECRET=1\nA=1\nNCCL_TIMEOUT=9\nB=1\nTORCH_FR_BUFFER_SIZE=1\nNCCL_DEBUG=WARN\n")
    near = read_text("job.env", b"SECRET=1\nNCCL_TIMEOUT=9\nB=1\nTORCH_FR_BUFFER_SIZE=1\nNCCL_DEBUG=WARN\n")
    shown, hidden = (patch(advise(run, ()), config, lambda line: "SECRET" not in line) for config in (far, near))
    assert b"-NCCL_TIMEOUT=9" in shown.diff
    assert b"SECRET" not in shown.diff
    assert hidden.diff == b""
    assert "secret" in hidden.notes[0]


@given(
    data=st.binary(max_size=400), name=st.sampled_from(["x.env", "x.sh", "nccl.conf", "x.yaml", "x.json", "Dockerfile"])
)
def test_any_bytes_give_a_patch_or_none(data, name):
    run = Run(7 * 10**9, 2, 8, "ib", frameworks()["torchrun"], "torchrun", torch="2.9")
    config = read_text(name, data)
    if config is not None:
        patch(advise(run, ()), config, lambda _: True)


# --- shell scripts -------------------------------------------------------------------------------------------

SLURM = """#!/bin/bash
#SBATCH --nodes=4

# to see what happens
export NCCL_DEBUG=INFO
export NCCL_IB_DISABLE=1
export NCCL_SOCKET_NTHREADS=4 NCCL_NSOCKS_PERTHREAD=8

srun --export=ALL torchrun --nnodes 4 --nproc-per-node 8 train.py  # 32 ranks
"""

VERL = """#!/bin/bash
set -x
export NCCL_TIMEOUT=1800
export NCCL_DEBUG=INFO
export NCCL_BUFFSIZE=2097152 NCCL_MAX_RINGS=8
export HF_HOME=/data/hf

python3 -m verl.trainer.main_ppo \\
    data.train_files=/data/train.parquet \\
    +actor_rollout_ref.nccl_timeout=1800 \\
    trainer.dist_backend=nccl \\
    trainer.nnodes=4
"""

MPI = """#!/bin/bash
mpirun -np 32 -H a:8,b:8,c:8,d:8 \\
    -x NCCL_TIMEOUT=600 \\
    -x NCCL_DEBUG=WARN \\
    python train.py
"""


def test_a_batch_script_keeps_what_is_not_meant(patched, run_of):
    gone, come, _ = patched(run_of("torchrun", launcher="slurm", torch="2.9", nccl="2.27.5"), "train.sh", SLURM)
    assert gone == [
        "export NCCL_DEBUG=INFO",
        "export NCCL_IB_DISABLE=1",
        "export NCCL_SOCKET_NTHREADS=4 NCCL_NSOCKS_PERTHREAD=8",
    ]
    assert sorted(come) == ["export NCCL_DEBUG=WARN", "export TORCH_FR_BUFFER_SIZE=2000"]


def test_what_articles_say_of_verl_goes(patched, run_of):
    run = run_of("verl", torch="2.11", framework_version="0.8.0", nccl="2.27.5")
    gone, come, _ = patched(run, "verl.sh", VERL)
    assert [line.strip(" \\") for line in gone if "NCCL" in line or "trainer.dist" in line or "timeout" in line] == [
        "export NCCL_TIMEOUT=1800",
        "export NCCL_DEBUG=INFO",
        "export NCCL_BUFFSIZE=2097152 NCCL_MAX_RINGS=8",
        "+actor_rollout_ref.nccl_timeout=1800",
        "trainer.dist_backend=nccl",
    ]
    assert not any("NCCL" in line for line in come)


def test_verl_gets_needed_variables_as_overrides(patched, run_of):
    run = run_of("verl", torch="2.6", framework_version="0.8.0", nccl="2.21.5")
    _, come, _ = patched(run, "verl.sh", VERL)
    added = " ".join(come)
    assert "+ray_kwargs.ray_init.runtime_env.env_vars.TORCH_NCCL_TRACE_BUFFER_SIZE=" in added
    assert "export TORCH" not in added


def test_under_mpirun_a_variable_is_named_or_told(patched, run_of):
    _, come, notes = patched(run_of("torchrun", launcher="mpirun", torch="2.9"), "mpi.sh", MPI)
    assert not any(line.startswith("export") for line in come)
    assert any("-x TORCH_FR_BUFFER_SIZE=2000" in text for text in come) or any("-x NAME" in note for note in notes)


def test_under_deepspeed_what_the_launcher_drops_is_told_and_not_exported(patched, run_of):
    text = "#!/bin/bash\nexport NCCL_DEBUG=WARN\ndeepspeed --hostfile hosts train.py\n"
    _, come, notes = patched(run_of("deepspeed", torch="2.9"), "ds.sh", text)
    assert come == []
    assert any(".deepspeed_env" in note for note in notes)


@pytest.mark.parametrize("text", [SLURM, VERL, MPI])
@pytest.mark.parametrize("framework", ["torchrun", "verl", "deepspeed", "megatron-lm"])
def test_a_patched_script_needs_no_second_patch(patched, run_of, tmp_path, text, framework):
    run = run_of(framework, torch="2.9", nccl="2.27.5", framework_version="0.8.0")
    patched(run, "train.sh", text)
    config = read_text("train.sh", (tmp_path / "train.sh").read_bytes())
    assert patch(advise(run, ()), config, lambda _: True).diff == b""


POD = """spec:
  containers:
    - name: train
      image: train:1
      command: [torchrun, train.py]  # one node of four
      env:
        - name: NCCL_TIMEOUT
          value: "1800"
        - name: NCCL_SOCKET_IFNAME
          value: eth0
"""


def test_a_pod_gets_variables_in_its_list(patched, run_of):
    text = "apiVersion: v1\nkind: Pod\n" + POD
    gone, come, _ = patched(run_of("torchrun", launcher="kubernetes", torch="2.11", nccl="2.27.5"), "pod.yaml", text)
    assert [line.strip() for line in gone] == ["- name: NCCL_TIMEOUT", 'value: "1800"']
    assert [line.strip() for line in come] == ["- name: NCCL_DEBUG", "value: WARN"]


def test_a_needed_flag_with_a_plain_value_is_added(patched, run_of):
    text = "#!/bin/bash\nexport NCCL_DEBUG=WARN\ntorchrun --nnodes 4 --nproc-per-node 8 train.py --lr 1e-4\n"
    _, come, _ = patched(run_of("torchrun", torch="2.11"), "train.sh", text)
    assert come == ["torchrun --tee=3 --nnodes 4 --nproc-per-node 8 train.py --lr 1e-4"]


@pytest.mark.parametrize("same", ["-t 3", "--redirects 3", "-r 3"])
def test_a_flag_is_not_added_beside_one_that_does_the_same(patched, run_of, same):
    text = f"#!/bin/bash\nexport NCCL_DEBUG=WARN\ntorchrun {same} --nnodes 4 --nproc-per-node 8 train.py\n"
    assert patched(run_of("torchrun", torch="2.11"), "train.sh", text)[1] == []


def test_the_old_name_of_the_recorder_is_enough(patched, run_of):
    text = "NCCL_DEBUG=WARN\nTORCH_NCCL_TRACE_BUFFER_SIZE=2000\n"
    assert patched(run_of("torchrun", torch="2.9"), "job.env", text)[1] == []


# --- what the script itself says -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "launcher"),
    [
        (SLURM, "slurm"),
        (MPI, "mpirun"),
        ("#!/bin/bash\ntorchrun --nnodes 4 train.py\n", "torchrun"),
        ("#!/bin/bash\ndeepspeed --hostfile hosts train.py\n", "deepspeed"),
        ("#!/bin/bash\npython train.py\n", None),
    ],
)
def test_a_script_tells_its_launcher(text, launcher):
    assert launcher_in(read_text("train.sh", text.encode())) == launcher


def test_a_pod_is_started_by_kubernetes():
    assert launcher_in(read_text("pod.yaml", b"apiVersion: v1\nkind: Pod\n" + POD.encode())) == "kubernetes"


def test_a_pinned_version_is_taken_where_none_was_said(run_of):
    config = read_text("train.sh", b"#!/bin/bash\npip install torch==2.9.1\ntorchrun train.py\n")
    assert informed_by(run_of("torchrun"), config, launcher_is_said=False).torch == "2.9.1"
    assert informed_by(run_of("torchrun", torch="2.6"), config, launcher_is_said=False).torch == "2.6"


def test_ray_stays_the_launcher_of_verl_under_slurm(run_of):
    config = read_text("train.sh", SLURM.encode())
    assert informed_by(run_of("verl"), config, launcher_is_said=False).launcher == "ray"
    assert informed_by(run_of("torchrun", launcher="by-hand"), config, launcher_is_said=True).launcher == "by-hand"


# --- the launch files that ship ------------------------------------------------------------------------------

FIXTURES = Path(__file__).parents[2] / "fixtures"
FILES = sorted(path for folder in ("launch", "lint") for path in (FIXTURES / folder).rglob("*") if path.is_file())


def test_every_patch_of_a_shipped_file_applies_and_needs_no_second(run_of, tmp_path):
    patches = 0
    for path in FILES:
        data = path.read_bytes()
        config = read_text(path.name, data)
        if config is None:
            continue
        framework = next((name for name in ("verl", "deepspeed") if name.encode() in data), "torchrun")
        run = run_of(framework, torch="2.6", nccl="2.21.5", framework_version="0.8.0" if framework == "verl" else None)
        advised = advise(informed_by(run, config, launcher_is_said=False), ())
        diff = patch(advised, config, lambda _: True).diff
        if diff:
            (tmp_path / path.name).write_bytes(data)
            subprocess.run(["git", "apply", "-"], input=diff, cwd=tmp_path, check=True)
            again = read_text(path.name, (tmp_path / path.name).read_bytes())
            assert patch(advised, again, lambda _: True).diff == b"", path
            patches += 1
    assert patches > len(FILES) // 3
