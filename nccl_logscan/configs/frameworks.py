"""Which framework a program belongs to: by its module, its script's path, or options that only one of them has."""

from __future__ import annotations

import re
from collections.abc import Iterable

from nccl_logscan.expressions import deferred

_PROGRAMS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (framework, deferred(pattern, re.ASCII))
    for framework, pattern in (
        ("verl", r"(?:^|/)verl[./]|^recipe[./]|main_ppo\b|main_dapo\b|(?:^|/)scripts/diagnose\.py"),
        ("openrlhf", r"(?:^|/)openrlhf[./]|train_ppo_ray"),
        ("megatron-lm", r"megatron|(?:^|/)(?:pretrain|train|finetune)_(?:gpt|bert|t5|vlm|mamba|llama|multi|rl\.py)"),
        ("nemo", r"(?:^|/)nemo[./]|NeMo|examples/nlp/language_modeling"),
        ("vllm", r"^vllm\b|(?:^|/)vllm[./]"),
        ("sglang", r"^sglang\b|(?:^|/)sglang[./]"),
        ("torchtitan", r"torchtitan"),
        ("llama-factory", r"llamafactory|^llamafactory-cli|(?:^|/)LLaMA-Factory"),
        ("ms-swift", r"^(?:swift|megatron)(?: |$)|(?:^|/)swift/cli"),
        ("axolotl", r"axolotl"),
        ("trl", r"^trl\b|(?:^|/)trl/"),
        ("lightning", r"lightning|^litgpt|^fabric run"),
        ("colossal-ai", r"colossal"),
        ("transformers", r"(?:^|/)run_(?:clm|mlm|glue|squad|summarization|translation|qa|t5_mlm_flax|s2s)\w*\.py"),
        ("deepspeed", r"(?:^|/)DeepSpeed|ds_train|deepspeed"),
    )
)  # fmt: skip
_FLAGS: tuple[tuple[str, frozenset[str]], ...] = (
    ("megatron-lm", frozenset({
        "--tensor-model-parallel-size", "--pipeline-model-parallel-size", "--distributed-timeout-minutes",
        "--micro-batch-size", "--global-batch-size", "--use-distributed-optimizer", "--distributed-backend",
        "--overlap-grad-reduce", "--transformer-impl", "--use-mcore-models", "--max-position-embeddings",
    })),
    ("openrlhf", frozenset({
        "--actor-num-nodes", "--ref-num-nodes", "--actor-num-gpus-per-node", "--vllm-num-engines",
    })),
    ("transformers", frozenset({
        "--ddp-timeout", "--fsdp-transformer-layer-cls-to-wrap", "--ddp-find-unused-parameters", "--do-train",
        "--save-strategy", "--eval-strategy", "--evaluation-strategy", "--logging-strategy", "--report-to",
    })),
    ("vllm", frozenset({"--gpu-memory-utilization", "--max-num-seqs", "--enforce-eager"})),
    ("sglang", frozenset({"--mem-fraction-static", "--dist-init-addr", "--disable-cuda-graph"})),
    ("deepspeed", frozenset({"--deepspeed-config", "--zero-stage", "--actor-zero-stage"})),
    ("transformers", frozenset({"--per-device-train-batch-size", "--gradient-accumulation-steps"})),
    ("deepspeed", frozenset({"--deepspeed"})),
)  # fmt: skip

HYDRA = frozenset({"verl", "nemo"})
"""Frameworks whose command line consists of Hydra's overrides."""

RAY = frozenset({"verl", "openrlhf"})
"""Frameworks whose workers Ray starts, so that they do not inherit the environment of the command that one types."""


def framework_of(program: str, flags: Iterable[str]) -> str | None:
    """Return the framework that a module, script or command belongs to, told by its name or else by its options."""
    if program.endswith(".sh"):
        return None
    for framework, pattern in _PROGRAMS:
        if pattern.search(program):
            return framework
    return framework_of_flags(flags)


def framework_of_flags(flags: Iterable[str]) -> str | None:
    """Return the framework that alone has one of these options."""
    seen = {flag.partition("=")[0].replace("_", "-") for flag in flags}
    return next((framework for framework, own in _FLAGS if own & seen), None)
