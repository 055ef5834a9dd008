"""The closed sets of the report contract: categories, families, roles, levels, actions."""

from __future__ import annotations

from enum import StrEnum


class Family(StrEnum):
    """The coarse group of a category."""

    TIMEOUT = "timeout"
    NETWORK = "network"
    PRECISION = "precision"
    HETEROGENEOUS = "heterogeneous"
    MEMORY = "memory"
    HARDWARE = "hardware"
    ENVIRONMENT = "environment"
    PROCESS = "process"
    NONE = "none"
    UNKNOWN = "unknown"


class Category(StrEnum):
    """The root cause of a failure: the value of `verdict.category`."""

    COLLECTIVE_TIMEOUT = "collective_timeout"
    COLLECTIVE_MISMATCH = "collective_mismatch"
    STORAGE_STALL = "storage_stall"
    INFINIBAND = "infiniband"
    ROCE_CONFIG = "roce_config"
    SOCKET_BOOTSTRAP = "socket_bootstrap"
    MIXED_PRECISION_OVERFLOW = "mixed_precision_overflow"
    HETEROGENEOUS_DRIVER = "heterogeneous_driver"
    VERSION_MISMATCH = "version_mismatch"
    GPU_OOM = "gpu_oom"
    HOST_OOM = "host_oom"
    GPU_HARDWARE = "gpu_hardware"
    P2P_TOPOLOGY = "p2p_topology"
    CONTAINER_LIMITS = "container_limits"
    INVALID_CONFIG = "invalid_config"
    PROCESS_DEATH = "process_death"
    USER_CODE = "user_code"
    NONE = "none"
    UNKNOWN = "unknown"

    @property
    def family(self) -> Family:
        """The family the contract puts this category in."""
        return _FAMILIES[self]

    @property
    def meaning(self) -> str:
        """What the root cause is, in the contract's words."""
        return _MEANINGS[self]


_FAMILIES = {
    Category.COLLECTIVE_TIMEOUT: Family.TIMEOUT,
    Category.COLLECTIVE_MISMATCH: Family.TIMEOUT,
    Category.STORAGE_STALL: Family.TIMEOUT,
    Category.INFINIBAND: Family.NETWORK,
    Category.ROCE_CONFIG: Family.NETWORK,
    Category.SOCKET_BOOTSTRAP: Family.NETWORK,
    Category.MIXED_PRECISION_OVERFLOW: Family.PRECISION,
    Category.HETEROGENEOUS_DRIVER: Family.HETEROGENEOUS,
    Category.VERSION_MISMATCH: Family.HETEROGENEOUS,
    Category.GPU_OOM: Family.MEMORY,
    Category.HOST_OOM: Family.MEMORY,
    Category.GPU_HARDWARE: Family.HARDWARE,
    Category.P2P_TOPOLOGY: Family.HARDWARE,
    Category.CONTAINER_LIMITS: Family.ENVIRONMENT,
    Category.INVALID_CONFIG: Family.ENVIRONMENT,
    Category.PROCESS_DEATH: Family.PROCESS,
    Category.USER_CODE: Family.PROCESS,
    Category.NONE: Family.NONE,
    Category.UNKNOWN: Family.UNKNOWN,
}

_MEANINGS = {
    Category.COLLECTIVE_TIMEOUT: "a rank was late or absent for a collective: long data preparation, checkpoint, "
    "evaluation, start-up, a straggler",
    Category.COLLECTIVE_MISMATCH: "ranks issued different collectives, shapes, orders or counts",
    Category.STORAGE_STALL: "a file system, data loader or download stalled a rank",
    Category.INFINIBAND: "an InfiniBand link, port, adapter or fabric fault; no usable HCA; retries exhausted",
    Category.ROCE_CONFIG: "RoCE addressing or queueing set wrong: GID index, traffic class, PFC, routing",
    Category.SOCKET_BOOTSTRAP: "out-of-band or socket transport: wrong interface, refused, unreachable, blocked, "
    "DNS, rendezvous",
    Category.MIXED_PRECISION_OVERFLOW: "loss-scale collapse, inf/NaN in loss or gradients",
    Category.HETEROGENEOUS_DRIVER: "hosts or ranks differ in GPU driver, CUDA, firmware or GPU model",
    Category.VERSION_MISMATCH: "NCCL, CUDA runtime, plugin or PyTorch versions disagree between ranks or with the "
    "driver",
    Category.GPU_OOM: "device memory ran out",
    Category.HOST_OOM: "host memory ran out: the kernel's, Slurm's, Ray's or Kubernetes' killer",
    Category.GPU_HARDWARE: "Xid, ECC, NVLink, fabric manager, a GPU off the bus",
    Category.P2P_TOPOLOGY: "peer-to-peer, ACS/IOMMU, NVLS/multicast, IMEX, GPU-direct or topology detection",
    Category.CONTAINER_LIMITS: "/dev/shm, memlock, open files, cgroup or namespace limits",  # noqa: S108 - a text, not a path in use
    Category.INVALID_CONFIG: "a wrong setting or call: bad variable, duplicate GPU, bad ordinal, world size, invalid "
    "usage",
    Category.PROCESS_DEATH: "a process ended by a signal, preemption or early exit of which the log gives no deeper "
    "cause",
    Category.USER_CODE: "an exception, device-side assert or bad kernel in the training program",
    Category.NONE: "the job is healthy or finished; warnings at most",
    Category.UNKNOWN: "something failed, or may have, and the evidence does not say what",
}


class Role(StrEnum):
    """What a rule's line is in the course of a failure. Not how bad it is, and not how sure we are.

    cause: may be the root cause. symptom: names what was seen and not why; the verdict only where no
    cause remains. echo: follows from another failure; never a verdict. benign: frightening but
    harmless. context: a fact worth showing.
    """

    CAUSE = "cause"
    SYMPTOM = "symptom"
    ECHO = "echo"
    BENIGN = "benign"
    CONTEXT = "context"


class Severity(StrEnum):
    """How bad a finding is."""

    FATAL = "fatal"
    DEGRADED = "degraded"
    NOTICE = "notice"


class Basis(StrEnum):
    """What a verdict rests on."""

    RULE = "rule"
    DETECTOR = "detector"
    CLASSIFIER = "classifier"
    NONE = "none"


class Level(StrEnum):
    """How sure a verdict is, in words.

    established: the cause was seen before its echoes on one clock, or states itself. likely: the cause was
    seen, the order is not known. suggested: a symptom or the model only.
    """

    ESTABLISHED = "established"
    LIKELY = "likely"
    SUGGESTED = "suggested"
    NONE = "none"


class Action(StrEnum):
    """What to do about the job as a whole."""

    RESTART = "restart"
    RESTART_WITHOUT_NODE = "restart_without_node"
    FIX_CONFIG = "fix_config"
    FIX_CODE = "fix_code"
    FIX_HOST = "fix_host"
    INSPECT = "inspect"
    NONE = "none"
