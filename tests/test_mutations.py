"""What stands between a job and its reader changes no verdict; a mangled log gives a verdict or an error."""

from __future__ import annotations

from contextlib import suppress

import pytest
from cases import ALL
from mutations import DESTRUCTIVE, HARMLESS, encoded, job_of, lay_out

from nccl_logscan.errors import InputError
from nccl_logscan.pipeline import scan

SAMPLE = [case for case in ALL if case.texts() and "storm" not in case.name][::40]


def verdict_of(case, files, folder):
    """What a scan of changed logs in the place of a case's own says."""
    lay_out(case, files, folder)
    return scan([str(folder)])


@pytest.mark.parametrize("name", HARMLESS)
@pytest.mark.parametrize("case", SAMPLE, ids=lambda case: case.name)
def test_a_harmless_change_leaves_the_verdict(case, name, tmp_path):
    before = verdict_of(case, encoded(case.texts()), tmp_path / "before")
    files = HARMLESS[name](job_of(case, before.job.hosts, name))
    if files is None:
        pytest.skip("not of this job")
    after = verdict_of(case, files, tmp_path / "after")

    told, was = after.diagnosis, before.diagnosis
    assert told.category == was.category or {told.category, was.category} <= case.acceptable
    assert told.culprit.rank == was.culprit.rank or told.category != was.category


@pytest.mark.parametrize("name", DESTRUCTIVE)
@pytest.mark.parametrize("case", SAMPLE, ids=lambda case: case.name)
def test_no_change_ends_a_scan_in_a_defect(case, name, tmp_path):
    with suppress(InputError):
        assert verdict_of(case, DESTRUCTIVE[name](job_of(case, (), name)), tmp_path).diagnosis.headline
