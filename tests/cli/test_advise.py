"""`nccl-logscan advise` on the command line."""

from __future__ import annotations

import json
import subprocess

import pytest

USUAL = {"--params": "30B", "--nodes": "4", "--network": "ib", "--framework": "verl"}


@pytest.fixture
def advise(run):
    """Run `advise` for a usual run, with options replaced or, where None, left out."""

    def advise(*more, **options):
        given = USUAL | {f"--{name.replace('_', '-')}": value for name, value in options.items()}
        words = [word for option, value in given.items() if value is not None for word in (option, value)]
        return run("advise", *words, *more)

    return advise


def test_it_says_what_is_needed_what_is_right_and_what_is_wrong(advise):
    told = advise()
    assert told.code == 0
    assert not told.err
    for heading in ("NEEDED", "DEPENDS", "DEFAULT ALREADY RIGHT", "FOLKLORE", "HARMFUL", "WIDELY COPIED"):
        assert f"\n{heading}" in told.out


def test_it_says_that_the_size_decides_no_timeout(advise):
    assert "nor any timeout" in " ".join(advise().out.split())


@pytest.mark.parametrize("columns", [80, 100, 120])
@pytest.mark.parametrize("framework", ["verl", "megatron-lm", "deepspeed", "vllm"])
def test_lines_fit_the_terminal(advise, monkeypatch, columns, framework):
    monkeypatch.setenv("COLUMNS", str(columns))
    for line in advise(framework=framework).out.splitlines():
        words = line.split()
        # An address or a key that is longer than the line stays whole, so that it can be copied.
        assert len(line) <= columns or max(map(len, words)) > columns - 16, line


def test_json_has_every_field_of_a_row(advise):
    told = json.loads(advise("--format", "json", gpu="h100", torch="2.6", nccl="2.21.5").out)
    assert told["run"]["ranks"] == 32
    for row in told["rows"]:
        assert row["setting"]
        assert row["why"]
        assert row["risk"]
        assert row["source"]
        assert row["mark"] in {"needed", "depends", "default", "folklore", "harmful"}
    assert len(told["claims"]) == 22
    assert {"claim", "verdict", "fact", "source"} <= told["claims"][0].keys()
    assert told["size"]["checkpoint"] == pytest.approx(420)


def test_the_same_run_gives_the_same_bytes(advise):
    assert advise().out == advise().out


def test_the_write_bandwidth_is_taken_for_the_estimate(advise):
    told = json.loads(advise("--format", "json", write_bandwidth="4.2").out)
    assert [saving["seconds"] for saving in told["size"]["savings"]] == [pytest.approx(100)]


def test_aliases_name_the_framework(advise):
    assert json.loads(advise("--format", "json", framework="Megatron").out)["run"]["framework"] == "megatron-lm"


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"params": "30"}, "7B, 0.5B"),
        ({"params": "thirty"}, "7B, 0.5B"),
        ({"params": None}, "--params"),
        ({"nodes": "0"}, "1<=x<="),
        ({"nodes": "many"}, "integer"),
        ({"network": "infiniband"}, "'ib', 'roce', 'tcp', 'efa', 'none'"),
        ({"network": "none"}, "ib, roce, tcp or efa"),
        ({"framework": "verll"}, "verl, megatron-lm"),
        ({"launcher": "lsf"}, "'slurm', 'ray'"),
        ({"gpu": "h900"}, "'h100'"),
        ({"precision": "fp8"}, "'bf16', 'fp16'"),
        ({"cloud": "moon"}, "'aws'"),
        ({"nccl": "latest"}, "2.21.5"),
        ({"torch": "2.6\x1b[31m"}, "2.21.5"),
        ({"format": "diff"}, "--script"),
        ({"script": "train.sh"}, "--script"),
        ({"format": "yaml"}, "'text', 'json', 'shell', 'diff'"),
    ],
)
def test_a_mistake_is_told_with_what_is_allowed(advise, options, named):
    told = advise(**options)
    assert told.code == 2
    assert named in told.err
    assert "\x1b" not in told.err
    assert not told.out


def test_a_script_that_is_not_there_is_an_input_error(advise):
    told = advise(format="diff", script="nowhere.sh")
    assert told.code == 3
    assert "nowhere.sh" in told.err


SCRIPT = """#!/bin/bash
#SBATCH --nodes=4
pip install torch==2.9.1
export NCCL_TIMEOUT=1800
export NCCL_DEBUG=WARN
srun torchrun --nnodes 4 train.py
"""


def test_a_patch_goes_to_standard_output_and_its_reasons_to_the_other(advise, here):
    (here / "train.sh").write_text(SCRIPT)
    told = advise(format="diff", script="train.sh", framework="torchrun")
    assert told.code == 0
    assert subprocess.run(["git", "apply", "--check", "-"], input=told.out.encode(), check=False).returncode == 0
    assert "-export NCCL_TIMEOUT=1800" in told.out
    assert "+export TORCH_FR_BUFFER_SIZE=2000" in told.out
    assert "started by slurm, PyTorch 2.9.1" in told.err
    assert "NCCL_TIMEOUT: No NCCL release" in told.err
    assert (here / "train.sh").read_text() == SCRIPT


def test_a_script_that_is_right_gets_an_empty_patch(advise, here):
    (here / "job.env").write_text("NCCL_DEBUG=WARN\n")
    told = advise(format="diff", script="job.env", framework="sglang", network="tcp", nodes="1")
    assert (told.code, told.out) == (0, "")
    assert "nothing in it needs a change" in told.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"write_bandwidth": "nan"}, "nan"),
        ({"write_bandwidth": "inf"}, "inf"),
        ({"network": "efa", "cloud": "azure"}, "EFA is a network of AWS"),
        ({"nodes": "1e30"}, "1e30"),
        ({"params": "-7B"}, "-7B"),
    ],
)
def test_nonsense_is_a_mistake_of_the_command_line(advise, options, words):
    told = advise(**options)

    assert (told.code, told.out) == (2, "")
    assert words in told.err
