"""The JSON Schema of a rule file, for completion in an editor; made from `document.py`."""

from __future__ import annotations

import json
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from nccl_logscan.rulebook.document import RuleDocument

SCHEMA = "rule.schema.json"


def schema_text() -> str:
    """Return `rules/rule.schema.json` (draft 2020-12)."""
    schema: dict[str, Any] = {
        "$schema": GenerateJsonSchema.schema_dialect,
        "$comment": "Made by `nccl-logscan rules schema`; edit nccl_logscan/rulebook/document.py instead.",
        **RuleDocument.model_json_schema(by_alias=True),
    }
    schema["title"] = "A rule of nccl-logscan"
    return json.dumps(_without_titles(schema), indent=2, ensure_ascii=False) + "\n"


def _without_titles(value: Any) -> Any:
    """Drop pydantic's titles of properties: they repeat the key and push the description out of an editor's sight."""
    if isinstance(value, list):
        return [_without_titles(part) for part in value]
    if not isinstance(value, dict):
        return value
    kept = {key: _without_titles(part) for key, part in value.items()}
    if "type" in kept or "anyOf" in kept or "$ref" in kept or "enum" in kept:
        kept = {key: part for key, part in kept.items() if key != "title" or "properties" in kept}
    return kept
