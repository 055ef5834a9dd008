"""`nccl-logscan advise`: the settings table for a run of a given size, network and framework."""

from __future__ import annotations

import shutil
from math import isnan
from pathlib import Path

import click

from nccl_logscan.advise.run import (
    CLOUDS,
    LAUNCHERS,
    NETWORKS,
    PRECISIONS,
    Framework,
    Run,
    framework_called,
    frameworks,
    gpus,
    read_params,
)
from nccl_logscan.advise.view import Advised, advise, as_json
from nccl_logscan.cli import say
from nccl_logscan.cli.options import NamedPath, version_given
from nccl_logscan.cli.stdout import printing
from nccl_logscan.report.json import json_document
from nccl_logscan.report.lint.mend import may_be_printed

_BANDWIDTHS = (1.0, 10.0)


def _params(context: click.Context, option: click.Parameter, value: str) -> int:  # noqa: ARG001 - click's signature
    count = read_params(value)
    if count is None:
        raise click.BadParameter(f"{value!r} is no number of parameters; write 7B, 0.5B, 350M, 1T or 7000000000")
    return count


def _framework(context: click.Context, option: click.Parameter, value: str) -> Framework:  # noqa: ARG001 - click's
    found = framework_called(value)
    if found is None:
        raise click.BadParameter(f"{value!r} is not one of {', '.join(frameworks())}")
    return found


def _bandwidth(context: click.Context, option: click.Parameter, value: float | None) -> float | None:  # noqa: ARG001 - click's
    if value is not None and isnan(value):
        raise click.BadParameter("nan is no bandwidth")
    return value


@click.command(
    "advise",
    short_help="Say which settings a run needs, before it starts.",
    epilog="""\b
Examples:
  nccl-logscan advise --params 30B --nodes 4 --network ib --framework verl
  nccl-logscan advise --params 7B --nodes 2 --network efa --framework torchrun \\
    --torch 2.7 --format shell
  nccl-logscan advise --params 70B --nodes 16 --network roce --framework megatron-lm \\
    --format diff --script train.sh

\b
Exit codes:
  0 advised, 2 usage, 3 the script is unreadable""",
)
@click.option(
    "--params", callback=_params, required=True, metavar="SIZE", help="Parameters of the model: 30B, 0.5B, 1T."
)
@click.option("--nodes", type=click.IntRange(1, 100_000), required=True, help="How many hosts.")
@click.option("--gpus-per-node", type=click.IntRange(1, 72), default=8, show_default=True, help="GPUs of a host.")
@click.option("--gpu", type=click.Choice(list(gpus()), case_sensitive=False), help="The GPU's model.")
@click.option("--network", type=click.Choice(NETWORKS), required=True, help="Between the nodes; none for one node.")
@click.option("--framework", callback=_framework, required=True, metavar="NAME", help=f"{', '.join(frameworks())}.")
@click.option("--launcher", type=click.Choice(LAUNCHERS), help="Who starts it. [default: the framework's usual one]")
@click.option("--nccl", callback=version_given, metavar="VERSION", help="NCCL's version.")
@click.option("--torch", callback=version_given, metavar="VERSION", help="PyTorch's version.")
@click.option("--framework-version", callback=version_given, metavar="VERSION", help="The framework's version.")
@click.option("--precision", type=click.Choice(PRECISIONS), default="bf16", show_default=True, help="Of the training.")
@click.option("--cloud", type=click.Choice(CLOUDS), help="The provider, where it has settings of its own.")
@click.option(
    "--write-bandwidth",
    callback=_bandwidth,
    type=click.FloatRange(0.01, 100_000),
    metavar="GB/S",
    help="What all ranks together write to storage, for the checkpoint estimate.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "shell", "diff"]),
    default="text",
    show_default=True,
    help="The table, the same as JSON, what is needed as shell text, or a patch of --script.",
)
@click.option("--script", type=NamedPath(), metavar="FILE", help="The launch script for --format diff.")
def advise_command(
    *,
    params: int,
    nodes: int,
    gpus_per_node: int,
    gpu: str | None,
    network: str,
    framework: Framework,
    launcher: str | None,
    nccl: str | None,
    torch: str | None,
    framework_version: str | None,
    precision: str,
    cloud: str | None,
    write_bandwidth: float | None,
    form: str,
    script: Path | None,
) -> int:
    """Say which settings a run needs, which are right by default, and which widely copied ones are wrong.

    The table is for NVIDIA GPUs; what it cannot know it leaves to the command that tells. Nothing is written.
    """
    if network == "none" and nodes > 1:
        raise click.BadParameter(f"{nodes} nodes need a network: ib, roce, tcp or efa", param_hint="--network")
    if network == "efa" and cloud not in {None, "aws"}:
        raise click.BadParameter(f"EFA is a network of AWS, not of {cloud}", param_hint="--network")
    if (form == "diff") is not (script is not None):
        raise click.UsageError("--format diff and --script FILE belong together")
    run = Run(
        params=params,
        nodes=nodes,
        gpus_per_node=gpus_per_node,
        network=network,
        framework=framework,
        launcher=launcher or framework.launcher,
        precision=precision,
        gpu=gpus()[gpu] if gpu else None,
        cloud=cloud,
        nccl=nccl,
        torch=torch,
        framework_version=framework_version,
    )
    bandwidths = (write_bandwidth,) if write_bandwidth else _BANDWIDTHS
    if script is not None:
        return _print_patch(run, script, bandwidths, launcher_is_said=launcher is not None)
    with printing():
        click.echo(_rendered(advise(run, bandwidths), form), nl=False)
    return 0


# Each form imports what it needs when it is asked for.


def _rendered(advised: Advised, form: str) -> str:
    if form == "json":
        return json_document(as_json(advised))
    if form == "shell":
        from nccl_logscan.advise import shell  # noqa: PLC0415

        return shell.render(advised)
    from nccl_logscan.advise import text  # noqa: PLC0415

    return text.render(advised, max(60, min(120, shutil.get_terminal_size((100, 24)).columns)))


def _print_patch(run: Run, script: Path, bandwidths: tuple[float, ...], *, launcher_is_said: bool) -> int:
    from nccl_logscan.advise.patch import patch  # noqa: PLC0415
    from nccl_logscan.advise.script import informed_by  # noqa: PLC0415
    from nccl_logscan.advise.text import described  # noqa: PLC0415
    from nccl_logscan.configs.read import read_config  # noqa: PLC0415

    config = read_config(script)
    run = informed_by(run, config, launcher_is_said=launcher_is_said)
    found = patch(advise(run, bandwidths), config, may_be_printed)
    with printing():
        click.echo(found.diff, nl=False)
    told = (*found.reasons, *found.notes) or ("nothing in it needs a change",)
    for sentence in (f"for {described(run)}", *told):
        say(f"{script}: {sentence}")
    return 0
