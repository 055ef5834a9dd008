"""The report as SARIF 2.1.0, which code-scanning services and editors read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from nccl_logscan.expressions import deferred
from nccl_logscan.lint.model import Check
from nccl_logscan.report.advice import advice_of
from nccl_logscan.report.patch import replacements
from nccl_logscan.report.remarks import Remark, remarks_of
from nccl_logscan.report.sarif_parts import (
    artifact_location,
    check_described,
    described,
    document,
    fingerprint,
    message,
)
from nccl_logscan.report.view import ReportView, place_of, rule_prose
from nccl_logscan.report.visible import sentence, short, visible
from nccl_logscan.report.wording import reason_of, whose
from nccl_logscan.rulebook.load import builtin_rulebook
from nccl_logscan.taxonomy import Category

_SNIPPET = 500
_PARAGRAPH = 600
_LABEL = 80
_FEW = 5
# Lines of evidence that the message has links to.
_LINKED = 4
_ADDRESS = deferred(r"https://[A-Za-z0-9][^\s\"'<>\\]*")
# They would end or begin the text of a link in a message.
_NO_BRACKETS = str.maketrans("[]()\\", "_____")


def render_sarif(view: ReportView) -> str:
    """Return one run, in ASCII: the verdict as an error, settings to change, and other findings as notes.

    A healthy job has no results. Each result has a location of one line at least, and a fingerprint that is the same
    for the same failure in the next run. GitHub takes 25,000 results and shows 5,000; there are at most 500.
    """
    rules: dict[str, dict[str, Any]] = {}
    seen: Counter[str] = Counter()
    results = []
    for remark in remarks_of(view):
        if remark.rule not in rules:
            rules[remark.rule] = _rule(remark, view)
        place = {"ruleId": rules[remark.rule]["id"], "ruleIndex": list(rules).index(remark.rule)}
        # What GitHub tells alerts by; its upload leaves one that is there.
        same = {"primaryLocationLineHash": f"{fingerprint((remark.rule, *remark.identity), seen)}:1"}
        results.append({**place, **_result(remark, view), "partialFingerprints": same})
    invocation = {"executionSuccessful": True, "exitCode": int(view["verdict"]["category"] != Category.NONE)}
    return document(list(rules.values()), results, invocations=[invocation])


# --- rules -------------------------------------------------------------------------------------------------------


def _rule(remark: Remark, view: ReportView) -> dict[str, Any]:
    if remark.kind == "setting":
        return check_described(Check(remark.rule))
    identifier, name = visible(remark.rule), _name(remark.rule)
    if prose := view["rules"].get(remark.rule) or _builtin(remark.rule):
        text = "\n\n".join(sentence(visible(part)) for part in (prose["what"], prose["why"]) if part)
        title = sentence(visible(prose["title"]))
        addresses = [entry["url"] for entry in prose["references"] if _ADDRESS.fullmatch(entry["url"])]
        return described(identifier, name, title, text or title, **({"helpUri": addresses[0]} if addresses else {}))
    # A rule of the user's own, or a verdict that no rule decided.
    title = sentence(visible(str(remark.entry.get("title") or Category(view["verdict"]["category"]).meaning)))
    return described(identifier, name, title, title)


def _builtin(identifier: str) -> dict[str, Any] | None:
    """Return what a built-in rule says of itself: the view has the prose of the verdict's and its echoes' alone."""
    rule = builtin_rulebook().rules.get(identifier)
    return rule_prose(rule) if rule else None


def _name(identifier: str) -> str:
    """infiniband/retry-exceeded → RetryExceeded."""
    words = identifier.rpartition("/")[2].replace("_", "-").split("-")
    return visible("".join(word[:1].upper() + word[1:] for word in words))


# --- results -----------------------------------------------------------------------------------------------------


def _result(remark: Remark, view: ReportView) -> dict[str, Any]:
    result = {"level": remark.level, "message": message(visible(remark.text)), "locations": [_location(remark.at)]}
    if remark.kind == "verdict":
        return {**result, **_verdict(remark, view)}
    if remark.kind == "finding":
        return result
    return {**result, **_fixes(remark)}


def _verdict(remark: Remark, view: ReportView) -> dict[str, Any]:
    """Return the whole message, the other lines of evidence, and the way from the cause through what followed."""
    verdict = remark.entry
    others = verdict["evidence"][1:]
    cascade = [_echo(echo) for echo in view["cascade"]]
    related = [{"id": number, **place} for number, place in enumerate([*map(_cited, others), *cascade], 1)]
    facts = {name: verdict[name] for name in ("category", "level", "confidence")}
    result: dict[str, Any] = {
        "message": {"text": message(_said(view))["text"] + _links(others[:_LINKED])},
        "properties": facts,
    }
    if related:
        result["relatedLocations"] = related
    if cascade:
        steps = [_cited({**remark.at, "role": "cause"}), *cascade]
        result["codeFlows"] = [{"threadFlows": [{"locations": [{"location": step} for step in steps]}]}]
    return result


def _said(view: ReportView) -> str:
    """Return the verdict, why, and what to do, a paragraph each."""
    verdict, advice = view["verdict"], advice_of(view)
    sure = f" ({verdict['level']}, {verdict['confidence']:.0%})" if verdict["level"] != "none" else ""
    todo = [_todo(step, view) for step in advice.steps[:_FEW]]
    avoid = [_todo(step, view) for step in advice.avoided[:_FEW]]
    unknown = verdict["unknowns"][:_FEW]
    paragraphs = [
        sentence(verdict["headline"]),
        f"Category: {verdict['category']}{sure}.",
        *verdict["reasons"][:_FEW],
        *(["What to do:", *(f"{number}. {said}" for number, said in enumerate(todo, 1))] if todo else []),
        *(["What not to do:", *(f"- {said}" for said in avoid)] if avoid else []),
        *(["What is not known:", *(f"- {sentence(said)}" for said in unknown)] if unknown else []),
    ]
    return "\n".join(short(visible(paragraph), _PARAGRAPH) for paragraph in paragraphs)


def _todo(step: Mapping[str, Any], view: ReportView) -> str:
    reason = reason_of(step, view["rules"]) if step["do_not"] else ""
    now = f" ({step['setting']} = {step['to']})" if step["setting"] and step["to"] and not step["do_not"] else ""
    return f"{step['title']}{whose(step)}{now} {reason}".rstrip()


def _links(evidence: Sequence[Mapping[str, Any]]) -> str:
    """Return links to the related locations of some evidence, which are numbered from 1."""
    links = []
    for number, line in enumerate(evidence, 1):
        text = place_of({**line, "file": line["file"].rpartition("/")[2]})
        links.append(f"[{short(visible(text), _LABEL).translate(_NO_BRACKETS)}]({number})")
    return f"\nSee also {', '.join(links)}." if links else ""


def _fixes(remark: Remark) -> dict[str, Any]:
    changes = replacements(remark.entry["diff"] or "")
    if not changes:
        return {}
    change = {"artifactLocation": artifact_location(remark.at["file"]), "replacements": changes}
    return {"fixes": [{"description": message(visible(remark.text)), "artifactChanges": [change]}]}


# --- locations ---------------------------------------------------------------------------------------------------


def _cited(line: Mapping[str, Any]) -> dict[str, Any]:
    rank = f", rank {line['rank']}" if line.get("rank") is not None else ""
    return {
        **_location(line),
        "message": message(f"{line['role']}{rank}: {short(visible(line.get('text', '')), _SNIPPET)}"),
    }


def _echo(echo: Mapping[str, Any]) -> dict[str, Any]:
    return {**_location(echo["first"]), "message": message(f"followed: {visible(echo['title'])}")}


def _location(at: Mapping[str, Any]) -> dict[str, Any]:
    """Return a line of a file; of an input without lines its first."""
    line = max(1, at["line"])
    region: dict[str, Any] = {"startLine": line, "startColumn": 1, "endLine": line}
    if text := at.get("text"):
        region["endColumn"] = len(text.encode("utf-16-le", "replace")) // 2 + 1
        region["snippet"] = {"text": short(visible(text), _SNIPPET)}
    return {"physicalLocation": {"artifactLocation": artifact_location(at["file"]), "region": region}}
