"""An input may not ask for gigabytes to be unpacked, and two runs may write one report at the same time."""

from __future__ import annotations

import lzma
import threading
import zlib

import pytest

from nccl_logscan.report.write import write_atomically
from nccl_logscan.sources import open_sources

LINE = b"node-1:17:23 [3] transport/net_ib.cc:95 NCCL WARN NET/IB : Got async event : port error\n"


def zstd_with_a_window_of_2_gib():
    # The magic, neither size nor check sum, the window, and a raw block that is the last.
    return b"\x28\xb5\x2f\xfd\x00\xa8" + (len(LINE) << 3 | 1).to_bytes(3, "little") + LINE


def xz_with_a_dictionary_of_3_gib():
    packed = bytearray(lzma.compress(LINE, filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 20}]))
    begin, end = 12, 12 + 4 * packed[12]  # the block's header, behind that of the stream, before its own check sum
    packed[packed.index(b"\x21\x01", begin) + 2] = 39
    packed[end : end + 4] = zlib.crc32(packed[begin:end]).to_bytes(4, "little")
    return bytes(packed)


@pytest.mark.parametrize("packed", [zstd_with_a_window_of_2_gib, xz_with_a_dictionary_of_3_gib])
def test_a_window_of_gigabytes_is_refused_and_told(tmp_path, packed):
    log = tmp_path / "a.log"
    log.write_bytes(packed())

    [source] = open_sources([str(log)])

    assert list(source.lines()) == []
    assert "memory" in source.note.lower()


def test_of_two_runs_that_write_one_report_each_moment_shows_one_whole(tmp_path):
    place = tmp_path / "report.html"
    texts = ["a" * 300_000, "b" * 200_000]

    def write_often(text):
        for _ in range(20):
            write_atomically(place, text)

    write_atomically(place, texts[0])
    writers = [threading.Thread(target=write_often, args=[text]) for text in texts]
    for writer in writers:
        writer.start()
    seen = set()
    while any(writer.is_alive() for writer in writers):
        seen.add(place.read_text("utf-8"))
    for writer in writers:
        writer.join()

    assert seen <= set(texts)
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
