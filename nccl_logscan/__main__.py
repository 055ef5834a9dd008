"""python -m nccl_logscan."""

from nccl_logscan.cli import entry_point

entry_point()
