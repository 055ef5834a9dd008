"""Applies: when a row of the tables is for a run, and on what that depends where the user did not say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from nccl_logscan.advise.run import Run
from nccl_logscan.catalogue.versions import within
from nccl_logscan.records import dataclass


@dataclass(frozen=True, slots=True)
class Applies:
    """Conditions on a run, all of which must hold; an empty one holds always. Versions are ranges: ">=2.8, <2.11"."""

    networks: frozenset[str] = frozenset()
    frameworks: frozenset[str] = frozenset()
    not_frameworks: frozenset[str] = frozenset()
    launchers: frozenset[str] = frozenset()
    not_launchers: frozenset[str] = frozenset()
    clouds: frozenset[str] = frozenset()
    not_clouds: frozenset[str] = frozenset()
    precisions: frozenset[str] = frozenset()
    gpus: frozenset[str] = frozenset()
    nvlink: frozenset[str] = frozenset()
    capability: str = ""
    nodes_at_least: int = 1
    nodes_at_most: int | None = None
    ranks_at_least: int = 1
    nccl: str = ""
    torch: str = ""
    framework: str = ""
    also: tuple[str, ...] = ()
    """What no option says, as it is printed: "tensor parallelism"."""

    def open_for(self, run: Run) -> tuple[str, ...] | None:
        """Return what must also be so because the user did not say it, () where nothing is open; None where it is not
        for this run.
        """
        if not self._fits(run):
            return None
        open_questions = list(self.also)
        for question, holds in self._questions(run):
            if holds is False:
                return None
            if holds is None:
                open_questions.append(question)
        return tuple(open_questions)

    def _fits(self, run: Run) -> bool:
        name, launcher = run.framework.name, run.launcher
        return (
            _admits(self.networks, _NOTHING, run.network)
            and _admits(self.frameworks, self.not_frameworks, name)
            and _admits(self.launchers, self.not_launchers, launcher)
            and _admits(self.clouds, self.not_clouds, run.cloud)
            and _admits(self.precisions, _NOTHING, run.precision)
            and self.nodes_at_least <= run.nodes
            and (self.nodes_at_most is None or run.nodes <= self.nodes_at_most)
            and self.ranks_at_least <= run.ranks
        )

    def _questions(self, run: Run) -> Iterator[tuple[str, bool | None]]:
        gpu = run.gpu
        if self.gpus:
            yield f"GPU {' or '.join(sorted(self.gpus))}", None if gpu is None else gpu.name in self.gpus
        if self.nvlink:
            yield _NVLINK[self.nvlink], None if gpu is None else gpu.nvlink in self.nvlink
        for subject, wanted, version in (
            ("compute capability", self.capability, gpu.capability if gpu else None),
            ("NCCL", self.nccl, run.nccl),
            ("PyTorch", self.torch, run.torch),
            (run.framework.name, self.framework, run.framework_version),
        ):
            if wanted:
                yield f"{subject} {wanted}", None if version is None else within(version, wanted)


_NOTHING: frozenset[str] = frozenset()
_NVLINK = {
    frozenset({"none"}): "GPUs without NVLink",
    frozenset({"node", "rack"}): "GPUs with NVLink",
    frozenset({"rack"}): "NVLink across nodes (GB200)",
}


def _admits(wanted: frozenset[str], excluded: frozenset[str], value: str | None) -> bool:
    return (not wanted or value in wanted) and value not in excluded


def read_applies(entry: dict[str, Any]) -> Applies:
    """Return the conditions of a `when` table; TypeError for one that is not known."""
    sets = {field.name for field in fields(Applies) if "frozenset" in str(field.type)}
    conditions: dict[str, Any] = {key: frozenset(value) if key in sets else value for key, value in entry.items()}
    return Applies(**{**conditions, "also": tuple(entry.get("also", ()))})
