"""Reads the logs of distributed training jobs and says what failed first, on which rank, host and adapter.

    >>> from nccl_logscan import scan
    >>> result = scan("fixtures/cases/lab/timeout-dataloader/driver.log")
    >>> print(result.diagnosis.category, result.diagnosis.culprit.rank)
    collective_timeout 1

`scan` gives a `ScanResult`, which a notebook displays as the HTML report and which has its lists as polars frames;
`read_events` and `write_events` give every line as a row of a table. Each error that they raise on purpose is a
`LogscanError`: its `hint` says what to do next.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from nccl_logscan.version import __version__

if TYPE_CHECKING:
    from nccl_logscan.api.events import read_events, write_events
    from nccl_logscan.api.result import ScanResult
    from nccl_logscan.api.scan import Progress, scan
    from nccl_logscan.errors import InputError, LogscanError, OutputError, RulebookError
    from nccl_logscan.pipeline import Options

__all__ = [
    "InputError",
    "LogscanError",
    "Options",
    "OutputError",
    "Progress",
    "RulebookError",
    "ScanResult",
    "__version__",
    "read_events",
    "scan",
    "write_events",
]

# Imported when they are asked for: `nccl-logscan --version` and the import of one submodule need none of it.
_HOMES = {
    "InputError": "nccl_logscan.errors",
    "LogscanError": "nccl_logscan.errors",
    "Options": "nccl_logscan.pipeline",
    "OutputError": "nccl_logscan.errors",
    "Progress": "nccl_logscan.api.scan",
    "RulebookError": "nccl_logscan.errors",
    "ScanResult": "nccl_logscan.api.result",
    "read_events": "nccl_logscan.api.events",
    "scan": "nccl_logscan.api.scan",
    "write_events": "nccl_logscan.api.events",
}


def __getattr__(name: str) -> Any:
    """Import what `__all__` names from where it is defined."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'nccl_logscan' has no attribute '{name}'")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
