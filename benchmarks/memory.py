"""Measures the memory of scans of what is made to exhaust it, and writes reports/memory.md.

python benchmarks/memory.py --folder /var/tmp/logs              all, with a line of 10 GB
python benchmarks/memory.py --folder /var/tmp/logs --line-gb 1  quicker

The folder needs room for the line and the storm; both are removed. The program measured is the installed nccl-logscan
beside this Python, unless --command names another. Memory is what all processes of a scan hold together at one time,
looked at a hundred times a second (`Pss` of smaps_rollup), and without the pages that a file backs (`Pss_Anon`).
"""

from __future__ import annotations

import argparse
import datetime as dt
import gzip
import json
import lzma
import os
import shlex
import shutil
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import zstandard

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.measuring import memory, run

_ROOT = Path(__file__).resolve().parents[1]
_REPORT = _ROOT / "reports" / "memory.md"
_STORM = _ROOT / "fixtures" / "cases" / "storm" / "rank0.log.xz"
_LOG = _ROOT / "fixtures" / "cases" / "lab" / "timeout-dataloader" / "driver.log"
_FAILURE = _LOG.read_bytes()
_BOUND = 200
"""Megabytes that no scan may exceed (issue 8)."""
_PIECE = 1 << 20
_GB = 10**9
_PACKED_GB = 1.2
"""What an archive unpacks to: enough to be far beyond the bound, and to run into the limit on the ratio."""


@dataclass(frozen=True)
class Case:
    """What is scanned: its name in the table, how it is made in a folder (None for a pipe), the shell's words that scan
    it, and how many bytes of it are to be read at least.
    """

    title: str
    make: Callable[[Path], Path] | None
    words: str
    least: int


@dataclass(frozen=True)
class Result:
    """What a scan of a case took."""

    title: str
    packed: int | None
    unpacked: int
    together: int
    anonymous: int
    seconds: float
    verdict: str
    notes: int


def main() -> int:
    """Measure and write the page; 1 if a scan was over the bound."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="where the inputs are made")
    parser.add_argument("--line-gb", type=float, default=10, help="size of the single line")
    parser.add_argument("--command", default=str(Path(sys.executable).with_name("nccl-logscan")), help="the program")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    results = []
    for case in _cases(given.line_gb):
        with tempfile.TemporaryDirectory(dir=given.folder) as folder:
            results.append(_measured(case, Path(folder), given.command))
        print(_row(results[-1]), flush=True)
    _REPORT.write_text(_page(results), "utf-8")
    return int(any(result.together > _BOUND * 10**6 for result in results))


def _cases(line_gb: float) -> Iterator[Case]:
    line = int(line_gb * _GB)
    stream = f"{shlex.quote(sys.executable)} -c {shlex.quote(_STREAMING.format(size=line, piece=_PIECE))}"
    first = f"cat {shlex.quote(str(_LOG))}"
    yield Case(
        f"one line of {line_gb:g} GB, a file", lambda folder: _line(folder, line), "{program} {path}", line - _PIECE
    )
    yield Case(f"one line of {line_gb:g} GB, a pipe", None, f"({first}; {stream}) | {{program}} -", line - _PIECE)
    yield Case("one message over and over, 2 GB of a pipe", None, "yes {warn} | head -c 2G | {program} -", 2 << 30)
    for form, pack in _PACKERS.items():
        yield Case(f"{form}, a log of {_PACKED_GB} GB", pack, "{program} {path}", 10**9)  # zstd meets the ratio's limit
    yield Case("the storm, as it was packed", lambda _: _STORM, "{program} {path}", 679_000_000)
    yield Case("the storm, unpacked", _storm, "{program} {path}", 679_000_000)


_STREAMING = "import sys; w = sys.stdout.buffer.write; p = b'x' * {piece}; [w(p) for _ in range({size} // {piece})]"
_WARN = "node-1:71:99 [0] proxy.cc:1495 NCCL WARN [Service thread] Accept failed Resource temporarily unavailable"


def _measured(case: Case, folder: Path, program: str) -> Result:
    path = case.make(folder) if case.make else None
    report = folder / "verdict.json"
    scan = f"{program} --exit-zero --quiet --format json -o {shlex.quote(str(report))}"
    command = case.words.format(program=scan, path=shlex.quote(str(path)), warn=shlex.quote(_WARN))
    environment = dict(os.environ)
    peak = memory(command, environment)
    timed = run(command, environment)
    if timed.code:
        raise SystemExit(f"{command}\nended with {timed.code}")
    told = json.loads(report.read_text("utf-8"))
    if told["coverage"]["bytes"] < case.least:
        raise SystemExit(f"{command}\nread {told['coverage']['bytes']} bytes, less than {case.least}")
    return Result(
        title=case.title,
        packed=path.stat().st_size if path else None,
        unpacked=told["coverage"]["bytes"],
        together=peak.together,
        anonymous=peak.anonymous,
        seconds=timed.wall,
        verdict=told["verdict"]["category"],
        notes=len(told["coverage"]["notes"]),
    )


# --- inputs ----------------------------------------------------------------------------------------------------


def _line(folder: Path, size: int) -> Path:
    path = folder / "line.log"
    with path.open("wb") as file:
        file.write(_FAILURE)
        for _ in range(size // _PIECE):
            file.write(b"x" * _PIECE)
    return path


def _pieces() -> Iterator[bytes]:
    """Yield a log that packs a thousandfold: the failure, then one letter in lines of 64 KiB."""
    piece = (b"x" * 65_535 + b"\n") * 16
    yield _FAILURE
    for _ in range(int(_PACKED_GB * _GB) // len(piece)):
        yield piece


def _plain(folder: Path) -> Path:
    path = folder.with_name(f"{folder.name}-plain.log")
    with path.open("wb") as file:
        file.writelines(_pieces())
    return path


def _gzip(folder: Path) -> Path:
    with gzip.open(path := folder / "trainer.log.gz", "wb", compresslevel=9) as file:
        file.writelines(_pieces())
    return path


def _xz(folder: Path) -> Path:
    with lzma.open(path := folder / "trainer.log.xz", "wb", preset=1) as file:
        file.writelines(_pieces())
    return path


def _zstd(folder: Path) -> Path:
    with (path := folder / "trainer.log.zst").open("wb") as raw, zstandard.ZstdCompressor(3).stream_writer(raw) as file:
        for piece in _pieces():
            file.write(piece)
    return path


def _zip(folder: Path) -> Path:
    path = folder / "logs.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("job/trainer.log", "w") as file:
        for piece in _pieces():
            file.write(piece)
    return path


def _tar(folder: Path) -> Path:
    plain = _plain(folder)
    try:
        with tarfile.open(path := folder / "logs.tar.gz", "w:gz") as archive:
            archive.add(plain, "job/trainer.log")
    finally:
        plain.unlink()
    return path


_PACKERS = {"gzip": _gzip, "xz": _xz, "zstd": _zstd, "zip": _zip, "tar.gz": _tar}


def _storm(folder: Path) -> Path:
    path = folder / "rank0.log"
    with lzma.open(_STORM) as packed, path.open("wb") as file:
        shutil.copyfileobj(packed, file, _PIECE)
    return path


# --- the page --------------------------------------------------------------------------------------------------


def _page(results: list[Result]) -> str:
    today = dt.datetime.now(dt.UTC).date()
    lines = [
        "# Memory of scans of what is made to exhaust it",
        "",
        f"By `python benchmarks/memory.py` on {today}, with {os.cpu_count()} cores. MB: 10^6 bytes of all processes",
        "of a scan together, the most at one time; without file pages: of these, what no file backs. The bound is",
        f"{_BOUND} MB. Seconds of another run, by the clock; notes: what the report says of limits reached.",
        "",
        "| input | on the disk | read | ratio | MB | without file pages | seconds | verdict | notes |",
        "|---|---|---|---|---|---|---|---|---|",
        *map(_row, results),
        "",
    ]
    return "\n".join(lines)


def _row(result: Result) -> str:
    packed = "" if result.packed is None else f"{result.packed / 1e6:,.1f} MB"
    ratio = f"{result.unpacked / result.packed:,.0f}" if result.packed else ""
    held = f"{result.together / 1e6:.0f} | {result.anonymous / 1e6:.0f}"
    sizes = f"{packed} | {result.unpacked / 1e6:,.0f} MB | {ratio} | {held}"
    return f"| {result.title} | {sizes} | {result.seconds:.1f} | {result.verdict} | {result.notes} |"


if __name__ == "__main__":
    sys.exit(main())
