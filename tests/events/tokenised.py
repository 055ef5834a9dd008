"""Logs of `fixtures/lines/<name>.yaml`, and the events that they must give."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
import yaml

from nccl_logscan.events.tokenise import Tokeniser
from nccl_logscan.lines.model import LogLine
from nccl_logscan.position import Origin, Position

MARK = re.compile(r"@(\w+=\w+(?:,\w+=\w+)*) ")
FIXTURES = Path(__file__).parents[2] / "fixtures" / "lines"


def cases(name):
    """Return a parameter for each log of a fixture."""
    document = yaml.safe_load((FIXTURES / f"{name}.yaml").read_text(encoding="utf-8"))
    return [pytest.param(case, id=case["name"]) for case in document]


def lines(texts):
    """Return the lines of a log; `@rank=1,host=a ` before a text gives the origin that its prefixes told."""
    return [_line(text, number) for number, text in enumerate(texts, start=1)]


def tokenised(texts):
    """Return every event of a log."""
    return events_of(lines(texts))


def events_of(log):
    tokeniser = Tokeniser()
    events = [event for line in log for event in tokeniser.read(line)]
    return events + list(tokeniser.finish())


def as_written(events, log):
    """Return the events that a dialect knew as a fixture writes them: without what the line says itself."""
    return [_written(event, log[event.at.line - 1]) for event in events if event.kind != "log.text"]


def _line(text, number):
    origin = {}
    if marked := MARK.match(text):
        text = text[marked.end() :]
        parts = (part.partition("=") for part in marked[1].split(","))
        origin = {name: int(value) if value.isdecimal() else value for name, _, value in parts}
    return LogLine(Position("log", number, 0), text, Origin(**origin))


def _written(event, line):
    said = {"at": event.at.line, "kind": event.kind}
    for field in dataclasses.fields(event):
        value = getattr(event, field.name)
        told_by_the_line = {"origin": line.origin, "message": line.text}.get(field.name, field.default)
        if field.name != "at" and value not in (field.default, told_by_the_line):
            said[field.name] = _plain(value)
    return said


def _plain(value):
    if dataclasses.is_dataclass(value):
        parts = {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {name: part for name, part in parts.items() if part is not None}
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return value.isoformat() if hasattr(value, "isoformat") else value
