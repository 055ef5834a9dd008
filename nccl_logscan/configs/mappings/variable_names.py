"""Which keys are names of environment variables, and which mappings are environments."""

from __future__ import annotations

from nccl_logscan.expressions import deferred

VARIABLE = deferred(r"[A-Z_][A-Z0-9_]*")
# Names of which a key is a variable wherever it stands, so that no list of all launchers' words for "env" is needed.
_TELLING = deferred(
    r"(?:NCCL|TORCH|PYTORCH|TORCHELASTIC|CUDA|UCX|UCC|FI|OFI|OMPI|PMIX|GLOO|HSA|RCCL|MASTER|OMP|NVSHMEM|NVTE|RAY|VLLM|SGL|SGLANG"
    r"|DEEPSPEED|DS|HYDRA|XLA|JAX|HF|TOKENIZERS|ACCELERATE|SLURM|SHARP|MLX5|RDMAV|IBV|KINETO|TORCHINDUCTOR|TRITON)_[A-Z0-9_]+"
    r"|LD_LIBRARY_PATH|LD_PRELOAD|PYTHON[A-Z]+"
)
_LONGEST = 128

ENVIRONMENTS = frozenset(
    {
        "env",
        "envs",
        "environment",
        "environments",
        "env_vars",
        "envvars",
        "envVars",
        "env_variables",
        "envVariables",
        "environment_variables",
        "environmentVariables",
        "environ",
        "variables",
        "extra_env",
        "extraEnv",
        "extraEnvVars",
        "container_env",
        "containerEnv",
        "remoteEnv",
        "build_args",
    }
)
RUNTIME_ENVIRONMENTS = frozenset({"runtime_env", "runtimeEnv", "runtimeEnvYAML"})


def is_variable(name: str) -> bool:
    """Return whether a key of an environment is the name of a variable."""
    return len(name) <= _LONGEST and VARIABLE.fullmatch(name) is not None


def is_telling(name: str) -> bool:
    """Return whether a name is a variable's wherever it stands."""
    return len(name) <= _LONGEST and _TELLING.fullmatch(name) is not None
