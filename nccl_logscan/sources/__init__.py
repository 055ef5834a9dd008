"""Bytes → RawLine: files, folders, globs, archives and standard input, plain or compressed, one line at a time."""

from nccl_logscan.sources.files import STDIN, open_sources
from nccl_logscan.sources.kind import NO_LINES, Kind, kind_of
from nccl_logscan.sources.limits import Limits
from nccl_logscan.sources.natural import natural
from nccl_logscan.sources.raw import RawLine
from nccl_logscan.sources.source import Source
from nccl_logscan.sources.text import CUT_MARK, cut_lines
from nccl_logscan.sources.urls import is_url, shown

__all__ = [
    "CUT_MARK",
    "NO_LINES",
    "STDIN",
    "Kind",
    "Limits",
    "RawLine",
    "Source",
    "cut_lines",
    "is_url",
    "kind_of",
    "natural",
    "open_sources",
    "shown",
]
