"""Edits of bytes, and diffs that git takes."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nccl_logscan.configs.edit import Edit, applied, quoted_path, unified_diff


def _git_applies(tmp_path, name: str, before: bytes, diff: bytes) -> bytes:
    """Return what a file holds after `git apply` has taken the diff."""
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_bytes(before)
    for arguments in (["--check"], []):
        subprocess.run(["git", "apply", "--whitespace=nowarn", *arguments, "-"], input=diff, cwd=tmp_path, check=True)
    return (tmp_path / name).read_bytes()


def test_edits_are_made_from_the_first_to_the_last_whatever_their_order():
    assert applied(b"export A=1 B=2\n", [Edit(13, 14, b"9"), Edit(9, 10, b"")]) == b"export A= B=9\n"


def test_of_two_edits_of_the_same_place_one_is_made():
    assert applied(b"abcdef", [Edit(1, 4, b"X"), Edit(2, 3, b"Y")]) == b"aXef"


def test_the_same_edit_twice_is_made_once():
    assert applied(b"ab", [Edit(1, 1, b"-"), Edit(1, 1, b"-")]) == b"a-b"


def test_no_change_is_no_diff():
    assert unified_diff("run.sh", b"a\n", b"a\n") == b""


@pytest.mark.parametrize("name", ["run.sh", "a folder/run me.sh", 'quo"te.sh', "übung.sh", "tab\there.sh", "-dash.sh"])
def test_git_takes_a_diff_of_a_file_of_any_name(tmp_path, name):
    before, after = b"one\ntwo\nthree\n", b"one\n2\nthree\n"
    assert _git_applies(tmp_path, name, before, unified_diff(name, before, after)) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a\nb", b"a\nc"),
        (b"a\nb", b"a\nb\n"),
        (b"a\r\nb\r\nc\r\n", b"a\r\nB\r\nc\r\n"),
        (b"a\rb\nc\n", b"a\rb\nC\n"),
        (b"\xff\xfe caf\xe9\nb\n", b"\xff\xfe caf\xe9\nB\n"),
        (b"a\x0cb\x1cc\n\x85\n", b"a\x0cb\x1cc\n\x86\n"),
        (b"only\n", b""),
        (b"", b"first\n"),
    ],
)
def test_git_takes_a_diff_of_any_bytes(tmp_path, before, after):
    assert _git_applies(tmp_path, "f", before, unified_diff("f", before, after)) == after


_TEXTS = st.lists(st.sampled_from([b"a\n", b"b\n", b"\n", b"c\r\n", b"\xff\n", b"d", b"\r", b"\x0b"]), max_size=30)


@settings(max_examples=60, deadline=None)
@given(before=_TEXTS, after=_TEXTS)
def test_git_makes_of_the_file_what_the_diff_was_made_from(tmp_path_factory, before, after):
    old, new = b"".join(before), b"".join(after)
    if old != new:
        assert _git_applies(tmp_path_factory.mktemp("repo"), "f", old, unified_diff("f", old, new)) == new


@pytest.mark.parametrize("name", ["./run.sh", "run.sh", ".//run.sh", "sub/../run.sh", "/run.sh"])
def test_a_path_is_written_as_git_takes_it(name):
    assert quoted_path("a/", name) == b"a/run.sh"
