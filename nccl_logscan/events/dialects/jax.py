"""JAX, XLA and TensorFlow: their C++ log lines, the coordination service, stuck rendezvous, failed NCCL operations."""

from __future__ import annotations

import re

from nccl_logscan.events.model import JaxEvent, told_by
from nccl_logscan.expressions import deferred
from nccl_logscan.gate import Gate
from nccl_logscan.lines.model import LogLine

# `2026-01-02 03:04:05.123456: W xla/service/x.cc:54] text` and glog's `E0102 03:04:05.123456  4242 x.cc:12] text`.
_FILES = (
    r"(?:external/|\./|\.\./)?(?:(?:org_tensorflow|local_xla|local_tsl|xla|tsl|tensorflow|jaxlib|jax)/[\w./-]{1,200}"
    r"|(?:coordination_service\w{0,20}|client|service|pjrt\w{0,30}|distributed_runtime\w{0,20}|nccl_\w{1,40}"
    r"|rendezvous|bfc_allocator|gpu_\w{1,40}|cuda_\w{1,40}"
    r"|se_gpu_pjrt_client|stream_executor\w{0,20}|executable|collective\w{0,40}|multihost_hlo_runner"
    r"|preemption_\w{1,40})\.(?:cc|h|cu))"
)
_HEADER = deferred(
    rf"^(?:\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{{1,9}}: )?(?P<severity>[IWEF])(?:\d{{4}}"
    rf" \d\d:\d\d:\d\d\.\d{{1,9}}\s{{1,8}}\d{{1,10}})? {_FILES}:\d{{1,7}}\] (?P<message>.*)",
    re.DOTALL,
)
_HEADERLESS = deferred(rf"^{_FILES}:\d{{1,7}}\] ")
_SAID = deferred(
    r"CoordinationService|coordination service|Coordination service|JAX distributed service|jax\.distributed"
    r"|The tasks have crashed"
    r"|The following tasks are unhealthy|Barrier timed out\.|Barrier failed\b.{0,80}[Bb]arrier"
    r"|heartbeat timeout\. This indicates"
    r"|This thread has been waiting for .{0,400}(?:and may be stuck|participants|rendezvous)"
    r"|Expected \d{1,7} threads to join the rendezvous"
    r"|(?:Exiting to ensure a consistent program state|Termination timeout for .{0,400} exceeded)|Thread is unstuck!"
    r"|NCCL operation .{1,120} failed|NCCL (?:error|call|init).{0,120} in (?:file )?external/"
    r"|ncclCommInitRank\w{0,20}\(.{0,200}\) (?:failed|error)"
    r"|RESOURCE_EXHAUSTED|XlaRuntimeError|JaxRuntimeError|(?:^|: )(?:UNAVAILABLE|DEADLINE_EXCEEDED|INTERNAL"
    r"|ABORTED|FAILED_PRECONDITION|CANCELLED|UNKNOWN|DATA_LOSS): "
    r"|Allocator \(GPU_\d{1,3}_bfc\) ran out of memory|Allocation of \S{1,30} exceeds"
    r"|Failed to allocate request for \S{1,30}"
    r"|/job:[\w-]{1,60}/(?:replica:\d{1,6}/)?task:\d{1,7} (?:has been set to ERROR|unexpectedly|heartbeat)"
)
_LETTERS = {"INFO": "I", "WARNING": "W", "WARN": "W", "ERROR": "E", "CRITICAL": "F", "FATAL": "F"}
_HEADED = Gate(_HEADER, _HEADERLESS)
_GATE = Gate(_SAID)


def read(line: LogLine) -> JaxEvent | None:
    """Return a line of XLA, TensorFlow or JAX's coordination service; None for any other line.

    `severity` is the C++ log's letter; `message` stands without that log's header.
    """
    text = line.text
    if _HEADED.admits(text):
        header = _HEADER.match(text)
        if header is not None:
            return _event(line, header["message"], header["severity"])
        if _HEADERLESS.match(text):
            return _event(line, text.partition("] ")[2], _letter(line.level))
    return _event(line, text, _letter(line.level)) if _GATE.search(text) else None


def _letter(level: str | None) -> str | None:
    return _LETTERS.get(level.upper()) if level else None


def _event(line: LogLine, message: str, severity: str | None) -> JaxEvent:
    return JaxEvent(
        **told_by(line, message),
        severity=severity,
    )
