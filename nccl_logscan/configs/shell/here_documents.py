"""Files of other syntaxes that a script writes or runs from here-documents: JSON for DeepSpeed, YAML, Python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from nccl_logscan.configs.edit import Edit
from nccl_logscan.configs.model import Config, Launch, LineIndex, Placed
from nccl_logscan.configs.shell.words import HOLE
from nccl_logscan.expressions import deferred
from nccl_logscan.position import Span
from nccl_logscan.records import replace

_TYPED = deferred(r"\.(?:json|ya?ml|toml|py)$")
_PLAIN = deferred(r"[^$`\\]*")
_JSON_BODY = deferred(r"\s*\{\s*\"")


class Document(NamedTuple):
    """A here-document with the name of the file that it becomes; `quoted`: nothing in it is expanded."""

    name: str
    start: int
    end: int
    quoted: bool


def name_of_document(target: str, programs: set[str], text: str) -> str | None:
    """Return the name under which a here-document's text is to be read, None where it is of no such syntax."""
    if _TYPED.search(target) and HOLE not in target.rpartition("/")[2]:
        return target.rpartition("/")[2]
    if any(program.startswith("python") for program in programs):
        return "stdin.py"
    return "config.json" if target and _JSON_BODY.match(text) else None


def settings_within(document: Document, source: str, data: bytes, lines: LineIndex) -> Iterator[Placed]:
    """Yield what a here-document sets, placed in the script; a value that the shell expands is None."""
    for placed in _config(document, data).settings:
        yield _moved(placed, document, source, lines)


def launches_within(document: Document, source: str, data: bytes, lines: LineIndex) -> Iterator[Launch]:
    """Yield what a here-document starts, placed in the script."""
    for launch in _config(document, data).launches:
        start = launch.span.start + document.start
        at, _ = lines.place(source, start)
        fed = launch.fed and Span(launch.fed.start + document.start, launch.fed.end + document.start)
        yield replace(launch, at=at, span=Span(start, launch.span.end + document.start), fed=fed)


def edit_within(document: Document, config: Config, placed: Placed, value: str | None) -> Edit | None:
    """Return the edit, by the document's own syntax, that changes a setting, or for None takes it out."""
    from nccl_logscan.configs.read import syntax_named  # noqa: PLC0415 - the registry knows the shell, which knows this

    if value is not None and not document.quoted and not _PLAIN.fullmatch(value):
        return None
    inner = _config(document, config.data)
    syntax = syntax_named(inner.syntax)
    for made in inner.settings:
        if made.name == placed.name and made.span.start + document.start == placed.span.start:
            edit = syntax.remove(inner, made) if value is None else syntax.change(inner, made, value)
            return edit and Edit(edit.start + document.start, edit.end + document.start, edit.text)
    return None


def _config(document: Document, data: bytes) -> Config:
    from nccl_logscan.configs.read import read_text  # noqa: PLC0415 - as above

    text = data[document.start : document.end]
    return read_text(document.name, text) or Config(document.name, "", text, ())


def _moved(placed: Placed, document: Document, source: str, lines: LineIndex) -> Placed:
    span, value_span = placed.span, placed.value_span
    start = span.start + document.start
    at, column = lines.place(source, start)
    expanded = not document.quoted and "$" in (placed.value or "")
    return replace(
        placed,
        at=at,
        column=column,
        span=Span(start, span.end + document.start),
        value=None if expanded else placed.value,
        value_span=value_span and Span(value_span.start + document.start, value_span.end + document.start),
    )
