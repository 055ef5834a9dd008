"""RawLine → LogLine: prefixes of launchers and collectors off, and remembered."""

from nccl_logscan.lines.model import LogLine
from nccl_logscan.lines.peel import Peeler, peel_lines, without_colours
from nccl_logscan.lines.stamps import NO_YEAR

__all__ = ["NO_YEAR", "LogLine", "Peeler", "peel_lines", "without_colours"]
