"""How a flight recorder's dump is told from other inputs, and how its bytes are handed over."""

import bz2
import gzip
import hashlib
import io
import json
import lzma
import os
import pickle
import zipfile
from pathlib import Path

import pytest
import zstandard
from archives import tar
from hypothesis import given
from hypothesis import strategies as st

from nccl_logscan.sources import Kind, Limits, kind_of, open_sources
from nccl_logscan.sources.line_source import TextSource

REAL = Path("fixtures/cases/lab/desync-op/fr_0").read_bytes()
CONTENT = pickle.loads(REAL)  # noqa: S301 - written by our own lab
ENTRY = CONTENT["entries"][0]
PACKERS = {
    "gzip": gzip.compress,
    "zstd": zstandard.ZstdCompressor().compress,
    "xz": lzma.compress,
    "bz2": bz2.compress,
}

# A job of thousands of groups: the text of their ranks takes more than the 64 KiB that a kind is told by.
LONG_CONFIG = {str(n): {"name": str(n), "desc": "dp", "ranks": str(list(range(64)))} for n in range(1000)}
DUMPS = {
    "as PyTorch 2.11 writes it": REAL,
    **{f"rewritten in protocol {n}": pickle.dumps(CONTENT, n) for n in (2, 3, 4, 5)},
    "JSON": json.dumps(CONTENT).encode(),
    "JSON in alphabetical order": json.dumps(CONTENT, sort_keys=True, separators=(",", ":")).encode(),
    "pretty JSON": json.dumps(CONTENT, indent=4).encode(),
    "JSON with a byte order mark": b"\xef\xbb\xbf" + json.dumps(CONTENT).encode(),
    "JSON without calls": b'{"comm_lib_version":"2.21.5","pg_config":{},"pg_status":{},"version":"2.10"}',
    "JSON, a list": json.dumps(CONTENT["entries"]).encode(),
    "torn": REAL[:600],
    "torn JSON": json.dumps(CONTENT).encode()[:600],
    "long before its entries": pickle.dumps({**CONTENT, "pg_config": LONG_CONFIG}, 2),
    "the list of PyTorch 2.2": pickle.dumps(
        [{"pg_id": 0, "seq_id": 1, "profiling_name": "nccl:all_reduce", "time_created_us": 1}], 2
    ),
    "version 1.1, entries first": pickle.dumps(
        {"entries": [{"pg_id": 0, "seq_id": 1, "profiling_name": "nccl:all_reduce"}], "version": "1.1"}, 2
    ),
    "an analyser's": pickle.dumps({"host_name": "h", "rank": 0, **CONTENT}),
}
OTHERS = {
    "a pickled list of numbers": pickle.dumps([1, 2, 3]),
    "a pickled dict with entries": pickle.dumps({"version": "2.10", "entries": [1, 2, 3]}),
    "a pickled database config": pickle.dumps({"pg_config": {"host": "db"}, "version": 3}),
    "a pickled log about dumps": pickle.dumps({"log": "pg_config and entries and collective_seq_id"}),
    "a JSON config": json.dumps({"version": 3, "pg_config": {"host": "db"}}).encode(),
    "a JSON log about dumps": b'{"log":"{\\"pg_config\\": {}, \\"entries\\": []}","stream":"stderr"}\n',
    "a log that quotes a dump": b'vm:1:2 [0] NCCL INFO {"pg_config": {}, "entries": []}\n',
}


def written(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    return str(tmp_path / name)


def only(path, **options):
    [source] = open_sources([path], **options)
    return source


@pytest.mark.parametrize("name", DUMPS)
def test_a_dump_is_known_by_its_content(name):
    assert kind_of(DUMPS[name][: 1 << 16], "anything.log") is Kind.FLIGHT_RECORDER


@pytest.mark.parametrize("name", OTHERS)
def test_what_only_mentions_a_dumps_keys_is_none(name):
    assert kind_of(OTHERS[name][: 1 << 16], "fr_0") is not Kind.FLIGHT_RECORDER


@given(st.integers(200, len(REAL)))
def test_a_dump_is_known_wherever_it_was_cut_off(length):
    assert kind_of(REAL[:length], "fr_0") is Kind.FLIGHT_RECORDER


@pytest.mark.parametrize("name", DUMPS)
def test_a_dump_is_handed_over_whole(tmp_path, name):
    source = only(written(tmp_path, "fr_0", DUMPS[name]))

    assert source.kind is Kind.FLIGHT_RECORDER
    assert source.content() == DUMPS[name]
    assert (source.bytes_read, source.disk_read, source.note) == (len(DUMPS[name]), len(DUMPS[name]), None)


def test_a_files_dump_can_be_asked_for_again(tmp_path):
    source = only(written(tmp_path, "fr_0", REAL))

    assert source.content() == source.content() == REAL


@pytest.mark.parametrize("pack", PACKERS.values(), ids=PACKERS)
def test_a_compressed_dump_is_unpacked(tmp_path, pack):
    source = only(written(tmp_path, "fr_0.packed", pack(REAL)))

    assert (source.kind, source.content(), source.note) == (Kind.FLIGHT_RECORDER, REAL, None)


@pytest.mark.parametrize("pack", PACKERS.values(), ids=PACKERS)
def test_a_long_compressed_dump_is_known_too(tmp_path, pack):
    entries = [{**ENTRY, "thread_name": hashlib.shake_256(bytes([n % 256, n >> 8])).hexdigest(500)} for n in range(400)]
    dump = pickle.dumps({**CONTENT, "entries": entries}, 2)
    source = only(written(tmp_path, "fr_0.packed", pack(dump)))

    assert len(pack(dump)) > 1 << 16
    assert (source.kind, source.content()) == (Kind.FLIGHT_RECORDER, dump)


@pytest.mark.parametrize("pack", PACKERS.values(), ids=PACKERS)
def test_a_cut_off_compressed_dump_gives_what_it_holds_and_says_so(tmp_path, pack):
    dump = REAL + hashlib.shake_256(b"").digest(1 << 21)
    source = only(written(tmp_path, "fr_0.packed", pack(dump)[: 3 << 19]))
    content = source.content()

    assert content
    assert dump.startswith(content)
    assert "ends in the middle" in source.note


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_dumps_in_a_tar_file_are_handed_over_in_any_order(tmp_path, mode):
    members = {"out/fr_0": REAL, "out/log": b"vm:1:2 [0] NCCL INFO text\n", "out/fr_1": gzip.compress(REAL)}
    sources = open_sources([written(tmp_path, "a.tar", tar(members, mode))])

    assert [source.kind for source in sources] == [Kind.FLIGHT_RECORDER, Kind.TEXT, Kind.FLIGHT_RECORDER]
    assert sources[2].content() == sources[0].content() == REAL
    assert len(list(sources[1].lines())) == 1


def test_dumps_in_a_zip_file_are_handed_over(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("fr_0", REAL)
        archive.writestr("fr_1", json.dumps(CONTENT))
    first, second = open_sources([str(path)])

    assert first.content() == REAL
    assert json.loads(second.content())["version"] == CONTENT["version"]


def test_a_dump_that_torch_save_wrote_is_a_member_of_a_zip_file(tmp_path):
    path = tmp_path / "fr_3.pt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", REAL)
        archive.writestr("archive/version", "3\n")
    sources = open_sources([str(path)])

    assert [source.kind for source in sources] == [Kind.FLIGHT_RECORDER, Kind.TEXT]
    assert sources[0].content() == REAL


def test_a_dump_may_come_through_a_pipe():
    [source] = open_sources(["-"], stdin=io.BytesIO(REAL))

    assert (source.kind, source.content(), source.note) == (Kind.FLIGHT_RECORDER, REAL, None)


def test_a_pipe_gives_its_bytes_also_to_who_does_not_ask_for_its_kind():
    [source] = open_sources(["-"], stdin=io.BytesIO(REAL))

    assert (source.content(), source.kind) == (REAL, Kind.FLIGHT_RECORDER)


def test_a_dump_that_is_too_long_is_read_up_to_the_limit_and_says_so(tmp_path):
    source = only(written(tmp_path, "fr_0", REAL), limits=Limits(dump_bytes=1000))

    assert source.content() == REAL[:1000]
    assert source.note == "is longer than the 1,000 bytes that are read of one dump (--limit dump_bytes=N reads more)"
    assert source.bytes_read == 1000


def test_a_dump_of_just_the_limits_length_is_whole(tmp_path):
    source = only(written(tmp_path, "fr_0", REAL), limits=Limits(dump_bytes=len(REAL)))

    assert (source.content(), source.note) == (REAL, None)


def test_an_empty_input_has_an_empty_content(tmp_path):
    source = only(written(tmp_path, "fr_0", b""))

    assert (source.content(), source.note) == (b"", "is empty")


def test_a_dump_that_has_gone_meanwhile_is_told(tmp_path):
    source = only(written(tmp_path, "fr_0", REAL))
    (tmp_path / "fr_0").unlink()

    assert source.content() == b""
    assert source.note == "could not be read to its end: no such file or directory"


def test_a_log_that_lies_beside_dumps_keeps_its_lines(tmp_path):
    written(tmp_path, "fr_0", REAL)
    written(tmp_path, "train.log", b"vm:1:2 [0] NCCL INFO text\n")
    sources = open_sources([os.fspath(tmp_path)])

    assert [(source.kind, len(list(source.lines()))) for source in sources] == [
        (Kind.FLIGHT_RECORDER, 0),
        (Kind.TEXT, 1),
    ]


def test_a_text_in_memory_has_a_content_too():
    source = TextSource("log", "an é\n")
    content = "an é\n".encode()
    assert (source.content(), source.bytes_read, source.note) == (content, len(content), None)
