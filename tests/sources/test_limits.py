"""Each limit, made small, is reached, and what is said of that names it; made large, all is read."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import re
import tarfile
import zipfile
from pathlib import Path

import pytest
import zstandard

from nccl_logscan.cli import main
from nccl_logscan.sources.limits import Limits

ROOT = Path(__file__).parents[2]
LOG = (ROOT / "fixtures" / "cases" / "lab" / "timeout-dataloader" / "driver.log").read_bytes()
LARGE = LOG + b"x" * 3_000_000 + b"\n" + LOG
SCRIPT = b"#!/bin/bash\nexport NCCL_IB_TIMEOUT=18\ntorchrun train.py\n"
DUMP = (ROOT / "fixtures" / "cases" / "lab" / "timeout-dataloader" / "fr_0").read_bytes()


def tar(count):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for number in range(count):
            member = tarfile.TarInfo(f"rank{number}.log")
            member.size = len(LOG)
            archive.addfile(member, io.BytesIO(LOG))
    return packed.getvalue()


def zipped(count):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(count):
            archive.writestr(f"rank{number}.log", LOG)
    return packed.getvalue()


def wide(data):
    """A zstd frame that says a window of 128 MiB."""
    parameters = zstandard.ZstdCompressionParameters(window_log=27, enable_ldm=1)
    packer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    return packer.compress(data) + packer.flush()


INPUTS = {
    "members of tar": ("members", "2", {"logs.tar": tar(4)}),
    "members of zip": ("members", "2", {"logs.zip": zipped(4)}),
    "ratio of gzip": ("ratio", "2", {"trainer.log.gz": gzip.compress(LARGE)}),
    "ratio of zip": ("ratio", "2", {"logs.zip": zipped(2)}),
    "window of xz": ("window_bytes", "64K", {"trainer.log.xz": lzma.compress(LARGE)}),
    "window of zstd": ("window_bytes", "1M", {"trainer.log.zst": wide(LARGE)}),
    "a dump": ("dump_bytes", "1K", {"driver.log": LOG, "fr_0": DUMP}),
    "scripts": ("configs", "1", {"a.sh": SCRIPT, "b.sh": SCRIPT}),
    "bytes of scripts": ("config_bytes", str(len(SCRIPT)), {"a.sh": SCRIPT, "b.sh": SCRIPT}),
}


def scanned(folder, files, *limits):
    """What the report says of coverage, and its notes."""
    for name, data in files.items():
        (folder / name).write_bytes(data)
    words = [word for limit in limits for word in ("--limit", limit)]
    logs = [str(folder / name) for name in files if not name.endswith(".sh")]
    code = main(["scan", *logs, *words, "-o", str(folder / "out.json"), "--quiet"])
    assert code in {0, 1}
    return json.loads((folder / "out.json").read_text("utf-8"))["coverage"]


@pytest.mark.parametrize("kind", INPUTS)
def test_a_limit_that_is_reached_is_said_with_what_raises_it(kind, tmp_path):
    limit, small, files = INPUTS[kind]
    (tmp_path / "beside.log").write_bytes(LOG)
    beside = {"beside.log": LOG}  # so that there is something to judge
    coverage = scanned(tmp_path, beside | files, f"{limit}={small}", "decoded_floor=1")

    assert [note for note in coverage["notes"] if f"--limit {limit}=N reads more" in note]


@pytest.mark.parametrize("kind", INPUTS)
def test_below_its_usual_limits_all_is_read(kind, tmp_path):
    _, _, files = INPUTS[kind]

    assert not [note for note in scanned(tmp_path, {"beside.log": LOG} | files)["notes"] if "--limit" in note]


def test_a_file_that_is_packed_twice_is_read_where_the_limit_is_raised(tmp_path):
    twice = {"beside.log": LOG, "trainer.log.gz.gz": gzip.compress(gzip.compress(LOG))}
    [note] = scanned(tmp_path, twice)["notes"]
    assert note.endswith("(--limit compressions=N reads more)")
    coverage = scanned(tmp_path, twice, "compressions=2")
    assert (coverage["bytes"], coverage["notes"]) == (2 * len(LOG), [])


def test_lines_that_are_cut_are_counted_unless_the_limit_is_raised(tmp_path):
    assert scanned(tmp_path, {"trainer.log": LARGE})["truncated_lines"] == 1
    assert scanned(tmp_path, {"trainer.log": LARGE}, "line_bytes=4M")["truncated_lines"] == 0


def test_a_folder_of_archives_is_read_up_to_the_limit(tmp_path):
    coverage = scanned(tmp_path, {"logs.tar": tar(4)}, "members=3")
    assert coverage["bytes"] == 3 * len(LOG)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("members", "'members' is no limit"),
        ("members=x", "'members=x' is no limit"),
        ("member=3", "no limit is called 'member'; there are line_bytes, members, "),
        ("members=0", "members is at least 1"),
        ("members=-3", "'members=-3' is no limit"),
        ("ratio=1e3", "'ratio=1e3' is no limit"),
    ],
)
def test_a_limit_that_is_none_is_a_mistake_of_usage(capsys, value, told):
    assert main(["scan", "trainer.log", "--limit", value]) == 2
    assert told in capsys.readouterr().err


def test_the_documented_limits_are_those_there_are():
    rows = re.findall(
        r"^\| `(\w+)` \| (\d+)([KMG]?) \|", (ROOT / "docs" / "limits.md").read_text("utf-8"), re.MULTILINE
    )
    units = {"": 0, "K": 10, "M": 20, "G": 30}
    usual = Limits()
    assert {name: int(number) << units[unit] for name, number, unit in rows} == {
        name: getattr(usual, name) for name in Limits.__annotations__
    }
