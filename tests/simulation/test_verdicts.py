"""The program's verdicts on simulated jobs, whose right answers are known. tools/simulation.py measures more."""

from __future__ import annotations

import pytest

from tests.simulation import FAULTS
from tools.simulation import run_job

RANKS = 16


@pytest.mark.parametrize("seed", range(1, 4 * len(FAULTS) + 1))
def test_no_job_is_blamed_on_another_rank_or_host(seed, tmp_path):
    job = run_job(seed, tmp_path, {"ranks": RANKS})
    assert job.culprit != "wrong", f"{job.fault}: wanted {job.wanted}; named {job.named} ({job.rule})"


@pytest.mark.parametrize("fault", FAULTS)
def test_of_each_fault_most_jobs_lead_to_who_is_behind_it(fault, tmp_path):
    jobs = [run_job(seed, tmp_path / str(seed), {"ranks": RANKS, "fault": fault}) for seed in range(500, 508)]
    told = [job for job in jobs if job.evidence_left]
    missed = [job for job in told if job.culprit == "missed"]
    assert not told or 2 * len(missed) < len(told), [(job.seed, job.what, job.rule) for job in missed]
