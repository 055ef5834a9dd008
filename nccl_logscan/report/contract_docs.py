"""The page docs/report-contract.md, made from the schema."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from nccl_logscan.report.json import schema
from nccl_logscan.taxonomy import Category

COMMAND = "python -m nccl_logscan.report.contract_docs > docs/report-contract.md"


def contract_docs() -> str:
    """Return the contract as a Markdown page: a table for every object, and the categories."""
    root = schema()
    lines = [
        f"<!-- Written by `{COMMAND}` from nccl_logscan/report/report.schema.json: change that, not this. -->",
        "# The report contract (JSON, version 1)",
        "",
        root["description"],
        "",
        "Fields in *italics* are additions that a report of 1.0 may lack; the others are always there.",
        "",
        *_tables("The report", root),
        *_categories(),
    ]
    return "\n".join(lines)


def _tables(title: str, part: dict[str, Any]) -> Iterator[str]:
    yield from (f"## {title}", "")
    if title != "The report" and "description" in part:
        yield from (part["description"], "")
    yield from ("| field | type | meaning |", "|---|---|---|")
    deeper: list[tuple[str, dict[str, Any]]] = []
    for name, field in part["properties"].items():
        shown = f"`{name}`" if name in part["required"] else f"*`{name}`*"
        yield f"| {shown} | {_type(field)} | {_meaning(field)} |"
        if inner := _object(field):
            deeper.append((name if title == "The report" else f"{title}.{name}", inner))
    yield ""
    for name, inner in deeper:
        yield from _tables(name, inner)


def _object(field: dict[str, Any]) -> dict[str, Any] | None:
    """Return the object with named fields that a field is, or holds: in a list, a mapping or beside null."""
    candidates = [field, field.get("items"), field.get("additionalProperties"), *field.get("anyOf", ())]
    for candidate in candidates:
        if isinstance(candidate, dict) and "properties" in candidate:
            return candidate
    return None


def _type(field: dict[str, Any]) -> str:
    if "$ref" in field:
        return "category"
    if "anyOf" in field:
        return " or ".join(_type(option) for option in field["anyOf"])
    kinds = [field["type"]] if isinstance(field["type"], str) else field["type"]
    shown = " or ".join(kinds)
    if "array" in kinds:
        return f"[{_type(field['items'])}]" + " or null" * ("null" in kinds)
    if kinds == ["object"] and isinstance(field["additionalProperties"], dict):
        return f"{{name: {_type(field['additionalProperties'])}}}"
    return shown


def _meaning(field: dict[str, Any]) -> str:
    values = f" One of {', '.join(f'`{value}`' for value in field['enum'])}." if "enum" in field else ""
    return f"{field.get('description', '')}{values}"


def _categories() -> Iterator[str]:
    yield from ("## Categories", "", "| family | category | the root cause is |", "|---|---|---|")
    for category in Category:
        yield f"| {category.family.value} | `{category.value}` | {category.meaning} |"
    yield ""
    yield (
        "A category names the cause, not the loudest line: a rank that runs out of memory and leaves the others in a "
        "watchdog timeout is `gpu_oom`."
    )
    yield ""


if __name__ == "__main__":
    sys.stdout.write(contract_docs())
