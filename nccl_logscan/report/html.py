"""The report as one HTML page that needs no network; its one script is for comfort, and all of it is there without."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from markupsafe import Markup

from nccl_logscan.report.advice import advice_of
from nccl_logscan.report.compiled_templates import SCRIPT, SCRIPT_DIGEST, STYLE, STYLE_DIGEST
from nccl_logscan.report.curves import draw_training
from nccl_logscan.report.figures import awaited_said
from nccl_logscan.report.graph import draw_graph
from nccl_logscan.report.heat_map import draw_activity
from nccl_logscan.report.page import page_of
from nccl_logscan.report.picture import draw_timeline
from nccl_logscan.report.view import ReportView
from nccl_logscan.report.visible import html_harmless_to_runners

_ACTIONS = {
    "restart": "Restart the job.",
    "restart_without_node": "Restart without the host at fault.",
    "fix_config": "Change the setting, then restart.",
    "fix_code": "Change the training program, then restart.",
    "fix_host": "Mend the host before a job goes back to it.",
    "inspect": "Look further before you restart.",
    "none": "Nothing to do.",
}
_LEVELS = {
    "established": "Established: the cause states itself, or was seen before what followed from it.",
    "likely": "Likely: the cause was seen; the order of events is not certain.",
    "suggested": "Only suggested: a symptom points to it; no cause was seen.",
    "none": "No verdict.",
}
_HEALTHY = "sure that nothing failed."
_STATES = {"none": "No failure found", "unknown": "Unclear"}


def render_html(view: ReportView) -> str:
    """Return the report as one page: nothing from outside, no script but ours, the same bytes for the same view."""
    page = page_of("report.html.j2", {name: make(view) for name, make in PARTS.items()})
    return html_harmless_to_runners(page)  # it may be printed in a CI job: --output -


def _has_remedy(view: ReportView) -> bool:
    advice = advice_of(view)
    has_rule = view["verdict"]["rule"] in view["rules"]
    return bool(advice.changes or advice.avoided or view["alternatives"] or has_rule)


def _sureness(view: ReportView) -> str:
    return _HEALTHY if view["verdict"]["category"] == "none" else _LEVELS[view["verdict"]["level"]]


PARTS: Mapping[str, Callable[[ReportView], Any]] = {
    "view": lambda view: view,
    "style": lambda _: Markup(STYLE),  # noqa: S704 - made by tools/templates.py
    "script": lambda _: Markup(SCRIPT),  # noqa: S704 - as above
    "script_digest": lambda _: SCRIPT_DIGEST,
    "style_digest": lambda _: STYLE_DIGEST,
    "picture": draw_timeline,
    "heat_map": draw_activity,
    "graph": draw_graph,
    "curves": draw_training,
    "awaited": lambda view: [awaited_said(one) for one in (view["figures"] or {}).get("awaited", ())],
    "state": lambda view: _STATES.get(view["verdict"]["category"], "Failed"),
    "sureness": _sureness,
    "advice": advice_of,
    "has_remedy": _has_remedy,
    "action": lambda view: _ACTIONS[view["verdict"]["action"]],
}
"""What the templates see, and how each is made of a view."""
