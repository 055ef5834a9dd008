"""The plan of a report by what its steps are for, as every form shows it."""

from __future__ import annotations

from typing import Any, NamedTuple

from nccl_logscan.report.view import ReportView


class Advice(NamedTuple):
    """The steps of a plan, in its order: what to do (`steps`, of them `changes` and `looks`), what not (`avoided`)."""

    steps: list[dict[str, Any]]
    changes: list[dict[str, Any]]
    looks: list[dict[str, Any]]
    avoided: list[dict[str, Any]]


def advice_of(view: ReportView) -> Advice:
    """Return a report's plan."""
    steps = [step for step in view["remediation"] if not step["do_not"]]
    return Advice(
        steps=steps,
        changes=[step for step in steps if step["effect"] != "inspect"],
        looks=[step for step in steps if step["effect"] == "inspect"],
        avoided=[step for step in view["remediation"] if step["do_not"]],
    )
