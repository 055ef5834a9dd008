"""Which configuration files are looked at beside a log."""

from __future__ import annotations

import os
import threading

import pytest

from nccl_logscan.errors import InputError
from nccl_logscan.sources import Kind, Limits, open_sources
from nccl_logscan.sources.beside import configs_beside, given_configs


@pytest.fixture
def job(tmp_path):
    folder = tmp_path / "job"
    folder.mkdir()
    (folder / "train.log").write_text("n1:1:2 [0] NCCL INFO x\n")
    return folder


def names(folder, **limits):
    log = str(folder / "train.log")
    found = configs_beside([log], open_sources([log]), limits=Limits(**limits))
    assert {source.kind for source in found} <= {Kind.CONFIG}
    return [os.path.relpath(source.name, folder) for source in found]


def test_scripts_and_configurations_beside_the_log_are_found(job):
    for name in ("run10.sh", "run2.sh", "ds.json", "pod.yaml", ".env", ".deepspeed_env", "Dockerfile", "train.py"):
        (job / name).write_text("X=1\n" if "env" in name else "x: 1\n")
    (job / "notes.txt").write_text("NCCL_DEBUG=INFO\n")
    (job / ".hidden.yaml").write_text("x: 1\n")

    assert names(job) == [
        ".deepspeed_env", ".env", "Dockerfile", "ds.json", "pod.yaml", "run2.sh", "run10.sh", "train.py",
    ]  # fmt: skip


def test_no_link_and_no_folder_leads_out_of_the_log_s_own(job, tmp_path):
    (tmp_path / "outside.sh").write_text("export NCCL_DEBUG=INFO\n")
    (job / "link.sh").symlink_to(tmp_path / "outside.sh")
    (job / "deeper").mkdir()
    (job / "deeper" / "run.sh").write_text("export NCCL_DEBUG=INFO\n")
    os.mkfifo(job / "pipe.sh")

    assert names(job) == []


def test_what_is_found_is_bounded_in_size_and_number(job):
    for number in range(40):
        (job / f"run{number}.sh").write_text("export NCCL_DEBUG=INFO\n")
    (job / "a.yaml").write_bytes(b"x: 1\n" * 300_000)
    (job / "b.yaml").write_bytes(b"")

    assert names(job) == [f"run{number}.sh" for number in range(32)]
    assert names(job, configs=2) == ["run0.sh", "run1.sh"]
    assert "a.yaml" in names(job, config_bytes=1 << 22, configs=100)
    assert len(names(job, config_bytes=10 * len("export NCCL_DEBUG=INFO\n"))) == 10


def test_a_log_with_the_name_of_a_configuration_is_none(job):
    (job / "out.json").write_text('{"log":"n1:1:2 [0] NCCL INFO x","stream":"stdout"}\n')

    assert names(job) == []


def test_an_input_is_not_found_a_second_time(job):
    (job / "run.sh").write_text("export NCCL_DEBUG=INFO\n")
    both = [str(job / "train.log"), str(job / "run.sh")]

    assert configs_beside(both, open_sources(both)) == []


def test_a_folder_or_a_pipe_has_nothing_beside_it(job):
    (job / "run.sh").write_text("export NCCL_DEBUG=INFO\n")

    assert configs_beside([str(job), "-"], []) == []


def test_a_file_that_is_named_is_taken_whatever_it_is_called(job):
    (job / "launch").write_text("export NCCL_DEBUG=INFO\n")
    given = [str(job / "launch"), str(job / "launch")]
    [source] = given_configs(given)

    assert (source.name, source.kind, source.content()) == (given[0], Kind.CONFIG, b"export NCCL_DEBUG=INFO\n")


def test_a_pipe_is_opened_once(job):
    os.mkfifo(job / "pipe")
    writer = threading.Thread(target=(job / "pipe").write_bytes, args=(b"export NCCL_DEBUG=INFO\n",), daemon=True)
    writer.start()
    [source] = given_configs([str(job / "pipe")])
    read = []
    reader = threading.Thread(target=lambda: read.append(source.content()), daemon=True)
    reader.start()
    reader.join(5)

    assert read == [b"export NCCL_DEBUG=INFO\n"]


@pytest.mark.parametrize("name", ["missing.sh", ".", "a\0b"])
def test_what_cannot_be_read_is_told(job, name):
    with pytest.raises(InputError, match="cannot be read"):
        given_configs([f"{job}/{name}"])


def test_a_file_that_is_too_long_is_read_to_its_bound_and_told(job):
    (job / "long.yaml").write_text("x: 1\n" * 100)
    [source] = given_configs([str(job / "long.yaml")], limits=Limits(config_bytes=50))

    assert len(source.content()) == 50
    assert "longer than the 50 bytes" in source.note
