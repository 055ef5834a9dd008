"""A log that is skimmed leads to what it leads to when each of its lines is read."""

from __future__ import annotations

import io

import pytest
from cases import ALL, BY_NAME

from benchmarks import logs
from nccl_logscan.errors import InputError
from nccl_logscan.pipeline import Options, Reading, scan
from nccl_logscan.skim import rounds, windows
from nccl_logscan.skim.choice import LARGE, LEAST, Skimming
from tests.simulation import FAULTS
from tools.simulation import run_job

# The bars of a progress line are counted as the one line that they are, not each part by itself.
_OTHER_COUNTS = {"lab/hf-ok"}
_STORM = next(case for case in ALL if case.name.startswith("storm"))
CASES = [case for case in ALL if case is not _STORM]


def said(paths, large_, threads=2):
    """What a scan says but for how it read."""
    options = Options(skimming=Skimming(large=large_, threads=threads), looks_beside=False)
    try:
        result = scan(paths, None, options)
    except InputError as error:
        return str(error)
    diagnosis, coverage = result.diagnosis, result.coverage
    return {
        "category": diagnosis.category,
        "culprit": diagnosis.culprit,
        "rule": diagnosis.finding and diagnosis.finding.rule.id,
        "confidence": diagnosis.confidence,
        "findings": sorted((finding.rule.id, finding.count) for finding in result.findings),
        "kinds": coverage.by_kind,
        "sizes": (coverage.lines, coverage.bytes, coverage.replaced_bytes, coverage.truncated_lines),
        "unknown": coverage.unrecognised_nccl_lines,
        "activity": result.activity and [lines_of(course) for course in result.activity.courses],
    }


def lines_of(course):
    """Its lines; tied to another clock, their times may differ within the uncertainty that is told with them."""
    return course.rank, course.first.at, course.last.at, course.trouble and course.trouble.at


def without_counts(said_):
    return {name: value for name, value in said_.items() if name != "kinds"}


@pytest.fixture(params=[1 << 21, 2_500], ids=["one-segment", "many-segments"])
def segments(request, monkeypatch):
    for module in (rounds, windows):
        monkeypatch.setattr(module, "SEGMENT", request.param)
    if request.param < 1 << 21:
        monkeypatch.setattr(rounds, "BATCH", 3)
        monkeypatch.setattr(rounds, "HELD", 1 << 14)


def paths_of(case):
    return [str(path) for path in case.inputs if path.suffix != ".xz"]


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])
@pytest.mark.usefixtures("segments")
def test_a_case_leads_to_the_same(case):
    whole, skimmed = said(paths_of(case), None), said(paths_of(case), 1)
    if case.name in _OTHER_COUNTS:
        whole, skimmed = without_counts(whole), without_counts(skimmed)
    assert skimmed == whole


@pytest.mark.usefixtures("segments")
def test_a_storm_has_as_many_findings(tmp_path):
    path = tmp_path / "storm.log"
    path.write_text("".join(_STORM.texts().values())[:500_000], "utf-8")
    assert said([path], 1) == said([path], None)


@pytest.mark.parametrize("write", [logs.write_training, logs.write_startup])
@pytest.mark.usefixtures("segments")
def test_a_generated_log_leads_to_the_same(write, tmp_path):
    log = io.BytesIO()
    write(log, 600_000, 2)
    path = tmp_path / "job.log"
    path.write_bytes(log.getvalue())
    assert said([path], 1) == said([path], None)
    assert said([path], 1, threads=5) == said([path], 1, threads=1)


@pytest.mark.parametrize("name", ["lab/m8-overflow", "recorder/fr-link-down", "blind/a27"])
def test_a_pipe_leads_to_the_same_as_a_file(name):
    path = next(path for path in BY_NAME[name].inputs if ".log" in path.suffixes)
    filed = said([str(path)], 1)
    with path.open("rb") as stdin:
        streamed = scan(["-"], None, Options(skimming=Skimming(large=1)), stdin)
    assert streamed.diagnosis.category == filed["category"]
    assert streamed.coverage.by_kind == filed["kinds"]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_simulated_job_leads_to_the_same(fault, tmp_path, monkeypatch):
    run_job(42, tmp_path, {"ranks": 16, "fault": fault})
    folder = [str(tmp_path)]
    for module in (rounds, windows):
        monkeypatch.setattr(module, "SEGMENT", 20_000)
    assert said(folder, 1) == said(folder, None)


def test_small_logs_of_a_large_job_are_skimmed(tmp_path, monkeypatch):
    read = []
    monkeypatch.setattr(Reading, "take_round", counted(Reading.take_round, read))
    logs.write_rank_files(tmp_path / "job", LEAST, 1, ranks=LARGE // LEAST, failing=0)
    files = sorted(map(str, (tmp_path / "job").iterdir()))
    whole = said(files, None)
    assert not read
    assert said(files, LARGE) == whole
    assert len(read) == len(files)
    read.clear()
    said(files[:1], LARGE)
    assert not read


def counted(function, calls):
    def counting(*given):
        calls.append(1)
        return function(*given)

    return counting
