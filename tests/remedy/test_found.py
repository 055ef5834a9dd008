"""Which files that nobody named set a job up, and which are only notes or records of it."""

from __future__ import annotations

import pytest

from nccl_logscan.catalogue.load import catalogue
from nccl_logscan.configs.read import read_text
from nccl_logscan.diagnosis.verdict import Job, Setting
from nccl_logscan.position import Position
from nccl_logscan.remedy.found import is_of_another_job, may_set_a_job_up, sets_a_job_up

JOBS = {
    "train.sh": "#!/bin/bash\nexport NCCL_IB_HCA=mlx5_0\ntorchrun train.py\n",
    "env.sh": "export NCCL_IB_HCA=mlx5_0\n",
    "job.env": "NCCL_IB_HCA=mlx5_0\nHOME=/root\n",
    "nccl.conf": "NCCL_IB_HCA=mlx5_0\n",
    "Dockerfile": "FROM x\nENV NCCL_IB_HCA=mlx5_0\n",
    "pod.yaml": "apiVersion: v1\nkind: Pod\nspec: {containers: [{env: [{name: NCCL_IB_HCA, value: mlx5_0}]}]}\n",
    "compose.yaml": "services:\n  train:\n    environment:\n      NCCL_IB_HCA: mlx5_0\n",
    "sky.yaml": "envs:\n  NCCL_IB_HCA: mlx5_0\nrun: |\n  ./train\n",
    "dstack.yml": "type: task\nenv:\n  - NCCL_IB_HCA=mlx5_0\ncommands:\n  - python train.py\n",
    "azure.yaml": "environment_variables:\n  NCCL_IB_HCA: mlx5_0\ncommand: python train.py\n",
    "ray.yaml": "env_vars:\n  NCCL_IB_HCA: mlx5_0\n",
    "hydra.yaml": "hydra:\n  job:\n    env_set:\n      NCCL_IB_HCA: mlx5_0\n",
    "megatron.yaml": "ENV_VARS:\n  NCCL_IB_HCA: mlx5_0\nMODEL_ARGS:\n  --num-layers: 12\n",
    "task.json": '{"containerDefinitions": [{"environment": [{"name": "NCCL_IB_HCA", "value": "mlx5_0"}]}]}',
    "ds.json": '{"zero_optimization": {"stage": 3}, "train_batch_size": 8, "fp16": {"enabled": true}}',
    "train.py": 'import os\nos.environ["NCCL_IB_HCA"] = "mlx5_0"\n',
    "start.py": 'import subprocess\nenv = {"NCCL_IB_HCA": "mlx5_0"}\nsubprocess.run(command, env=env)\n',
    "submit.py": 'import ray\nray.init(runtime_env={"env_vars": {"NCCL_IB_HCA": "mlx5_0"}})\n',
}
RECORDS = {
    "case.yaml": "id: bad-hca\ncategory: infiniband\nexit: 1\nenvironment:\n  NCCL_IB_HCA: mlx5_0\n",
    "notes.yml": "title: what we tried\nNCCL_IB_HCA: mlx5_0\nresult: still hangs\n",
    "seen.json": '{"host": "n1", "environ": {"NCCL_IB_HCA": "mlx5_0"}}',
    "list.json": '{"environment": [{"name": "NCCL_IB_HCA", "value": "mlx5_0"}], "seen_on": "n1"}',
    "run.toml": '[environment]\nNCCL_IB_HCA = "mlx5_0"\n',
    "job.env": "SHLVL=2\nNCCL_IB_HCA=mlx5_0\n",
    "env.json": '{"env": {"PWD": "/w", "HOME": "/root", "NCCL_IB_HCA": "mlx5_0"}, "command": "x"}',
    "dump.sh": 'declare -x NCCL_IB_HCA="mlx5_0"\ndeclare -x OLDPWD\n',
    "parse.py": 'EXPECTED = {"NCCL_IB_HCA": "mlx5_0"}\nprint(EXPECTED)\n',
    "run.yaml": "run: 17\nenvironment: {NCCL_IB_HCA: mlx5_0}\n",
    "clean.sh": "#!/bin/sh\nrm -f *.tmp\n",
}


def judged(name, text):
    return sets_a_job_up(read_text(name, text.encode()), catalogue())


@pytest.mark.parametrize("name", JOBS)
def test_what_a_launcher_or_program_reads_sets_a_job_up(name):
    assert judged(name, JOBS[name])


@pytest.mark.parametrize("name", RECORDS)
def test_a_label_a_note_and_a_dump_of_an_environment_do_not(name):
    assert not judged(name, RECORDS[name])


@pytest.mark.parametrize(
    ("text", "another"),
    [
        ("export NCCL_SOCKET_IFNAME=eth1\n", True),
        ("export NCCL_SOCKET_IFNAME=eth7\n", False),
        ("export NCCL_SOCKET_IFNAME=ETH7\n", False),
        ("export NCCL_SOCKET_IFNAME=$IF\n", False),
        ("export NCCL_SOCKET_IFNAME=${NCCL_SOCKET_IFNAME:-eth1}\n", False),
        ("if a; then export NCCL_SOCKET_IFNAME=eth1; else export NCCL_SOCKET_IFNAME=eth7; fi\n", False),
        ("export NCCL_SOCKET_IFNAME=eth1\nunset NCCL_SOCKET_IFNAME\n", False),
        ("export NCCL_IB_HCA=mlx5_0\n", False),
        ("export NCCL_BUFFSIZE=65536\n", True),
        ("export NCCL_BUFFSIZE=0x400000\n", False),
        ("export NCCL_BUFFSIZE=4M\n", False),
        ("", False),
    ],
)
def test_a_script_that_gives_another_value_than_the_log_shows_is_of_another_job(text, another):
    shown = {"NCCL_SOCKET_IFNAME": "eth7", "NCCL_BUFFSIZE": "4194304"}
    seen = tuple(Setting(name, value, "environment", Position("log", 1, 0)) for name, value in shown.items())
    config = read_text("run.sh", text.encode())

    assert is_of_another_job(config, Job(settings=seen)) is another


@pytest.mark.parametrize(
    ("data", "worth"),
    [
        (b"torchrun train.py\n", True),
        (b'{"id": 1, "text": "x"}\n' * 10_000, False),
        (b'{"id": 1, "text": "x"}\n' * 10_000 + b"NCCL_IB_HCA=mlx5_0\n", True),
    ],
)
def test_long_data_without_a_known_name_is_not_worth_reading(data, worth):
    assert may_set_a_job_up(data, catalogue()) is worth
