"""What may be done to a log without changing what failed."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from cases import ALL

from nccl_logscan import scan
from nccl_logscan.pipeline import scan_text
from nccl_logscan.rulebook.load import builtin_rulebook

ROOT = Path(__file__).parents[1]


def first_of_each_category(count):
    """The first cases of each category, so that all kinds of failure take part."""
    taken = {}
    for case in ALL:
        taken.setdefault(case.label["category"], []).append(case)
    return [pytest.param(case, id=case.name) for cases in taken.values() for case in cases[:count]]


SOME = first_of_each_category(2)
EVERY = [pytest.param(case, id=case.name) for case in ALL]


def category(texts):
    return scan_text(texts, builtin_rulebook()).diagnosis.category


@cache
def unchanged(case):
    return category(case.texts())


def lines_of(text):
    return text.removesuffix("\n").split("\n")


@pytest.mark.parametrize("case", EVERY)
def test_a_log_twice_over_tells_of_the_same_failure(case):
    twice = {name: text.removesuffix("\n") + "\n" + text for name, text in case.texts().items()}

    assert category(twice) == unchanged(case)


@pytest.mark.parametrize("case", SOME)
def test_noise_between_lines_changes_nothing(case):
    chance = random.Random(case.name)  # noqa: S311 - no secret

    def noisy(text):
        for line in lines_of(text):
            yield line
            if chance.random() < 0.3 and line[:1] not in {" ", ""}:
                yield f"INFO cache holds {chance.randrange(9_999)} entries, {chance.random():.3f} of them warm"

    assert category({name: "\n".join(noisy(text)) for name, text in case.texts().items()}) == unchanged(case)


def tee(line, file):
    return f"[default{file}]:{line}"


def srun(line, file):
    return f"{file}: {line}"


def ray(line, file):
    return f"\x1b[36m(WorkerDict pid={4711 + file}, ip=10.9.0.{7 + file})\x1b[0m {line}"


def kubectl(line, file):
    return f"[pod/job-worker-{file}/pytorch] {line}"


def cri(line, file):  # noqa: ARG001 - one signature for all
    return f"2026-01-02T03:04:05.123456789Z stderr F {line}"


def docker(line, file):  # noqa: ARG001
    return json.dumps({"log": line + "\n", "stream": "stderr", "time": "2026-01-02T03:04:05.123456789Z"})


def github(line, file):  # noqa: ARG001
    return f"2026-01-02T03:04:05.1234567Z {line}"


def openmpi(line, file):
    return f"[1,{file}]<stderr>:{line}"


def pdsh(line, file):
    return f"node{file + 1}: {line}"


def journald(line, file):
    return f"Jan 02 03:04:05 node{file + 1} trainer[4242]: {line}"


def github_around_ray(line, file):
    return github(ray(line, file), file)


def kubectl_around_tee(line, file):
    return kubectl(tee(line, file), file)


PREFIXES = (
    *(tee, srun, ray, kubectl, cri, docker, github, openmpi, pdsh, journald),
    *(github_around_ray, kubectl_around_tee),
)


@pytest.mark.parametrize("prefix", PREFIXES, ids=lambda prefix: prefix.__name__)
@pytest.mark.parametrize("case", SOME)
def test_a_prefix_on_every_line_changes_no_category(case, prefix):
    prefixed = {
        name: "\n".join(prefix(line, number) for line in lines_of(text))
        for number, (name, text) in enumerate(case.texts().items())
    }

    assert category(prefixed) == unchanged(case)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le"])
@pytest.mark.parametrize("case", SOME)
def test_line_ends_and_encoding_change_nothing(case, encoding, tmp_path):
    for name, text in case.texts().items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(text.replace("\r\n", "\n").replace("\n", "\r\n").encode(encoding))

    assert scan([str(tmp_path)]).diagnosis.category == unchanged(case)


WRITER = re.compile(r"\[(?:default|rank)\d+\]|\S+:\d+:\d+ \[\d+\]")


def written_by_the_same(text):
    """Return the lines in blocks: one that names its writer begins a block, those after it without a name follow it."""
    blocks = []
    for line in lines_of(text):
        writer = WRITER.search(line[:80])
        if writer or not blocks:
            blocks.append((writer[0] if writer else "", [line]))
        else:
            blocks[-1][1].append(line)
    return blocks


def shuffled(blocks, chance, *, within):
    """Interleave the writers anew; each one's blocks keep their order, and none moves by more than `within` blocks."""
    for start in range(0, len(blocks), within):
        window = blocks[start : start + within]
        order = [writer for writer, _ in window]
        chance.shuffle(order)
        queues = {writer: iter([lines for other, lines in window if other == writer]) for writer in order}
        for writer in order:
            yield from next(queues[writer])


@pytest.mark.parametrize("case", EVERY)
def test_ranks_that_are_interleaved_differently_fail_the_same_way(case):
    chance = random.Random(case.name)  # noqa: S311 - no secret
    texts = {
        name: "\n".join(shuffled(written_by_the_same(text), chance, within=12)) for name, text in case.texts().items()
    }

    # Without a clock the order of lines is evidence; where it decides between two answers, the label accepts both.
    assert category(texts) in {unchanged(case), *case.acceptable}


# --- memory ----------------------------------------------------------------------------------------------------

GENERATE_AND_SCAN = """
import sys
from nccl_logscan import scan
sys.path.insert(0, sys.argv[1])
from long_log import write_log

path = sys.argv[2]
write_log(path, megabytes=int(sys.argv[3]))
print(scan([path]).coverage.peak_rss_bytes)
"""


def peak_of(tmp_path, megabytes):
    path = tmp_path / f"{megabytes}.log"
    words = [sys.executable, "-c", GENERATE_AND_SCAN, str(ROOT / "tests"), str(path), str(megabytes)]
    return int(subprocess.run(words, capture_output=True, text=True, check=True, cwd=ROOT, timeout=300).stdout)


def test_memory_does_not_grow_with_the_log(tmp_path):
    short, long = peak_of(tmp_path, 48), peak_of(tmp_path, 96)  # what a scan holds together is full after some 40 MB

    assert long < 1.25 * short
