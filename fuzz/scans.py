"""Whole scans of short logs: bytes to a report."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Any

from fuzz.lines import parts_of_logs
from fuzz.target import Target, text_of
from nccl_logscan.errors import InputError
from nccl_logscan.pipeline import Options, scan_text
from nccl_logscan.report.json import render_json
from nccl_logscan.report.view import build_view
from nccl_logscan.rulebook.load import builtin_rulebook
from nccl_logscan.rulebook.rule import Rulebook
from nccl_logscan.taxonomy import Category

_OPTIONS = Options(looks_beside=False)
_UNCAUSED = frozenset({Category.NONE, Category.UNKNOWN})


@cache
def _rules() -> Rulebook:
    return builtin_rulebook()


def _scan(data: bytes) -> None:
    """A log has a verdict whose evidence stands where it is said to, or there is nothing in it to judge."""
    text = text_of(data)
    try:
        result = scan_text(text, _rules(), _OPTIONS)
    except InputError:
        return
    view: dict[str, Any] = build_view(result)
    lines = text.split("\n")
    for cited in view["verdict"]["evidence"]:
        assert 1 <= cited["line"] <= len(lines), cited
    assert bool(view["verdict"]["evidence"]) or result.diagnosis.category in _UNCAUSED, view["verdict"]
    assert 0 <= view["verdict"]["confidence"] <= 1
    render_json(view).encode("ascii")


def _logs() -> Iterator[bytes]:
    return islice(parts_of_logs(), 0, None, 4)


TARGETS = (
    Target(
        "scans",
        _scan,
        _logs,
        "a short log has a verdict with evidence at lines that it has, or nothing in it to judge; the report is JSON",
        longest=600,
    ),
)
