"""The epilog and the scripts of integrations/slurm, in the environment that Slurm gives them."""

from __future__ import annotations

import os
import pwd
import shutil
import site
import subprocess
import sys
import time

import pytest
from integration_places import INTEGRATIONS, ROOT

EPILOG = INTEGRATIONS / "slurm" / "epilog.sh"
AFTER = INTEGRATIONS / "slurm" / "nccl-logscan.sbatch"
SUBMIT = INTEGRATIONS / "slurm" / "sbatch-with-verdict"
ORDINARY = pwd.getpwnam("nobody").pw_uid
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="slurmd runs its epilog as root")


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The program, by an interpreter that an ordinary user may run: root's own is often in a folder of root's."""
    place = tmp_path_factory.mktemp("program") / "nccl-logscan"
    path = os.pathsep.join([str(ROOT), *site.getsitepackages()])
    for python in (sys.executable, f"/usr/bin/python3.{sys.version_info.minor}"):
        become = (
            ["setpriv", f"--reuid={ORDINARY}", f"--regid={ORDINARY}", "--clear-groups"] if os.geteuid() == 0 else []
        )
        tried = [*become, "env", f"PYTHONPATH={path}", python, "-c", "import nccl_logscan.cli"]
        if subprocess.run(tried, stderr=subprocess.DEVNULL, check=False).returncode == 0:
            place.write_text(f'#!/bin/sh\nPYTHONPATH={path} exec {python} -m nccl_logscan "$@"\n', "utf-8")
            place.chmod(0o755)
            place.parent.chmod(0o755)
            return place
    return pytest.skip("an ordinary user may run no Python that has the program's libraries")


@pytest.fixture
def job(run, work, failed, program):
    """Run the epilog of a failed job, which is an ordinary user's where one is root."""
    log = work / "slurm 4711.out"
    shutil.copy(failed, log)
    user = os.geteuid() or ORDINARY
    for path in (work, log):
        os.chown(path, user, user)

    def job(**environment):
        given = {
            "SLURM_JOB_ID": 4711,
            "SLURM_JOB_UID": user,
            "SLURM_JOB_GID": user,
            "SLURM_JOB_USER": "somebody",
            "SLURM_JOB_GPUS": "0,1",
            "SLURM_JOB_EXIT_CODE2": "1:0",
            "SLURM_JOB_DERIVED_EC": "1",
            "SLURM_JOB_WORK_DIR": work,
            "SLURM_JOB_STDOUT": log,
            "SLURM_JOB_STDERR": log,
            "NCCL_LOGSCAN_PROGRAM": program,
            **environment,
        }
        return run(EPILOG, **{name: value for name, value in given.items() if value is not None})

    return job


@pytest.fixture
def reachable(tmp_path):
    """Let an ordinary user reach the working folder: pytest makes its own for its user alone."""
    earlier = {}
    for place in [tmp_path, *tmp_path.parents]:
        if not place.stat().st_mode & 0o001:
            earlier[place] = place.stat().st_mode
            place.chmod(earlier[place] | 0o001)
    yield
    for place, mode in earlier.items():
        place.chmod(mode)


pytestmark = pytest.mark.usefixtures("reachable")


def reports(work):
    return sorted(path.name for path in work.iterdir() if path.name.startswith("nccl-logscan"))


def test_a_failed_job_gets_a_report_beside_its_log_that_is_its_users_alone(job, work):
    done = job()
    assert (done.code, done.out, done.err) == (0, "", "")
    [name] = reports(work)
    report = work / name
    assert name == "nccl-logscan-4711.html"
    assert "collective_timeout" in report.read_text("utf-8")
    assert report.stat().st_uid == (os.geteuid() or ORDINARY)
    assert report.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "job_of_no_interest",
    [
        {"SLURM_JOB_EXIT_CODE2": "0:0", "SLURM_JOB_DERIVED_EC": "0"},
        {"SLURM_JOB_EXIT_CODE2": None, "SLURM_JOB_DERIVED_EC": None},
        {"SLURM_JOB_GPUS": None},
        {"SLURM_JOB_STDOUT": None},
        {"SLURM_JOB_UID": 0},
        {"SLURM_JOB_ID": "1; touch nccl-logscan-owned"},
    ],
)
def test_nothing_is_done_of_a_job_that_succeeded_or_has_no_gpu_or_is_roots(job, work, job_of_no_interest):
    assert job(**job_of_no_interest).code == 0
    assert reports(work) == []


def test_a_job_whose_script_hides_the_failure_of_a_step_gets_one_too(job, work):
    assert job(SLURM_JOB_EXIT_CODE2="0:0", SLURM_JOB_DERIVED_EC="137").code == 0
    assert reports(work) == ["nccl-logscan-4711.html"]


def test_a_log_that_is_named_by_the_job_is_found_in_its_folder(job, work):
    shutil.move(work / "slurm 4711.out", work / "somebody-4711.out")
    assert job(SLURM_JOB_STDOUT="%u-%j.out", SLURM_JOB_STDERR="%x.err").code == 0
    assert reports(work) == ["nccl-logscan-4711.html"]


def test_the_first_node_makes_the_report_and_a_requeued_job_another(job, work):
    (work / "nccl-logscan-4711.html").write_text("of another node", "utf-8")
    assert job().code == 0
    assert (work / "nccl-logscan-4711.html").read_text("utf-8") == "of another node"
    assert job(SLURM_JOB_RESTART_COUNT="2").code == 0
    assert reports(work) == ["nccl-logscan-4711-2.html", "nccl-logscan-4711.html"]


@pytest.mark.parametrize(
    "amiss",
    [
        {"NCCL_LOGSCAN_PROGRAM": "/nowhere/nccl-logscan"},
        {"NCCL_LOGSCAN_PROGRAM": "/bin/false"},
        {"SLURM_JOB_STDOUT": "/nowhere/slurm.out", "SLURM_JOB_STDERR": None},
        {"SLURM_JOB_WORK_DIR": "/nowhere"},
    ],
)
def test_what_goes_wrong_leaves_no_report_and_does_not_drain_the_node(job, work, amiss):
    done = job(**amiss)
    assert (done.code, done.out, done.err) == (0, "", "")
    assert reports(work) == []


def test_a_scan_that_takes_too_long_is_ended(job, work, commands):
    slow = commands("nccl-logscan", "sleep 60") / "nccl-logscan"
    before = time.monotonic()
    assert job(NCCL_LOGSCAN_PROGRAM=slow, NCCL_LOGSCAN_TIME_LIMIT=1).code == 0
    assert time.monotonic() - before < 5
    assert reports(work) == []


def test_a_scan_that_does_not_end_when_it_is_told_to_does_not_hold_the_node(job, commands):
    deaf = commands("nccl-logscan", "trap '' TERM; sleep 60 & wait; sleep 60") / "nccl-logscan"
    before = time.monotonic()
    assert job(NCCL_LOGSCAN_PROGRAM=deaf, NCCL_LOGSCAN_TIME_LIMIT=1).code == 0
    assert time.monotonic() - before < 12


@needs_root
def test_the_scan_is_the_users_with_no_way_back_and_at_the_lowest_priority(job, work, commands):
    told = 'id -u >who; id -G >>who; nice >>who; grep NoNewPrivs /proc/self/status >>who; ionice >>who; echo "$@" >>who'
    assert job(NCCL_LOGSCAN_PROGRAM=commands("nccl-logscan", told) / "nccl-logscan").code == 0
    lines = (work / "who").read_text("utf-8").splitlines()
    assert lines[:5] == [str(ORDINARY), str(ORDINARY), "19", "NoNewPrivs:\t1", "idle"]
    assert "--jobs 1" in lines[5]


# --- the second job ------------------------------------------------------------------------------------------


@pytest.fixture
def slurm(commands, tmp_path):
    """Commands that stand for sbatch, which notes what it is given, and scontrol; returns their search path."""
    noted = tmp_path / "submitted"
    commands(
        "scontrol", r"printf 'JobId=%s\n   StdErr=/logs/a b.out\n   StdIn=/dev/null\n   StdOut=/logs/a b.out\n' $3"
    )
    commands(
        "sbatch",
        f"""printf '<%s>' "$@" >>{noted}; echo >>{noted}
        case " $* " in *" --dependency"*) exit "${{SECOND:-0}}";; esac
        [ "${{FIRST:-0}}" = 0 ] || exit "$FIRST"
        echo "4711;cluster" """,
    )
    return f"{tmp_path / 'commands'}:/usr/bin:/bin", noted


def test_the_second_job_waits_for_the_failure_of_the_first_and_is_told_its_output(run, slurm):
    path, noted = slurm
    done = run(SUBMIT, "--output=a b.out", "train it.sbatch", "--epochs", "3", PATH=path)
    assert (done.code, done.out, done.err) == (0, "4711;cluster\n", "")
    first, second = noted.read_text("utf-8").splitlines()
    assert first == "<--parsable><--output=a b.out><train it.sbatch><--epochs><3>"
    assert second == (
        "<--parsable><--dependency=afternotok:4711><--kill-on-invalid-dep=yes>"
        f"<{AFTER}><nccl-logscan-4711><--></logs/a b.out>"
    )


def test_one_may_say_what_is_scanned_and_where_the_second_job_runs(run, slurm):
    path, noted = slurm
    wanted = {"NCCL_LOGSCAN_LOGS": "logs of %j/*.log\nslurm-%j.out", "NCCL_LOGSCAN_SBATCH": "--partition=cpu --qos=low"}
    assert run(SUBMIT, "train.sbatch", PATH=path, **wanted).code == 0
    second = noted.read_text("utf-8").splitlines()[1]
    assert "<--partition=cpu><--qos=low>" in second
    assert second.endswith("<--><logs of 4711/*.log><slurm-4711.out>")


def test_a_job_that_is_refused_has_no_second(run, slurm):
    path, noted = slurm
    assert run(SUBMIT, "train.sbatch", PATH=path, FIRST=3).code == 3
    assert len(noted.read_text("utf-8").splitlines()) == 1


def test_a_second_job_that_is_refused_changes_nothing_for_the_first(run, slurm):
    path, _ = slurm
    done = run(SUBMIT, "train.sbatch", PATH=path, SECOND=1)
    assert (done.code, done.out) == (0, "4711;cluster\n")
    assert "job 4711 is submitted" in done.err


def test_without_scontrol_the_second_job_scans_what_slurm_writes_by_default(run, slurm, tmp_path):
    path, noted = slurm
    (tmp_path / "commands" / "scontrol").unlink()
    assert run(SUBMIT, "train.sbatch", PATH=path).code == 0
    assert noted.read_text("utf-8").splitlines()[1].endswith("<--><slurm-4711.out>")


def test_the_second_job_writes_its_reports(run, work, failed, program_on_path):
    done = run("bash", AFTER, "nccl-logscan-4711", "--", failed, PATH=program_on_path, SLURM_CPUS_PER_TASK=2)
    assert done.code == 0, done.err
    assert done.out.startswith("FAILED")
    assert reports(work) == ["nccl-logscan-4711.html", "nccl-logscan-4711.json"]


def test_the_second_job_fails_where_it_cannot_do_its_work(run, program_on_path):
    assert run("bash", AFTER, PATH=program_on_path).code != 0
    assert run("bash", AFTER, "report", "--", "/nowhere.log", PATH=program_on_path).code == 3
    assert run("bash", AFTER, "report", "--", "/nowhere.log").code == 127
