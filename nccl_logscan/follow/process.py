"""Whether a process of this machine still runs."""

from __future__ import annotations

import os
from pathlib import Path


def is_alive(pid: int) -> bool:
    """Return whether a process is there and more than a zombie, as its parent has yet to collect it.

    Where /proc is not to be had, a zombie counts as alive.
    """
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    try:
        # proc(5): pid (comm) state ...; the name in brackets may hold anything.
        state = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[:1]
    except OSError:
        return True
    return state != [b"Z"]
