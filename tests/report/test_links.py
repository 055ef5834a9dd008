"""Hyperlinks of a terminal: who gets them, and that no name can break out of one."""

from __future__ import annotations

import os
import re

import pytest

from nccl_logscan.report.links import linked, placed_for, takes_links

LINK = re.compile(r"\x1b\]8;[^;\x1b]*;([^\x1b\x07]*)\x1b\\")


@pytest.mark.parametrize(
    "environment",
    [
        {"TERM": "xterm-256color", "VTE_VERSION": "7006"},
        {"TERM": "xterm-256color", "KONSOLE_VERSION": "230804"},
        {"TERM": "xterm-256color", "WT_SESSION": "1b"},
        {"TERM": "xterm-256color", "TERM_PROGRAM": "vscode", "TERM_PROGRAM_VERSION": "1.94.2"},
        {"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app", "TERM_PROGRAM_VERSION": "3.5.0"},
        {"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm", "TERM_PROGRAM_VERSION": "20240203-110809-5046fc22"},
        {"TERM": "xterm-256color", "TERM_PROGRAM": "ghostty"},
        {"TERM": "xterm-kitty"},
        {"TERM": "tmux-256color", "TMUX": "/run/s", "TERM_PROGRAM": "tmux", "TERM_PROGRAM_VERSION": "3.5a"},
        {"TERM": "xterm", "FORCE_HYPERLINK": "1"},
    ],
)
def test_a_terminal_that_is_known_to_take_links_gets_them(environment):
    assert takes_links(environment)


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"TERM": "xterm-256color"},
        {"TERM": "dumb", "VTE_VERSION": "7006"},
        {"TERM": "xterm-256color", "VTE_VERSION": "5000"},
        {"TERM": "xterm-256color", "VTE_VERSION": "9" * 5_000},
        {"TERM": "xterm-256color", "KONSOLE_VERSION": "190800"},
        {"TERM": "xterm-256color", "VTE_VERSION": "7006", "CI": "true"},
        {"TERM": "xterm-256color", "TERM_PROGRAM": "vscode", "TERM_PROGRAM_VERSION": "1.71.2"},
        {"TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal", "TERM_PROGRAM_VERSION": "453"},
        {"TERM": "tmux-256color", "TMUX": "/run/s", "TERM_PROGRAM": "tmux", "TERM_PROGRAM_VERSION": "3.3a"},
        {"TERM": "screen", "TMUX": "/run/s", "VTE_VERSION": "7006"},
        {"TERM": "screen.xterm-256color", "STY": "1.pts", "VTE_VERSION": "7006"},
        {"TERM": "xterm-kitty", "FORCE_HYPERLINK": "0"},
    ],
)
def test_another_gets_none(environment):
    assert not takes_links(environment)
    assert placed_for(environment) is None


def test_an_address_names_the_host_and_the_whole_path(tmp_path, monkeypatch):
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "rank 0.log").write_text("x")
    monkeypatch.chdir(tmp_path)

    placed = placed_for({"TERM": "xterm", "FORCE_HYPERLINK": "1"})

    assert placed("logs/rank 0.log", 12) == f"file://{os.uname().nodename}{tmp_path}/logs/rank%200.log"


def test_kitty_is_told_the_line(tmp_path):
    (tmp_path / "a.log").write_text("x")

    placed = placed_for({"TERM": "xterm-kitty"})

    assert placed(str(tmp_path / "a.log"), 12).endswith("/a.log#12")
    assert placed(str(tmp_path / "a.log")).endswith("/a.log")


@pytest.mark.parametrize("name", ["-", "", "logs.tar.gz!rank0.log", "s3://bucket/a.log", "a\0b", "x" * 5_000])
def test_what_is_no_file_has_no_address(name):
    assert placed_for({"TERM": "xterm-kitty"})(name, 1) is None


@pytest.mark.parametrize(
    "name",
    [
        "a\x1b\\\x1b]0;owned\x07.log",
        "a\x07b",
        "a\nb",
        "a;b#c?d%e",
        "日本語.log",
        "a\u202eb",
        b"\xff\xfe\x9c".decode("utf-8", "surrogateescape"),
    ],
)
def test_a_hostile_name_stays_in_its_link(tmp_path, name):
    (tmp_path / name).write_text("x")

    address = placed_for({"TERM": "xterm-kitty"})(str(tmp_path / name))
    tail = address.removeprefix(f"file://{os.uname().nodename}{tmp_path}/")

    assert re.fullmatch(r"(?:[A-Za-z0-9._~-]|%[0-9A-F]{2})+", tail)
    assert bytes.fromhex(
        "".join(x[1:] if x[0] == "%" else x.encode().hex() for x in re.findall("%..|.", tail))
    ) == os.fsencode(name)
    assert LINK.findall(linked("shown", address)) == [address, ""]
