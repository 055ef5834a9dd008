"""On how many hosts a file's job runs, where the file says."""

from __future__ import annotations

from functools import lru_cache

from nccl_logscan.configs.model import Config
from nccl_logscan.expressions import deferred

_ONE = deferred(
    rb"(?m)^#SBATCH[ \t]+(?:--nodes[= ]1|-N[ ]?1)[ \t]*\r?$|--standalone\b|--nnodes[= ]1(?![0-9:])"
    rb"|\btrainer\.nnodes=1(?![0-9])|--num_gpus[= ][0-9]|--num_machines[= ]1(?![0-9])"
)
_SEVERAL = deferred(
    rb"(?m)^#SBATCH[ \t]+(?:--nodes[= ]|-N[ ]?)(?:[2-9]|[1-9][0-9])|--nnodes[= ](?!1(?![0-9:]))"
    rb"|\btrainer\.nnodes=(?!1(?![0-9]))|--hostfile|--rdzv[-_]endpoint[= ](?!localhost|127\.)"
)
_COMPOSE = deferred(r"(?:^|/)(?:docker-)?compose[^/]*\.ya?ml$")


def is_on_one_host(config: Config) -> bool:
    """Return whether the file says that its job runs on a single host."""
    return _COMPOSE.search(config.name) is not None or _says_one(config.data)


@lru_cache(4)
def _says_one(data: bytes) -> bool:
    return _ONE.search(data) is not None and _SEVERAL.search(data) is None
