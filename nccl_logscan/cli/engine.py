"""`--engine ray`, `--on-every-node`: a scan whose large logs others read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, BinaryIO, TypeVar

import click

from nccl_logscan.diagnosis.verdict import ScanResult
from nccl_logscan.pipeline import Options
from nccl_logscan.rulebook.rule import Rulebook

_Command = TypeVar("_Command", bound=Callable[..., Any])
_OPTIONS = (
    click.option(
        "--engine",
        type=click.Choice(["ray"]),
        help="Have large logs read by a Ray cluster, or by workers that are started here; the result is the same. "
        "Needs nccl-logscan[ray].",
    ),
    click.option(
        "--ray-address",
        metavar="HOST:PORT",
        help="The cluster for --engine ray. [default: RAY_ADDRESS, else one started here]",
    ),
    click.option(
        "--workers",
        type=click.IntRange(min=1),
        metavar="N",
        help="With --engine ray: how many read at the same time. [default: the cluster's cores]",
    ),
    click.option(
        "--on-every-node",
        metavar="PATH",
        help="Read what each node of a Ray cluster has below a path, where it lies; ~ and $VARIABLES are the node's. "
        "Implies --engine ray.",
    ),
)


def engine_options(command: _Command) -> _Command:
    """Add the options of an engine to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """What the command line says of Ray; None where it says nothing."""

    ray_address: str | None
    workers: int | None
    on_every_node: str | None

    @classmethod
    def of(cls, given: dict[str, Any]) -> EngineOptions | None:
        """Take the options out of those of a command; None without an engine. Raises UsageError where one lacks it."""
        engine = given.pop("engine")
        wanted = cls(**{name: given.pop(name) for name in ("ray_address", "workers", "on_every_node")})
        if engine is None and wanted.on_every_node is None:
            for name, value in (("--ray-address", wanted.ray_address), ("--workers", wanted.workers)):
                if value is not None:
                    raise click.UsageError(f"{name} is of use with --engine ray only")
            return None
        return wanted

    def names(self, logs: tuple[str, ...]) -> tuple[str, ...]:
        """Return the names that were given, of logs and of a path on the nodes."""
        return logs if self.on_every_node is None else (*logs, self.on_every_node)

    def scan(self, logs: tuple[str, ...], rulebook: Rulebook, options: Options, stdin: BinaryIO | None) -> ScanResult:
        """Scan with Ray."""
        from nccl_logscan.engines.scan import scan_on_ray  # noqa: PLC0415 - for those who have a cluster

        return scan_on_ray(
            logs,
            rulebook,
            options,
            stdin,
            address=self.ray_address,
            workers=self.workers,
            on_every_node=self.on_every_node,
        )
