"""The bytes of a file that grows, whatever rotation does to it."""

from __future__ import annotations

import os

import pytest
from growing import append
from hypothesis import given, settings
from hypothesis import strategies as st

from nccl_logscan.follow.growth import FileGrowth, PipeGrowth


@pytest.fixture
def log(tmp_path):
    return tmp_path / "train.log"


@pytest.fixture
def growth(log):
    growth = FileGrowth(str(log))
    yield growth
    growth.close()


def come(growth):
    """All bytes that a look finds."""
    growth.look()
    return b"".join(iter(lambda: growth.read(1000), b""))


def test_each_byte_is_given_once(log, growth):
    append(log, "one\n")
    assert come(growth) == b"one\n"
    assert come(growth) == b""
    append(log, "tw")
    append(log, "o\n")
    assert come(growth) == b"two\n"


def test_a_file_that_is_not_there_is_waited_for(log, growth):
    assert come(growth) == b""
    assert growth.trouble == "is not there"
    append(log, "one\n")
    assert come(growth) == b"one\n"
    assert growth.trouble is None


def test_the_end_of_a_renamed_file_comes_before_the_new_one(log, growth):
    append(log, "one\n")
    assert come(growth) == b"one\n"
    append(log, "last words\n")
    log.rename(log.with_suffix(".log.1"))
    append(log, "new\n")
    assert come(growth) == b"last words\nnew\n"
    assert growth.rewritten == 1


def test_a_renamed_file_is_read_on_while_there_is_no_new_one(log, growth):
    append(log, "one\n")
    assert come(growth) == b"one\n"
    old = log.with_suffix(".log.1")
    log.rename(old)
    append(old, "still written to\n")
    assert come(growth) == b"still written to\n"


def test_a_deleted_file_is_read_on_by_who_has_it_open(log, growth):
    with log.open("ab", buffering=0) as writer:
        writer.write(b"one\n")
        assert come(growth) == b"one\n"
        log.unlink()
        writer.write(b"two\n")
        assert come(growth) == b"two\n"
    append(log, "of another\n")
    assert come(growth) == b"of another\n"


def test_a_file_that_was_cut_to_nothing_begins_anew(log, growth):
    append(log, "one\n" * 50)
    come(growth)
    os.truncate(log, 0)
    append(log, "two\n")
    assert come(growth) == b"two\n"
    assert growth.rewritten == 1


def test_a_file_that_was_cut_and_has_grown_longer_since_begins_anew(log, growth):
    append(log, "one\n")
    come(growth)
    os.truncate(log, 0)
    append(log, "two and much more than before\n")
    assert come(growth) == b"two and much more than before\n"


def test_a_writer_that_goes_on_at_its_old_place_after_a_truncation_leaves_a_hole_that_costs_nothing(log, growth):
    with log.open("wb", buffering=0) as writer:
        writer.seek(1 << 30)
        writer.write(b"one\n")
        come(growth)
        os.truncate(log, 0)
        writer.write(b"two\n")
        assert come(growth).strip(b"\0") == b"two\n"
    assert growth.read(10) == b""


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_for_a_while_loses_nothing(log, growth):
    append(log, "one\n")
    come(growth)
    log.chmod(0)
    assert come(growth) == b""
    log.chmod(0o600)
    append(log, "two\n")
    assert come(growth) == b"two\n"


def test_a_folder_in_its_place_is_waited_out(log, growth):
    log.mkdir()
    assert come(growth) == b""
    assert growth.trouble == "is a folder now"
    log.rmdir()
    append(log, "one\n")
    assert come(growth) == b"one\n"


def test_what_takes_the_name_of_an_older_part_is_not_read(log):
    old = log.with_suffix(".log.1")
    append(old, "oldest\n")
    growth = FileGrowth(str(old))
    growth.renews = False
    assert come(growth) == b"oldest\n"
    append(log, "older, read under its first name\n")
    log.rename(old)
    assert come(growth) == b""
    growth.close()


def test_a_named_pipe_without_a_writer_holds_nothing_up(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    growth = FileGrowth(str(tmp_path / "pipe"))
    assert come(growth) == b""
    writer = os.open(tmp_path / "pipe", os.O_WRONLY)
    os.write(writer, b"one\n")
    assert come(growth) == b"one\n"
    os.close(writer)
    growth.close()


def test_a_pipe_gives_what_it_has_and_tells_its_end():
    reader, writer = os.pipe()
    growth = PipeGrowth(reader)
    assert growth.read(10) == b""
    os.write(writer, b"one\n")
    assert growth.read(10) == b"one\n"
    assert not growth.ended
    os.close(writer)
    assert growth.read(10) == b""
    assert growth.ended
    os.close(reader)


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("write"), st.binary(min_size=1, max_size=200).filter(lambda text: b"\0" not in text)),
            st.tuples(st.sampled_from(["rename", "look"]), st.just(b"")),
        ),
        max_size=30,
    )
)
@settings(deadline=None, max_examples=60)
def test_no_byte_is_lost_or_given_twice_if_a_look_comes_between_two_renamings(tmp_path_factory, deeds):
    log = tmp_path_factory.mktemp("log") / "train.log"
    growth = FileGrowth(str(log))
    written, seen = b"", b""
    for number, ((deed, text), before) in enumerate(zip(deeds, [("look", b""), *deeds], strict=False)):
        if deed == "write":
            append(log, text)
            written += text
        elif deed == "look":
            seen += come(growth)
        elif log.exists() and before[0] != "rename":
            seen += come(growth)
            log.rename(log.with_name(f"train.log.{number}"))
    seen += come(growth)
    growth.close()
    assert seen == written
