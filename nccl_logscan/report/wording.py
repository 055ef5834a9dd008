"""What several forms of the report say in the same words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from nccl_logscan.lines.stamps import NO_YEAR
from nccl_logscan.report.visible import sentence

_RANK_RANGES = 12

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


def counted(count: int, noun: str) -> str:
    """Return a count with its noun: `1 line`, `12,345 lines`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def times_said(count: int) -> str:
    """Return how often something was said: `once`, `12 times`."""
    return "once" if count == 1 else counted(count, "time")


def ranks_said(ranks: Sequence[int], count: int | None = None) -> str:
    """Return ranks as ranges: 0-10, 12, 14-127."""
    ranges: list[list[int]] = []
    for rank in sorted(ranks):
        if ranges and rank == ranges[-1][1] + 1:
            ranges[-1][1] = rank
        else:
            ranges.append([rank, rank])
    shown = [str(first) if first == last else f"{first}-{last}" for first, last in ranges[:_RANK_RANGES]]
    total = len(ranks) if count is None else count
    more = f" … ({total:,} in all)" if len(ranges) > _RANK_RANGES or total > len(ranks) else ""
    return ", ".join(shown) + more


def ranks_named(entry: Mapping[str, Any]) -> str:
    """Return the ranks of a finding or a symptom: `rank 5`, `ranks 0-10`; nothing where none is known."""
    noun = "rank" if entry["rank_count"] == 1 else "ranks"
    return f"{noun} {ranks_said(entry['ranks'], entry['rank_count'])}" if entry["ranks"] else ""


def moment_said(time: str | None) -> str:
    """Return an ISO time for the eye: a space for the T, milliseconds at most, and no year that the log did not say."""
    if time is None:
        return ""
    return re.sub(r"(\.\d{3})\d+", r"\1", time.removeprefix(f"{NO_YEAR}-").replace("T", " ", 1))


def setting_said(entry: Mapping[str, Any]) -> str:
    """Return a setting of lint with its value: `NCCL_IB_HCA=mlx5_0`."""
    return f"{entry['name']}{'=' if entry['value'] else ''}{entry['value']}"


def lint_said(entry: Mapping[str, Any]) -> str:
    """Return what lint has to say of a setting."""
    return f"{sentence(entry['problem'])} {sentence(entry['advice'])}"


def names_change(step: Mapping[str, Any]) -> bool:
    """Whether a step is to change a setting and its title does not tell all of it."""
    tells_more = step["where"] is not None or step["to"] is not None
    return bool(step["setting"]) and (tells_more or step["setting"] not in step["title"])


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
