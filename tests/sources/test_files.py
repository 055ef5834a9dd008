import bz2
import gzip
import io
import lzma
import os
import tarfile
import zipfile
from pathlib import Path

import pytest
import zstandard
from archives import tar

from nccl_logscan.errors import InputError
from nccl_logscan.sources import Kind, Limits, members, natural, open_sources, streams

LOG = b"vm:1:2 [0] NCCL INFO Using network IB\n" * 1000
PACKERS = {
    "gzip": gzip.compress,
    "zstd": zstandard.ZstdCompressor(write_checksum=True).compress,
    "xz": lzma.compress,
    "bz2": bz2.compress,
}


@pytest.fixture(params=PACKERS)
def pack(request):
    return PACKERS[request.param]


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return str(path)

    return write


def only(path, **options):
    [source] = open_sources([str(path)], **options)
    return source


def count(source):
    return sum(1 for _ in source.lines())


# --- one file ---


def test_a_plain_file_is_read_and_counted(write):
    source = only(write("train.log", LOG))

    assert count(source) == source.lines_read == 1000
    assert (source.bytes_read, source.disk_read, source.size, source.note) == (len(LOG), len(LOG), len(LOG), None)
    assert count(source) == 1000


def test_compression_is_told_by_content_and_not_by_name(write, pack):
    source = only(write("train.log", pack(LOG)))

    assert (count(source), source.bytes_read, source.note) == (1000, len(LOG), None)
    assert source.disk_read == source.size


def test_streams_behind_one_another_are_one_file(write, pack):
    source = only(write("train.log", pack(LOG) + pack(b"") + pack(LOG)))

    assert (count(source), source.note) == (2000, None)


def test_a_cut_off_compressed_file_gives_what_it_holds(write, pack):
    content = os.urandom(1_500_000).hex().encode().replace(b"0", b"\n")
    packed = pack(content)
    source = only(write("train.log", packed[: len(packed) * 3 // 4]))

    assert 0 < count(source) < content.count(b"\n")
    assert "ends in the middle" in source.note


def test_damage_in_a_compressed_file_is_said(write, pack):
    packed = bytearray(pack(os.urandom(200_000).hex().encode()))
    packed[len(packed) // 2 : len(packed) // 2 + 2000] = b"\xff" * 2000
    source = only(write("train.log", bytes(packed)))
    list(source.lines())

    assert "damaged" in source.note or "ends in the middle" in source.note


def test_zeros_behind_a_gzip_file_are_padding(write):
    source = only(write("train.log", gzip.compress(LOG) + b"\0" * 512))

    assert (count(source), source.note) == (1000, None)


def test_a_bomb_is_read_up_to_the_limit(write, pack):
    limits = Limits(decoded_floor=1 << 16, ratio=20)
    source = only(write("bomb.log", pack(b"A line of the bomb\n" * 2_000_000)), limits=limits)
    list(source.lines())

    assert "more than 20 times" in source.note
    assert source.bytes_read < 36_000_000


def test_twice_compressed_is_skipped(write):
    source = only(write("train.log", gzip.compress(gzip.compress(LOG))))

    assert (count(source), source.note) == (
        0,
        "is compressed more than once and was skipped (--limit compressions=N reads more)",
    )


def test_a_binary_file_is_skipped(write):
    source = only(write("a.out", b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 20))

    assert (count(source), source.note) == (0, "is not text and was skipped")


def test_an_empty_file_says_so(write):
    source = only(write("train.log", b""))

    assert (count(source), source.note) == (0, "is empty")


def test_a_disk_error_ends_the_source_and_not_the_scan(write, monkeypatch):
    source = only(write("train.log", LOG))

    def fail(*_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Path, "open", fail)
    assert (count(source), source.note) == (0, "could not be read to its end: input/output error")


# --- paths ---


def test_a_folder_gives_its_files_in_natural_order_at_any_depth(write, tmp_path):
    for name in ("rank10.log", "rank2.log", "node1/rank0.log", ".git/config"):
        write(name, LOG)

    names = [source.name for source in open_sources([str(tmp_path)])]
    assert names == [f"{tmp_path}/{name}" for name in ("node1/rank0.log", "rank2.log", "rank10.log")]


def test_the_given_order_stays_and_nothing_is_read_twice(write, tmp_path):
    first, second = write("a.log", LOG), write("b.log", LOG)

    names = [source.name for source in open_sources([second, str(tmp_path / "*.log"), first, second])]
    assert names == [second, first]


def test_a_name_stays_as_it_was_given(write, tmp_path, monkeypatch):
    write("logs/a.log", LOG)
    monkeypatch.chdir(tmp_path)

    assert [source.name for source in open_sources(["./logs/a.log"])] == ["./logs/a.log"]
    assert [source.name for source in open_sources(["logs"])] == ["logs/a.log"]


def test_a_file_whose_name_is_a_pattern_is_that_file(write):
    path = write("a[1].log", LOG)

    assert only(path).name == path


def test_standard_input_is_read_once():
    [source] = open_sources(["-", "-"], stdin=io.BytesIO(gzip.compress(LOG)))

    assert (source.name, source.size, source.kind) == ("-", None, Kind.TEXT)
    assert (count(source), source.note) == (1000, None)


def test_a_pipe_is_read():
    reader, writer = os.pipe()
    os.write(writer, b"a\nb\n")
    os.close(writer)
    source = only(f"/dev/fd/{reader}")

    assert count(source) == 2


def test_an_archive_on_standard_input_is_refused_in_words():
    [source] = open_sources(["-"], stdin=io.BytesIO(tar({"a.log": LOG})))

    assert count(source) == 0
    assert "archive" in source.note


@pytest.mark.parametrize("given", ["no/such/file.log", "no/such/*.log", "nul\0byte"])
def test_what_is_not_there_is_an_error_with_a_hint(given):
    with pytest.raises(InputError) as error:
        open_sources([given])
    assert error.value.hint
    assert "\n" not in str(error.value)


def test_a_folder_with_nothing_in_it_is_an_error(tmp_path):
    (tmp_path / "deep/down").mkdir(parents=True)
    with pytest.raises(InputError, match="no file in it"):
        open_sources([str(tmp_path)])


def test_a_link_to_itself_is_an_error(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(InputError, match="loop of links"):
        open_sources([str(tmp_path / "loop")])


@pytest.mark.skipif(os.geteuid() != 0, reason="gives files to other users")
@pytest.mark.parametrize(
    ("maker", "owner", "is_read"),
    [(1000, 0, False), (1000, 1001, False), (1000, 1000, True), (0, 1000, True)],
    ids=["to root's", "to another's", "to their own", "root's to anybody's"],
)
@pytest.mark.parametrize("target", ["file", "folder"])
def test_a_link_is_followed_unless_somebody_made_it_to_what_is_not_theirs(tmp_path, maker, owner, is_read, target):
    kept, logs = tmp_path / "kept", tmp_path / "logs"
    kept.mkdir()
    logs.mkdir()
    (logs / "a.log").write_bytes(LOG)
    (kept / "secret.log").write_bytes(LOG)
    aim = kept if target == "folder" else kept / "secret.log"
    os.chown(aim, owner, owner)
    (logs / "link").symlink_to(aim)
    os.chown(logs / "link", maker, maker, follow_symlinks=False)

    own, *others = sorted(open_sources([str(logs)]), key=lambda source: source.name)
    lines = [line.text for source in others for line in source.lines()]

    assert own.name == f"{logs}/a.log"
    assert bool(lines) is is_read
    assert is_read or others[0].note.startswith("is another user's link")


def test_a_folder_linked_into_itself_is_read_once(write, tmp_path):
    write("a.log", LOG)
    (tmp_path / "again").symlink_to(tmp_path)

    assert only(tmp_path).name == f"{tmp_path}/a.log"


def test_a_file_that_may_not_be_read_is_an_error(write, monkeypatch):
    path = write("a.log", LOG)

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError, match="permission denied") as error:
        open_sources([path])
    assert error.value.hint


def test_natural_order_counts():
    assert sorted(["rank10", "rank2", "rank1a", "Rank", "", "2"], key=natural) == [
        "",
        "2",
        "Rank",
        "rank1a",
        "rank2",
        "rank10",
    ]


# --- archives ---


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_each_member_of_a_tar_is_a_source(write, mode):
    path = write("logs.tar", tar({"job/rank2.log": LOG, "job/rank10.log": LOG * 2, "x" * 150 + ".log": LOG}, mode))
    sources = open_sources([path])

    assert [source.name.split("!")[1][:14] for source in sources] == ["job/rank2.log", "job/rank10.log", "x" * 14]
    assert [count(source) for source in sources] == [1000, 2000, 1000]
    assert [source.note for source in sources] == [None] * 3
    assert sum(source.size or 0 for source in sources) <= Path(path).stat().st_size


def test_members_can_be_read_in_any_order_and_again(write):
    first, second = open_sources([write("logs.tgz", tar({"a": LOG, "b": LOG * 2}, "w:gz"))])

    assert [count(source) for source in (second, first, first, second)] == [2000, 1000, 1000, 2000]


def test_a_member_may_be_compressed_itself(write):
    source = only(write("logs.tar", tar({"rank0.log.gz": gzip.compress(LOG)})))

    assert (count(source), source.note) == (1000, None)


def test_an_archive_in_an_archive_is_not_opened(write):
    source = only(write("logs.tar", tar({"inner.tar": tar({"a": LOG})})))

    assert count(source) == 0
    assert "archive" in source.note


def test_links_and_devices_in_a_tar_are_passed_over(write):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE):
            info = tarfile.TarInfo("../../etc/passwd")
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
        info = tarfile.TarInfo("../../a.log")
        info.size = len(LOG)
        archive.addfile(info, io.BytesIO(LOG))
    source = only(write("logs.tar", packed.getvalue()))

    assert (source.name.split("!")[1], count(source)) == ("../../a.log", 1000)


def test_a_cut_off_tar_gives_what_it_holds(write):
    first, second, end = open_sources([write("logs.tar", tar({"a": LOG, "b": LOG})[:60_000])])

    assert count(first) == 1000
    assert 0 < count(second) < 1000
    assert "ends in the middle" in second.note
    assert count(end) == 0
    assert "ends in the middle" in end.note


def test_an_archive_of_too_many_files_is_read_up_to_the_limit(write):
    sources = open_sources([write("logs.tar", tar({str(n): LOG for n in range(5)}))], limits=Limits(members=3))

    assert [count(source) for source in sources] == [1000, 1000, 1000, 0]
    assert sources[-1].note == "holds more than 3 files; the others were not read (--limit members=N reads more)"


def test_a_bomb_in_a_tar_is_read_up_to_the_limit(write):
    limits = Limits(decoded_floor=1 << 16, ratio=20)
    sources = open_sources([write("logs.tgz", tar({"a": b"x\n" * 5_000_000, "b": LOG}, "w:gz"))], limits=limits)
    for source in sources:
        list(source.lines())

    assert any("more than 20 times" in (source.note or "") for source in sources)


def test_an_archive_without_a_file_says_so(write):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        info = tarfile.TarInfo("logs")
        info.type = tarfile.DIRTYPE
        archive.addfile(info)
    source = only(write("logs.tar", packed.getvalue()))

    assert (count(source), source.note) == (0, "is an archive with no file in it")


def test_each_member_of_a_zip_is_a_source(write):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("build/", "")
        archive.writestr("build/1_Set up.txt", LOG)
        archive.writestr("build/2_Run.txt", LOG * 2)
    sources = open_sources([write("logs.zip", packed.getvalue())])

    assert [source.name.split("!")[1] for source in sources] == ["build/1_Set up.txt", "build/2_Run.txt"]
    assert [count(source) for source in sources] == [1000, 2000]
    assert [source.disk_read for source in sources] == [source.size for source in sources]


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_every_way_to_pack_a_zip_is_read(write, method):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        archive.writestr("a.log", LOG * 100)
    source = only(write("logs.zip", packed.getvalue()))

    assert (count(source), source.note) == (100_000, None)


@pytest.mark.parametrize("without_isal", [False, True])
def test_a_damaged_member_of_a_zip_gives_what_came_before_and_says_so(write, monkeypatch, without_isal):
    if without_isal:
        monkeypatch.setattr(streams, "igzip_lib", None)
    packed = io.BytesIO()
    content = os.urandom(2_000_000).hex().encode()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.log", content)
        archive.writestr("b.log", LOG)
    damaged = bytearray(packed.getvalue())
    damaged[1_500_000:1_500_100] = bytes(100)
    first, second = open_sources([write("logs.zip", bytes(damaged))])
    given = b"".join(first.blocks())

    assert content.startswith(given[:2_000_000])
    assert len(given) > 1_000_000
    assert first.note
    assert (count(second), second.note) == (1000, None)


def test_an_encrypted_member_of_a_zip_says_so(write):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.log", LOG)
    content = packed.getvalue()
    directory = content.rindex(b"PK\x01\x02")
    encrypted = bytearray(content)
    encrypted[6] |= 1
    encrypted[directory + 8] |= 1
    source = only(write("logs.zip", bytes(encrypted)))

    assert count(source) == 0
    assert "encrypted" in source.note


def test_the_directory_of_a_zip_is_read_once_for_all_its_members(write, monkeypatch):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(50):
            archive.writestr(f"{number}.log", LOG)
    read = []
    directory = zipfile.ZipFile._RealGetContents
    monkeypatch.setattr(zipfile.ZipFile, "_RealGetContents", lambda self: read.append(1) or directory(self))

    assert sum(count(source) for source in open_sources([write("logs.zip", packed.getvalue())])) == 50_000
    assert len(read) == 1


def test_the_members_of_a_plain_tar_are_not_read_to_learn_of_them(write, monkeypatch):
    path = write("logs.tar", tar({"a": LOG * 300, "b": LOG * 300}))
    read = []
    take = members._FileReader.read
    monkeypatch.setattr(members._FileReader, "read", lambda self, size: read.append(size) or take(self, size))
    sources = open_sources([path])

    assert sum(read) < 200_000
    assert [(count(source), source.disk_read) for source in sources] == [(300_000, 300 * len(LOG))] * 2


def test_a_damaged_zip_says_so(write):
    source = only(write("logs.zip", b"PK\x03\x04 and then nothing"))

    assert count(source) == 0
    assert "zip" in source.note


# --- blocks, for those who cut lines themselves ---


def test_blocks_are_the_bytes_of_the_input_whatever_packs_it(write, pack):
    source = only(write("train.log", pack(LOG)))

    assert b"".join(source.blocks()) == LOG
    assert (source.bytes_read, source.disk_read, source.lines_read, source.note) == (len(LOG), source.size, 0, None)


def test_blocks_of_utf_16_are_utf_8(write):
    source = only(write("train.log", "é\n".encode("utf-16")))

    assert b"".join(source.blocks()) == "é\n".encode()
    assert source.path is None


def test_who_cuts_the_lines_of_blocks_counts_them(write):
    source = only(write("train.log", LOG))
    for block in source.blocks():
        source.count(lines=block.count(b"\n"), replaced=2, cut_lines=1)

    assert (source.lines_read, source.replaced, source.cut_lines, source.bytes_read) == (1000, 2, 1, len(LOG))
    assert count(source) == source.lines_read


def test_only_a_plain_text_has_a_path_to_read_ranges_from(write, pack):
    assert only(write("train.log", LOG)).path == Path(write("train.log", LOG))
    assert only(write("train.log.packed", pack(LOG))).path is None
    assert only(write("a.out", b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 20)).path is None
    assert only(write("logs.tar", tar({"a": LOG}))).path is None
