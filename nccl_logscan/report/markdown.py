"""The report as Markdown, as long as one reads: for the summary of a CI job, an issue, a merge request or a chat."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from nccl_logscan.report.advice import advice_of
from nccl_logscan.report.markdown_text import code, excerpt, fence, inline
from nccl_logscan.report.view import ReportView, place_of
from nccl_logscan.report.visible import lines_harmless_to_runners, sentence
from nccl_logscan.report.wording import (
    LEVELS,
    STATES,
    amount_read,
    counted,
    lint_said,
    names_change,
    ranks_named,
    reason_of,
    setting_said,
    times_said,
    unit_said,
    where_said,
    whose,
)
from nccl_logscan.taxonomy import Category

_SENTENCE = 600
_REASON = 300
_LINE = 500
_LABEL = 120
# Longer ones are for the HTML and JSON reports.
_DIFF = 2_500
_COMMAND = 1_000
_REASONS = 8
_STEPS = 6
_CITED = 6
_CASCADE = 15
_FEW = 5
_MORE_IN = "the HTML and JSON reports have it"


def render_markdown(view: ReportView) -> str:
    """Return the verdict, why, what to do and not to do, evidence, what followed, and what is not known.

    In GitHub's Markdown, which GitLab and most others read as well. An ordinary job takes a few KB and no log more than
    60; the limit of a job summary is 1 MiB. Whatever the log holds, its text stays text.
    """
    verdict = view["verdict"]
    advice = advice_of(view)
    doing, looking = (advice.changes, advice.looks) if advice.changes else (advice.looks, [])
    blocks = [
        *_head(verdict),
        *_section("Why", _listed(verdict["reasons"][:_REASONS])),
        *_section("What to do", _steps(doing, view)),
        *_section("What not to do", _list(_avoided(step, view) for step in advice.avoided)),
        *_section("Settings that are wrong", _list(_wrong_settings(view["config"]["lint"]))),
        *_evidence(view),
        *_cascade(view),
        *_section("What is not known", _listed([*verdict["unknowns"], *map(_alternative, view["alternatives"])])),
        *_section("What would tell more", _steps(looking, view)),
        *_unclaimed(view),
        "---",
        _read(view),
    ]
    return lines_harmless_to_runners("\n\n".join(blocks)) + "\n"


def _head(verdict: dict[str, Any]) -> Iterator[str]:
    category = verdict["category"]
    what = "no failure found" if category == Category.NONE else category
    yield f"## {STATES.get(category, 'FAILED')}: {code(what) if what == category else what}"
    yield f"**{inline(verdict['headline'], _SENTENCE)}**"
    where = where_said(verdict["culprit"])
    facts = [f"**Where:** {inline(where, _SENTENCE)}"] if where else []
    if category != Category.NONE and verdict["level"] != "none":
        rule = f"; decided by the rule {code(verdict['rule'])}" if verdict["rule"] else ""
        facts.append(f"**How sure:** {LEVELS[verdict['level']]}, {verdict['confidence']:.0%}{rule}")
    yield from _list(facts)


def _steps(steps: Sequence[dict[str, Any]], view: ReportView) -> Iterator[str]:
    numbered = ((f"{number}. ", _step(step, view)) for number, step in enumerate(steps[:_STEPS], 1))
    items = [mark + _indented("\n\n".join(blocks), len(mark)) for mark, blocks in numbered]
    if items:
        yield "\n\n".join(items)
    if len(steps) > _STEPS:
        yield f"{len(steps) - _STEPS} more: {_MORE_IN}."


def _step(step: dict[str, Any], view: ReportView) -> Iterator[str]:
    yield inline(f"{step['title']}{whose(step)}", _SENTENCE)
    if change := _change(step):
        yield change
    if step["diff"]:
        yield _diff(step["diff"])
    elif step["command"]:
        yield fence(step["command"], "sh") if len(step["command"]) <= _COMMAND else f"The command is long: {_MORE_IN}."
    said = [inline(reason_of(step, view["rules"]), _REASON), f"**Risk:** {inline(step['risk'] or '', _REASON)}"]
    if told := " ".join(said if step["risk"] else said[:1]):
        yield told


def _change(step: dict[str, Any]) -> str:
    """Return where a setting is made, and from what to what."""
    if not names_change(step):
        return ""
    place = f"{code(place_of(step['where']))}: " if step["where"] else ""
    to = f" → {code(step['to'])}" if step["to"] not in {None, step["from"]} else ""
    now = f"{' ' if to else ' is '}{code(step['from'])}" if step["from"] is not None else ""
    return f"{place}{code(step['setting'])}{now}{to}{unit_said(step)}"


def _diff(diff: str) -> str:
    """Return a diff whole and as it is, or where it is to be found: half of one changes nothing."""
    block = fence(diff, "diff")
    is_itself = diff.rstrip("\n") in block and lines_harmless_to_runners(block) == block
    return (
        block
        if len(diff) <= _DIFF and is_itself
        else f"The change as a diff is long or holds characters that this form cannot show: {_MORE_IN}."
    )


def _avoided(step: dict[str, Any], view: ReportView) -> str:
    reason = reason_of(step, view["rules"])
    return f"**{inline(step['title'], _REASON)}** {inline(reason, _REASON)}".rstrip()


def _wrong_settings(lint: Sequence[dict[str, Any]]) -> Iterator[str]:
    for entry in [entry for entry in lint if entry["severity"] != "note"][:_FEW]:
        text = f"{code(place_of(entry))} {code(setting_said(entry))}: {inline(lint_said(entry), _SENTENCE)}"
        yield f"{text}\n\n{_diff(entry['diff'])}" if entry["diff"] else text


def _evidence(view: ReportView) -> Iterator[str]:
    cited = view["verdict"]["evidence"][:_CITED]
    if not cited:
        return
    healthy = view["verdict"]["category"] == Category.NONE
    by_file: dict[str, list[str]] = {}
    for line in cited:
        text = excerpt(line["text"], line["highlight"], _LINE)
        by_file.setdefault(line["file"], []).append(_numbered(line["line"], text))
    blocks = [block for file, lines in by_file.items() for block in (code(file), fence("\n".join(lines), "text"))]
    if healthy:
        yield from _folded("Lines that look like trouble or tell of the end", blocks)
    else:
        yield from _section("Evidence", blocks)


def _numbered(line: int, text: str) -> str:
    one_line = text.replace("\n", " ").rstrip()
    return f"{line}: {one_line}" if line else one_line


def _cascade(view: ReportView) -> Iterator[str]:
    echoes = view["cascade"]
    if echoes:
        count = len(echoes) + view["omitted"]["cascade"]
        rows = [_echo(echo) for echo in echoes[:_CASCADE]]
        more = [f"{count - len(rows):,} more"] if count > len(rows) else []
        yield from _folded(f"What followed from it ({count:,})", _list([*rows, *more]))


def _echo(echo: dict[str, Any]) -> str:
    first = f"first at {code(place_of(echo['first']))}"
    told = ", ".join(filter(None, (times_said(echo["count"]), ranks_named(echo), first)))
    return f"{inline(echo['title'], _LABEL)}: {told}"


def _alternative(other: dict[str, Any]) -> str:
    return f"Or it is {other['category']} ({other['confidence']:.0%}): {other['why']}"


def _unclaimed(view: ReportView) -> Iterator[str]:
    if view["verdict"]["category"] == Category.UNKNOWN and view["unclaimed"]:
        rows = [_unknown_line(group) for group in view["unclaimed"][:_FEW]]
        yield from _section("Warnings and errors that no rule knew", [fence("\n".join(rows), "text")])


def _unknown_line(group: dict[str, Any]) -> str:
    sample = group["sample"].replace("\n", " ")
    return f"{place_of(group['first'])}: {excerpt(sample, None, _LINE)}"


def _read(view: ReportView) -> str:
    coverage, tool = view["coverage"], view["tool"]
    configs = sum(given["kind"] == "config" for given in view["inputs"])
    logs = len(view["inputs"]) + view["omitted"]["inputs"] - configs
    beside = f", and looked at {counted(configs, 'configuration file')}" if configs else ""
    said = [f"{tool['name']} {tool['version']} read {amount_read(coverage)} of {counted(logs, 'file')}{beside}."]
    said += [sentence(inline(note, _REASON)) for note in coverage["notes"][:_FEW]]
    return " ".join(said)


def _listed(sentences: Iterable[str]) -> list[str]:
    return _list(inline(said, _SENTENCE) for said in sentences)


def _list(items: Iterable[str]) -> list[str]:
    """Return the items as one list, or nothing where there is none."""
    shown = [f"- {_indented(item, 2)}" for item in items]
    return ["\n".join(shown)] if shown else []


def _section(title: str, blocks: Iterable[str]) -> Iterator[str]:
    """Yield a heading and what belongs under it, or nothing where nothing does."""
    content = list(blocks)
    if content:
        yield from (f"### {title}", *content)


def _folded(title: str, blocks: Iterable[str]) -> Iterator[str]:
    yield from (f"<details>\n<summary>{title}</summary>", *blocks, "</details>")


def _indented(text: str, width: int) -> str:
    """Return a text whose later lines stand under the first, as they must to belong to an item of a list."""
    first, *later = text.split("\n")
    return "\n".join([first, *(" " * width + line if line else "" for line in later)])
