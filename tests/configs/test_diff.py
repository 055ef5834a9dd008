"""Diffs that git takes."""

import subprocess
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nccl_logscan.configs.diff import diff_of_edits
from nccl_logscan.configs.edit import Edit, applied


def _patched(folder, name, before, diff):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(before)
    for words in (["git", "apply", "--check", "-"], ["git", "apply", "-"]):
        ran = subprocess.run(words, input=diff, cwd=folder, capture_output=True, check=False)
        assert ran.returncode == 0, ran.stderr.decode()
    return path.read_bytes()


LINES = [b"a\n", b"b\n", b"\n", b"export X=1\r\n", b"\xff\xfe\n", b"\r", b"\x0b", b"no end"]
texts = st.lists(st.sampled_from(LINES), max_size=14).map(b"".join)


@st.composite
def edited(draw):
    data = draw(texts)
    edits = []
    at = 0
    for _ in range(draw(st.integers(0, 4))):
        if at > len(data):
            break
        start = draw(st.integers(at, len(data)))
        end = draw(st.integers(start, min(len(data), start + 9)))
        edits.append(Edit(start, end, draw(st.sampled_from([b"", b"x", b"new\n", b"\nnew", b"a\nb\n"]))))
        at = end + 1
    return data, edits


@settings(max_examples=60, deadline=None)
@given(edited())
def test_git_makes_of_the_diff_what_the_edits_make(tmp_path_factory, case):
    data, edits = case
    diff = diff_of_edits("run.sh", data, edits)

    if applied(data, edits) == data:
        assert diff == b""
    else:
        assert _patched(tmp_path_factory.mktemp("git"), "run.sh", data, diff) == applied(data, edits)


@pytest.mark.parametrize(
    "name", ["run.sh", "a folder/run me.sh", 'say "hi".sh', "sub/ü.sh", "tab\there.sh", "-dash.sh"]
)
def test_any_name_of_a_file_is_told_so_that_git_finds_it(tmp_path, name):
    data = b"one\ntwo\nthree\n"

    assert _patched(tmp_path, name, data, diff_of_edits(name, data, [Edit(4, 7, b"2")])) == b"one\n2\nthree\n"


def test_only_the_lines_meant_are_changed():
    data = b"".join(b"line %d\n" % number for number in range(40))
    diff = diff_of_edits("f", data, [Edit(data.index(b"line 5\n"), data.index(b"line 6\n"), b"")])

    assert [line for line in diff.split(b"\n") if line[:1] in b"+-" and line[:3] not in {b"+++", b"---"} and line] == [
        b"-line 5"
    ]


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
    assert _patched(tmp_path, "f", before, diff_of_edits("f", before, [Edit(0, len(before), after)])) == after


@settings(max_examples=60, deadline=None)
@given(before=texts, after=texts)
def test_git_makes_of_a_file_what_an_edit_of_all_of_it_makes(tmp_path_factory, before, after):
    diff = diff_of_edits("f", before, [Edit(0, len(before), after)])

    if before == after:
        assert diff == b""
    else:
        assert _patched(tmp_path_factory.mktemp("git"), "f", before, diff) == after


def test_no_change_is_no_diff():
    assert diff_of_edits("run.sh", b"a\n", []) == b""
    assert diff_of_edits("run.sh", b"a\n", [Edit(0, 1, b"a")]) == b""


def test_of_an_edit_that_inserts_in_two_places_only_the_insertions_are_shown():
    data = b"".join(b"line %d\n" % number for number in range(40))
    edit = Edit(0, len(data), data.replace(b"line 5\n", b"line 5\nnew\n").replace(b"line 30\n", b"new\nline 30\n"))
    diff = diff_of_edits("f", data, [edit])

    assert [line for line in diff.split(b"\n")[2:] if line[:1] in {b"+", b"-"}] == [b"+new", b"+new"]
    assert diff.count(b"@@ -") == 2


def test_a_file_of_lines_all_alike_takes_no_longer_than_its_length_asks():
    data = b"export A=1\n" * 200_000
    start = time.perf_counter()
    diff = diff_of_edits("f", data, [Edit(at, at + 11, b"") for at in range(0, len(data), 44)] + [Edit(11, 22, b"B\n")])

    assert diff.count(b"\n-export A=1") == 50_001
    assert time.perf_counter() - start < 10


@pytest.mark.parametrize("name", ["./run.sh", "run.sh", ".//run.sh", "sub/../run.sh", "/run.sh"])
def test_a_path_is_written_as_git_takes_it(name):
    assert diff_of_edits(name, b"a\n", [Edit(0, 1, b"b")]).startswith(b"--- a/run.sh\n+++ b/run.sh\n")
