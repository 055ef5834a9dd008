"""A line of NCCL's Inspector (ext-profiler/inspector of NCCL): what one rank measured of one collective.

Each process writes a file with a JSON object a line: `header` (communicator, rank in it, ranks), `metadata` (when it
was written, host, pid) and `coll_perf` (collective, number, size, time, algbw and busbw as nccl-tests defines them).
With NCCL_INSPECTOR_PROM_DUMP it writes metrics instead, which are not read here.
"""

from __future__ import annotations

import json
import math
from typing import Any, NamedTuple

WORDS = frozenset({'"coll_perf"'})
"""Of each line that is read here one, in lower case."""
_LONGEST = 65_536
_MOST = 1 << 53
_NAME = 200


class Measured(NamedTuple):
    """A collective as one rank saw it. Times in microseconds, bandwidths in 10^9 bytes a second.

    `rank` is that within the communicator `comm`, which has `ranks`. `written_us`: when the line was written, in
    microseconds since 1970 by the clock of `host`; None: not said.
    """

    comm: str
    rank: int
    ranks: int
    host: str | None
    pid: int | None
    written_us: int | None
    collective: str
    size_bytes: int
    time_us: int
    algbw: float
    busbw: float


def measured_in(text: str) -> Measured | None:
    """Return what a line of the Inspector says; None for any other line."""
    if not text.startswith("{") or '"coll_perf"' not in text or len(text) > _LONGEST:
        return None
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return None
    header, about, perf = (_part(said, name) for name in ("header", "metadata", "coll_perf"))
    comm, collective = _name(header.get("id")), _name(perf.get("coll"))
    rank, ranks = _count(header.get("rank")), _count(header.get("n_ranks"))
    size, time = _count(perf.get("coll_msg_size_bytes")), _count(perf.get("coll_exec_time_us"))
    algbw, busbw = _bandwidth(perf.get("coll_algobw_gbs")), _bandwidth(perf.get("coll_busbw_gbs"))
    if None in (comm, collective, rank, ranks, size, time, algbw, busbw):
        return None
    return Measured(
        comm=comm or "",
        rank=rank or 0,
        ranks=ranks or 0,
        host=_name(about.get("hostname")),
        pid=_count(about.get("pid")),
        written_us=_count(about.get("dump_timestamp_us")),
        collective=collective or "",
        size_bytes=size or 0,
        time_us=time or 0,
        algbw=algbw or 0.0,
        busbw=busbw or 0.0,
    )


def _part(said: Any, name: str) -> dict[str, Any]:
    part = said.get(name) if isinstance(said, dict) else None
    return part if isinstance(part, dict) else {}


def _name(value: Any) -> str | None:
    return value[:_NAME] if isinstance(value, str) and value else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST else None


def _bandwidth(value: Any) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < _MOST:
        return None
    return float(value) if math.isfinite(value) else None
