"""Standard input, where a command's logs name it."""

from __future__ import annotations

import sys
from collections.abc import Collection
from typing import BinaryIO

from nccl_logscan.errors import InputError
from nccl_logscan.sources import STDIN


def standard_input(logs: Collection[str]) -> BinaryIO | None:
    """Return standard input; None where it is closed. Raises InputError where it is closed and one of the logs."""
    if sys.stdin is not None:
        return sys.stdin.buffer
    if STDIN in logs:
        raise InputError("standard input is closed", hint="name a file, or pipe a log into the program")
    return None
