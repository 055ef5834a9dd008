"""Completion in shells that are really run, by the scripts that we print."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest
from click.testing import CliRunner

from nccl_logscan.cli.commands import cli


@pytest.fixture
def shell_folder(here, monkeypatch):
    """A folder with our command on PATH and two logs."""
    command = here / "bin" / "nccl-logscan"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m nccl_logscan "$@"\n')
    command.chmod(0o755)
    (here / "trainer.log").write_text("x\n")
    monkeypatch.setenv("PATH", f"{command.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    return here


def said_by(shell, script, *flags):
    path = shutil.which(shell)
    if path is None:
        pytest.skip(f"no {shell} here")
    done = subprocess.run([path, *flags, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


LINES = [
    ("nccl-logscan ex", "explain"),
    ("nccl-logscan --every", "--every-line"),
    ("nccl-logscan trainer.log --red", "--redact"),
    ("nccl-logscan scan --format js", "json"),
    ("nccl-logscan rules show user_code/illegal-mem", "user_code/illegal-memory-access"),
    ("nccl-logscan explain NCCL_IB_TIM", "NCCL_IB_TIMEOUT"),
    ("nccl-logscan lint --select dep", "deprecated"),
    ("nccl-logscan events --kind nccl.wa", "nccl.warn"),
]


@pytest.mark.usefixtures("shell_folder")
@pytest.mark.parametrize(("line", "word"), LINES)
def test_bash_completes(line, word):
    script = f"""
        source <(nccl-logscan completion bash)
        compopt() {{ :; }}
        COMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
        _nccl_logscan_completion nccl-logscan
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    assert word in said_by("bash", script, "--norc")


@pytest.mark.usefixtures("shell_folder")
@pytest.mark.parametrize(("line", "word"), LINES)
def test_fish_completes(line, word):
    script = f"nccl-logscan completion fish | source; complete -C '{line}'"
    assert word in said_by("fish", script, "--no-config")


@pytest.mark.usefixtures("shell_folder")
def test_fish_completes_files():
    assert "trainer.log" in said_by(
        "fish", "nccl-logscan completion fish | source; complete -C 'nccl-logscan tra'", "--no-config"
    )


@pytest.mark.usefixtures("shell_folder")
def test_zsh_takes_the_script():
    script = (
        "autoload -Uz compinit && compinit -D -u; source <(nccl-logscan completion zsh); print $_comps[nccl-logscan]"
    )
    assert said_by("zsh", script, "-f") == ["_nccl_logscan_completion"]


def asked(words, begun):
    environment = {
        "COMP_WORDS": f"{words} {begun}",
        "COMP_CWORD": str(len(words.split())),
        "_NCCL_LOGSCAN_COMPLETE": "bash_complete",
    }
    return CliRunner().invoke(cli, prog_name="nccl-logscan", env=environment).output.split()


@pytest.mark.parametrize(
    "words", ["nccl-logscan", "nccl-logscan scan", "nccl-logscan lint", "nccl-logscan scan -o", "nccl-logscan show"]
)
def test_files_are_left_to_the_shell(words):
    assert "file,tra" in asked(words, "tra")


def test_names_to_explain_wait_for_a_letter():
    assert asked("nccl-logscan explain", "") == []


def test_another_shell_is_refused(run):
    assert run("completion", "tcsh").code == 2


@pytest.mark.parametrize(
    "words", [{}, {"COMP_WORDS": "nccl-logscan sc"}, {"COMP_WORDS": "nccl-logscan sc", "COMP_CWORD": "one"}], ids=len
)
def test_what_no_shell_sets_is_told(run, monkeypatch, words):
    for name, value in {"_NCCL_LOGSCAN_COMPLETE": "bash_complete", **words}.items():
        monkeypatch.setenv(name, value)

    told = run()

    assert told.code == 2
    assert told.err.splitlines()[-1] == " help: unset _NCCL_LOGSCAN_COMPLETE"
