"""The launch files of cases, and how advice is compared with them."""

import sys
from pathlib import Path

import pytest
import yaml

from nccl_logscan.configs.diff import diff_of_edits
from nccl_logscan.configs.edit import Edit

ROOT = Path(__file__).resolve().parents[1]
LAUNCH = ROOT / "fixtures" / "launch"
sys.path.insert(0, str(ROOT / "tools"))

import advice_accuracy  # noqa: E402 - tools are scripts and no package

FOLDERS = sorted(path.parent for path in LAUNCH.glob("*/expected.yaml"))
BEFORE = "#!/bin/bash\nexport A=1\nexport NCCL_ALGO=Rinng\nrun\n"
EXPECTED = {
    "case": "bad-algo",
    "points_to": [{"file": "run.sh", "line": 3, "setting": ["NCCL_ALGO"], "to": "Ring"}],
}


@pytest.fixture(autouse=True)
def _no_concepts(monkeypatch):
    """The names alone, so that a change of the catalogue changes no test of the comparison."""
    monkeypatch.setattr(advice_accuracy, "_concepts", lambda _: frozenset())


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_places_are_in_the_files_and_hold_the_setting(folder):
    expected = yaml.safe_load((folder / "expected.yaml").read_text("utf-8"))
    assert (ROOT / "fixtures" / "cases" / expected["log"] / "case.yaml").is_file()
    for place in expected.get("points_to", ()):
        lines = (folder / place["file"]).read_text("utf-8").split("\n")[place["line"] - 1 :]
        own = " ".join(lines[: place.get("lines", 1)])
        words = [name.rstrip("=)").split("(")[-1].split(".")[-1].split(" ")[0] for name in place["setting"]]
        assert any(word in own for word in words), place
    for place in expected.get("add_to", ()):
        data = (folder / place["file"]).read_text("utf-8")
        assert not any(name in data for name in place["setting"]), place


def test_there_are_enough_of_each_kind():
    expected = [yaml.safe_load((folder / "expected.yaml").read_text("utf-8")) for folder in FOLDERS]
    assert len(expected) >= 24
    assert sum("add_to" in each for each in expected) >= 6


def test_every_case_with_launch_files_is_one_whose_fix_names_a_setting():
    named = yaml.safe_load((LAUNCH / "named_settings.yaml").read_text("utf-8"))
    for case in named:
        assert (ROOT / "fixtures" / "cases" / case / "case.yaml").is_file()
    logs = [yaml.safe_load((folder / "expected.yaml").read_text("utf-8"))["log"] for folder in FOLDERS]
    assert set(logs) <= set(named)


def step(**changed):
    return {"setting": "NCCL_ALGO", "where": {"file": "run.sh", "line": 3}, "diff": None, "do_not": False, **changed}


def diff(after):
    return diff_of_edits("run.sh", BEFORE.encode(), [Edit(0, len(BEFORE), after.encode())]).decode()


@pytest.fixture
def work(tmp_path):
    (tmp_path / "run.sh").write_text(BEFORE)
    return tmp_path


def judged(work, *steps):
    return advice_accuracy.judge("x", EXPECTED, steps, work)


def test_the_right_place_and_diff_leave_nothing_to_say_and_the_files_as_they_were(work):
    right = judged(work, step(diff=diff(BEFORE.replace("Rinng", "Ring"))))
    assert (right.setting, right.place, right.diff, right.why) == (True, True, True, ())
    assert (work / "run.sh").read_text() == BEFORE


@pytest.mark.parametrize(
    ("after", "why"),
    [
        (BEFORE.replace("Rinng", "Tree"), "the value is not Ring"),
        (BEFORE.replace("Rinng", "Ring").replace("A=1", "A=2"), "line 2 is touched"),
        ("other\n", "line"),
    ],
)
def test_a_diff_that_does_more_or_else_is_told(work, after, why):
    told = judged(work, step(diff=diff(after)))
    assert told.diff is False
    assert any(why in said for said in told.why)


def test_a_diff_that_git_refuses_is_told(work):
    broken = diff(BEFORE.replace("Rinng", "Ring")).replace("export A=1", "export B=1")
    assert judged(work, step(diff=broken)).diff is False


def test_another_line_another_setting_and_no_diff_are_told_apart(work):
    assert not judged(work, step(where={"file": "run.sh", "line": 1})).place
    assert not judged(work, step(setting="NCCL_PROTO")).setting
    assert judged(work, step()).diff is False


def test_advice_against_something_is_no_remedy():
    report = {"remediation": [step(do_not=True), *[step(setting=str(number)) for number in range(4)]]}
    assert [each["setting"] for each in advice_accuracy.first_steps(report)] == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("setting", "wanted"),
    [
        ("torch.distributed.init_process_group(timeout=...)", "init_process_group(timeout=)"),
        ("++actor_rollout_ref.nccl_timeout", "actor_rollout_ref.nccl_timeout"),
        ("docker run --shm-size", "--shm-size"),
        ("--distributed_timeout_minutes", "--distributed-timeout-minutes"),
    ],
)
def test_names_that_mean_the_same_setting(setting, wanted):
    assert advice_accuracy.accepted(setting, [wanted])
    assert not advice_accuracy.accepted(setting, ["NCCL_ALGO"])
