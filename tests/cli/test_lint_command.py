import json
import os
import subprocess
from pathlib import Path

import pytest

from nccl_logscan.lint.mend import mend

SCRIPT = (
    "#!/bin/bash\n# kept\nexport NCCL_TIMEOUT=1800\nexport NCCL_DEBG=INFO   # why\ntorchrun --standalone train.py\n"
)
MENDED = "#!/bin/bash\n# kept\nexport NCCL_DEBUG=INFO   # why\ntorchrun --standalone train.py\n"
CLEAN = "#!/bin/bash\nexport NCCL_DEBUG=WARN\ntorchrun --standalone train.py\n"


@pytest.fixture
def file(here):
    """Write a file into the working directory and return its name."""

    def written(name, content):
        path = here / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return name

    return written


def test_errors_leave_with_1_and_notes_with_0(run, file):
    assert run("lint", file("bad.sh", SCRIPT)).code == 1
    assert run("lint", file("clean.sh", CLEAN)).code == 0
    noted = run("lint", file("noted.env", "NCCL_IBEXT_DISABLE=1\n"))
    assert (noted.code, "1 note in 1 file" in noted.out) == (0, True)
    assert run("lint", "bad.sh", "--exit-zero").code == 0


def test_select_and_ignore_choose_the_checks(run, file):
    file("bad.sh", SCRIPT)

    assert "[misspelt]" not in run("lint", "bad.sh", "--ignore", "misspelt").out
    only = run("lint", "bad.sh", "--select", "misspelt").out
    assert ("[misspelt]" in only, "[read-by-nothing]" in only) == (True, False)
    assert run("lint", "bad.sh", "--select", "spelling").code == 2


def test_versions_are_told_by_options(run, file):
    file("a.env", "NCCL_RAS_ENABLE=1\n")

    assert run("lint", "a.env", "--nccl", "2.21.5").code == 1
    assert run("lint", "a.env", "--nccl", "2.27.3").code == 0
    assert run("lint", "a.env", "--nccl", "new").code == 2
    assert run("lint", "a.env", "--framework", "verl").code == 2


def test_fix_prints_a_diff_and_nothing_else(run, file, here):
    file("bad.sh", SCRIPT)
    ran = run("lint", "bad.sh", "--fix")

    assert ran.code == 1
    assert ran.out.startswith("--- a/bad.sh\n+++ b/bad.sh\n@@ ")
    assert "[misspelt]" in ran.err
    assert (here / "bad.sh").read_text() == SCRIPT


def test_git_applies_the_diff(run, file, here):
    file("sub dir/bad.sh", SCRIPT)
    file("crlf.env", "NCCL_TIMEOUT=1\r\nNCCL_DEBUG=WARN\r\n")
    file("noend.env", "A=1\nNCCL_DEBG=WARN")
    diff = run("lint", "sub dir/bad.sh", "crlf.env", "noend.env", "--fix").out.encode()
    subprocess.run(["git", "init", "-q"], cwd=here, check=True)
    for words in (["git", "apply", "--check", "-"], ["git", "apply", "-"]):
        ran = subprocess.run(words, input=diff, cwd=here, capture_output=True, check=False)
        assert ran.returncode == 0, ran.stderr

    assert (here / "sub dir/bad.sh").read_text() == MENDED
    assert (here / "crlf.env").read_bytes() == b"NCCL_DEBUG=WARN\r\n"
    assert (here / "noend.env").read_bytes() == b"A=1\nNCCL_DEBUG=WARN"


def test_write_makes_the_fixes_and_says_so(run, file, here):
    file("bad.sh", SCRIPT)
    (here / "bad.sh").chmod(0o750)
    ran = run("lint", "bad.sh", "--fix", "--write")

    assert (here / "bad.sh").read_text() == MENDED
    assert (here / "bad.sh").stat().st_mode & 0o777 == 0o750
    assert "mended 2 settings in bad.sh: line 3, 4" in ran.err
    # What is left is judged anew: NCCL_DEBUG=INFO is a note.
    assert (ran.code, "misspelt" in ran.out) == (0, False)
    assert sorted(path.name for path in here.iterdir()) == ["bad.sh"]


def test_write_goes_with_fix_and_not_with_standard_input(run, file):
    assert run("lint", file("bad.sh", SCRIPT), "--write").code == 2
    assert run("lint", "-", "--fix", "--write").code == 2


def test_a_file_that_may_not_be_written_is_told(run, file, here):
    file("bad.sh", SCRIPT)
    (here / "bad.sh").chmod(0o400)
    if os.access(here / "bad.sh", os.W_OK):
        pytest.skip("root may write anything")

    assert run("lint", "bad.sh", "--fix", "--write").code == 5


def test_a_secret_is_in_no_output_and_its_neighbour_is_mended_all_the_same(run, file, here):
    secret = "HF_TOKEN=hf_abcdefghijklmnopqrstuvwx"  # noqa: S105 - none
    text = f"NCCL_TIMEOUT=1\n{secret}\n" + "A=1\n" * 9 + "NCCL_DEBG=WARN\n"
    file("a.env", text)
    ran = run("lint", "a.env", "--fix")

    assert secret not in ran.out + ran.err
    assert "-NCCL_DEBG=WARN\n+NCCL_DEBUG=WARN\n" in ran.out
    assert "NCCL_TIMEOUT" not in ran.out
    assert "a secret stands beside the change of line 1" in ran.err
    run("lint", "a.env", "--fix", "--write")
    assert (here / "a.env").read_text() == f"{secret}\n" + "A=1\n" * 9 + "NCCL_DEBUG=WARN\n"


def test_a_folder_is_searched_and_each_file_is_a_job_of_its_own(run, file):
    file("jobs/a.env", "NCCL_CROSS_NIC=0\n")
    file("jobs/b.env", "NCCL_CROSS_NIC=1\n")
    file("jobs/photo.png", b"\x89PNG NCCL_TIMEOUT")
    file("jobs/.git/hooks/x.sh", SCRIPT)

    assert run("lint", "jobs").out == "nothing wrong in 2 files\n"
    assert "in jobs/a.env:1" in run("lint", "jobs/a.env", "jobs/b.env").out


def test_a_link_in_a_folder_to_a_file_elsewhere_is_not_followed(run, file, here):
    file("other/b.env", "NCCL_DEBG=WARN\n")
    file("jobs/a.env", "NCCL_DEBUG=WARN\n")
    (here / "jobs" / "b.env").symlink_to(here / "other" / "b.env")

    assert run("lint", "jobs").out == "nothing wrong in 1 file\n"
    run("lint", "jobs", "--fix", "--write")
    assert (here / "other" / "b.env").read_text() == "NCCL_DEBG=WARN\n"


def test_a_pipe_that_nobody_writes_to_is_not_waited_for(run, here):
    os.mkfifo(here / "a.sh")

    ran = run("lint", "a.sh")
    assert (ran.code, "it is a pipe" in ran.err) == (3, True)


def test_a_name_that_is_too_long_is_no_defect(run):
    assert run("lint", "a" * 5000 + ".sh").code == 3


@pytest.mark.parametrize(
    "name", ["./sub/bad.sh", "sub//bad.sh", "sub/../sub/bad.sh", "{here}/sub/bad.sh", "link/bad.sh", "link.sh"]
)
def test_git_applies_the_diff_whatever_way_the_file_is_named(run, file, here, name):
    file("sub/bad.sh", SCRIPT)
    (here / "link").symlink_to("sub")
    (here / "link.sh").symlink_to("sub/bad.sh")
    diff = run("lint", name.format(here=here), "--fix").out.encode()
    subprocess.run(["git", "init", "-q"], cwd=here, check=True)
    ran = subprocess.run(["git", "apply", "-"], input=diff, cwd=here, capture_output=True, check=False)

    assert (ran.returncode, ran.stderr) == (0, b"")
    assert (here / "sub/bad.sh").read_text() == MENDED


def test_what_cannot_be_written_is_told_and_the_rest_is_mended(run, file, here, monkeypatch):
    for name in ("a.env", "b.env"):
        file(name, "NCCL_DEBG=WARN\n")

    def changes_a_file(*given):
        (here / "a.env").write_text("NCCL_DEBG=INFO\n")
        return mend(*given)

    monkeypatch.setattr("nccl_logscan.cli.lint.mend", changes_a_file)
    ran = run("lint", "a.env", "b.env", "--fix", "--write")

    assert ran.code == 5
    assert "a.env has been changed since it was read" in ran.err
    assert [(here / name).read_text() for name in ("a.env", "b.env")] == ["NCCL_DEBG=INFO\n", "NCCL_DEBUG=WARN\n"]


def test_many_named_files_are_judged_one_by_one(run, file):
    names = [file(f"{number}.env", f"NCCL_CROSS_NIC={number % 2}\n") for number in range(12)]

    assert run("lint", *names).out == "nothing wrong in 12 files\n"


def test_links_in_circles_are_not_followed(run, file, here):
    file("jobs/a.env", "NCCL_TIMEOUT=1\n")
    (here / "jobs" / "again").symlink_to(here / "jobs")
    (here / "jobs" / "b.env").symlink_to(here / "jobs" / "a.env")
    (here / "jobs" / "gone.env").symlink_to(here / "nowhere")

    assert "1 error in 1 file" in run("lint", "jobs", "jobs/a.env").out


def test_what_cannot_be_read_is_told_and_the_rest_is_linted(run, file):
    ran = run("lint", file("bad.sh", SCRIPT), "gone.sh", file("photo.png", b"\x89PNG"))

    assert ran.code == 3
    assert "[misspelt]" in ran.out
    assert "error: cannot read gone.sh: no such file or directory" in ran.err
    assert "error: photo.png is of no kind of configuration file that is known" in ran.err
    assert run("lint", "gone.sh").code == 3
    assert run("lint", file("empty/x", "").rpartition("/")[0]).code == 3


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"\xff\xfe" + SCRIPT.encode("utf-16-le"), b"\x00" * 500, b"\xef\xbb\xbf", b"\r\r\r"]
)
def test_any_bytes_give_a_result(run, file, content):
    for name in ("a.sh", "a.yaml", "a.json", "a.toml", "a.py", "Dockerfile", ".env", "nccl.conf"):
        assert run("lint", file(name, content)).code in {0, 1}


def test_standard_input_goes_by_the_name_that_it_is_given(run, monkeypatch, file, here):
    with (here / file("in", "NCCL_TIMEOUT=1\n")).open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        ran = run("lint", "-", "--stdin-name", "job.env")

    assert "job.env:1:1: error" in ran.out


@pytest.mark.parametrize("form", ["json", "sarif", "github"])
def test_each_format_goes_into_a_file(run, file, here, form):
    ran = run("lint", file("bad.sh", SCRIPT), "--format", form, "-o", "out")

    assert (ran.code, ran.out) == (1, "")
    text = (here / "out").read_text()
    assert json.loads(text) if form != "github" else text.startswith("::error ")


def test_an_output_that_cannot_be_written_leaves_with_5(run, file):
    assert run("lint", file("bad.sh", SCRIPT), "-o", "nowhere/out").code == 5


def test_a_file_given_twice_is_linted_once(run, file):
    file("bad.sh", SCRIPT)

    assert "in 1 file" in run("lint", "bad.sh", "./bad.sh", str(Path.cwd() / "bad.sh")).out


@pytest.mark.parametrize("processes", [2, 3])
def test_many_files_give_the_same_in_one_process_and_in_several(run, file, monkeypatch, processes):
    for number in range(9):
        file(f"jobs/{number}.env", f"NCCL_TIMEOUT={number}\n" if number % 2 else "A=1\n")
    file("jobs/broken.yaml", "env: [\n")
    alone = [run("lint", "jobs", "--format", form) for form in ("text", "json", "sarif", "github")]
    monkeypatch.setattr("nccl_logscan.cli.lint.processes_for", lambda _: processes)
    together = [run("lint", "jobs", "--format", form) for form in ("text", "json", "sarif", "github")]

    assert alone == together
    assert alone[0].code == 1


def test_the_remarks_replace_no_file_that_they_are_about(run, file, here):
    file("jobs/bad.sh", SCRIPT)
    for given in ("jobs/bad.sh", "jobs"):
        ran = run("lint", given, "-o", "jobs/bad.sh")
        assert (ran.code, "would replace it" in ran.err) == (2, True)
    assert (here / "jobs/bad.sh").read_text() == SCRIPT


def test_fixes_that_cannot_be_written_are_told_in_terms_of_the_fixes(run, file, here, monkeypatch):
    def full(*_arguments):
        raise OSError(28, "No space left on device")

    file("bad.sh", SCRIPT)
    monkeypatch.setattr(os, "fsync", full)
    ran = run("lint", "bad.sh", "--fix", "--write")

    assert ran.code == 5
    assert "cannot write the fixes to bad.sh: no space left on device" in ran.err
    assert "--output" not in ran.err
    assert (here / "bad.sh").read_text() == SCRIPT


@pytest.mark.parametrize("words", [("lint", "a.env"), ("explain", "NCCL_ALGO")])
def test_a_version_is_a_version_in_every_command(run, file, words):
    file("a.env", "NCCL_ALGO=Ring\n")
    assert run(*words, "--nccl", "core_v2.21.5-1+cuda12.4").code == 0
    ran = run(*words, "--nccl", "new1")
    assert (ran.code, "'new1' is no version; write it as 2.21.5" in ran.err) == (2, True)


@pytest.mark.parametrize(
    "acting", ["\x1b]0;owned\x07", "\u202e", "##vso[task.complete]", "##[error]", "\x9b2J", "a\rb"]
)
def test_what_a_terminal_or_a_runner_would_obey_is_in_no_diff_and_is_mended_all_the_same(run, here, acting):
    (here / "far.env").write_text(f"# {acting}\nA=1\nNCCL_DEBG=WARN\n", newline="")
    (here / "near.env").write_text(f"NCCL_DEBG=WARN # {acting}\n", newline="")

    far, near = run("lint", "far.env", "--fix"), run("lint", "near.env", "--fix")

    assert far.out == "--- a/far.env\n+++ b/far.env\n@@ -2,2 +2,2 @@\n A=1\n-NCCL_DEBG=WARN\n+NCCL_DEBUG=WARN\n"
    assert near.out == ""
    assert "the change of line 1, or what a terminal or a CI runner would obey; the diff leaves it out" in near.err
    run("lint", "near.env", "--fix", "--write")
    assert (here / "near.env").read_bytes() == f"NCCL_DEBUG=WARN # {acting}\n".encode()


def test_the_diff_of_a_file_with_a_byte_order_mark_and_dos_line_ends_is_shown(run, here):
    (here / "dos.env").write_bytes(b"\xef\xbb\xbf# x\r\nNCCL_DEBG=WARN\r\n")

    assert "+NCCL_DEBUG=WARN\r\n" in run("lint", "dos.env", "--fix").out
