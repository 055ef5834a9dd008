"""Bytes → Dump: PyTorch's flight recorder, the ring of each rank's recent collectives, pickled or as JSON."""

from nccl_logscan.recorder.model import Call, Dump, Frame, Group, State, Status
from nccl_logscan.recorder.read import DumpError, read_dump

__all__ = ["Call", "Dump", "DumpError", "Frame", "Group", "State", "Status", "read_dump"]
