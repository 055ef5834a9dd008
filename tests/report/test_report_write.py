from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from nccl_logscan.errors import OutputError
from nccl_logscan.report import write
from nccl_logscan.report.write import write_atomically


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_text_is_written_as_utf_8(tmp_path):
    write_atomically(tmp_path / "r.html", "größer\n")
    assert (tmp_path / "r.html").read_bytes() == "größer\n".encode()
    assert names(tmp_path) == ["r.html"]


def test_a_new_report_has_the_mode_that_open_would_give(tmp_path):
    (tmp_path / "opened").write_text("")
    write_atomically(tmp_path / "r.html", "x")
    assert (tmp_path / "r.html").stat().st_mode == (tmp_path / "opened").stat().st_mode


def test_an_earlier_report_keeps_its_mode(tmp_path):
    path = tmp_path / "r.html"
    path.write_text("old")
    path.chmod(0o640)
    write_atomically(path, "new")
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("new", 0o640)


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    write_atomically(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


@pytest.mark.parametrize("moment", ["fsync", "fchmod"])
@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt(), SystemExit(143)])
def test_a_failure_at_any_moment_leaves_the_earlier_report_and_nothing_else(tmp_path, monkeypatch, moment, failure):
    path = tmp_path / "r.html"
    path.write_text("old")

    def fail(*_arguments):
        raise failure

    monkeypatch.setattr(write.os, moment, fail)
    with pytest.raises(OutputError if isinstance(failure, OSError) else type(failure)):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert names(tmp_path) == ["r.html"]


def test_a_file_system_that_names_no_nameless_file_gets_a_copy(tmp_path, monkeypatch):
    def refuse(*_args, **_options):
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", refuse)
    text = "the report\n" * 100_000
    place = tmp_path / "report.html"
    place.write_text("the earlier one")
    place.chmod(0o640)

    write_atomically(place, text)

    assert place.read_text() == text
    assert stat.S_IMODE(place.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [place]


def test_a_system_without_nameless_files_writes_all_the_same(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "O_TMPFILE")

    write_atomically(tmp_path / "report.html", "the report")

    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("report.html", "the report")]


def test_a_full_disk_says_so_in_one_line_with_a_hint(tmp_path, monkeypatch):
    def full(*_arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(write.os, "fsync", full)
    with pytest.raises(OutputError) as caught:
        write_atomically(tmp_path / "r.html", "new")
    assert str(caught.value) == f"cannot write the report to {tmp_path}/r.html: no space left on device"
    assert "--output" in caught.value.hint


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("missing/r.html", "no such file or directory"),
        ("folder", "is a directory"),
        ("file/r.html", "not a directory"),
        ("loop", "symlink loop"),
        ("x" * 300, "file name too long"),
        ("a\0b", "null"),
    ],
)
def test_a_target_that_cannot_be_is_one_line_with_a_hint(tmp_path, name, reason):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    (tmp_path / "loop").symlink_to("loop")
    before = names(tmp_path)
    with pytest.raises(OutputError) as caught:
        write_atomically(tmp_path / name, "new")
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.hint
    assert names(tmp_path) == before


def test_a_folder_that_may_not_be_written_is_an_error(tmp_path, monkeypatch):
    def refused(*_arguments, **_options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(write, "_new_part", refused)
    with pytest.raises(OutputError, match="permission denied"):
        write_atomically(tmp_path / "r.html", "new")


def test_a_named_pipe_is_written_to_and_stays(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write_atomically(pipe, "through the pipe")
    reader.join(10)
    assert read == ["through the pipe"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.parametrize(("number", "left"), [(signal.SIGINT, "old"), (signal.SIGTERM, "new"), (signal.SIGHUP, "new")])
def test_a_signal_in_mid_write_leaves_one_whole_report_and_no_part(tmp_path, number, left):
    # A shell that starts the tests in the background, or nohup, has them ignore SIGINT or SIGHUP, which a child
    # inherits. The write lasts until the signal has come: Python is interrupted, or it is pending.
    program = (
        "import pathlib, signal, sys, time\n"
        "from nccl_logscan.report import write\n"
        "signal.pthread_sigmask(signal.SIG_SETMASK, [])\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "signal.signal(signal.SIGTERM, signal.SIG_DFL)\n"
        "signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"
        "def slow(_descriptor):\n"
        "    print('now', flush=True)\n"
        "    while not signal.sigpending(): time.sleep(0.01)\n"
        "write.os.fsync = slow\n"
        "write.write_atomically(pathlib.Path(sys.argv[1]), 'new')\n"
    )
    (tmp_path / "r.html").write_text("old")
    with subprocess.Popen(
        [sys.executable, "-c", program, tmp_path / "r.html"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=Path(__file__).parents[2],
    ) as running:
        assert running.stdout.readline() == b"now\n"
        running.send_signal(number)
        assert running.wait(60) == -number
    assert names(tmp_path) == ["r.html"]
    assert (tmp_path / "r.html").read_text() == left
