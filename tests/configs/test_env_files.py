"""nccl.conf as NCCL reads it, and environment files; the choice of a syntax and what cannot be read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.edit import applied
from nccl_logscan.configs.model import Form
from nccl_logscan.configs.read import SIZE_LIMIT, read_config, read_text, syntax_named
from nccl_logscan.errors import InputError


def facts(name: str, text: str) -> list[tuple[str, str | None]]:
    return [(placed.name, placed.value) for placed in read_text(name, text.encode()).settings]


def test_nccl_conf_takes_a_line_as_it_stands():
    text = '#NCCL_A=1\nNCCL_B=2\n NCCL_C=3\nNCCL_D = 4\nNCCL_E="5" # six\nexport NCCL_F=7\nnothing\n'
    assert facts("/etc/nccl.conf", text) == [
        ("NCCL_B", "2"), (" NCCL_C", "3"), ("NCCL_D ", " 4"), ("NCCL_E", '"5" # six'), ("export NCCL_F", "7"),
    ]  # fmt: skip
    faults = read_text("nccl.conf", text.encode()).faults
    assert [fault.partition(":")[0] for fault in faults] == ["line 3", "line 4", "line 5", "line 6"]


@pytest.mark.parametrize("name", ["nccl.conf", "/etc/nccl.conf", ".nccl.conf", "site-nccl.conf"])
def test_what_is_called_nccl_conf(name):
    assert read_text(name, b"NCCL_DEBUG=INFO\n").syntax == "nccl-conf"


def test_edits_of_nccl_conf():
    syntax = syntax_named("nccl-conf")
    config = read_text("nccl.conf", b"# c\r\nNCCL_A=1\r\nNCCL_B=2\r\n")
    first = config.settings[0]
    assert applied(config.data, [syntax.change(config, first, "9")]) == b"# c\r\nNCCL_A=9\r\nNCCL_B=2\r\n"
    assert applied(config.data, [syntax.remove(config, first)]) == b"# c\r\nNCCL_B=2\r\n"
    assert applied(config.data, [syntax.add(config, Kind.ENV, "NCCL_C", "3")]).endswith(b"NCCL_B=2\r\nNCCL_C=3\r\n")
    assert syntax.change(config, first, "a\nb") is None
    assert syntax.add(config, Kind.CLI_FLAG, "--x", "1") is None


def test_a_second_line_for_a_variable_in_nccl_conf_would_say_nothing():
    syntax = syntax_named("nccl-conf")
    config = read_text("nccl.conf", b"NCCL_A=1\n")
    assert syntax.add(config, Kind.ENV, "NCCL_A", "2") is None


def test_quotes_that_nccl_would_keep_can_be_mended():
    syntax = syntax_named("nccl-conf")
    config = read_text("nccl.conf", b'NCCL_A="1"\n')
    [placed] = config.settings
    assert applied(config.data, [syntax.change(config, placed, "1")]) == b"NCCL_A=1\n"


def test_environment_files():
    text = 'A=1\nexport B=\'x y\' # c\n#C=1\nD = 2 # three\nE="a\\"b"\nF=$HOME\nG=a#b\nH=\n'
    assert facts(".deepspeed_env", text) == [
        ("A", "1"), ("B", "x y"), ("D", "2"), ("E", 'a"b'), ("F", None), ("G", "a#b"), ("H", ""),
    ]  # fmt: skip


@pytest.mark.parametrize("name", [".env", "prod.env", ".env.local", ".deepspeed_env"])
def test_what_is_an_environment_file(name):
    [placed] = read_text(name, b"A=1\n").settings
    assert placed.form is Form.ENV_FILE


def test_edits_of_environment_files():
    syntax = syntax_named("env-file")
    config = read_text(".env", b"export A='1' # c\nB=2")
    first, second = config.settings
    assert applied(config.data, [syntax.change(config, first, "a b")]) == b"export A='a b' # c\nB=2"
    assert applied(config.data, [syntax.change(config, second, "a b")]) == b"export A='1' # c\nB='a b'"
    assert applied(config.data, [syntax.remove(config, first)]) == b"B=2"
    assert applied(config.data, [syntax.add(config, Kind.ENV, "C", "3")]) == b"export A='1' # c\nB=2\nC=3\n"


@given(st.binary(max_size=300), st.sampled_from(["nccl.conf", ".env"]))
def test_any_bytes_are_read_and_every_edit_of_them_is_in_bounds(data, name):
    config = read_text(name, data)
    syntax = syntax_named(config.syntax)
    for placed in config.settings:
        assert 0 <= placed.span.start <= placed.span.end <= len(data)
        edit = syntax.change(config, placed, "7")
        assert edit is not None
        again = read_text(name, applied(data, [edit]))
        assert "7" in [other.value for other in again.settings if other.name == placed.name]


@pytest.mark.parametrize(
    ("name", "head", "syntax"),
    [
        ("run.sh", b"", "shell"), ("job.slurm", b"", "shell"), ("job.sbatch", b"", "shell"), ("a.bash", b"", "shell"),
        (".bashrc", b"", "shell"), ("launch", b"#!/bin/bash\n", "shell"), ("launch", b"#!/usr/bin/env bash\n", "shell"),
        ("job", b"\n#SBATCH -N 2\n", "shell"), ("cmd.txt", b"export A=1\n", "shell"),
        ("cmd.txt", b"A=1 torchrun t.py\n", "shell"), ("notes.txt", b"To export the model, run it.\n", None),
        ("README.md", b"export A=1\n", None),
        ("x.bin", b"\x00\x01", None), ("", b"", None),
    ],
)  # fmt: skip
def test_which_files_are_scripts(name, head, syntax):
    config = read_text(name, head)
    assert (config and config.syntax) == syntax


def test_what_cannot_be_read_is_said(tmp_path):
    large = tmp_path / "large.sh"
    large.write_bytes(b"#" * (SIZE_LIMIT + 1))
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    for path, words in (
        (tmp_path / "none.sh", "cannot read .*none.sh: no such file"),
        (tmp_path, "cannot read .*: is a directory"),
        (large, "is larger than 8 MiB"),
        (tmp_path / "picture.png", "of no kind of configuration file"),
        ("a\0b", "cannot read a.b: "),
    ):
        with pytest.raises(InputError, match=words):
            read_config(path)


def test_a_byte_order_mark_hides_no_variable_of_an_env_file_and_stays():
    config = read_text("a.env", b"\xef\xbb\xbfNCCL_DEBUG=WARN\nA=1\n")
    first = config.settings[0]

    assert (first.name, first.at.line, first.span.start) == ("NCCL_DEBUG", 1, 3)
    assert applied(config.data, [syntax_named("env-file").remove(config, first)]) == b"\xef\xbb\xbfA=1\n"


def test_a_byte_order_mark_is_a_part_of_the_name_to_nccl_and_of_the_first_word_to_bash():
    conf = read_text("nccl.conf", b"\xef\xbb\xbfNCCL_DEBUG=WARN\n")
    script = read_text("a.sh", b"\xef\xbb\xbfexport NCCL_DEBUG=WARN\n")

    assert "does not set NCCL_DEBUG" in conf.faults[0]
    assert "byte order mark" in script.faults[0]


@pytest.mark.parametrize("name", ["a.sh", "a.env", "nccl.conf", "a.yaml", "a.json", "a.toml", "a.py", "Dockerfile"])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_told(name, encoding):
    config = read_text(name, "NCCL_DEBUG=WARN\n".encode(encoding))

    assert config.settings == ()
    assert "UTF-16" in config.faults[0]
