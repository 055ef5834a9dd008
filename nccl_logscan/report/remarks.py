"""The report as remarks at lines of files: what SARIF and GitLab's code quality are made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from nccl_logscan.records import dataclass
from nccl_logscan.report.view import ReportView
from nccl_logscan.report.visible import sentence, short
from nccl_logscan.report.wording import lint_said, ranks_named, times_said
from nccl_logscan.taxonomy import Category, Role

_TEXT = 1_000
_WEIGHTY = frozenset({Role.CAUSE, Role.SYMPTOM, Role.ECHO})


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing to say of one line.

    `at` has its file and line and, where the view has it, the line's text. `identity` is the same for the same failure
    in the next run, whatever its line, time and process. `entry` is what the view says of it.
    """

    kind: Literal["verdict", "change", "setting", "finding"]
    rule: str
    level: Literal["error", "warning", "note"]
    text: str
    at: Mapping[str, Any]
    identity: tuple[str, ...]
    entry: Mapping[str, Any]


def remarks_of(view: ReportView) -> Iterator[Remark]:
    """Yield the verdict, the settings to change, those that are wrong, and other findings that are no part of it.

    A healthy job has no remarks; no job has more than 500.
    """
    verdict = view["verdict"]
    if verdict["category"] == Category.NONE:
        return
    at = _place_of_verdict(view)
    rule = verdict["rule"] or f"verdict/{verdict['category']}"
    yield Remark("verdict", rule, "error", short(sentence(verdict["headline"]), _TEXT), at, (at["file"],), verdict)
    for step in _changes(view):
        named = (step["where"]["file"], step["setting"] or step["id"])
        yield Remark("change", step["because"], "warning", _change_said(step), step["where"], named, step)
    for entry in view["config"]["lint"]:
        tells = f" This tells: {entry['command']}" if entry["command"] else ""
        text = short(f"{lint_said(entry)}{tells}", _TEXT)
        named = (entry["file"], entry["name"])
        yield Remark("setting", entry["check"], entry["severity"], text, entry, named, entry)
    told = {verdict["rule"], *(echo["rule"] for echo in view["cascade"])}
    for finding in view["findings"]:
        if finding["role"] in _WEIGHTY and finding["rule"] not in told:
            yield _finding(finding)


def _place_of_verdict(view: ReportView) -> Mapping[str, Any]:
    """Return the place to show the verdict at: its first evidence, else a line that no rule knew, else the input."""
    evidence: list[Mapping[str, Any]] = view["verdict"]["evidence"]
    if evidence:
        return evidence[0]
    if view["unclaimed"]:
        group = view["unclaimed"][0]
        return {**group["first"], "text": group["sample"]}
    return {"file": view["inputs"][0]["name"] if view["inputs"] else "-", "line": 1}


def _changes(view: ReportView) -> Iterator[dict[str, Any]]:
    """Yield the settings to change that stand in a configuration file."""
    files = {given["name"] for given in view["inputs"] if given["kind"] == "config"}
    for step in view["remediation"]:
        if step["where"] and step["setting"] and not step["do_not"] and step["where"]["file"] in files:
            yield step


def _change_said(step: Mapping[str, Any]) -> str:
    if step["to"] is None:
        change = f"It is {step['setting']} = {step['from']}." if step["from"] is not None else ""
    else:
        now = f" from {step['from']}" if step["from"] is not None else ""
        change = f"Set {step['setting']}{now} to {step['to']}."
    return short(" ".join(filter(None, (step["title"], change, step["why"]))), _TEXT)


def _finding(finding: Mapping[str, Any]) -> Remark:
    told = ", ".join(filter(None, (times_said(finding["count"]), ranks_named(finding))))
    at = {**finding["first"], "text": finding["samples"][0]["text"]} if finding["samples"] else finding["first"]
    text = short(f"{finding['title']} ({told}).", _TEXT)
    return Remark("finding", finding["rule"], "note", text, at, (at["file"],), finding)
