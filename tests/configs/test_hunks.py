import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nccl_logscan.configs.edit import Edit, applied
from nccl_logscan.configs.hunks import diff_of_edits


def _patched(folder, name, before, diff):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(before)
    for words in (["git", "apply", "--check", "-"], ["git", "apply", "-"]):
        ran = subprocess.run(words, input=diff, cwd=folder, capture_output=True, check=False)
        assert ran.returncode == 0, ran.stderr.decode()
    return path.read_bytes()


texts = st.lists(
    st.sampled_from([b"a\n", b"b\n", b"\n", b"export X=1\r\n", b"\xff\xfe\n", b"no end"]), max_size=14
).map(b"".join)


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


@pytest.mark.parametrize("name", ["a b.sh", 'say "hi".sh', "sub/ü.sh", "tab\there.sh"])
def test_any_name_of_a_file_is_told_so_that_git_finds_it(tmp_path, name):
    data = b"one\ntwo\nthree\n"

    assert _patched(tmp_path, name, data, diff_of_edits(name, data, [Edit(4, 7, b"2")])) == b"one\n2\nthree\n"


def test_only_the_lines_meant_are_changed():
    data = b"".join(b"line %d\n" % number for number in range(40))
    diff = diff_of_edits("f", data, [Edit(data.index(b"line 5\n"), data.index(b"line 6\n"), b"")])

    assert [line for line in diff.split(b"\n") if line[:1] in b"+-" and line[:3] not in {b"+++", b"---"} and line] == [
        b"-line 5"
    ]


def test_edits_at_one_place_keep_their_order():
    assert applied(b"ab", [Edit(1, 1, b"Z"), Edit(1, 1, b"A")]) == b"aZAb"
