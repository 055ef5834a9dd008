"""The verdict as an annotation of a GitHub workflow run."""

from __future__ import annotations

from nccl_logscan.report.annotation import annotation
from nccl_logscan.report.view import ReportView
from nccl_logscan.taxonomy import Category


def render_github(view: ReportView) -> str:
    """Return one workflow command: an error at the verdict's first line of evidence, a notice of a healthy job."""
    verdict = view["verdict"]
    healthy = verdict["category"] == Category.NONE
    properties = {"title": f"nccl-logscan: {verdict['category']}"}
    if verdict["evidence"] and not healthy:
        first = verdict["evidence"][0]
        # An annotation has no line 0, which stands for an input without lines.
        properties = {"file": first["file"], "line": str(max(1, first["line"])), **properties}
    message = "\n".join([verdict["headline"], *verdict["reasons"]])
    return annotation("notice" if healthy else "error", properties, message) + "\n"
