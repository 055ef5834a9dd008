"""The baseline to beat: ordered keywords, the first that occurs anywhere in the log decides.

It is what a quarter of an hour gives anyone who knows the field, and what grep-based scripts do. It sees no ranks, no
order, no roles.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

# 41 patterns, most telling first. Matched without regard to case against the whole log.
KEYWORDS: tuple[tuple[str, str], ...] = (
    (r"NVRM: Xid|fallen off the bus|uncorrectable ECC|GPU is lost", "gpu_hardware"),
    (r"oom-kill|Out of memory: Killed process|oom_kill event|: Out Of Memory", "host_oom"),
    (r"OOMKilled|memory pressure \(OOM\)", "host_oom"),
    (r"CUDA out of memory|OutOfMemoryError", "gpu_oom"),
    (r"Cuda failure.*out of memory|CUDA Error: out of memory", "gpu_oom"),
    (r"RESOURCE_EXHAUSTED", "gpu_oom"),
    (r"Duplicate GPU detected|invalid device ordinal", "invalid_config"),
    (r"Mismatched NCCL version|driver version is insufficient", "version_mismatch"),
    (r"not supported in the installed CUDA driver|unsupported display driver", "version_mismatch"),
    (r"ImportError.*undefined symbol", "version_mismatch"),
    (r"Detected mismatch between collectives|collective mismatch", "collective_mismatch"),
    (r"lagging/dead/mismatched ranks", "collective_mismatch"),
    (r"/dev/shm|unable to open shared memory", "container_limits"),  # noqa: S108 - searched for, not used
    (r"Too many open files|memlock", "container_limits"),
    (r"no space left on device|disk quota exceeded|input/output error|stale file handle", "storage_stall"),
    (r"Bus error", "container_limits"),
    (r"system not yet initialized|fabric manager", "p2p_topology"),
    (r"peer access is not supported|CUDA IPC handle", "p2p_topology"),
    (r"Multicast memory|nvls\.cc:\d+ NCCL WARN", "p2p_topology"),
    (r"NCCL WARN Could not find real path", "p2p_topology"),
    (r"GID index|ibv_query_gid", "roce_config"),
    (r"Got completion from peer|Got async event", "infiniband"),
    (r"Call to ibv_", "infiniband"),
    (r"loss scale already at minimum|Minimum loss scale reached", "mixed_precision_overflow"),
    (r"OVERFLOW!|Gradient overflow", "mixed_precision_overflow"),
    (r"loss[^a-z\n]{1,4}nan\b", "mixed_precision_overflow"),
    (r"device-side assert|illegal memory access", "user_code"),
    (r"no socket interface found|Name or service not known", "socket_bootstrap"),
    (r"Connection refused|Address already in use", "socket_bootstrap"),
    (r"Connection timed out|No route to host|Network is unreachable", "socket_bootstrap"),
    (r"Message truncated", "socket_bootstrap"),
    (r"Watchdog caught collective operation timeout", "collective_timeout"),
    (r"monitoredBarrier|heartbeat", "collective_timeout"),
    (r"NCCL WARN Invalid|invalid usage|invalid argument", "invalid_config"),
    (r"available GPUs|unrecognized arguments", "invalid_config"),
    (r"DUE TO TIME LIMIT|PREEMPTION|death signal", "process_death"),
    (r"SIGKILL|exitcode\s*: -9|SIGSEGV|Segmentation fault", "process_death"),
    (r"Connection closed by remote peer", "process_death"),
    (r"SIGTERM", "process_death"),
    (r"Traceback \(most recent call last\)", "user_code"),
    (r"NCCL WARN", "unknown"),
)

_COMPILED = tuple((re.compile(pattern, re.IGNORECASE), category) for pattern, category in KEYWORDS)


def keyword_verdict(texts: Iterable[str]) -> str:
    """Return the category of the first keyword that any of the texts holds; `none` if none does."""
    joined = "\n".join(texts)
    return next((category for pattern, category in _COMPILED if pattern.search(joined)), "none")
