"""However many skim a log, the report is the same."""

import random
from contextlib import closing

import pytest
from engine_logs import as_json, write_log, write_training
from hypothesis import given, settings
from hypothesis import strategies as st

from nccl_logscan.engines.shards import File, Shard, Telling, Work, digest_of, told_by
from nccl_logscan.engines.worker import Worker, read_shards
from nccl_logscan.pipeline import Options, Run, scan
from nccl_logscan.rulebook.load import builtin_rulebook
from nccl_logscan.skim import rounds
from nccl_logscan.skim.asking import Askers
from nccl_logscan.skim.choice import Skimming
from nccl_logscan.skim.crew import Batch, ThreadCrew
from nccl_logscan.skim.large import asker_of
from nccl_logscan.skim.windows import SEGMENT
from nccl_logscan.sources.limits import Limits
from nccl_logscan.version import __version__

WORK = Work("a scan", __version__, builtin_rulebook().digest, None, Limits())


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """A log of four segments."""
    path = tmp_path_factory.mktemp("logs") / "trainer.log"
    write_log(path, megabytes=7)
    return path


def scanned(log, threads):
    return as_json(scan([log], options=Options(skimming=Skimming(threads=threads))))


def test_any_number_of_threads_gives_the_same_json(tmp_path):
    log = write_training(tmp_path / "trainer.log", megabytes=9)

    assert scanned(log, 1) == scanned(log, 2) == scanned(log, 5)


def test_any_number_of_threads_ends_rounds_at_the_same_lines(log, monkeypatch):
    monkeypatch.setattr(rounds, "BATCH", 1)
    monkeypatch.setattr(rounds, "HELD", 1 << 20)

    alone, many = list(lines_of_rounds(log, 1)), list(lines_of_rounds(log, 4))

    assert len(alone) > 1
    assert many == alone


def lines_of_rounds(log, threads):
    run, limits = Run(builtin_rulebook()), Limits()
    asker = asker_of(log.name, log.read_bytes(), limits, Askers(run.matcher, run.listeners))
    with closing(ThreadCrew(log, log.name, asker, limits, threads)) as crew:
        for part in rounds.FileRounds(crew, log.name, limits, asker):
            yield [(raw, is_read) for raw, is_read, _, _ in part.lines], part.line_count, part.size


# --- tales from elsewhere ---------------------------------------------------------------------------------------


class Shuffled:
    """A crew whose segments are skimmed by several workers, each of which numbers classes in its own way."""

    def __init__(self, log, asker, chance, workers):
        data = log.read_bytes()
        self.size = len(data)
        self._name = log.name
        self._file = File(log.name, str(log), self.size, digest_of(data))
        self._asker, self._chance = asker, chance
        self._workers = [Worker(WORK) for _ in range(workers)]
        self._tales = []

    @property
    def held(self):
        return sum(len(line.text) for tale in self._tales for line in tale.lines)

    def skim(self, segments, batch, room):  # noqa: ARG002 - a crew's
        order = list(segments)
        self._chance.shuffle(order)
        told = {one: self._chance.choice(self._workers).read(Shard(self._file, one, one + 1)) for one in order}
        for one in segments:
            self._tales.append(told_by(Telling(*told[one][0]), self._name, self._asker, batch))

    def tell(self):
        tales, self._tales = self._tales, []
        return tales


@settings(max_examples=3, deadline=None)
@given(seed=st.integers(0, 1 << 30), workers=st.integers(1, 3))
def test_whoever_skims_which_segment_the_same_lines_are_read(log, seed, workers):
    run, limits = Run(builtin_rulebook()), Limits()
    asker = asker_of(log.name, log.read_bytes(), limits, Askers(run.matcher, run.listeners))
    crew = Shuffled(log, asker, random.Random(seed), workers)  # noqa: S311 - no secret

    (part,) = rounds.FileRounds(crew, log.name, limits, asker)
    lines = [(raw, is_read) for raw, is_read, _, _ in part.lines]

    assert [(lines, part.line_count, part.size)] == list(lines_of_rounds(log, 1))
    assert {key[0] for key in part.counts} <= part.groups.keys()


def test_counts_of_classes_are_the_same_by_what_they_are_of(log):
    def counted(crew, asker):
        (part,) = rounds.FileRounds(crew, log.name, limits, asker)
        list(part.lines)
        names = {number: what for number, what, _ in asker.names().groups}
        kinds = dict(asker.names().tallies)
        classes = {(names[number], runs): count for (number, runs), count in part.counts.items()}
        return classes, {kinds.get(number): count for number, count in part.tally_counts.items() if count}

    run, limits = Run(builtin_rulebook()), Limits()
    first, second = (asker_of(log.name, log.read_bytes(), limits, Askers(run.matcher, run.listeners)) for _ in range(2))
    with closing(ThreadCrew(log, log.name, first, limits)) as crew:
        here = counted(crew, first)

    assert counted(Shuffled(log, second, random.Random(3), 2), second) == here  # noqa: S311 - no secret


# --- a worker's answers -----------------------------------------------------------------------------------------


def asked(path, data, **of_work):
    file = File("x.log", str(path), len(data), digest_of(data))
    work = tuple(WORK._replace(**of_work))
    (answer,) = read_shards(work, [(tuple(file), 0, 1, False)])
    return answer


def test_a_worker_tells_in_plain_tuples_alone(log):
    form, told = asked(log, log.read_bytes())

    def is_plain(value):
        if type(value) in {list, tuple}:
            return all(map(is_plain, value))
        if type(value) is dict:
            return all(is_plain(key) and is_plain(one) for key, one in value.items())
        return value is None or type(value) in {int, str, bytes, bool}

    assert form == "told"
    assert is_plain(told)


def test_a_file_that_is_another_one_there_is_not_read(tmp_path):
    other = tmp_path / "x.log"
    other.write_bytes(b"y" * SEGMENT)

    assert asked(other, b"x" * SEGMENT) == ("failed", ("it has changed since it was found", True))


def test_a_file_that_has_become_shorter_is_not_read(tmp_path):
    shorter = tmp_path / "x.log"
    shorter.write_bytes(b"x" * (SEGMENT - 1))

    assert asked(shorter, b"x" * SEGMENT)[0] == "failed"


def test_a_file_that_is_not_there_may_be_elsewhere(tmp_path):
    assert asked(tmp_path / "none", b"x") == ("failed", ("it is not there", True))


def test_a_worker_of_another_version_tells_nothing(log):
    form, (reason, _) = asked(log, log.read_bytes(), version="0.0.1")

    assert form == "failed"
    assert reason == f"it has nccl-logscan {__version__}, and not 0.0.1"


def test_a_worker_with_other_rules_tells_nothing(log):
    assert asked(log, log.read_bytes(), digest="another")[1][0] == "its nccl-logscan has other rules"


def test_segments_of_a_batch_are_entered_once(log):
    worker, batch = Worker(WORK), Batch()
    run, data = Run(builtin_rulebook()), log.read_bytes()
    asker = asker_of(log.name, data, Limits(), Askers(run.matcher, run.listeners))
    file = File(log.name, str(log), len(data), digest_of(data))

    told_by(Telling(*worker.read(Shard(file, 0, 4))[0]), log.name, asker, batch)

    assert sum(batch.line_counts.values()) == data.count(b"\n")
