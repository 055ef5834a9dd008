"""Where the built-in rules are: in the wheel, or in the checkout."""

from __future__ import annotations

from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from nccl_logscan.errors import InputError


def builtin_rules() -> Traversable:
    """Return the folder of built-in rules: the wheel's copy, else the checkout's own.

    Raises InputError where an installation has neither.
    """
    shipped = resources.files("nccl_logscan") / "_rules"
    if shipped.is_dir():
        return shipped
    checkout = Path(__file__).resolve().parents[2]
    # site-packages/rules could be anyone's, so the folder above must be this project.
    if (checkout / "pyproject.toml").is_file() and (checkout / "rules").is_dir():
        return checkout / "rules"
    raise InputError("this installation has no built-in rules", hint="reinstall nccl-logscan")
