"""The values that steps give to settings: durations in the setting's own unit, and what is a value at all."""

from __future__ import annotations

import ast
import re

from nccl_logscan.catalogue.model import Kind, Option

UNSET = "unset"
"""What a rule gives as the value of a setting that is to go."""

_SECONDS = {"milliseconds": 0.001, "ms": 0.001, "seconds": 1.0, "s": 1.0, "minutes": 60.0, "min": 60.0, "hours": 3600.0}
_TIMEDELTA = re.compile(r"(?:datetime\.)?timedelta\((seconds|minutes|hours|milliseconds)=(\d+(?:\.\d+)?)\)")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def seconds_in(value: str | None, unit: str | None) -> float | None:
    """Return a duration in seconds: a timedelta, or a number of a unit of time; None for anything else."""
    if value is None:
        return None
    if match := _TIMEDELTA.fullmatch(value):
        return float(match[2]) * _SECONDS[match[1]]
    if unit in _SECONDS and _NUMBER.fullmatch(value):
        return float(value) * _SECONDS[unit]
    return None


def converted(seconds: float, option: Option) -> str:
    """Return a duration as an option takes it: a number of its unit, or a timedelta."""
    unit = option.domain.unit or ""
    if unit in _SECONDS:
        return f"{seconds / _SECONDS[unit]:g}"
    return f"datetime.timedelta(minutes={seconds / 60:g})"


def is_value(kind: Kind, to: str) -> bool:
    """Return whether `to` can be written into a file as it stands, rather than describing what to write."""
    if kind is Kind.PYTHON_KWARG:
        return _is_expression(to)
    return bool(to) and not re.search(r"\s", to)


def _is_expression(text: str) -> bool:
    try:
        ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


_SITE_FACTS = frozenset(
    {
        "NCCL_SOCKET_IFNAME",
        "NCCL_OOB_NET_IFNAME",
        "GLOO_SOCKET_IFNAME",
        "OFI_NCCL_EXCLUDE_TCP_IF",
        "NCCL_IB_HCA",
        "NCCL_IB_GID_INDEX",
        "NCCL_IB_TC",
        "NCCL_IB_SL",
        "NCCL_IB_PKEY",
        "NCCL_IB_ADDR_RANGE",
        "NCCL_TOPO_FILE",
        "NCCL_COMM_ID",
        "NCCL_HOSTID",
        "UCX_NET_DEVICES",
        "MASTER_ADDR",
        "CUDA_VISIBLE_DEVICES",
        "--exclude",
        "--master-addr",
        "--rdzv-endpoint",
        "--local-addr",
        "--network-interfaces",
    }
)
_ANYWHERE = frozenset({UNSET, "-1", "localhost:0"})


def depends_on_site(name: str, to: str) -> bool:
    """Return whether only the site can tell the right value: the name of an interface, an adapter, a node, an index.

    Taking a setting out, leaving the choice to NCCL and excluding the usual virtual interfaces are right anywhere.
    """
    return name in _SITE_FACTS and to not in _ANYWHERE and not to.startswith("^lo")
