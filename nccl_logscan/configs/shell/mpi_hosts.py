"""How many hosts an MPI launcher is told to use."""

from __future__ import annotations

import re

from nccl_logscan.configs.shell.launcher_options import Option
from nccl_logscan.configs.shell.script import Script
from nccl_logscan.configs.shell.words import HOLE
from nccl_logscan.expressions import deferred

_HELD = deferred(r"\$\{?(\w+)\}?", re.ASCII)
# $HOSTS, ${NODE_LIST}, $(scontrol show hostnames | paste -sd,); $HOST and $(hostname) are one.
_LIST_OF_HOSTS = deferred(
    r"\$\{?[\w:-]*(?:hosts|nodes|servers|workers|machines|list)\w*\}?|\$\(.*\b(?:paste|tr|join|scontrol)\b",
    re.IGNORECASE | re.ASCII,
)


def hosts_told(script: Script, option: Option) -> tuple[int | None, bool]:
    """Return how many hosts an option names, and where only the running shell knows, whether that is a list of them."""
    written = script.text[option.value_start : option.value_end].strip("\"'")
    held = _HELD.fullmatch(written)
    texts = (
        {value.text.partition("=")[2] for value, _ in script.values.get(held[1], ())} if held else {option.value or ""}
    )
    counts = {len({host.partition(":")[0] for host in text.split(",") if host}) for text in texts if HOLE not in text}
    if texts and len(counts) == 1 and not any(HOLE in text for text in texts):
        return counts.pop(), False
    several = "," in written.partition("$(")[0] or _LIST_OF_HOSTS.match(written) is not None
    return None, several
