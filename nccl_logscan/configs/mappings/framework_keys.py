"""Which framework a mapping of settings is for, told by keys that no other one has."""

from __future__ import annotations

# A set of keys that is there as a whole tells the framework; the first that does counts. Names are the catalogue's.
_TELLING: tuple[tuple[str, tuple[frozenset[str], ...]], ...] = (
    ("verl", (frozenset({"actor_rollout_ref"}),)),
    (
        "accelerate",
        (
            frozenset({"compute_environment"}),
            frozenset({"distributed_type", "num_processes"}),
            frozenset({"distributed_type", "mixed_precision"}),
        ),
    ),
    (
        "deepspeed",
        (
            frozenset({"zero_optimization"}),
            frozenset({"train_micro_batch_size_per_gpu"}),
            frozenset({"train_batch_size", "fp16"}),
            frozenset({"train_batch_size", "bf16"}),
        ),
    ),
    ("nemo-rl", (frozenset({"policy", "grpo"}), frozenset({"policy", "cluster"}))),
    ("nemo", (frozenset({"exp_manager"}),)),
    (
        "torchtitan",
        (
            frozenset({"job", "training"}),
            frozenset({"parallelism", "training"}),
            frozenset({"comm", "training"}),
            frozenset({"job", "comm"}),
        ),
    ),
    ("lightning", (frozenset({"seed_everything"}), frozenset({"trainer", "class_path"}))),
    (
        "llama-factory",
        (frozenset({"finetuning_type"}), frozenset({"stage", "template"}), frozenset({"stage", "model_name_or_path"})),
    ),
    (
        "axolotl",
        (
            frozenset({"base_model", "datasets"}),
            frozenset({"base_model", "micro_batch_size"}),
            frozenset({"base_model", "sequence_len"}),
        ),
    ),
    (
        "transformers",
        (frozenset({"per_device_train_batch_size"}), frozenset({"ddp_timeout"}), frozenset({"ddp_backend"})),
    ),
    ("ray", (frozenset({"env_vars"}), frozenset({"runtime_env"}), frozenset({"cluster_name", "provider"}))),
)
_ANY_TELLING = frozenset(key for _, telling in _TELLING for some in telling for key in some)
_MANIFEST = frozenset({"apiVersion", "kind"})
_LIGHTNING_TRAINER = frozenset(
    {"accelerator", "devices", "num_nodes", "strategy", "precision", "accumulate_grad_batches"}
)


def is_manifest(keys: frozenset[str] | set[str]) -> bool:
    """Return whether these are the keys of a Kubernetes object."""
    return keys >= _MANIFEST


def framework_of_keys(keys: frozenset[str] | set[str], parent: str | None, known: str | None) -> str | None:
    """Return the framework that a mapping with these keys, under the key `parent`, is for; else the one known."""
    if is_manifest(keys):
        return "kubernetes"
    for name, telling in _TELLING if not keys.isdisjoint(_ANY_TELLING) else ():
        if any(keys >= some for some in telling):
            return known if name == "ray" and known else name
    if known is None and "services" in keys:
        return "docker"
    if known is None and parent == "trainer" and len(keys & _LIGHTNING_TRAINER) >= 2:
        return "lightning"
    return known
