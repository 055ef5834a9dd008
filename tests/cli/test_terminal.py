"""Terminals, pipes and signals."""

from __future__ import annotations

import fcntl
import gzip
import io
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pyte
import pytest

from nccl_logscan.cli import progress
from nccl_logscan.cli.progress import progress_on
from nccl_logscan.sources.line_source import TextSource

CASES = Path(__file__).parents[2] / "fixtures" / "cases"
COLOUR = re.compile(rb"\x1b\[(?:\d+;)*(?:3[0-7]|9[0-7]|4[0-7])m")


def on_a_terminal(start, *arguments, columns=100, **environment):
    """Run with standard output on a terminal and return all that it was sent."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    settings = {"TERM": "xterm-256color", "COLUMNS": str(columns), **environment}
    process = start(*arguments, stdout=theirs, env=settings)
    os.close(theirs)
    sent = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # Linux says EIO when the other side has closed
            break
        if not piece:
            break
        sent += piece
    os.close(ours)
    process.communicate(timeout=60)
    return sent


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "FORCE_HYPERLINK", "CI", "TMUX", "TERM_PROGRAM"):
        monkeypatch.delenv(name, raising=False)


def test_a_terminal_gets_colour(start, failed):
    assert COLOUR.search(on_a_terminal(start, failed))


def test_a_terminal_gets_no_colour_where_it_is_not_wanted(start, failed):
    sent = on_a_terminal(start, failed, NO_COLOR="1")

    assert b"FAILED" in sent
    assert not COLOUR.search(sent)


def screen_of(sent, columns=80, rows=24):
    """Return what a terminal shows of it: the lines, without blanks at their ends."""
    screen = pyte.Screen(columns, rows)
    pyte.ByteStream(screen).feed(sent)
    return [line.rstrip() for line in screen.display]


@pytest.mark.parametrize(
    "case",
    [
        "recorder/fr-timing", "recorder/fr-active-only", "recorder/fr-op-flat-json", "recorder/fr-killed-rank0",
        "lab/timeout-dataloader", "lab/m8-pair-shape-rank4", "lab/v2.30.7-fullmem", "lab/bad-ordinal",
        "lab/v2.21.5-net-kill", "lab/v2.16.5-badptr", "lab/mix-2.18.3-2.21.5", "lab/overflow-fp16",
        "lab/healthy-bf16", "field/net012", "field/net034", "field/net049", "field/net061", "field/app_008",
        "field/app_031", "field/app_051",
    ],
)  # fmt: skip
def test_the_verdict_and_the_prompt_fit_into_a_window_of_24_lines(start, case):
    lines = screen_of(on_a_terminal(start, CASES / case, columns=80))

    assert lines[0].split()[0] in {"FAILED", "HEALTHY", "UNCLEAR"}  # nothing was scrolled away
    assert any(line.startswith("Report") for line in lines)
    assert lines[-1] == ""


def test_a_long_name_of_the_report_takes_its_lines_from_the_verdict(start, here):
    folder = here / ("long-" * 40)
    folder.mkdir()

    lines = screen_of(on_a_terminal(start, CASES / "recorder/fr-timing", "-o", folder / "r.html", columns=80))

    assert lines[0].startswith("FAILED")
    assert lines[-1] == ""


LINK = re.compile(rb"\x1b\]8;[^;]*;(file:[^\x1b]*)\x1b\\")


def test_places_and_the_report_lead_to_their_files(start, failed, here):
    links = set(LINK.findall(on_a_terminal(start, failed, VTE_VERSION="7006")))

    host = f"file://{os.uname().nodename}"
    assert links >= {f"{host}{failed}".encode(), f"{host}{here}/reports/driver.html".encode()}


@pytest.mark.parametrize("command", ["lint", "show"])
def test_places_of_other_commands_lead_to_their_files(start, here, command):
    (here / "run.sh").write_text("export NCCL_IB_TIMEOUT=900\n")

    sent = on_a_terminal(start, command, "run.sh" if command == "lint" else "run.sh:1", VTE_VERSION="7006")

    assert LINK.search(sent)[1].endswith(b"/here/run.sh")


@pytest.mark.parametrize(
    "environment", [{"VTE_VERSION": "7006", "TERM": "dumb"}, {}, {"FORCE_HYPERLINK": "0", "WT_SESSION": "1"}]
)
def test_another_terminal_gets_no_link(start, failed, environment):
    sent = on_a_terminal(start, failed, **environment)

    assert b"FAILED" in sent
    assert b"\x1b]8" not in sent


def test_a_dumb_terminal_gets_no_escape(start, failed):
    assert b"\x1b" not in on_a_terminal(start, failed, TERM="dumb", COLORTERM="truecolor")


def test_a_redacted_verdict_leads_to_the_report_alone(start, failed):
    links = LINK.findall(on_a_terminal(start, "scan", failed, "--redact", VTE_VERSION="7006"))

    assert {link.rpartition(b"/")[2] for link in links} == {b"driver.html"}
    assert len(links) == 1


def test_a_pipe_gets_no_escape_and_no_progress(start, failed):
    process = start(failed, stdout=subprocess.PIPE, env={"TERM": "xterm-256color"})
    stdout, stderr = process.communicate(timeout=60)

    assert b"FAILED" in stdout
    assert b"\x1b" not in stdout
    assert stderr == b""


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
@pytest.mark.parametrize("arguments", [(), ("--format", "text", "-o", "-"), ("--format", "json", "-o", "-")])
def test_a_terminal_without_a_character_gets_another_in_its_place(start, failed, encoding, arguments):
    process = start(failed, *arguments, stdout=subprocess.PIPE, env={"PYTHONIOENCODING": encoding})
    stdout, stderr = process.communicate(timeout=60)

    assert process.returncode == 1
    assert len(stdout) > 200
    assert stderr == b""


@pytest.mark.parametrize("arguments", [("--format", "json", "-o", "-"), ("--format", "html", "-o", "-"), ()])
def test_a_reader_that_has_gone_is_no_error_and_the_verdict_stands(start, failed, arguments):
    process = start(failed, *arguments, stdout=subprocess.PIPE)
    process.stdout.close()
    process.stdout = None
    _, stderr = process.communicate(timeout=60)

    assert stderr == b""
    assert process.returncode == 1


def test_a_reader_of_the_rules_that_has_gone_is_no_error(start):
    process = start("rules", "list", stdout=subprocess.PIPE)
    process.stdout.close()
    process.stdout = None
    _, stderr = process.communicate(timeout=60)

    assert (process.returncode, stderr) == (0, b"")


LINE = b"node-1:1:1 [0] NCCL INFO Connected all rings\n"


@pytest.fixture
def interrupted(start):
    """Start the program, let it read what it takes of some input, and interrupt it while it waits for more."""

    def interrupted(*arguments, text):
        process = start(*arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process.stdin.write(text)
        process.stdin.flush()
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)
        return process

    return interrupted


@pytest.mark.parametrize("command", ["-", "rules suggest -", "events - -o e.jsonl", "events - -o e.parquet"])
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(LINE * 10, id="little"),
        pytest.param(LINE * 20_000, id="more than a pipe holds"),
        pytest.param(LINE * 150_000, id="more than one thread skims"),
        pytest.param(gzip.compress(LINE * 150_000, 0), id="packed"),
    ],
)
def test_an_interrupt_ends_the_run_with_130_and_writes_nothing(interrupted, here, command, text):
    process = interrupted(*command.split(), text=text)

    assert process.returncode == 130
    assert process.stderr.read().strip() == b"error: interrupted; nothing was written"
    assert list(here.iterdir()) == []


def test_an_interrupted_run_leaves_the_earlier_report(interrupted, here):
    (here / "report.html").write_text("the report of yesterday")

    interrupted("-", "-o", "report.html", text=LINE * 150_000)

    assert (here / "report.html").read_text() == "the report of yesterday"


# --- progress ------------------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_no_progress_is_shown_where_nobody_watches():
    for stream in (io.StringIO(), None):
        with progress_on(stream) as show:
            assert show is None


def test_a_short_scan_shows_no_bar():
    terminal = Terminal()

    with progress_on(terminal) as show:
        show(TextSource("a.log", "x"))

    assert terminal.getvalue() == ""


def test_a_long_scan_shows_each_source_and_how_much_of_it_was_read(monkeypatch):
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()

    with progress_on(terminal) as show:
        show(TextSource("rank0.log", "x", bytes_read=3_000_000))
        show(TextSource("rank1.log", "x", bytes_read=5_000))

    shown = terminal.getvalue()
    assert "rank0.log" in shown
    assert "rank1.log" in shown
    assert "3.0" in shown


@pytest.mark.parametrize("name", ["[/bold]x.log", "a\x1b]0;owned\x07.log", "-", "x" * 4_000])
def test_a_bar_shows_any_name_and_nothing_of_it_stays(monkeypatch, name):
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    terminal = Terminal()

    with progress_on(terminal) as show:
        show(TextSource(name, "x", bytes_read=3_000_000))
    sent = terminal.getvalue()

    assert {"-": "standard input"}.get(name, name[-4:]) in sent
    assert "\x1b]" not in sent
    assert "3.0 MB" in sent
    assert not any(screen_of(sent.replace("\n", "\r\n").encode()))


def test_of_many_sources_those_read_last_are_shown(monkeypatch):
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()

    with progress_on(terminal) as show:
        for rank in range(100):
            show(TextSource(f"rank{rank}.log", "x", bytes_read=1))
    last = terminal.getvalue().rpartition("rank95.log")[2]

    assert {f"rank{rank}.log" for rank in range(100)} & set(last.split()) <= {
        f"rank{rank}.log" for rank in range(95, 100)
    }
    assert "rank99.log" in last


# --- what a run costs before it begins -------------------------------------------------------------------------


def modules_of(*arguments):
    """Return the modules that a run in a fresh interpreter has imported."""
    program = "import sys; from nccl_logscan.cli import main; main(sys.argv[1:]); print('modules', *sys.modules)"
    words = [sys.executable, "-c", program, *map(str, arguments)]
    output = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout
    return set(output.rsplit("modules ", 1)[1].split())


@pytest.mark.usefixtures("here")
def test_the_version_is_told_without_the_libraries_of_a_scan(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))

    assert modules_of("--version").isdisjoint({"regex", "rich", "jinja2", "pydantic", "yaml", "nccl_logscan.pipeline"})


@pytest.mark.usefixtures("here")
def test_json_needs_neither_the_library_of_pages_nor_that_of_terminals(failed, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))

    assert modules_of(failed, "-q", "-o", "x.json").isdisjoint(HEAVY)


HEAVY = {
    "asyncio", "click", "ctypes.util", "dataclasses", "email",
    "fsspec", "hashlib", "importlib.metadata", "inspect", "jinja2", "multiprocessing",
    "numpy", "polars", "pydantic", "random", "rapidfuzz", "ray", "rich", "sklearn", "statistics", "subprocess",
    "tempfile", "tree_sitter", "yaml", "zstandard", "_strptime",
}  # fmt: skip


@pytest.mark.usefixtures("here")
def test_a_small_log_is_scanned_and_reported_without_any_heavy_library(failed, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))

    loaded = modules_of(failed)
    assert Path("reports").is_dir()
    assert "nccl_logscan.report.html" in loaded
    assert HEAVY & loaded == set()


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("options", [(), ("-q", "-o", "x.json"), ("--output", "x.html", "--exit-zero", "-v")])
def test_a_small_log_needs_neither_the_skim_of_large_ones_nor_a_parser_of_command_lines(failed, options, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))

    loaded = modules_of(failed, *options)
    assert {name for name in loaded if name.startswith("nccl_logscan.skim.")} == {"nccl_logscan.skim.choice"}
    assert loaded.isdisjoint({"click", "ctypes", "nccl_logscan.follow", "nccl_logscan.cli.commands"})
