"""Kubernetes: pod states, events, exit reasons, as `kubectl describe`, `kubectl get` and operators print them."""

from __future__ import annotations

from nccl_logscan.events.model import KubernetesEvent, told_by
from nccl_logscan.expressions import deferred
from nccl_logscan.gate import Gate
from nccl_logscan.lines.model import LogLine
from nccl_logscan.records import replace

_SAID = deferred(
    r"\bOOMKilled\b|\bCrashLoopBackOff\b|\bErrImagePull\b|\bImagePullBackOff\b|\bCreateContainerConfigError\b"
    r"|\bContainerStatusUnknown\b"
    r"|\bRunContainerError\b|\bFailedScheduling\b|\bFailedMount\b|\bFailedCreatePodSandBox\b"
    r"|\bDeadlineExceeded\b.{0,40}\b(?:pod|job|Job|Pod)"
    r"|\b(?:reason|Reason)['\"]?:\s{0,12}['\"]?(?:Evicted|OOMKilled|Error|Completed|NodeLost|NodeShutdown"
    r"|Terminated|Preempt(?:ed|ing)|DeadlineExceeded|ContainerCannotRun"
    r"|BackoffLimitExceeded|UnexpectedAdmissionError|NodeAffinity|TaintManagerEviction)\b"
    r"|\bexitCode['\"]?: ?\d{1,3}\b|^\s{2,12}Exit Code:\s{1,8}\d{1,3}\s{0,4}$"
    r"|\bBack-off restarting failed container|\b(?:Liveness|Readiness|Startup) probe failed|\bPreempted (?:by"
    r"|in order to)\b"
    r"|\bThe node was low on resource: |\bThe node had condition: |\bNodeNotReady\b|\bNode is not ready\b"
    r"|\bnode \S{1,200} is (?:not ready|unreachable)"
    r"|\bnode status is now: Node(?:NotReady|Unreachable)|\bTaintManagerEviction\b|\bMarking for deletion Pod\b"
    r"|\bExceededGracePeriod\b"
    r"|\bcommand terminated with exit code \d{1,3}|\bStopping container \S|\bPod sandbox changed\b"
    r"|\bMemoryPressure\b.{0,40}\bTrue\b"
    r"|\bPod (?:was|has been) (?:evicted|preempted|rejected|terminated)|\bpod \S{1,200} (?:was )?(?:evicted"
    r"|preempted|OOM)"
    r"|\bContainer \S{1,100} (?:was using \S{1,40}, which exceeds|exceeded its local ephemeral)"
    r"|\bSystem OOM encountered\b|\bMemory cgroup out of memory\b.{0,80}\bpod",
)
_POD = deferred(r"(?<!by )\b[Pp]od[ /]\"?(?P<pod>[a-z0-9](?:[a-z0-9./-]{2,200}))")
_GATE = Gate(_SAID)


def read(line: LogLine) -> KubernetesEvent | None:
    """Return a report of Kubernetes; None for any other line. `origin.pod` is the pod it names, if any."""
    text = line.text
    if _GATE.search(text) is None:
        return None
    pod = _POD.search(text)
    origin = replace(line.origin, pod=pod["pod"].rpartition("/")[2]) if pod else line.origin
    return KubernetesEvent(**told_by(line, text, origin=origin))
