"""`nccl-logscan scan LOG...`: from logs to a verdict and a report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from nccl_logscan.cli.completing import files
from nccl_logscan.cli.engine import EngineOptions, engine_options
from nccl_logscan.cli.follow import WatchOptions, watch_options
from nccl_logscan.cli.limits import limit_option
from nccl_logscan.cli.options import NamedPath, own_rules
from nccl_logscan.cli.scanning import run_scan
from nccl_logscan.report.forms import FORMS
from nccl_logscan.skim.choice import LARGE, Skimming
from nccl_logscan.sources.limits import Limits


@click.command(
    "scan",
    short_help="Say what failed first, where, and what to change.",
    epilog="""\b
Examples:
  nccl-logscan scan rank*.log                         one job, a file a rank
  nccl-logscan scan ci-logs.tar.gz -o report.html     an archive as CI stores it
  nccl-logscan scan trainer.log -o verdict.json       the format goes by the name
  nccl-logscan scan trainer.log -o report.html -o result.sarif -o junit.xml
  nccl-logscan scan trainer.log --format json -o - | jq .verdict
  nccl-logscan scan trainer.log -o junit.xml          a test result for CI
  nccl-logscan scan trainer.log -o scan.sarif         alerts of code scanning
  nccl-logscan scan trainer.log -o summary.md         for a job's summary or an issue
  nccl-logscan scan logs/ -o job.trace.json           ranks on a timeline, for Perfetto
  nccl-logscan scan trainer.log --format github -o -  an annotation of a GitHub run
  nccl-logscan scan trainer.log --redact -o public.html
                                                      a report to attach to an issue
  nccl-logscan scan trainer.log --config train.sbatch the line to change, and the change as a diff
  nccl-logscan scan trainer.log --rules site-rules    rules of your own as well
  nccl-logscan --follow logs/ --stalled 45m           watch a job until it has failed or ended
  nccl-logscan scan logs/ --engine ray                read by the workers of a Ray cluster
  nccl-logscan scan --on-every-node /tmp/ray/session_latest/logs
                                                      what each node has there

\b
Exit codes:
  0 healthy, 1 failure found, 2 usage, 3 unreadable or nothing to judge, 4 rules, 5 output""",
)
@click.argument("logs", nargs=-1, metavar="LOG...", shell_complete=files)
@click.option(
    "--format",
    "forms",
    type=click.Choice(list(FORMS)),
    multiple=True,
    help="What to write, where no --output says it by its ending; repeatable. [default: html]",
)
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    metavar="PATH",
    shell_complete=files,
    help="Where to write it; - is standard output; repeatable. [default: reports/<log's name>.html]",
)
@click.option(
    "--config",
    "configs",
    multiple=True,
    metavar="FILE",
    shell_complete=files,
    help="A launch script or configuration of the job, in which advice points to the line; repeatable. "
    "Files beside a log are looked at anyway.",
)
@own_rules
@watch_options
@click.option(
    "--jobs",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="How many cores read a large log; the result is the same. [default: all]",
)
@click.option(
    "--every-line",
    is_flag=True,
    help="Read each line of a large log, too; without it most of those that tell nothing new are counted.",
)
@engine_options
@click.option(
    "--model",
    "model",
    type=NamedPath(),
    metavar="FILE",
    help="A model of `nccl-logscan train` for what no rule knows, instead of the shipped one.",
)
@click.option(
    "--redact",
    is_flag=True,
    help="Replace hosts, addresses, users, paths and jobs by stand-ins (host-1), so that the report can be posted.",
)
@limit_option
@click.option("--exit-zero", is_flag=True, help="Leave with 0 even if a failure was found.")
@click.option("-v", "--verbose", is_flag=True, help="Say more than fits into 24 lines.")
@click.option("-q", "--quiet", is_flag=True, help="Print no verdict; the exit code and the report tell.")
def scan_command(
    logs: tuple[str, ...],
    forms: tuple[str, ...],
    outputs: tuple[str, ...],
    configs: tuple[str, ...],
    folders: tuple[Path, ...],
    *,
    jobs: int,
    every_line: bool,
    model: Path | None,
    redact: bool,
    limits: Limits,
    exit_zero: bool,
    verbose: bool,
    quiet: bool,
    **others: Any,
) -> int:
    """Scan logs as one job and say what failed first, where, and what to change.

    LOG is a file, a folder, a pattern, a URL of these (s3://, gs://, hdfs://, https://) or - for standard input; plain,
    gzip, zstd, xz, bz2 or a tar archive. Several are taken as one job: one file a rank or a node.
    """
    engine = EngineOptions.of(others)
    wanted = WatchOptions(**others)
    wanted.must_be_of_a_watch()
    if not logs and (engine is None or engine.on_every_node is None):
        raise click.UsageError("Missing argument 'LOG...'.")
    if wanted.follow and engine is not None:
        raise click.UsageError("--follow reads where it runs: it is not for --engine ray")
    return run_scan(
        logs,
        forms,
        outputs,
        configs,
        folders,
        watch=wanted if wanted.follow else None,
        engine=engine,
        skimming=Skimming(large=None if every_line else LARGE, threads=jobs),
        model=model,
        redact=redact,
        limits=limits,
        exit_zero=exit_zero,
        verbose=verbose,
        quiet=quiet,
    )
