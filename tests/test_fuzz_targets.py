"""The targets of fuzz/: their own inputs hold, changed ones as well, and each target can tell a fault."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markupsafe import Markup

from fuzz import files, lines, scans
from fuzz.targets import TARGETS
from nccl_logscan.lines import Peeler
from nccl_logscan.recorder import DumpError
from nccl_logscan.report import compiled_templates, sarif_parts, text

pytestmark = pytest.mark.parametrize("name", TARGETS)


@cache
def _seeds(name):
    return [seed[: TARGETS[name].longest] for seed in TARGETS[name].seeds()]


@st.composite
def _changed(draw, name):
    """An input of a target's, spliced with another and with bytes put over it."""
    one, other = draw(st.sampled_from(_seeds(name))), draw(st.sampled_from(_seeds(name)))
    at, start = draw(st.integers(0, len(one))), draw(st.integers(0, len(other)))
    put = draw(st.one_of(st.binary(max_size=24), st.text(max_size=12).map(lambda put: put.encode("utf-8", "replace"))))
    spliced = one[:at] + put + draw(st.sampled_from((one[at:], one[at + len(put) :], other[start:])))
    return spliced[: TARGETS[name].longest]


def test_what_must_hold_does_for_inputs_made_of_real_logs(name):
    seeds = _seeds(name)
    assert len(seeds) > 20
    for seed in seeds[:: max(1, len(seeds) // 60)]:
        TARGETS[name].attempt(seed)


def test_what_must_hold_does_for_inputs_that_once_showed_a_fault(name):
    for path in TARGETS[name].found():
        TARGETS[name].attempt(path.read_bytes())


def test_what_must_hold_does_for_changed_inputs(name):
    @settings(max_examples=100, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(_changed(name))
    def attempted(data):
        TARGETS[name].attempt(data)

    attempted()


@pytest.fixture
def fault(name, monkeypatch):
    """Break what a target looks at."""

    def cut_apart(name, blocks, limits):
        return (line for block in blocks for line in _cut(name, [block], limits))

    def unquoted(path, **_):
        return path.decode("utf-8", "replace")

    def unreadable(*_):
        raise DumpError("two\nlines")

    broken = {
        "lines": (lines, "cut_lines", cut_apart),
        "prefixes": (Peeler, "finish", lambda _: ()),
        "events": (lines, "_LARGEST", 0),
        "rule_files": (files, "read_rule", lambda _: ()),
        "dumps": (files, "read_dump", unreadable),
        "configs": (files, "read_text", lambda name, data: _read_text(name, b"#\n" * 50 + data)),
        "html": (compiled_templates, "escape", Markup),
        "sarif": (sarif_parts, "quote", unquoted),
        "scans": (scans, "scan_text", lambda log, *more: _scan_text("\n" * 900 + log, *more)),
        "forms": (text, "visible", str),
    }
    monkeypatch.setattr(*broken[name])


_read_text, _cut, _scan_text = files.read_text, lines.cut_lines, scans.scan_text


@pytest.mark.usefixtures("fault")
def test_a_fault_is_told(name):
    assert any(_fails(name, seed) for seed in _seeds(name))


def _fails(name, data):
    try:
        TARGETS[name].attempt(data)
    except Exception:  # noqa: BLE001 - whichever way it tells
        return True
    return False
