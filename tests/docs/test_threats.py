"""The table of threats names tests that are there, and has a row for each threat."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "threats.md"
THREATS = (
    "HTML", "script", "SVG", "CSS", "Content-Security-Policy", "terminal escapes", "bidirectional", "formulas in CSV",
    "Markdown", "`::error::`", "`::add-mask::`", "paths with newlines", "YAML bombs", "aliases", "tags",
    "exponentially", "pickles", "archives with bombs", "links", "absolute names", "a million members",
    "xz and zstd windows", "JSON depth", "endless lines", "streams", "FIFOs", "replaced or truncated while read",
    "another rank", "a verdict", "config path outside the given folder", "disk full", "read errors", "permission",
    "SIGINT", "SIGTERM", "a worker killed", "memory limit", "closed pipe", "read-only folder",
    "two runs writing one report", "tokens", "keys", "passwords", "signed URLs", "environments",
    "network at run time", "wheels", "bill of materials",
)  # fmt: skip


class Row(NamedTuple):
    threat: str
    answer: str
    tests: tuple[str, ...]


def rows_of(page):
    rows = [line.strip("|").split(" | ") for line in page.splitlines() if line.startswith("| ")]
    told = [cells for cells in rows if [cell.strip() for cell in cells] != ["threat", "what the program does", "tests"]]
    return [Row(*(cell.strip() for cell in cells[:2]), tuple(re.findall(r"`([^`]+)`", cells[2]))) for cells in told]


ROWS = rows_of(PAGE.read_text("utf-8"))


@cache
def names_in(file):
    path = ROOT / file
    if not path.is_file() or not path.name.startswith("test_"):
        return frozenset()
    functions = ast.parse(path.read_text("utf-8")).body
    return frozenset(one.name for one in functions if isinstance(one, ast.FunctionDef) and one.name.startswith("test_"))


def missing(rows):
    """Return the tests that no file has."""
    places = ((test, *test.partition("::")[::2]) for row in rows for test in row.tests)
    return [test for test, file, name in places if name not in names_in(file)]


def test_every_test_that_is_named_is_there():
    assert ROWS
    assert missing(ROWS) == []


def test_every_row_says_what_is_done_and_names_a_test_once():
    for row in ROWS:
        assert row.answer, row.threat
        assert row.tests, row.threat
        assert len(set(row.tests)) == len(row.tests), row.threat
        assert all(re.fullmatch(r"tests/[\w/]+\.py::test_\w+", test) for test in row.tests), row.threat


@pytest.mark.parametrize("threat", THREATS)
def test_a_threat_has_a_row(threat):
    assert [row for row in ROWS if re.search(rf"(?<!\w){re.escape(threat)}(?!\w)", row.threat, re.IGNORECASE)]


def test_no_threat_is_told_twice():
    threats = [row.threat for row in ROWS]
    assert len(set(threats)) == len(threats)


def test_a_test_that_is_gone_is_seen():
    page = "| a | b | `tests/docs/test_threats.py::test_gone`, `tests/none.py::test_x` |\n"

    assert missing(rows_of(page)) == ["tests/docs/test_threats.py::test_gone", "tests/none.py::test_x"]
