"""AdviceView: what was asked and what is advised, ready for JSON; the other outputs are made of the same parts."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from nccl_logscan.advise.memory import (
    FAILURE_SOURCE,
    INTERVAL_SOURCE,
    Memory,
    memory_of,
)
from nccl_logscan.advise.run import Run
from nccl_logscan.advise.table import Advice, Mark, Place, advice_for, place_for
from nccl_logscan.catalogue.claims import Claim, claims
from nccl_logscan.records import dataclass

SCHEMA_VERSION = "1.0"
SIZE_DECIDES = (
    "The number of parameters decides memory, the size of a checkpoint and of a weight sync. It decides neither "
    "NCCL's buffers, nor channels, nor any timeout."
)


@dataclass(frozen=True, slots=True)
class Advised:
    """All that is advised for a run."""

    run: Run
    advice: tuple[Advice, ...]
    place: Place
    place_provided: tuple[str, ...]
    memory: Memory
    claims: tuple[Claim, ...]

    def marked(self, mark: Mark) -> tuple[Advice, ...]:
        """Return the advice of one mark."""
        return tuple(advice for advice in self.advice if advice.row.mark is mark)


def advise(run: Run, bandwidths: tuple[float, ...]) -> Advised:
    """Return what a run needs and what it does not; `bandwidths` in GB/s are for the estimate of checkpoints."""
    place = place_for(run)
    return Advised(
        run,
        advice_for(run),
        place,
        place.when.open_for(run) or (),
        memory_of(run, bandwidths),
        tuple(claim for claim in claims() if claim.concerns(run.framework.name, run.launcher)),
    )


def as_json(advised: Advised) -> dict[str, Any]:
    """Return it as JSON takes it."""
    run = advised.run
    place = advised.place
    return {
        "schema_version": SCHEMA_VERSION,
        "run": {
            **asdict(run),
            "framework": run.framework.name,
            "gpu": run.gpu.name if run.gpu else None,
            "ranks": run.ranks,
        },
        "rows": [_row(advice) for advice in advised.advice],
        "variables_reach_workers": {
            "where": place.where,
            "item": place.item,
            "why": place.why,
            "source": place.source,
            "provided": list(advised.place_provided),
        },
        "size": {
            "decides": SIZE_DECIDES,
            **asdict(advised.memory),
            "estimates": ["hours_to_failure", "savings"],
            "sources": [FAILURE_SOURCE, INTERVAL_SOURCE],
        },
        "claims": [
            {name: getattr(claim, name) for name in ("id", "claim", "verdict", "fact", "source")}
            for claim in advised.claims
        ],
    }


def _row(advice: Advice) -> dict[str, Any]:
    row = advice.row
    return {
        "setting": row.setting,
        "value": row.value or None,
        "bad": list(row.bad),
        "mark": row.mark,
        "kind": row.kind,
        "why": row.why,
        "where": advice.where,
        "risk": row.risk,
        "tells": row.tells,
        "provided": list(advice.provided),
        "source": row.source,
    }
