"""Compressed inputs of several streams, frames, members and blocks: the same bytes whichever way they are unpacked."""

import bz2
import gzip
import lzma
import random
import shutil
import subprocess
import threading
import zlib

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nccl_logscan.sources import Limits, frames, open_sources, streams
from nccl_logscan.sources.ahead import read_ahead
from nccl_logscan.sources.compressed import decompress
from nccl_logscan.sources.ends import EarlyEnd
from nccl_logscan.sources.magics import compression_of

CHANCE = random.Random(5)  # noqa: S311 - no secret
TEXT = b"".join(
    b"node-%d:1:2 [%d] NCCL INFO Channel %x/16 : %d[0] -> 3[3] via P2P/IPC\n" % tuple(CHANCE.randbytes(4))
    for _ in range(30_000)
)


def bgzip(content, block=0xFF00):
    """As htslib writes it: members of at most 64 KiB with their length, and an empty one at the end."""
    members = []
    for at in [*range(0, len(content), block), None]:
        part = b"" if at is None else content[at : at + block]
        deflate = zlib.compressobj(6, zlib.DEFLATED, -15)
        packed = deflate.compress(part) + deflate.flush()
        head = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0" + (len(packed) + 25).to_bytes(2, "little")
        end = zlib.crc32(part).to_bytes(4, "little") + len(part).to_bytes(4, "little")
        members.append(head + packed + end)
    return b"".join(members)


def zstd_frames(content, size=200_000, **options):
    """Frames as of zstd's seekable format or pzstd: one behind the other, with frames to skip between them."""
    pack = zstandard.ZstdCompressor(write_checksum=True, **options).compress
    skip = b"\x50\x2a\x4d\x18\x04\0\0\0size"
    return b"".join(skip + pack(content[at : at + size]) for at in range(0, len(content), size))


def zstd_piped(content):
    """A frame that does not say how much it holds."""
    stream = zstandard.ZstdCompressor().compressobj()
    return stream.compress(content) + stream.flush()


def xz_blocks(content):
    """As `xz -T` writes it: blocks that state their sizes."""
    command = ["xz", "-T2", "--block-size=400000", "-1", "-c"]
    return subprocess.run(command, input=content, stdout=subprocess.PIPE, check=True).stdout


PACKERS = {
    "gzip": gzip.compress,
    "gzip in members": lambda content: b"".join(map(gzip.compress, (content[:799_999], b"", content[799_999:]))),
    "bgzip": bgzip,
    "bgzip and gzip": lambda content: bgzip(content[:200_000]) + gzip.compress(content[200_000:]) + bgzip(b""),
    "zstd": zstandard.ZstdCompressor(write_checksum=True).compress,
    "zstd of a pipe": zstd_piped,
    "zstd in frames": zstd_frames,
    "zstd in frames of a pipe": lambda content: zstd_piped(content[:1_200_000]) + zstd_piped(content[1_200_000:]),
    "bz2": bz2.compress,
    "xz": lambda content: lzma.compress(content, preset=0),
    "xz in streams": lambda content: lzma.compress(content[:9]) + b"\0" * 8 + lzma.compress(content[9:], preset=0),
}
if shutil.which("xz"):
    PACKERS["xz in blocks"] = xz_blocks
    PACKERS["xz in streams of blocks"] = lambda content: xz_blocks(content[:900_000]) + xz_blocks(content[900_000:])
PACKED = {name: pack(TEXT) for name, pack in PACKERS.items()}


@pytest.fixture(autouse=True)
def many_cores(monkeypatch):
    monkeypatch.setattr(frames, "cores", lambda: 8)


def unpacked(packed, limits=Limits(), block=1 << 20, **options):  # noqa: B008 - frozen
    """What an input gives, and why it gives no more."""
    blocks = (packed[at : at + block] for at in range(0, len(packed), block))
    given = []
    try:
        given.extend(decompress(compression_of(packed), blocks, limits, **options))
    except EarlyEnd as end:
        return b"".join(given), str(end)
    return b"".join(given), None


@pytest.mark.parametrize("is_live", [True, False])
@pytest.mark.parametrize("name", PACKED)
def test_every_way_to_pack_gives_the_same_bytes(name, is_live):
    assert unpacked(PACKED[name], is_live=is_live) == (TEXT, None)


@pytest.mark.parametrize("name", PACKED)
def test_on_two_cores_the_bytes_are_the_same(name, monkeypatch):
    monkeypatch.setattr(frames, "cores", lambda: 2)

    assert unpacked(PACKED[name], is_live=False) == (TEXT, None)


@pytest.mark.parametrize("name", PACKED)
def test_how_the_input_is_cut_into_blocks_changes_nothing(name):
    assert unpacked(PACKED[name], block=7_001, is_live=False) == (TEXT, None)


@pytest.mark.parametrize("name", PACKED)
def test_zeros_behind_the_end_are_padding(name):
    assert unpacked(PACKED[name] + bytes(512), is_live=False) == (TEXT, None)


@pytest.mark.parametrize("name", [name for name in PACKED if name.startswith(("bgzip", "zstd in", "xz in blocks"))])
def test_frames_that_state_their_end_are_cut_out(name, monkeypatch):
    cut = []
    of = frames.Frame
    monkeypatch.setattr(frames, "Frame", lambda *told: cut.append(told) or of(*told))
    unpacked(PACKED[name], is_live=False)

    assert len([told for told in cut if told[1]]) > 1


@pytest.mark.parametrize("name", PACKED)
@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(share=st.floats(0.01, 0.999))
def test_a_torn_input_gives_what_it_holds_and_says_so(name, share):
    packed = PACKED[name][: int(len(PACKED[name]) * share)]
    content, note = unpacked(packed, is_live=False)
    live, live_note = unpacked(packed, is_live=True)

    assert TEXT.startswith(content)
    assert len(content) >= len(live) - (1 << 17)
    assert note == live_note
    assert note is None or "ends in the middle" in note


@pytest.mark.parametrize("name", PACKED)
@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(share=st.floats(0, 0.999), length=st.integers(1, 3_000), seed=st.integers(0, 99))
def test_damage_gives_what_came_before_it_and_never_raises(name, share, length, seed):
    packed = bytearray(PACKED[name])
    at = max(6, int(len(packed) * share))
    packed[at : at + length] = random.Random(seed).randbytes(min(length, len(packed) - at))  # noqa: S311 - no secret
    content, note = unpacked(bytes(packed), is_live=False)

    assert note is None or "damaged" in note or "ends in the middle" in note or "of a kind" in note
    assert len(content) <= len(TEXT) + (1 << 20)
    assert content.startswith(TEXT[: max(0, int(len(TEXT) * share * 0.8) - (1 << 20))])


@pytest.mark.parametrize("name", ["bgzip", "zstd in frames", "xz in blocks"])
@pytest.mark.skipif(not shutil.which("xz"), reason="needs xz to write blocks")
def test_a_damaged_frame_among_others_ends_the_input_behind_those_before_it(name):
    packed = bytearray(PACKED[name])
    at = len(packed) * 3 // 4
    packed[at : at + 200] = bytes(200)
    content, note = unpacked(bytes(packed), is_live=False)

    assert len(TEXT) // 2 < len(content) < len(TEXT)
    assert TEXT.startswith(content)
    assert "damaged" in note


def test_a_wrong_check_sum_is_told():
    for name in ("gzip", "bgzip", "zstd", "zstd in frames"):
        packed = bytearray(PACKED[name])
        at = -6 if name == "gzip" else -28 - 6 if name == "bgzip" else -2
        packed[at] ^= 1
        assert "damaged" in unpacked(bytes(packed), is_live=False)[1], name


@pytest.mark.parametrize("name", PACKED)
def test_without_isal_gzip_is_read_all_the_same(name, monkeypatch):
    monkeypatch.setattr(streams, "igzip_lib", None)

    assert unpacked(PACKED[name], is_live=False) == (TEXT, None)


@pytest.mark.parametrize("pack", [zstd_frames, bgzip, zstd_piped, gzip.compress, lzma.compress, bz2.compress])
def test_a_bomb_ends_at_the_limit_also_in_frames(pack):
    content, note = unpacked(pack(bytes(40_000_000)), Limits(decoded_floor=1 << 16, ratio=20), is_live=False)

    assert "more than 20 times" in note
    assert len(content) < 3_000_000


def test_a_frame_that_gives_more_than_it_says_is_damaged():
    frame = bytearray(zstandard.ZstdCompressor().compress(bytes(100_000)))
    parameters = zstandard.get_frame_parameters(bytes(frame))
    assert parameters.content_size == 100_000
    lying = bytes(frame).replace((100_000).to_bytes(4, "little"), (40_000).to_bytes(4, "little"), 1)

    assert zstandard.get_frame_parameters(lying).content_size == 40_000
    content, note = unpacked(lying, is_live=False)
    assert "damaged" in note
    assert len(content) <= 40_000


def test_an_xz_stream_whose_index_claims_countless_blocks_is_damaged():
    if not shutil.which("xz"):
        pytest.skip("needs xz to write blocks")
    packed = PACKED["xz in blocks"]
    index = packed.rindex(b"YZ") - 10 - (int.from_bytes(packed[-8:-4], "little") + 1) * 4
    _, note = unpacked(packed[:index] + b"\0" + b"\xff" * 8 + b"\x7f" + b"\x81" * 100_000, is_live=False)

    assert "its index tells of" in note


# --- ahead ---


def new_threads(before):
    return [thread for thread in threading.enumerate() if thread.name == "read ahead" and thread not in before]


def test_who_leaves_in_the_middle_leaves_no_thread_behind():
    before = threading.enumerate()
    blocks = read_ahead(lambda _: (bytes(1 << 20) for _n in range(100)))(lambda _: None)
    for _ in range(5):
        next(blocks)
    [thread] = new_threads(before)
    blocks.close()
    thread.join(5)

    assert not thread.is_alive()


def test_a_short_input_takes_no_thread():
    before = threading.enumerate()
    blocks = read_ahead(lambda _: (bytes(1 << 20) for _n in range(2)))(lambda _: None)
    next(blocks)
    next(blocks)

    assert new_threads(before) == []


@pytest.mark.parametrize("error", [EarlyEnd("is torn"), OSError(5, "Input/output error"), ValueError("a defect")])
def test_what_ends_the_blocks_is_raised_behind_them(error):
    def made(took):
        for _ in range(6):
            took(3)
            yield bytes(1 << 20)
        raise error

    taken = []
    blocks = read_ahead(made)(taken.append)
    assert [len(next(blocks)) for _ in range(6)] == [1 << 20] * 6
    with pytest.raises(type(error)):
        next(blocks)
    assert sum(taken) == 18


def test_what_was_taken_from_the_disk_is_told_with_the_block_it_was_taken_for(tmp_path):
    packed = gzip.compress(CHANCE.randbytes(1 << 22).hex().encode(), 1)
    (tmp_path / "a.log").write_bytes(packed)
    [source] = open_sources([str(tmp_path / "a.log")])
    shares = [source.disk_read / len(packed) for _ in source.blocks()]

    assert shares == sorted(shares)
    assert shares[len(shares) // 2] < 0.9
    assert shares[-1] == 1
