"""The steps of action.yml, run as a runner of GitHub runs them."""

from __future__ import annotations

import json
import re
import shutil

import pytest
from integration_places import INTEGRATIONS, LAB, PROGRAM, ROOT, documents_of

SCAN = INTEGRATIONS / "github" / "scan.sh"
INSTALL = INTEGRATIONS / "github" / "install.sh"
[ACTION] = documents_of(ROOT / "action.yml")


def outputs_in(path):
    """The outputs that a step has set, read as the runner reads them."""
    if not path.exists():
        return {}
    text = path.read_text("utf-8")
    pairs = re.findall(r"^(\w+)<<(.+)\n((?:.*\n)*?)\2\n", text, re.MULTILINE)
    return {name: value.removesuffix("\n") for name, _, value in pairs}


@pytest.fixture
def step(run, work, tmp_path):
    """Run the scan's step with inputs by their names in action.yml; those that are not given have their default."""
    [scan] = [entry for entry in ACTION["runs"]["steps"] if entry.get("id") == "scan"]
    runner = tmp_path / "runner's temp"
    runner.mkdir()

    def step(program=PROGRAM, **inputs):
        given = {name: entry.get("default", "") for name, entry in ACTION["inputs"].items()}
        given |= {name.replace("_", "-"): value for name, value in inputs.items()}
        environment = {
            name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda match: str(given[match[1]]), value)
            for name, value in scan["env"].items()
        }
        environment |= {"NCCL_LOGSCAN_PROGRAM": program, "GITHUB_ACTION_PATH": ROOT, "RUNNER_TEMP": runner}
        environment |= {"GITHUB_OUTPUT": work / "outputs", "GITHUB_STEP_SUMMARY": work / "summary.md", "CI": "true"}
        done = run("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", scan["run"], **environment)
        done.outputs = outputs_in(work / "outputs")
        assert list(runner.iterdir()) == []
        return done

    return step


def commands_in(printed):
    """The workflow commands that the runner obeys in what a step prints."""
    obeyed, word = [], None
    for line in printed.splitlines():
        found = re.match(r"::([\w-]+)[ :]", line) or re.match(r"##\[", line)
        if word is not None:
            word = None if line == f"::{word}::" else word
        elif line.startswith("::stop-commands::"):
            word = line.removeprefix("::stop-commands::")
        elif found:
            obeyed.append(line)
    return obeyed


def test_a_failed_job_gets_a_report_an_annotation_a_summary_and_outputs(step, work, failed):
    done = step(logs=failed)
    assert done.code == 0, done.out + done.err
    assert done.outputs["category"] == "collective_timeout"
    assert done.outputs["rule"] == "collective_timeout/rank-behind"
    assert 0.7 < float(done.outputs["confidence"]) < 0.8
    assert done.outputs["headline"].startswith("Rank 1 never came to ALLREDUCE")
    assert done.outputs["report"] == done.outputs["reports"] == "nccl-report.html"
    assert "<html" in (work / "nccl-report.html").read_text("utf-8")
    assert done.outputs["headline"] in (work / "summary.md").read_text("utf-8")
    [annotation] = commands_in(done.out)
    assert annotation.startswith("::error ")
    assert "FAILED    collective_timeout" in done.out


def test_a_healthy_job_passes_a_step_that_is_to_fail_on_failure(step, healthy):
    done = step(logs=healthy, fail_on="failure")
    assert done.code == 0
    assert done.outputs["category"] == "none"
    assert done.outputs["rule"] == ""
    [annotation] = commands_in(done.out)
    assert annotation.startswith("::notice ")


def test_a_step_fails_on_failure_if_it_is_to_and_hands_its_outputs_over_all_the_same(step, failed):
    done = step(logs=failed, fail_on="failure")
    assert done.code == 1
    assert done.outputs["category"] == "collective_timeout"
    assert done.outputs["reports"] == "nccl-report.html"


def test_lists_have_an_entry_a_line_and_names_may_hold_anything_else(step, work):
    (work / "logs of the job").mkdir()
    for rank in (0, 1):
        shutil.copy(
            LAB / "mix-2.18.3-2.21.5" / f"rank{rank}.log", work / "logs of the job" / f"$(id) rank;{rank}'\".log"
        )
    (work / "run it.sh").write_text("torchrun train.py\n", "utf-8")
    done = step(
        logs="  logs of the job/*.log \r\n\n",
        config="run it.sh\n",
        output="reports of it/a report.html\nreports of it/verdict.json\n",
        annotations="false",
    )
    assert done.code == 0, done.out + done.err
    assert done.outputs["reports"] == "reports of it/a report.html\nreports of it/verdict.json"
    view = json.loads((work / "reports of it" / "verdict.json").read_bytes())
    assert len(view["inputs"]) == 3
    assert commands_in(done.out) == []


def test_rules_of_ones_own_are_used(step, work, failed):
    rules = work / "site rules" / "user_code"
    rules.mkdir(parents=True)
    (rules / "broken.yaml").write_text("no: rule\n", "utf-8")
    done = step(logs=failed, rules="site rules")
    assert done.code == 4
    assert "broken.yaml" in done.out


def test_a_redacted_report_names_no_host(step, work, failed):
    done = step(logs=failed, redact="true", output="public.json")
    assert done.code == 0
    assert json.loads((work / "public.json").read_bytes())["verdict"]["culprit"]["host"] != "vm"


def test_what_a_log_says_is_no_command_to_the_runner(step, work, failed):
    hostile = work / "hostile.log"
    said = "::error::owned\n::set-output name=category::owned\n##[error]owned\n::stop-commands::x\n::add-mask::a\n"
    hostile.write_text(
        failed.read_text("utf-8").replace("loading shard", f"{said}loading shard ::error::owned"), "utf-8"
    )
    done = step(logs="hostile.log")
    assert done.outputs["category"] == "collective_timeout"
    assert len(commands_in(done.out)) == 1
    assert set(done.outputs) == set(ACTION["outputs"])


@pytest.mark.parametrize(("fail_on", "code", "level"), [("never", 0, "warning"), ("failure", 1, "error")])
def test_logs_that_are_not_there_are_told_and_no_failure_of_their_own(step, fail_on, code, level):
    done = step(logs="logs/*.log", fail_on=fail_on)
    assert done.code == code
    assert "no file matches logs/*.log" in done.out
    [told] = commands_in(done.out)
    assert told.startswith(f"::{level} ")
    assert done.outputs == {}


@pytest.mark.parametrize(
    ("inputs", "says"),
    [
        ({"logs": " \n"}, "logs is empty"),
        ({"logs": "x", "redact": "yes"}, "redact is to be one of: true false"),
        ({"logs": "x", "annotations": "no"}, "annotations is to be one of"),
        ({"logs": "x", "fail_on": "always"}, "fail-on is to be one of: never failure"),
    ],
)
def test_an_input_that_is_wrong_is_told(step, inputs, says):
    done = step(**inputs)
    assert done.code == 2
    assert says in done.out


def test_a_missing_program_fails_the_step(step, failed):
    done = step(program="/nowhere/nccl-logscan", logs=failed)
    assert done.code == 127
    assert "could not do its work (exit code 127)" in done.out


# --- the installation ----------------------------------------------------------------------------------------


@pytest.fixture
def install(run, work, tmp_path, commands):
    """Run the installation's step with a Python that notes what it is asked, and does as `script` says."""

    def install(script="exit 0", **environment):
        noted = tmp_path / "asked"
        place = commands("python3", f'printf "<%s>" "$@" >>"{noted}"; echo >>"{noted}"\n{script}')
        environment |= {"RUNNER_TEMP": work, "GITHUB_OUTPUT": work / "outputs", "PATH": f"{place}:/usr/bin:/bin"}
        (work / "nccl-logscan" / "bin").mkdir(parents=True, exist_ok=True)
        python = work / "nccl-logscan" / "bin" / "python"
        python.unlink(missing_ok=True)
        python.symlink_to(place / "python3")
        done = run("bash", INSTALL, **environment)
        done.asked = noted.read_text("utf-8").splitlines()
        return done

    return install


def test_the_checkout_is_installed_into_an_environment_of_its_own(install, work):
    done = install()
    assert done.code == 0, done.out + done.err
    assert done.asked[1] == f"<-m><venv><{work}/nccl-logscan>"
    assert done.asked[2].endswith(f"<--><{ROOT}>")
    assert (work / "outputs").read_text("utf-8") == f"program={work}/nccl-logscan/bin/nccl-logscan\n"


def test_another_source_may_be_named_and_is_no_option_of_pip(install):
    assert install(NCCL_LOGSCAN_SOURCE="--index-url=evil").asked[2].endswith("<--><--index-url=evil>")


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ('[ "$1" != -c ]', "needs Python 3.11 or newer"),
        ('[ "$2" != venv ]', "python3 cannot make a virtual environment"),
        ('[ "$2" != pip ]', "pip could not install"),
    ],
)
def test_what_cannot_be_installed_is_told(install, work, script, says):
    done = install(script)
    assert done.code == 1
    assert f"::error title=nccl-logscan::{says}" in done.out
    assert not (work / "outputs").exists()
