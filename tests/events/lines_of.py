"""Lines of `fixtures/lines/<dialect>.yaml` and what a dialect must make of each."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
import yaml

from nccl_logscan.events.model import Event
from nccl_logscan.lines.model import LogLine
from nccl_logscan.position import Origin, Position

FIXTURES = Path(__file__).parents[2] / "fixtures" / "lines"


def line(text, *, prefixes=(), level=None, **origin):
    return LogLine(Position("log", 1, 0), text, origin=Origin(**origin), prefixes=tuple(prefixes), level=level)


def known(dialect):
    """Return a parameter for each line that the dialect must know."""
    return [pytest.param(case, id=case["text"][:70]) for case in _document(dialect)["events"]]


def strange(dialect):
    """Return a parameter for each line that is none of the dialect's."""
    return [pytest.param(text, id=text[:70]) for text in _document(dialect)["others"]]


def read_as(case, event):
    """Return (what was read, what the fixture demands), both as plain values that compare with NaN in them."""
    expected = {"message": case["text"], **case["event"]}
    expected |= {name: Origin(**expected[name]) for name in ("origin",) if name in expected}
    return _plain(said_by(event)), _plain(expected)


def given(case):
    return line(case["text"], prefixes=case.get("prefixes", ()), level=case.get("level"), **case.get("spoken_by", {}))


def said_by(event: Event | None):
    """Return the kind and every field that is not at its default, `at` and `when` apart."""
    if event is None:
        return {}
    said = {"kind": event.kind}
    for field in dataclasses.fields(event):
        value = getattr(event, field.name)
        if field.name not in {"at", "when"} and value != field.default:
            said[field.name] = value
    return said


def _plain(said):
    return {name: repr(float(value)) if isinstance(value, float) else value for name, value in said.items()}


def _document(dialect):
    return yaml.safe_load((FIXTURES / f"{dialect}.yaml").read_text(encoding="utf-8"))
