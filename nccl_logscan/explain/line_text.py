"""A line of a log and what is made of it, as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from nccl_logscan.diagnosis.findings import Finding
from nccl_logscan.event_table.rows import Row
from nccl_logscan.events.model import EVENT_TYPES
from nccl_logscan.explain.line import Reading, Window, own_fields
from nccl_logscan.position import Origin
from nccl_logscan.report.links import Placed, linked
from nccl_logscan.report.redact import REDACTED, redact
from nccl_logscan.report.visible import harmless_to_runners, visible
from nccl_logscan.sources import Kind

_LONGEST = 240
_LONGEST_MARKED = 2_000
_LABEL = 10
_WHO = {"rank": "rank", "local_rank": "local rank", "host": "host", "device": "GPU", "pid": "pid", "task": "task"}


def as_text(window: Window, reading: Reading, around: int, placed: Placed | None = None) -> str:
    """Return the numbered lines, and below them what the marked one is read as; `placed` lets its number lead there."""
    said = (*_numbered(window, reading, around, placed), "", *_labelled(_meaning(window, reading)))
    return "".join(f"{harmless_to_runners(line).rstrip()}\n" for line in said)


def _numbered(window: Window, reading: Reading, around: int, placed: Placed | None) -> Iterator[str]:
    lines = window.around(around)
    marked = window.marked.at
    address = placed(marked.source, marked.line) if placed else None
    width = len(str(lines[-1].at.line))
    for line in lines:
        is_marked = line is window.marked
        text = _cut(visible(reading.clean(line)), _LONGEST_MARKED if is_marked else _LONGEST)
        number = linked(f"{line.at.line:{width}}", address if is_marked else None)
        yield f"{'>' if is_marked else ' '} {number} | {text}"


def _labelled(entries: Iterator[tuple[str, str]]) -> Iterator[str]:
    """Yield each entry as a line, with its label where that is not the one above."""
    previous = ""
    for label, text in entries:
        yield f"{'' if label == previous else label:{_LABEL}}{_cut(visible(text), _LONGEST)}"
        previous = label


def _meaning(window: Window, reading: Reading) -> Iterator[tuple[str, str]]:
    if window.kind is Kind.CONFIG:
        yield "Kind", "none: a configuration file; nccl-logscan lint says what is wrong in it"
        return
    for row in reading.rows:
        yield from _row(row)
    if not reading.rows:
        yield "Kind", "none: it is blank, or told with a line near it"
    secret = reading.secrets.get(window.marked.at.line)
    for finding in reading.findings:
        yield "Rule", _rule(finding, secret)
    if not reading.findings:
        yield "Rule", "none claims this line by itself"


def _row(row: Row) -> Iterator[tuple[str, str]]:
    event = row.event
    if event.kind:
        yield "Kind", f"{event.kind}  {' '.join((EVENT_TYPES[event.kind].__doc__ or '').split())}"
    else:
        yield "Kind", "none: a line of a traceback, a stack or a table, told with the others of it"
    if who := _who(event.origin):
        yield "Who", who
    if event.when is not None:
        yield "When", event.when.value.isoformat()
    if row.level is not None:
        yield "Level", row.level
    if row.prefixes:
        yield "Prefixes", ", ".join(row.prefixes)
    for name, value in own_fields(event):
        yield "Fields", f"{name} = {value}"


def _who(origin: Origin) -> str:
    known = ((word, getattr(origin, name)) for name, word in _WHO.items())
    return redact(" · ".join(f"{word} {value}" for word, value in known if value is not None))


def _rule(finding: Finding, secret: str | None) -> str:
    rule = finding.rule
    told = f"{rule.id}  {redact(rule.title)} ({rule.role}, {rule.severity})"
    captures = finding.captures.items()
    said = ", ".join(f"{name} = {REDACTED if value == secret else redact(value)}" for name, value in captures)
    return f"{told}: {said}" if said else told


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
