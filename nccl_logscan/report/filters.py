"""What the templates of the HTML report say of values: filters, and how everything that is printed is made harmless."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from markupsafe import Markup, escape

from nccl_logscan.expressions import deferred
from nccl_logscan.report.figures import size_said
from nccl_logscan.report.visible import sentence, short, short_path, visible, visible_lines
from nccl_logscan.report.wording import moment_said, ranks_said

_LINK = deferred(r"https://[A-Za-z0-9][^\s\"'<>\\]*")
_WHOLE = 24


def finalise(value: Any) -> Any:
    """Spell out the acting characters of everything that a template prints; None prints as nothing."""
    if value is None:
        return ""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _lines(text: str) -> Markup:
    """Return a text of several lines with its line feeds."""
    return escape(visible_lines(text))


def _changes(diff: str) -> Markup:
    """Return a diff line by line, what goes and what comes marked; copied from the page it is the diff itself."""
    marks = {"+": Markup("<ins>{}</ins>"), "-": Markup("<del>{}</del>")}
    shown = (marks.get(line[:1], Markup("{}")).format(visible(line)) for line in diff.split("\n"))
    return Markup("\n").join(shown)


def _is_number(value: str) -> bool:
    return value.replace(".", "", 1).isdigit()


def _link(source: str | None, title: str | None = None) -> Markup:
    """Return a link for an https address and the plain text for anything else."""
    if not source or not _LINK.fullmatch(source):
        return escape(visible(title or source or ""))
    return Markup('<a href="{}" rel="noreferrer noopener">{}</a>').format(source, visible(title or source))


def _marked(evidence: dict[str, Any]) -> Markup:
    """Return a line of evidence with the columns that matched marked."""
    text = evidence["text"]
    if not evidence["highlight"]:
        return escape(visible(text))
    start, end = evidence["highlight"]
    pieces = (visible(text[:start]), visible(text[start:end]), visible(text[end:]))
    return Markup("{}<mark>{}</mark>{}").format(*pieces)


def _whole(text: str) -> Markup:
    """Return a sentence in which no short name is broken at its hyphens (node-17)."""
    span = Markup('<span class="whole">{}</span>')
    words = (visible(word) for word in text.split(" "))
    return Markup(" ").join(
        span.format(word) if "-" in word and len(word) <= _WHOLE else escape(word) for word in words
    )


def _number(number: int) -> str:
    return f"{number:,}"


FILTERS: Mapping[str, Callable[..., Any]] = {
    "changes": _changes,
    "is_number": _is_number,
    "lines": _lines,
    "link": _link,
    "marked": _marked,
    "moment": moment_said,
    "number": _number,
    "ranks": ranks_said,
    "sentence": sentence,
    "short": short,
    "size": size_said,
    "short_path": short_path,
    "whole": _whole,
}
