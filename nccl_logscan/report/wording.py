"""What several forms of the report say in the same words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

STATES = {"none": "HEALTHY", "unknown": "UNCLEAR"}
"""How the job is, by the verdict's category; any other is FAILED."""

LEVELS = {
    "established": "established",
    "likely": "likely",
    "suggested": "only suggested",
    "none": "no verdict",
}


def where_said(culprit: Mapping[str, Any]) -> str:
    """Return what is known of the culprit: `rank 5 · host node-1`; nothing where nothing is."""
    names = {"rank": "rank", "host": "host", "device": "GPU", "adapter": "adapter", "peer": "peer", "pid": "pid"}
    known = [f"{name} {culprit[key]}" for key, name in names.items() if culprit[key] is not None]
    group = culprit["process_group"]
    return " · ".join([*known, f"process group {group}"] if group is not None else known)


def whose(step: Mapping[str, Any]) -> str:
    """Return whose step it is, where not the user's, and where if its title does not: ` (cluster-admin, on node-7)`."""
    place = step["on"] if step["on"] and step["on"] not in step["title"] else None
    said = [*([step["owner"]] if step["owner"] != "user" else []), *([f"on {place}"] if place else [])]
    return f" ({', '.join(said)})" if said else ""


def unit_said(step: Mapping[str, Any]) -> str:
    """Return the unit of a bare number: 60 may be seconds or minutes."""
    return f" {step['unit']}" if step["unit"] and (step["to"] or "").replace(".", "", 1).isdigit() else ""


def reason_of(step: Mapping[str, Any], rules: Mapping[str, Any]) -> str:
    """Return why to take a step or not; nothing where its reason only names the rule."""
    named = rules.get(step["because"], {}).get("title")
    return step["why"] if step["why"] and step["why"] != named else ""


def amount_read(coverage: Mapping[str, Any]) -> str:
    """Return how much was read: `61,004 lines, 11,204,991 bytes`."""
    return f"{coverage['lines']:,} lines, {coverage['bytes']:,} bytes"
