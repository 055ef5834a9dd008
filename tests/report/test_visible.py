"""No letter that acts or is never seen goes through, and all that are seen do."""

from __future__ import annotations

import json
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nccl_logscan.report.visible import (
    acts_on_nothing,
    harmless_to_runners,
    html_harmless_to_runners,
    json_harmless_to_runners,
    json_visible,
    lines_harmless_to_runners,
    visible,
)

# Marks that stand before a number and are seen, though Unicode calls them formats.
SEEN = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
# Default_Ignorable_Code_Point of Unicode 17 among letters and marks, but for the two selectors of emoji.
IGNORED = {0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x3164, 0xFFA0}
IGNORED |= {*range(0xFE00, 0xFE0E), *range(0xE0100, 0xE01F0)}
COMMANDS = ("##[error]x", "##vso[task.complete]", "##VSO[x]", "##teamcity[x]", "###[group]", "####vso[a]")


def acts(code):
    return (unicodedata.category(chr(code)) in {"Cc", "Cf", "Cs", "Zl", "Zp"} and code not in SEEN) or code in IGNORED


def test_a_letter_is_spelled_out_where_it_acts_or_is_never_seen_and_nowhere_else():
    spelled = {code for code in range(sys.maxunicode + 1) if visible(chr(code)) != chr(code)}
    expected = {code for code in range(sys.maxunicode + 1) if acts(code)} - {9}

    assert expected <= spelled
    assert {code for code in spelled - expected if unicodedata.category(chr(code)) != "Cn"} == set()


@pytest.mark.parametrize("text", ["\u26a0\ufe0f slow", "NCCL WARN é → 日本", "\u0623\u0628 \u05d0\u05d1", "a\tb"])
def test_what_is_seen_stays(text):
    assert visible(text) == text
    assert acts_on_nothing(text)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("head", ["", "a", "a ", "#", "\t"])
def test_no_command_is_left(command, head):
    for made in (harmless_to_runners, lines_harmless_to_runners, html_harmless_to_runners):
        assert not any(mark in made(head + command).lower() for mark in ("##[", "##vso[", "##teamcity["))
    assert not acts_on_nothing(head + command)
    assert json.loads(json_harmless_to_runners(json.dumps(head + command))) == head + command


@pytest.mark.parametrize("line", ["::error::x", " ::add-mask::x", "\u00a0::stop-commands::x"])
def test_no_line_begins_with_a_command(line):
    for made in (harmless_to_runners, lines_harmless_to_runners, html_harmless_to_runners):
        assert not made(f"a\n{line}").split("\n")[1].lstrip().startswith("::")
    assert not acts_on_nothing(line)


@given(st.text(st.sampled_from('#[]vso:a \u202e\x9b\ud83d"\\\n')), st.booleans())
def test_json_means_the_same(text, plain):
    text = text.encode("utf-8", "replace").decode() if plain else text
    assert json.loads(json_harmless_to_runners(json.dumps(text))) == text
    if plain:
        assert json.loads(json_visible(json.dumps(text, ensure_ascii=False).encode())) == text
