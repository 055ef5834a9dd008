"""Measures a scan against grep's and ripgrep's pipelines on the same logs in the same run and writes reports/speed.md.

python benchmarks/speed.py --folder /var/tmp/logs                      the issue's table, (a) to (f)
python benchmarks/speed.py --folder /var/tmp/logs --only a,b --rounds 3
python benchmarks/speed.py --folder /var/tmp/logs --scaling [--ray]    and time by size, files and Ray's workers

The logs (10 GB; 25 GB with --scaling) are made once and kept in the folder. The program measured is the installed
nccl-logscan beside this Python, unless --command names another. Only the ratios within one run mean anything: another
machine, or a busy one, gives other seconds.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import lzma
import os
import platform
import shlex
import shutil
import statistics
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import logs, phases, scaling
from benchmarks.measuring import LEAST_SECONDS, MORE_ROUNDS, Memory, Run, in_turn, memory, ratios

_ROOT = Path(__file__).resolve().parents[1]
_REPORT = _ROOT / "reports" / "speed.md"
_STORM = _ROOT / "fixtures" / "cases" / "storm" / "rank0.log.xz"
_LETTERS = "abcdef"
_IN_PHASES = "abcf"


@dataclass(frozen=True)
class Case:
    """One log and the commands run on it: what people do today, the same with ripgrep, and the scan."""

    letter: str
    title: str
    size: int
    baseline: str
    ripgrep: str | None
    scan: str
    target: float | None
    limit: int | None = None  # bytes of memory


@dataclass
class Result:
    """A case's runs, by command, and the memory of each."""

    case: Case
    runs: dict[str, list[Run]] = field(default_factory=dict)
    memories: dict[str, Memory] = field(default_factory=dict)
    verdict: str = ""


def main() -> int:
    """Generate, measure, print and write."""
    options = _options()
    options.folder = options.folder.resolve()
    options.folder.mkdir(parents=True, exist_ok=True)
    command = shlex.quote(str(options.command))
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    wanted = options.only.split(",") if options.only else list(_LETTERS)
    results = []
    for letter in wanted:
        for case in _cases(letter, options.folder, command, options.megabytes):
            print(f"{case.letter}: {case.title}", file=sys.stderr)
            results.append(_measured(case, options.folder, environment, options.rounds))
    text = _page(results, options)
    whole = {letter: logs.made_apart(options.folder, letter) for letter in wanted if letter in _IN_PHASES}
    if whole and options.megabytes is None:
        files = {letter: sorted(log.iterdir()) if log.is_dir() else [log] for letter, log in whole.items()}
        text += "\n" + phases.section(files, environment)
    if options.scaling:
        text += "\n" + scaling.section(options.folder, command, environment, options.rounds, ray=options.ray)
    print(text)
    if options.report:
        options.report.write_text(text, "utf-8")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="where the logs are, or are made and kept")
    parser.add_argument("--only", help="which logs, as in a,b,f")
    parser.add_argument("--megabytes", type=int, help="another size of (a), (b) and (e) than the issue's")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each command, in turn; the median counts")
    parser.add_argument("--command", type=Path, default=Path(sys.executable).with_name("nccl-logscan"))
    parser.add_argument("--scaling", action="store_true", help="also time by size and by number of files")
    parser.add_argument("--ray", action="store_true", help="with --scaling: also by Ray's workers on this machine")
    parser.add_argument("--report", type=Path, default=_REPORT, help="where to write the page")
    options = parser.parse_args()
    if not options.command.exists():
        parser.error(f"there is no {options.command}: install nccl-logscan beside this Python, or name it by --command")
    if set(options.only.split(",") if options.only else ()) - set(_LETTERS):
        parser.error(f"--only takes letters of {_LETTERS}, with commas between them")
    return options


# --- the cases -------------------------------------------------------------------------------------------------


def _cases(letter: str, folder: Path, command: str, megabytes: int | None) -> Iterator[Case]:
    def scan(names: str) -> str:
        return f"{command} {names} -q -o {shlex.quote(str(logs.verdict(folder, letter)))}"

    if letter == "a":
        log = logs.made_apart(folder, "a", megabytes)
        yield _of_one(letter, "a trainer's log, 3 % NCCL", log, scan, target=2.0, limit=150_000_000)
    elif letter == "b":
        log = logs.made_apart(folder, "b", megabytes)
        yield _of_one(letter, "start-up of 512 ranks, 90 % NCCL", log, scan, target=3.0, limit=200_000_000)
    elif letter == "c":
        yield _of_many(logs.made_apart(folder, "c"), scan)
    elif letter == "d":
        log = _storm(folder)
        size = log.stat().st_size
        yield _of_one(letter, "the storm: six lines over and over", log, scan, target=2.0)
        yield _of_one(letter, "the storm as it is", _STORM, scan, unpack="xz", size=size)
    elif letter == "e":
        log = logs.made_apart(folder, "a", megabytes)
        size = log.stat().st_size
        for program, suffix in (("zstd", ".zst"), ("gzip", ".gz")):
            packed = _compressed(log, program, suffix)
            yield _of_one(letter, f"(a) in {program}", packed, scan, unpack=program, size=size, target=1.3)
    else:
        yield _of_few_lines(logs.made_apart(folder, "f"), scan, Path(shlex.split(command)[0]))


def _of_one(
    letter: str,
    title: str,
    log: Path,
    scan: Callable[[str], str],
    *,
    unpack: str | None = None,
    size: int | None = None,
    target: float | None = None,
    limit: int | None = None,
) -> Case:
    name = shlex.quote(str(log))
    before, after = (f"{unpack} -dc {name} | ", "") if unpack else ("", f" {name}")
    return Case(
        letter=letter,
        title=title,
        size=size or log.stat().st_size,
        baseline=f"{before}grep -a NCCL{after} | grep -v INFO",
        ripgrep=f"{before}rg -a NCCL{after} | rg -v INFO",
        scan=scan(name),
        target=target,
        limit=limit,
    )


def _of_many(files: Path, scan: Callable[[str], str]) -> Case:
    names = f"{shlex.quote(str(files))}/*.log"
    return Case(
        letter="c",
        title="512 files of 2 MB, one a rank",
        size=sum(file.stat().st_size for file in files.iterdir()),
        baseline=f"grep -ah NCCL {names} | grep -v INFO",
        ripgrep=f"rg -aI NCCL {names} | rg -v INFO",
        scan=scan(names),
        target=2.5,
    )


def _of_few_lines(log: Path, scan: Callable[[str], str], command: Path) -> Case:
    return Case(
        letter="f",
        title="200 lines; against `import click`",
        size=log.stat().st_size,
        baseline=f"{shlex.quote(str(_python_of(command)))} -c 'import click'",
        ripgrep=None,
        scan=scan(shlex.quote(str(log))),
        target=2.5,
    )


def _storm(folder: Path) -> Path:
    path = folder / "storm.log"
    if not path.exists():
        with lzma.open(_STORM) as packed, (folder / "storm.partial").open("wb") as plain:
            shutil.copyfileobj(packed, plain, 1 << 20)
        (folder / "storm.partial").rename(path)
    return path


def _compressed(log: Path, program: str, suffix: str) -> Path:
    path = log.with_name(log.name + suffix)
    if not path.exists():
        with (log.with_name(log.name + ".partial")).open("wb") as packed:
            subprocess.run([program, "-c", str(log)], stdout=packed, check=True)
        log.with_name(log.name + ".partial").rename(path)
    return path


def _python_of(command: Path) -> Path:
    """The interpreter that runs the command: it stands beside it."""
    beside = command.with_name("python3")
    return beside if beside.exists() else Path(sys.executable)


# --- measuring -------------------------------------------------------------------------------------------------


def _measured(case: Case, folder: Path, environment: Mapping[str, str], rounds: int) -> Result:
    """Run every command in turn, so that a busy minute of the machine falls on all of them."""
    commands = {"grep": case.baseline, "rg": case.ripgrep, "scan": case.scan}
    present = {name: line for name, line in commands.items() if line and (name != "rg" or shutil.which("rg"))}
    result = Result(case)
    report = logs.verdict(folder, case.letter)
    report.unlink(missing_ok=True)  # a program that breaks also leaves with 1
    for name, line in present.items():  # also brings the log into the page cache
        result.memories[name] = memory(line, environment)
    result.runs = in_turn(present, environment, rounds)
    result.verdict = _verdict(report)
    return result


def _verdict(report: Path) -> str:
    if not report.exists():
        raise SystemExit(f"the scan wrote no report to {report}")
    told = json.loads(report.read_text("utf-8"))["verdict"]
    rank = (told["culprit"] or {}).get("rank")
    return str(told["category"]) + (f", rank {rank}" if rank is not None else "")


# --- the page --------------------------------------------------------------------------------------------------


def _page(results: Sequence[Result], options: argparse.Namespace) -> str:
    intro = (
        f"Measured on {dt.datetime.now(tz=dt.UTC):%Y-%m-%d} with {_version(options.command)} on {_machine()}; "
        f"{', '.join(_versions())}. Runs of each command: {options.rounds} ({MORE_ROUNDS * options.rounds} where all "
        f"take less than {LEAST_SECONDS} s), in turn, the logs in the page cache. Seconds are medians; a ratio is the "
        "median of the ratios within a round, with the least and the greatest. A scan reads the whole log, finds "
        "the verdict and writes the report as JSON; `grep` stands for `grep -a NCCL LOG | grep -v INFO > OUT` "
        "(packed logs: "
        "`zstd -dc LOG |` and the like before it; several files: `grep -ah`; (f): `python3 -c 'import click'`) "
        "and `rg` "
        "for the same with ripgrep. `others` are the processors that other programs had meanwhile, on average of the "
        "round in which it was most; `~` marks a row in which that was more than a tenth of one."
        f" Load average afterwards: {', '.join(f'{load:.1f}' for load in os.getloadavg())}."
    )
    sizes = (
        "Memory: the sum of the proportional set sizes of all processes of a command (a page that several share counts "
        "once; pages of the log that are mapped count), at its greatest, looked at every 10 ms in a run that was not "
        "timed; in brackets the part that no file backs. `largest` is the kernel's peak resident set of the largest "
        "process, which counts every page it maps, and is at least that of the process which measures."
    )
    return "\n".join(
        [
            "<!-- written by: python benchmarks/speed.py -->",
            "# Speed",
            "",
            *textwrap.wrap(intro, 120),
            "",
            "| log | size | grep | rg | scan | times grep | at most | | times rg | processor: grep, scan | others |",
            "|---|---|---|---|---|---|---|---|---|---|---|",
            *(_time_row(result) for result in results),
            "",
            *textwrap.wrap(sizes, 120),
            "",
            "| log | scan, all processes | at most | | largest | grep, all processes | rg, all processes | verdict |",
            "|---|---|---|---|---|---|---|---|",
            *(_memory_row(result) for result in results),
            "",
        ]
    )


def _time_row(result: Result) -> str:
    case, runs = result.case, result.runs
    ratio, span = ratios(runs["scan"], runs["grep"])
    others = max(one.others for own in runs.values() for one in own)
    disturbed = any(one.disturbed for own in runs.values() for one in own)
    return _cells(
        f"{'~ ' if disturbed else ''}({case.letter}) {case.title}",
        f"{case.size / 1e6:.0f} MB" if case.size >= 1e6 else f"{case.size / 1e3:.0f} kB",
        _seconds(runs["grep"]),
        _seconds(runs["rg"]) if "rg" in runs else "",
        _seconds(runs["scan"]),
        f"{ratio:.2f} ({span})",
        f"{case.target}" if case.target else "",
        _met(ratio, case.target),
        f"{ratios(runs['scan'], runs['rg'])[0]:.2f}" if "rg" in runs else "",
        f"{_processor(runs['grep'])}, {_processor(runs['scan'])}",
        f"{others:.2f}",
    )


def _memory_row(result: Result) -> str:
    case, told = result.case, result.memories
    own = told["scan"]
    return _cells(
        f"({case.letter}) {case.title}",
        f"{_seen(own)} ({_megabytes(own.anonymous)})",
        _megabytes(case.limit) if case.limit else "",
        _met(own.together, case.limit),
        _megabytes(own.largest),
        _seen(told["grep"]),
        _seen(told["rg"]) if "rg" in told else "",
        result.verdict,
    )


def _met(value: float, target: float | None) -> str:
    if target is None:
        return ""
    return "met" if value <= target else "not met"


def _seconds(runs: Sequence[Run]) -> str:
    return f"{statistics.median(one.wall for one in runs):.3g} s"


def _processor(runs: Sequence[Run]) -> str:
    return f"{statistics.median(one.processor for one in runs):.3g} s"


def _megabytes(size: float) -> str:
    return f"{size / 1e6:.0f} MB"


def _seen(told: Memory) -> str:
    return _megabytes(told.together) if told.together else "too short to see"


def _cells(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _version(command: Path) -> str:
    told = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout
    return told.strip().replace(", version", "")


def _machine() -> str:
    return f"{os.cpu_count()} cores ({platform.machine()}, {platform.system()} {platform.release().split('-')[0]})"


def _versions() -> Iterator[str]:
    yield f"Python {platform.python_version()}"
    for program in ("grep", "rg", "zstd", "gzip", "xz"):
        if shutil.which(program):
            told = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
            yield told.splitlines()[0].strip("* ")


if __name__ == "__main__":
    sys.exit(main())
