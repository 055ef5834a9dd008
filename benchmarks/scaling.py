"""How the time of a scan grows: with the size of a log, with the number of files, and with Ray's workers."""

from __future__ import annotations

import shlex
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import logs
from benchmarks.measuring import memory, run

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
    out = shlex.quote(str(folder / "verdict-scaling.json"))
    sized = [logs.made(folder, "a", megabytes) for megabytes in _SIZES]
    lines = ["## Scaling", "", "One log of kind (a):", ""]
    lines += ["| size | grep | scan | times grep | MB/s | memory |", "|---|---|---|---|---|---|"]
    points = []
    for log in sized:
        name, size = shlex.quote(str(log)), log.stat().st_size
        scan = f"{command} {name} -q -o {out}"
        seconds = _median(scan, environment, _rounds(size, rounds))
        grep = _median(f"grep -a NCCL {name} | grep -v INFO", environment, _rounds(size, rounds))
        points.append(_Point(size, seconds))
        together = memory(scan, environment).together / 1e6
        lines.append(
            f"| {size / 1e6:,.0f} MB | {grep:.2f} s | {seconds:.2f} s | {seconds / grep:.2f} | "
            f"{size / 1e6 / seconds:.0f} | {together:.0f} MB |"
        )
    lines += ["", "Files of 64 kB, one a rank:", "", *_by_files(folder, command, environment, rounds, out), ""]
    if ray:
        lines += ["Ray on this machine:", "", *_by_workers(sized, points, command, environment, out), ""]
    return "\n".join(lines)


def _by_files(folder: Path, command: str, environment: Mapping[str, str], rounds: int, out: str) -> list[str]:
    small = folder / "small"
    if not small.exists():
        partial = folder / "small.partial"
        logs.write_rank_files(partial, _FILE_SIZE, 1, ranks=_FILES[-1], failing=0)
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
        seconds = _median(f"{inside}{given} {command} -q -o {out}", environment, rounds)
        grep = _median(f"{inside}{given} grep -ah NCCL | grep -v INFO", environment, rounds)
        lines.append(
            f"| {count:,} | {size / 1e6:.1f} MB | {grep:.3f} s | {seconds:.2f} s | {seconds / grep:.1f} | "
            f"{count / seconds:.0f} |"
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
            seconds = _median(line, environment, _rounds(own.size, 3))
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


def _median(line: str, environment: Mapping[str, str], rounds: int) -> float:
    runs = [run(line, environment) for _ in range(rounds)]
    failed = next((one for one in runs if one.code not in {0, 1, 123}), None)  # 123: xargs's word for a 1
    if failed:
        raise SystemExit(f"{line}\nended with {failed.code}")
    return statistics.median(one.wall for one in runs)
