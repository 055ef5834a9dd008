"""The script of GitLab's template, run as a runner of GitLab runs it."""

from __future__ import annotations

import json
import shutil
from xml.etree import ElementTree as ET

import pytest
from integration_places import INTEGRATIONS, LAB, PROGRAM, documents_of

[TEMPLATE] = documents_of(INTEGRATIONS / "gitlab" / "nccl-logscan.gitlab-ci.yml")
HIDDEN = TEMPLATE[".nccl-logscan"]
[EXAMPLE] = documents_of(INTEGRATIONS / "gitlab" / "example.gitlab-ci.yml")


@pytest.fixture(params=["sh", "bash"])
def after_script(request, run, program_on_path):
    """Run the template's after_script with the variables of a job that extends it."""

    def after_script(**variables):
        given = {**HIDDEN["variables"], "CI_JOB_STATUS": "failed", "CI_JOB_ID": "7", "PATH": program_on_path}
        return run(request.param, "-ec", "\n".join([*HIDDEN["after_script"], "echo and on"]), **{**given, **variables})

    return after_script


def written(work):
    place = work / "nccl-report"
    return sorted(path.name for path in place.iterdir()) if place.exists() else []


def test_a_failed_job_gets_its_artifacts(after_script, work, failed):
    (work / "logs").mkdir()
    shutil.copy(failed, work / "logs")
    done = after_script()
    assert done.code == 0
    assert "FAILED    collective_timeout" in done.out
    named = {HIDDEN["artifacts"]["reports"][name] for name in ("junit", "codequality")}
    assert {f"nccl-report/{name}" for name in written(work)} == named | {
        "nccl-report/report.html",
        "nccl-report/verdict.json",
    }
    assert ET.parse(work / "nccl-report" / "junit.xml").find("testsuite/testcase/failure") is not None  # noqa: S314
    issue, *_ = json.loads((work / "nccl-report" / "gl-code-quality-report.json").read_bytes())
    assert issue["check_name"] == "collective_timeout/rank-behind"
    assert issue["location"]["path"] == "logs/driver.log"


def test_a_job_that_succeeded_is_not_scanned(after_script, work):
    done = after_script(CI_JOB_STATUS="success")
    assert (done.code, done.out) == (0, "and on\n")
    assert written(work) == []


@pytest.mark.parametrize("status", ["canceled", "running"])
def test_a_job_that_was_cancelled_is_and_so_are_the_logs_of_another_job(after_script, failed, status):
    assert "FAILED    collective_timeout" in after_script(CI_JOB_STATUS=status, NCCL_LOGSCAN_LOGS=failed).out


def test_lists_have_an_entry_a_line_and_names_may_hold_anything_else(after_script, work):
    for rank in (0, 1):
        shutil.copy(LAB / "mix-2.18.3-2.21.5" / f"rank{rank}.log", work / f"$(id) it's rank;{rank}.log")
    (work / "run it.sh").write_text("torchrun train.py\n", "utf-8")
    done = after_script(
        NCCL_LOGSCAN_LOGS="$(id) it's rank;0.log\n*rank;1.log",
        NCCL_LOGSCAN_CONFIG="run it.sh",
        NCCL_LOGSCAN_OPTIONS="--redact --jobs 1",
    )
    assert done.code == 0, done.err
    assert len(json.loads((work / "nccl-report" / "verdict.json").read_bytes())["inputs"]) == 3


def test_logs_that_are_not_there_are_told_and_no_failure(after_script):
    done = after_script()
    assert done.code == 0
    assert "nccl-logscan: no verdict (exit code 3)" in done.err
    assert done.out == "and on\n"


def test_an_image_without_the_program_gets_it_in_an_environment_of_its_own(after_script, work, failed, commands):
    environment = work / "nccl-logscan-7" / "bin"
    path = commands("python3", f'mkdir -p "$3/bin"; ln -s "$PWD/pip" "{PROGRAM}" "$3/bin/"')
    commands("pip", 'echo "$@" >asked')
    shutil.copy(path / "pip", work / "pip")
    variables = {"NCCL_LOGSCAN_LOGS": failed, "NCCL_LOGSCAN_REQUIREMENT": "nccl-logscan==0.1.0 ", "TMPDIR": work}
    done = after_script(PATH=f"{path}:/usr/bin:/bin", **variables)
    assert "FAILED    collective_timeout" in done.out, done.err
    assert (work / "asked").read_text("utf-8").startswith("install -q nccl-logscan==0.1.0")
    assert environment.exists()


def test_an_image_without_python_is_told(after_script, commands):
    done = after_script(PATH=f"{commands('python3', 'exit 127')}:/usr/bin:/bin")
    assert (done.code, done.out) == (0, "and on\n")
    assert "cannot be installed here" in done.err


def test_a_job_of_its_own_runs_the_same_script_after_a_failure():
    own = TEMPLATE[".nccl-logscan-job"]
    assert own["script"] == [[".nccl-logscan", "after_script"]]
    assert own["when"] == "on_failure"
    assert own["after_script"] == []


def test_the_example_extends_what_the_template_has():
    extended = {job["extends"] for job in EXAMPLE.values() if isinstance(job, dict) and "extends" in job}
    assert extended == {".nccl-logscan", ".nccl-logscan-job"}
