"""Where the built-in rules are: in the wheel, or in the checkout."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nccl_logscan.errors import InputError

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

INSTALLED = "_rules"
"""The folder of an installed package that holds the rules."""


def builtin_rules() -> Traversable:
    """Return the folder of built-in rules: the wheel's copy, else the checkout's own.

    Raises InputError where an installation has neither.
    """
    package = Path(__file__).resolve().parents[1]
    if (package / INSTALLED).is_dir():
        return package / INSTALLED
    checkout = package.parent
    # site-packages/rules could be anyone's, so the folder above must be this project.
    if (checkout / "pyproject.toml").is_file() and (checkout / "rules").is_dir():
        return checkout / "rules"
    # In a zip file there is no folder. The import is dear.
    from importlib import resources  # noqa: PLC0415

    packed = resources.files("nccl_logscan") / INSTALLED
    if packed.is_dir():
        return packed
    raise InputError("this installation has no built-in rules", hint="reinstall nccl-logscan")
