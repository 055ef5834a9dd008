"""What was measured as the view has it, and in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from nccl_logscan.diagnosis.figures import Awaited, Bandwidth, Communication, Figures, GpuFigure, Spread
from nccl_logscan.measured.tuning import Choice
from nccl_logscan.report.wording import counted

_SHOWN = 4
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def figures_of(figures: Figures | None) -> dict[str, Any] | None:
    """Return the view's `figures`."""
    if figures is None:
        return None
    return {
        "bandwidths": [_bandwidth(one) for one in figures.bandwidths],
        "communication": [_communication(one) for one in figures.communication],
        "awaited": [_awaited(one) for one in figures.awaited],
        "gpus": [_gpu(one) for one in figures.gpus],
        "choices": [_choice(one) for one in figures.choices],
    }


def figures_said(figures: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield in sentences what matters most: ranks that others wait for, and the bandwidth of each collective's largest
    size.
    """
    if figures is None:
        return
    yield from map(awaited_said, figures["awaited"])
    largest: dict[tuple[str, str | None, int | None], Mapping[str, Any]] = {}
    for one in figures["bandwidths"]:  # in the order of sizes
        if one["in_place"] is not True:
            largest[one["tool"], one["collective"], one["ranks"]] = one
    for one in list(largest.values())[:_SHOWN]:
        on = f" on {counted(one['ranks'], 'rank')}" if one["ranks"] else ""
        busbw = one["busbw"]
        lowest = f", {busbw['low']:,.2f} at the lowest" if busbw["count"] > 1 else ""
        yield (
            f"{one['collective'] or 'a collective'} of {size_said(one['size_bytes'])}{on}: bus bandwidth "
            f"{busbw['mean']:,.2f} GB/s{lowest} ({one['tool']})"
        )


def awaited_said(one: Mapping[str, Any]) -> str:
    """Return for which rank others wait, and why that is thought."""
    host = f" on {one['host']}" if one["host"] is not None else ""
    return (
        f"rank {one['rank']}{host} of communicator {one['comm']} comes last to {one['collective']}: it takes this rank "
        f"{one['mean_us']:,.0f} µs and the others {one['others_us']:,.0f}, which wait for it"
    )


def size_said(size: int) -> str:
    """Return a size in the largest unit of which it holds one: `8 GiB`, `1.5 MiB`."""
    number, unit = float(size), 0
    while number >= 1024 and unit < len(_UNITS) - 1:
        number, unit = number / 1024, unit + 1
    return f"{number:.10g} {_UNITS[unit]}" if number == int(number) else f"{number:,.1f} {_UNITS[unit]}"


def _spread(spread: Spread) -> dict[str, float]:
    return {
        "count": spread.count,
        "mean": round(spread.mean, 3),
        "low": round(spread.low, 3),
        "high": round(spread.high, 3),
    }


def _bandwidth(one: Bandwidth) -> dict[str, Any]:
    return {
        "tool": one.tool,
        "collective": one.collective,
        "size_bytes": one.size_bytes,
        "ranks": one.ranks,
        "in_place": one.in_place,
        "time_us": _spread(one.time_us),
        "algbw": _spread(one.algbw),
        "busbw": _spread(one.busbw),
        "wrong": one.wrong,
    }


def _communication(one: Communication) -> dict[str, Any]:
    return {
        "host": one.host,
        "pid": one.pid,
        "rank": one.rank,
        "seconds": round(one.seconds, 3),
        "within": round(one.within, 3),
        "share": round(one.seconds / one.within, 4),
    }


def _awaited(one: Awaited) -> dict[str, Any]:
    return {
        "comm": one.comm,
        "collective": one.collective,
        "rank": one.rank,
        "host": one.host,
        "mean_us": round(one.mean_us, 1),
        "others_us": round(one.others_us, 1),
        "calls": one.calls,
    }


def _gpu(one: GpuFigure) -> dict[str, Any]:
    return {"file": one.source, "gpu": one.gpu, "column": one.column, "values": _spread(one.values)}


def _choice(one: Choice) -> dict[str, Any]:
    return {
        "collective": one.collective,
        "size_bytes": one.size_bytes,
        "algorithm": one.algorithm,
        "protocol": one.protocol,
        "predicted_us": one.predicted_us,
    }
