"""How the time of a scan grows: with the size of a log, with the number of files, and with Ray's workers."""

from __future__ import annotations

import shlex
import statistics
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from benchmarks import logs
from benchmarks.measuring import Run, in_turn, memory, ratios

_SIZES = (10, 100, 1000, 10_000)  # megabytes of (a)
_FILES = (1, 8, 64, 512, 4096)
_FILE_SIZE = 64_000
_WORKERS = (1, 2)
_LARGE = 1_000_000_000  # bytes from which one run tells enough
_NODES = (2, 4, 8, 16)


@dataclass(frozen=True, slots=True)
class _Point:
    size: int
    seconds: float


def section(folder: Path, command: str, environment: Mapping[str, str], rounds: int, *, ray: bool) -> str:
    """The page's part on scaling, measured now."""
    out = shlex.quote(str(logs.verdict(folder, "scaling")))
    sized = [logs.made_apart(folder, "a", megabytes) for megabytes in _SIZES]
    lines = ["## Scaling", "", "One log of kind (a):", ""]
    lines += ["| size | grep | scan | times grep | MB/s | memory |", "|---|---|---|---|---|---|"]
    points = []
    for log in sized:
        name, size = shlex.quote(str(log)), log.stat().st_size
        commands = {"grep": f"grep -a NCCL {name} | grep -v INFO", "scan": f"{command} {name} -q -o {out}"}
        together = memory(commands["scan"], environment).together / 1e6  # and brings the log into the page cache
        runs = in_turn(commands, environment, _rounds(size, rounds))
        seconds = _median(runs["scan"])
        points.append(_Point(size, seconds))
        lines.append(
            f"| {size / 1e6:,.0f} MB | {_median(runs['grep']):.2f} s | {seconds:.2f} s | "
            f"{ratios(runs['scan'], runs['grep'])[0]:.2f} | {size / 1e6 / seconds:.0f} | {together:.0f} MB |"
        )
    lines += ["", "Files of 64 kB, one a rank:", "", *_by_files(folder, command, environment, rounds, out), ""]
    if ray:
        lines += ["Ray on this machine:", "", *_by_workers(sized, points, command, environment, out), ""]
    return "\n".join(lines)


def _by_files(folder: Path, command: str, environment: Mapping[str, str], rounds: int, out: str) -> list[str]:
    small = folder / "small"
    if not small.exists():
        partial = folder / "small.partial"
        with ProcessPoolExecutor(1) as apart:  # see logs.made_apart
            apart.submit(logs.write_rank_files, partial, _FILE_SIZE, 1, ranks=_FILES[-1], failing=0).result()
        partial.rename(small)
    files = sorted(small.iterdir())
    lines = ["| files | size | grep | scan | times grep | files/s |", "|---|---|---|---|---|---|"]
    for count in _FILES:
        names = " ".join(shlex.quote(file.name) for file in files[:count])
        inside = f"cd {shlex.quote(str(small))} && "
        size = sum(file.stat().st_size for file in files[:count])
        # The list of names is too long for the shell's own command line, not for the program's.
        listed = folder / "files.txt"
        listed.write_text(names.replace(" ", "\n") + "\n", "utf-8")
        given = f"xargs -a {shlex.quote(str(listed))} -n {count}"
        commands = {
            "grep": f"{inside}{given} grep -ah NCCL | grep -v INFO",
            "scan": f"{inside}{given} {command} -q -o {out}",
        }
        runs = in_turn(commands, environment, rounds)
        seconds = _median(runs["scan"])
        lines.append(
            f"| {count:,} | {size / 1e6:.1f} MB | {_median(runs['grep']):.3f} s | {seconds:.2f} s | "
            f"{ratios(runs['scan'], runs['grep'])[0]:.1f} | {count / seconds:.0f} |"
        )
    return lines


def _by_workers(
    sized: Sequence[Path], local: Sequence[_Point], command: str, environment: Mapping[str, str], out: str
) -> list[str]:
    """Ray against one machine's own cores, and from which size as many nodes of this kind would have won."""
    lines = ["| size | without Ray | " + " | ".join(f"Ray, {n} workers" for n in _WORKERS) + " |", "|---|---|---|---|"]
    by_ray: list[_Point] = []
    for log, own in zip(sized, local, strict=True):
        cells = []
        for workers in _WORKERS:
            line = f"{command} {shlex.quote(str(log))} -q -o {out} --engine ray --workers {workers}"
            seconds = _median(in_turn({"ray": line}, environment, _rounds(own.size, 3))["ray"])
            cells.append(f"{seconds:.2f} s")
        by_ray.append(_Point(own.size, seconds))
        lines.append(f"| {own.size / 1e6:,.0f} MB | {own.seconds:.2f} s | {' | '.join(cells)} |")
    return [*lines, "", _paying(local, by_ray)]


def _paying(local: Sequence[_Point], by_ray: Sequence[_Point]) -> str:
    start, pace = _line_through(local)
    ray_start, ray_pace = _line_through(by_ray)
    told = []
    for nodes in _NODES:
        gain = pace - ray_pace / nodes
        size = (ray_start - start) / gain if gain > 0 else float("inf")
        told.append(f"{nodes} nodes: {size / 1e9:.1f} GB" if size < float("inf") else f"{nodes} nodes: never")
    return (
        f"Ray costs {ray_start - start:.1f} s before it reads. By arithmetic from these rows (nodes like this, each "
        f"reading its share from its own disk; not measured) it pays from: {'; '.join(told)}."
    )


def _line_through(points: Sequence[_Point]) -> tuple[float, float]:
    """Seconds at size nought, and seconds a byte, from the smallest and the largest log."""
    first, last = points[0], points[-1]
    pace = (last.seconds - first.seconds) / (last.size - first.size)
    return first.seconds - pace * first.size, pace


def _rounds(size: int, rounds: int) -> int:
    return 1 if size > _LARGE else rounds


def _median(runs: Sequence[Run]) -> float:
    return statistics.median(one.wall for one in runs)
