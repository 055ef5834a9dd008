import pickle

import pytest

from nccl_logscan.sources import Kind, kind_of, open_sources

DUMP = {"version": "2.10", "pg_config": {}, "comm_lib_version": "2.28.9", "entries": []}


@pytest.mark.parametrize(
    ("kind", "name", "content"),
    [
        (Kind.TEXT, "train.log", b"vm:1:2 [0] NCCL INFO text\n"),
        (Kind.TEXT, "abc-json.log", b'{"log":"text\\n","stream":"stderr","time":"2026-01-02T03:04:05Z"}\n'),
        (Kind.TEXT, "abc.json", b'{"log":"text\\n","stream":"stderr","time":"2026-01-02T03:04:05Z"}\n'),
        (Kind.TEXT, "out.yaml", b"vm:1:2 [0] NCCL WARN text\n"),
        (Kind.TEXT, "", b""),
        (Kind.FLIGHT_RECORDER, "fr_0", pickle.dumps(DUMP, 2)),
        (Kind.FLIGHT_RECORDER, "whatever.log", b'{"version": "2.10", "pg_config": {}, "entries": []}'),
        (Kind.TORCHELASTIC_ERROR, "x", b'{"message": {"message": "ValueError", "extraInfo": {"timestamp": "1"}}}'),
        (Kind.TORCHELASTIC_ERROR, "logs/0/error.json", b'{"message": "Signal 9 (SIGKILL) received"}'),
        (Kind.KERNEL_LOG, "x", b"[  123.456789] NVRM: Xid (PCI:0000:3b:00): 79\n" * 3),
        (Kind.KERNEL_LOG, "x", b"Jan  2 03:04:05 n07 kernel: NVRM: Xid (PCI:0000:3b:00): 79\n"),
        (Kind.TEXT, "ras.json", b'{\n  "nccl_version": "2.29.1",\n  "cuda_runtime_version": 13000,\n'),
        (Kind.TEXT, "ras.json", b'{"nccl_version":"2.29.1","cuda_runtime_version":13000,"communicators":[]}'),
        (Kind.TEXT, "monitor.json", b'{\n  "timestamp": "2026-01-02 03:04:05",\n  "group": "LIFECYCLE",\n'),
        (Kind.CONFIG, "case.yaml", b"id: x\nmodel: y\n"),
        (Kind.CONFIG, "ds_config.json", b'{"fp16": {"enabled": true}}'),
        (Kind.CONFIG, "launch", b"#!/bin/bash\nsrun python train.py\n"),
    ],
)
def test_content_says_what_an_input_is_and_then_its_name(kind, name, content):
    assert kind_of(content, name) is kind


def test_a_flight_recorders_dump_has_no_lines(tmp_path):
    (tmp_path / "fr_0").write_bytes(pickle.dumps(DUMP, 2))
    [source] = open_sources([str(tmp_path)])

    assert (source.kind, list(source.lines()), source.note) == (Kind.FLIGHT_RECORDER, [], None)
