"""Run: what advice is asked for, as far as the user said."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from nccl_logscan.expressions import deferred
from nccl_logscan.records import dataclass

NETWORKS = ("ib", "roce", "tcp", "efa", "none")
LAUNCHERS = ("slurm", "ray", "mpirun", "torchrun", "kubernetes", "docker", "deepspeed", "accelerate", "by-hand")
CLOUDS = ("aws", "azure", "gcp", "oci", "alibaba")
PRECISIONS = ("bf16", "fp16")

_PARAMS = deferred(r"(\d{1,15}(?:[._]?\d{1,12})?(?:e\d{1,2})?)\s?([kmbt]?)", re.IGNORECASE | re.ASCII)
_SCALE = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9, "t": 10**12}
_FEWEST, _MOST = 10**6, 10**14


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU model: memory in GB (10^9 bytes), compute capability, and how far NVLink reaches: none, node or rack."""

    name: str
    memory: int
    capability: str
    nvlink: str


@dataclass(frozen=True, slots=True)
class Framework:
    """A framework: who starts it unless said, how it shards, and whether it generates beside training."""

    name: str
    launcher: str
    sharding: str
    aliases: tuple[str, ...] = ()
    rollout: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """A run. `params` is how many parameters the model has; what is None was not said."""

    params: int
    nodes: int
    gpus_per_node: int
    network: str
    framework: Framework
    launcher: str
    precision: str = "bf16"
    gpu: Gpu | None = None
    cloud: str | None = None
    nccl: str | None = None
    torch: str | None = None
    framework_version: str | None = None

    @property
    def ranks(self) -> int:
        """GPUs, and ranks where each has one."""
        return self.nodes * self.gpus_per_node


@cache
def gpus() -> Mapping[str, Gpu]:
    """Return the GPU models that are known, by name."""
    return {name: Gpu(name, **entry) for name, entry in read_table("gpus.toml").items()}


@cache
def frameworks() -> Mapping[str, Framework]:
    """Return the frameworks by name, in the order in which they are offered."""
    return {name: _framework(name, entry) for name, entry in read_table("frameworks.toml").items()}


def framework_called(name: str) -> Framework | None:
    """Return the framework of this name or alias, whatever its case; None where there is none."""
    wanted = name.strip().lower().replace("_", "-")
    for framework in frameworks().values():
        if wanted == framework.name or wanted in framework.aliases:
            return framework
    return None


def read_params(text: str) -> int | None:
    """Return how many parameters "30B", "0.5b", "1T", "7e9" or "7000000000" are; None where it is no such number.

    A model has between a million and 100 trillion of them: "30" alone is taken for a forgotten unit, and is None.
    """
    match = _PARAMS.fullmatch(text.strip())
    if match is None:
        return None
    count = round(float(match[1].replace("_", "")) * _SCALE[match[2].lower()])
    return count if _FEWEST <= count <= _MOST else None


def read_table(name: str) -> dict[str, Any]:
    """Return a data file of this package as TOML gives it."""
    return tomllib.loads((resources.files("nccl_logscan.advise") / "data" / name).read_text("utf-8"))


def _framework(name: str, entry: dict[str, Any]) -> Framework:
    return Framework(name, **{**entry, "aliases": tuple(entry.get("aliases", ()))})
