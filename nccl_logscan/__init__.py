"""Reads the logs of distributed training jobs and says what failed first, on which rank, host and adapter.

    >>> from nccl_logscan import scan
    >>> result = scan(["fixtures/cases/lab/timeout-dataloader/driver.log"])
    >>> print(result.diagnosis.category, result.diagnosis.culprit.rank)
    collective_timeout 1

`scan` takes what the command line takes: files, folders, patterns and, with `stdin=`, `-`. It raises
`nccl_logscan.errors.InputError` where there is nothing to judge. `ScanResult` says what it returns.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from nccl_logscan.version import __version__

if TYPE_CHECKING:
    from nccl_logscan.diagnosis.verdict import ScanResult
    from nccl_logscan.pipeline import scan

__all__ = ["ScanResult", "__version__", "scan"]

# Imported when they are asked for: `nccl-logscan --version` and the import of one submodule need none of it.
_HOMES = {"ScanResult": "nccl_logscan.diagnosis.verdict", "scan": "nccl_logscan.pipeline"}


def __getattr__(name: str) -> Any:
    """Import what `__all__` names from where it is defined."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'nccl_logscan' has no attribute '{name}'")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
