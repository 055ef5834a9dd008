"""The report as JSON, by the contract; the schema ships beside this file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from nccl_logscan.expressions import deferred
from nccl_logscan.report.view import ReportView
from nccl_logscan.report.visible import json_harmless_to_runners

_LONE_SURROGATE = deferred("[\ud800-\udfff]")


def render_json(view: ReportView) -> str:
    """Return the report as JSON in ASCII."""
    return json_document(view)


def json_document(content: Any) -> str:
    """Return JSON in ASCII in which nothing acts on a terminal or a CI runner that it is printed to.

    Half a surrogate pair (a name of a file that is not UTF-8), which no reader of JSON has to take, is U+FFFD.
    """
    document = _dumped(content)
    if "\\ud" in document:
        document = _dumped(_encodable(content))
    return json_harmless_to_runners(document) + "\n"


def _dumped(content: Any) -> str:
    return json.dumps(content, indent=2, ensure_ascii=True, allow_nan=False)


def _encodable(part: Any) -> Any:
    if isinstance(part, str):
        return _LONE_SURROGATE.sub("\ufffd", part)
    if isinstance(part, Mapping):
        return {_encodable(name): _encodable(value) for name, value in part.items()}
    return list(map(_encodable, part)) if isinstance(part, list | tuple) else part


def schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) that every report fulfils."""
    from importlib import resources  # noqa: PLC0415 - loads tempfile and all codecs, and no report needs it

    text = resources.files("nccl_logscan.report").joinpath("report.schema.json").read_text("utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded
