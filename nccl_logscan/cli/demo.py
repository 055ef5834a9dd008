"""`nccl-logscan demo`: a scan of a shipped log, for those who want to see a report before they have a failure."""

from __future__ import annotations

import os
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

import click

from nccl_logscan.cli.options import NamedPath
from nccl_logscan.cli.scanning import print_verdict
from nccl_logscan.cli.stdout import printing
from nccl_logscan.errors import InputError, OutputError
from nccl_logscan.pipeline import scan
from nccl_logscan.records import dataclass
from nccl_logscan.report.html import render_html
from nccl_logscan.report.view import build_view
from nccl_logscan.report.visible import harmless_to_runners, visible
from nccl_logscan.report.write import write_atomically
from nccl_logscan.rulebook.load import builtin_rulebook

_INSTALLED = "_demo"
_REPORT = "report.html"
_GIVEN = "nccl-logscan-demo"


@dataclass(frozen=True, slots=True)
class Demo:
    """A job's logs that are shipped, and the configuration that started it, as paths below `fixtures/`."""

    told: str
    logs: tuple[str, ...]
    configs: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        """All of it."""
        return (*self.logs, *self.configs)


DEMOS = {
    "timeout": Demo(
        "a rank whose data loader stalls, until the others' watchdogs end the job",
        (
            "cases/lab/timeout-dataloader/driver.log",
            "cases/lab/timeout-dataloader/fr_0",
            "cases/lab/timeout-dataloader/fr_1",
        ),
        ("launch/dataloader-shard/run.sh", "launch/dataloader-shard/train.py"),
    ),
    "infiniband": Demo(
        "InfiniBand that may not lock enough memory", ("cases/field/net007/trainer.log",), ("launch/memlock/bench.sh",)
    ),
    "overflow": Demo(
        "fp16 whose loss scale falls to its least value",
        ("cases/lab/ds-overflow/driver.log",),
        ("launch/ds-overflow/ds_config.json", "launch/ds-overflow/launch.sh"),
    ),
    "versions": Demo(
        "two ranks with two versions of NCCL",
        ("cases/lab/mix-2.18.3-2.21.5/rank0.log", "cases/lab/mix-2.18.3-2.21.5/rank1.log"),
    ),
    "healthy": Demo("a job that ends well", ("cases/lab/healthy-bf16/driver.log",)),
}
"""The shipped jobs, by name. The wheel has their files (`force-include` in pyproject.toml), and so has a checkout."""


@click.command(
    "demo",
    short_help="Scan a shipped log of a failed job, for the first minute.",
    epilog="""\b
Examples:
  nccl-logscan demo                     a time-out, with its report in nccl-logscan-demo/timeout
  nccl-logscan demo --list              the jobs there are
  nccl-logscan demo --case infiniband --to /tmp/demo
  nccl-logscan nccl-logscan-demo/timeout/driver.log --verbose
                                        scan the log again yourself

\b
Exit codes:
  0 written, 2 usage, 5 a file is in the way, or output""",
)
@click.option(
    "--to",
    "folder",
    metavar="DIR",
    type=NamedPath(file_okay=False),
    default=_GIVEN,
    show_default=True,
    help="Write into a folder of the job's name below this one.",
)
@click.option("--case", "name", type=click.Choice(list(DEMOS)), default="timeout", show_default=True, help="Which job.")
@click.option("--list", "lists", is_flag=True, help="List the jobs and write nothing.")
def demo_command(folder: Path, name: str, *, lists: bool) -> None:
    """Scan a real log that is shipped, and write it and its report to a folder.

    No file is replaced: one that is there with other content than this would write ends the run.
    """
    with printing():
        if lists:
            for case, demo in DEMOS.items():
                click.echo(f"{case.ljust(12)}{demo.told}")
            return
        _show(DEMOS[name], folder / name)


def _show(demo: Demo, folder: Path) -> None:
    _write({folder / Path(file).name: _shipped(file) for file in demo.files})
    logs = [str(folder / Path(log).name) for log in demo.logs]
    view = build_view(scan(logs, builtin_rulebook()))
    report = folder / _REPORT
    _write({report: render_html(view).encode()})
    print_verdict(view, [str(report)], verbose=False, below=2)
    click.echo(f"{'Open':10}{report.resolve().as_uri()}")
    click.echo(harmless_to_runners(f"{'Log':10}{visible(logs[0])}"))


def _shipped(file: str) -> bytes:
    """Return a file of a demo: the wheel's copy, or the checkout's own."""
    package = resources.files("nccl_logscan")
    installed: Traversable = package / _INSTALLED / file
    place = installed if installed.is_file() else Path(__file__).resolve().parents[2] / "fixtures" / file
    if not place.is_file():
        raise InputError("this installation has no demo", hint="reinstall nccl-logscan")
    return place.read_bytes()


def _write(contents: dict[Path, bytes]) -> None:
    """Write files that are not there yet. Raises OutputError, with nothing written, where one is and says another
    thing.
    """
    for place, content in contents.items():
        if os.path.lexists(place) and not _holds(place, content):
            raise OutputError(
                f"{place} is there and is not what the demo would write; it was left as it is",
                hint="move it away, or give another folder with --to",
            )
    for place, content in contents.items():
        if os.path.lexists(place):
            continue
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
            raise OutputError(
                f"cannot make the folder {place.parent}: {reason.lower()}", hint="choose another folder with --to"
            ) from error
        write_atomically(place, content, what="the demo")


def _holds(place: Path, content: bytes) -> bool:
    """Whether a place is a plain file of this content."""
    try:
        return place.is_file() and place.stat().st_size == len(content) and place.read_bytes() == content
    except OSError:
        return False
