"""Which frameworks a log shows at work."""

from __future__ import annotations

import pytest

from nccl_logscan.pipeline import scan_text
from nccl_logscan.rulebook.load import builtin_rulebook

WARN = "n1:10:11 [0] misc/socket.cc:49 NCCL WARN Call to connect failed\n"


def frameworks(log):
    return scan_text(WARN + log + "\n", builtin_rulebook()).job.frameworks


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (
            "[2023-04-12 06:00:01,001] [INFO] [logging.py:96:log_dist] [Rank 0] DeepSpeed info: version=0.9.0",
            ("deepspeed",),
        ),
        ("/opt/venv/lib/python3.11/site-packages/megatron/training/arguments.py:12: note", ("megatron-lm",)),
        ("+ accelerate launch --num_processes 16 train.py", ("accelerate",)),
        ("(TaskRunner pid=1) verl.trainer.main_ppo starts", ("verl",)),
        ("using lightning.pytorch 2.4", ("lightning",)),
        ("srun: error: n7: task 3: Killed", ("slurm",)),
        ('  File "/w/swift/llm/sft.py", line 3, in main', ("ms-swift",)),
        ("this run compares us with deepspeed, megatron and verl", ()),
        ("pip install accelerate transformers", ()),
        ("", ()),
    ],
)
def test_a_framework_is_known_by_what_only_it_writes(log, expected):
    assert frameworks(log) == expected


def test_several_are_told_together_by_the_alphabet():
    log = "verl.workers.fsdp_workers x\nvllm.worker.worker y\n(raylet) z"
    assert set(frameworks(log)) >= {"verl", "vllm"}
    assert list(frameworks(log)) == sorted(frameworks(log))
