"""Scenario: all that a simulated job is made of. Truth: the right answer to it, and whether the files still show it."""

from __future__ import annotations

import random
from dataclasses import dataclass, fields, replace
from typing import Any

HANGS = ("late", "late_subgroup", "skip", "extra", "other_op", "other_shape", "other_dtype", "swap")
DEATHS = ("sigkill", "sigsegv", "exception", "gpu_oom", "xid", "host_oom")
NETWORK = ("ib_down", "peer_vanishes")
STARTUP = ("mixed_driver", "mixed_nccl")
PRECISION = ("overflow",)
FINE = ("straggler", "healthy")
FAULTS = (*HANGS, *DEATHS, *NETWORK, *STARTUP, *PRECISION, *FINE)

LAYOUTS = ("driver", "rank_files", "node_files", "torchelastic", "nccl_files", "slurm", "ray", "dumps")

# PyTorch release, and the NCCL it was built with and could be used with.
_TORCH = {
    "1.13": ("2.14.3", "2.13.4"),
    "2.1": ("2.18.3", "2.18.1"),
    "2.3": ("2.20.5", "2.19.4"),
    "2.4": ("2.20.5", "2.21.5"),
    "2.5": ("2.21.5", "2.22.3"),
    "2.6": ("2.21.5", "2.24.3"),
    "2.7": ("2.26.2", "2.25.1"),
    "2.9": ("2.27.5", "2.28.9"),
    "2.11": ("2.28.9", "2.30.7"),
}


@dataclass(frozen=True, slots=True)
class Scenario:
    """One job. `seed` decides what the other fields leave open (names, jitter, which rank, which files are lost).

    `tensor`, `pipeline`: sizes of those groups, 1 for none; the data-parallel size is what remains of `ranks`.
    `prefix`: what collects the output puts before each line: srun --label, torchrun --tee (role: with --role rank), a
    container runtime. `timeout_s`: of all process groups. `skew_s`: each host's clock is off by up to so much. `lost`:
    the share of files that is removed at the end. `chatter`: lines that a rank prints a step. `ring`: entries of the
    flight recorder. `hint`: a late rank says what it is at before it stalls. `detail`: TORCH_DISTRIBUTED_DEBUG=DETAIL.
    `desync`: TORCH_NCCL_DESYNC_DEBUG=1. `event`: the host of a broken adapter reports it. `culprit`: the rank at fault;
    None: drawn.
    """

    seed: int
    fault: str
    layout: str
    ranks: int = 16
    gpus: int = 8
    tensor: int = 1
    pipeline: int = 1
    torch: str = "2.6"
    nccl: str = "2.21.5"
    nccl_debug: str = "INFO"
    network: str = "ib"
    prefix: str = "none"
    dumps: str = "none"
    ring: int = 2000
    frames: bool = True
    style: str = "logging"
    steps: int = 20
    fault_step: int = 12
    chatter: int = 1
    timeout_s: int = 600
    skew_s: float = 0.0
    lost: float = 0.0
    restarts: bool = False
    torn: bool = False
    hint: bool = True
    detail: bool = False
    desync: bool = False
    event: bool = True
    culprit: int | None = None

    @property
    def hosts(self) -> int:
        """How many hosts the ranks fill."""
        return -(-self.ranks // self.gpus)

    @property
    def torch_version(self) -> tuple[int, ...]:
        """The release as numbers."""
        return numbers(self.torch)

    @property
    def nccl_version(self) -> tuple[int, ...]:
        """The version as numbers."""
        return numbers(self.nccl)


@dataclass(frozen=True, slots=True)
class Truth:
    """The right answer. `also`: further categories that a careful reader may give.

    `culprit`, `host`, `adapter`: None where none is to blame. `hosts_of_culprit`: all names of that host that the files
    show (its name, its addresses). `ranks_of_host`: the ranks that ran there. `evidence_left`: who was at fault can
    still be told from the files that survived; `category_left`: the category can.
    """

    fault: str
    layout: str
    category: str
    also: tuple[str, ...]
    culprit: int | None
    host: str | None
    adapter: str | None
    what: str
    evidence_left: bool
    category_left: bool
    hosts_of_culprit: tuple[str, ...] = ()
    ranks_of_host: tuple[int, ...] = ()
    lost_files: int = 0
    files: int = 0


def numbers(version: str) -> tuple[int, ...]:
    """Return `2.21.5` as (2, 21, 5)."""
    return tuple(int(part) for part in version.split("."))


def draw(seed: int, **overrides: Any) -> Scenario:
    """Draw a scenario; `overrides` fixes fields. The same seed and overrides give the same scenario."""
    unknown = overrides.keys() - {field.name for field in fields(Scenario)}
    if unknown:
        raise ValueError(f"a scenario has no {', '.join(sorted(unknown))}")
    rng = random.Random(f"scenario {seed}")  # noqa: S311 - no secret
    fault = overrides.get("fault") or FAULTS[seed % len(FAULTS)]
    layout = overrides.get("layout") or rng.choice([one for one in LAYOUTS if one != "dumps" or fault in HANGS])
    gpus = overrides.get("gpus") or rng.choice((1, 2, 4, 4, 8, 8, 8))
    ranks = overrides.get("ranks") or rng.choice((2, 4, 6, 8, 8, 16, 16, 24, 32, 32, 64, 96, 128, 256, 512))
    if fault in {"late_subgroup", "swap"} and "ranks" not in overrides:
        ranks = ranks if ranks % 4 == 0 else 8  # a subgroup of two, and two of those
    if fault in {*NETWORK, *STARTUP} and "gpus" not in overrides:
        gpus = min(gpus, max(1, ranks // 2))  # else there is one host only
    gpus = next(size for size in range(min(gpus, ranks), 0, -1) if ranks % size == 0)
    tensor, pipeline = _parallel(rng, fault, ranks, gpus)
    torch = rng.choice([one for one in _TORCH if layout != "dumps" or numbers(one) >= (2, 4)])
    torch = str(overrides.get("torch", torch))
    dumps = rng.choice(("none", "pickle", "pickle", "pickle", "json")) if numbers(torch) >= (2, 4) else "none"
    if layout == "dumps" and dumps == "none":
        dumps = "pickle"
    detail = rng.random() < (0.7 if fault == "other_dtype" and dumps == "none" else 0.2)
    nccl_debug = rng.choice(("INFO", "INFO", "WARN", "NONE"))
    if layout == "nccl_files" or fault in STARTUP:
        nccl_debug = "INFO"
    if fault in NETWORK and nccl_debug == "NONE":
        nccl_debug = "WARN"
    prefixes = {
        "driver": ("none", "none", "srun", "tee", "role", "cri"),
        "node_files": ("none", "tee", "role", "cri"),
        "nccl_files": ("none", "srun"),
    }
    network = {"ib_down": "ib", "peer_vanishes": "socket"}.get(fault) or rng.choice(("ib", "socket"))
    scenario = Scenario(
        seed=seed,
        fault=fault,
        layout=layout,
        ranks=ranks,
        gpus=gpus,
        tensor=tensor,
        pipeline=pipeline,
        torch=torch,
        nccl=rng.choice(_TORCH[torch]),
        nccl_debug=nccl_debug,
        network=network,
        prefix=rng.choice(prefixes.get(layout, ("none",))),
        dumps=dumps,
        ring=rng.choice((20, 200, 2000)),
        frames=rng.random() < 0.8,
        style=rng.choice(("logging", "deepspeed", "megatron", "print")),
        steps=rng.choice((15, 30, 60)) if ranks <= 64 else 8,
        fault_step=rng.randint(3, 12) if ranks <= 64 else rng.randint(2, 6),
        timeout_s=rng.choice((60, 600, 1800)),
        skew_s=rng.choice((0.0, 2.0, 30.0)),
        lost=rng.choice((0.0, 0.0, 0.1, 0.2)) if layout != "driver" else 0.0,
        restarts=rng.random() < 0.15 and layout in {"driver", "torchelastic", "node_files"},
        torn=rng.random() < 0.25,
        hint=rng.random() < 0.6,
        detail=detail and layout != "dumps",
        desync=rng.random() < 0.15,
        event=rng.random() < 0.6,
    )
    return replace(scenario, **overrides)


def _parallel(rng: random.Random, fault: str, ranks: int, gpus: int) -> tuple[int, int]:
    """Draw the sizes of the tensor- and pipeline-parallel groups."""
    needs = fault in {"late_subgroup", "swap"}
    sizes = [size for size in (2, 4, 8) if ranks % (size * 2) == 0 and (size <= gpus or needs)]
    if not sizes or (not needs and rng.random() < 0.4):
        return 1, 1
    tensor = sizes[0] if needs and len(sizes) == 1 else rng.choice(sizes)
    pipeline = 2 if ranks % (tensor * 4) == 0 and rng.random() < 0.3 else 1
    return tensor, pipeline
