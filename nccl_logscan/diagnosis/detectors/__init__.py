"""Questions across lines and ranks that one line cannot answer; the rule of a detector's name words its answer."""

from __future__ import annotations

from nccl_logscan.diagnosis.detectors.actors import Actors
from nccl_logscan.diagnosis.detectors.adapters import Adapters
from nccl_logscan.diagnosis.detectors.desync_report import DesyncReport
from nccl_logscan.diagnosis.detectors.detection import Detection, Detector
from nccl_logscan.diagnosis.detectors.fingerprints import Fingerprints
from nccl_logscan.diagnosis.detectors.hang import Hang
from nccl_logscan.diagnosis.detectors.heterogeneity import Heterogeneity
from nccl_logscan.diagnosis.detectors.nccl_versions import NcclVersions
from nccl_logscan.diagnosis.detectors.network import Networks, RoceAddress
from nccl_logscan.diagnosis.detectors.peer_copies import PeerCopies
from nccl_logscan.diagnosis.detectors.ports import Ports
from nccl_logscan.diagnosis.detectors.precision import Losses, LossScales
from nccl_logscan.diagnosis.detectors.ras import Ras
from nccl_logscan.diagnosis.detectors.startup import Benchmark, Startup
from nccl_logscan.diagnosis.detectors.transfers import Transfers

DETECTORS: tuple[type[Detector], ...] = (
    Hang,
    DesyncReport,
    Fingerprints,
    LossScales,
    Losses,
    NcclVersions,
    Heterogeneity,
    Networks,
    RoceAddress,
    Adapters,
    Ras,
    Startup,
    Benchmark,
    PeerCopies,
    Transfers,
    Ports,
    Actors,
)
"""Every detector; a scan makes one of each."""

DETECTOR_NAMES = frozenset(name for detector in DETECTORS for name in detector.names)
"""The names that a rule's `match.detector` may give."""

__all__ = ["DETECTORS", "DETECTOR_NAMES", "Detection", "Detector"]
