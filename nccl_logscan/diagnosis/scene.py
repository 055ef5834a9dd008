"""Scene: all that is known when every input has passed, for those who judge."""

from __future__ import annotations

from nccl_logscan.diagnosis.clocks import Clocks
from nccl_logscan.diagnosis.endings import Endings
from nccl_logscan.diagnosis.findings import Finding
from nccl_logscan.diagnosis.gpus import Gpus
from nccl_logscan.diagnosis.hang.recordings import Recordings
from nccl_logscan.diagnosis.identity import Identity
from nccl_logscan.records import dataclass


@dataclass(frozen=True, slots=True)
class Scene:
    """Who is who and on which GPU, how it ended, what dumps hold, which clocks can be compared, and what was found:
    for detectors what the rules found, for the verdict what the detectors found as well.
    """

    identity: Identity
    gpus: Gpus
    endings: Endings
    findings: tuple[Finding, ...]
    recordings: Recordings
    clocks: Clocks
