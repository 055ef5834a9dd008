"""The report as JSON, by the contract; the schema ships beside this file."""

from __future__ import annotations

import json
from typing import Any

from nccl_logscan.report.view import ReportView
from nccl_logscan.report.visible import json_harmless_to_runners


def render_json(view: ReportView) -> str:
    """Return the report as JSON in ASCII."""
    return json_document(view)


def json_document(content: Any) -> str:
    """Return JSON in ASCII in which nothing acts on a terminal or a CI runner that it is printed to."""
    return json_harmless_to_runners(json.dumps(content, indent=2, ensure_ascii=True, allow_nan=False)) + "\n"


def schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) that every report fulfils."""
    from importlib import resources  # noqa: PLC0415 - loads tempfile and all codecs, and no report needs it

    text = resources.files("nccl_logscan.report").joinpath("report.schema.json").read_text("utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded
