from __future__ import annotations

import os
import subprocess
import sys

import pytest
from rule_folders import write_rule

from nccl_logscan.rulebook import load
from nccl_logscan.rulebook.compiled import COMPILED, rulebook_from, text_of
from nccl_logscan.rulebook.load import builtin_rulebook, load_rulebook
from nccl_logscan.rulebook.where import builtin_rules

TICK = 4_000_000
"""Nanoseconds between two times that a file system of Linux may set."""

EVERYTHING = {
    "match": {
        "event": ["nccl.attn", "nccl.warn"],
        "wordings": [{"nccl": ">=2.10", "torch": ">=2.1", "message": "foo (?P<peer>.)"}],
        "where": {"site.file": {"in": ["a", None]}, "site.line": {"at_least": 1, "at_most": 2.5}},
        "unless": ["bar"],
        "near": {"event": "nccl.info", "within_lines": 3, "same": "rank", "order": "after"},
        "not_followed_by": {"event": "train.step", "message": "x", "within_lines": 3},
        "fallback": True,
    }
}


def test_a_compiled_rulebook_is_the_same_rulebook(tmp_path):
    write_rule(tmp_path, "infiniband/a", **EVERYTHING)
    write_rule(tmp_path, "infiniband/b", match={"detector": "d"})
    rulebook = load_rulebook([tmp_path])

    assert rulebook_from(text_of(rulebook)) == rulebook


def test_the_built_in_rules_survive_compilation():
    rulebook = load_rulebook([builtin_rules()])

    assert rulebook_from(text_of(rulebook)) == rulebook


def test_a_text_of_another_version_is_no_rulebook():
    assert rulebook_from('{"rulebook": {"rules": {"a/b": {"colour": "red"}}, "digest": ""}}') is None
    assert rulebook_from("not json") is None


def test_a_compiled_form_that_is_out_of_date_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setattr(load, "builtin_rules", lambda: tmp_path)
    write_rule(tmp_path, "infiniband/a")
    (tmp_path / COMPILED).write_text(text_of(load_rulebook([tmp_path])), "utf-8")
    written = (tmp_path / COMPILED).stat().st_mtime_ns
    write_rule(tmp_path, "infiniband/b")
    os.utime(tmp_path / "infiniband", ns=(written, written + TICK))

    assert list(builtin_rulebook.__wrapped__().rules) == ["infiniband/a", "infiniband/b"]


def test_a_compiled_form_written_within_one_tick_of_the_clock_with_the_last_rules_is_fresh(tmp_path, monkeypatch):
    monkeypatch.setattr(load, "builtin_rules", lambda: tmp_path)
    monkeypatch.setattr(load, "_digest_of_files", lambda _: pytest.fail("the rule files were read"))
    write_rule(tmp_path, "infiniband/a")
    (tmp_path / COMPILED).write_text(text_of(load_rulebook([tmp_path])), "utf-8")
    for path in (tmp_path / COMPILED, tmp_path / "infiniband", tmp_path / "infiniband" / "a.yaml"):
        os.utime(path, ns=(TICK, TICK))

    assert list(builtin_rulebook.__wrapped__().rules) == ["infiniband/a"]


def test_a_fresh_compiled_form_spares_a_scan_yaml_and_pydantic(tmp_path):
    for number in range(200):
        write_rule(tmp_path, f"infiniband/r{number}")
    (tmp_path / COMPILED).write_text(text_of(load_rulebook([tmp_path])), "utf-8")
    program = (
        "import sys, pathlib\n"
        "from nccl_logscan.rulebook import load\n"
        "load.builtin_rules = lambda: pathlib.Path(sys.argv[1])\n"
        "assert len(load.builtin_rulebook().rules) == 200\n"
        "print(*sys.modules)\n"
    )
    started = os.times().children_user
    loaded = subprocess.run(
        [sys.executable, "-c", program, tmp_path], capture_output=True, text=True, check=True
    ).stdout

    assert os.times().children_user - started < 1.5
    assert not {"yaml", "pydantic"} & set(loaded.split())
