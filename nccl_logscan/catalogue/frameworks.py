"""How the frameworks of the catalogue stand to each other."""

from __future__ import annotations

from collections.abc import Mapping

NEAREST_FIRST = (
    "verl",
    "openrlhf",
    "nemo-rl",
    "llama-factory",
    "axolotl",
    "ms-swift",
    "trl",
    "torchtitan",
    "lightning",
    "nemo",
    "transformers",
    "accelerate",
    "megatron-lm",
    "deepspeed",
    "colossal-ai",
    "vllm",
    "sglang",
    "jax/xla",
    "horovod",
    "slurm",
    "kubernetes",
    "docker",
    "openmpi",
    "ray",
    "pytorch",
)
"""Whose setting is nearer to what the user writes: a trainer's before its library's, PyTorch's own call last."""

OUTERMOST = frozenset({"slurm", "docker"})
"""What starts everything else: of one name that several have it is meant where none of them is seen."""

HANDED_ON: Mapping[str, str] = {
    "llama-factory": "transformers",
    "axolotl": "transformers",
    "ms-swift": "transformers",
    "trl": "transformers",
}
"""To whom a framework hands on the settings that it does not know itself: to transformers' TrainingArguments."""

RIVALS: tuple[frozenset[str], ...] = (
    frozenset({"slurm", "kubernetes"}),
    frozenset({"docker", "kubernetes"}),
    frozenset({"vllm", "sglang"}),
    # A server of models has no settings of a trainer.
    frozenset({"vllm", "transformers"}),
    frozenset({"sglang", "transformers"}),
)
"""Those of which a job that is seen to run under one is not changed by settings of the other."""
