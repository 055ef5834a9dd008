"""A log that pretends to be another rank, a verdict of ours or a configuration elsewhere is read as the lines it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nccl_logscan import scan
from nccl_logscan.report.forms import render
from nccl_logscan.report.view import build_view

ROOT = Path(__file__).parents[2]
CASES = ROOT / "fixtures" / "cases"
ADAPTER = (CASES / "field" / "net002" / "trainer.log").read_text("utf-8")
HEALTHY = (CASES / "lab" / "m8-healthy" / "driver.log").read_text("utf-8")
SETS = "export NCCL_IB_TIMEOUT=18\nexport NCCL_TIMEOUT=1800\ntorchrun train.py\n"

# --- files elsewhere -----------------------------------------------------------------------------------------

WATCHED = """
import os, sys
touched = []
def watch(event, arguments):
    if event in {"open", "os.listdir", "os.scandir"} and isinstance(arguments[0], (str, bytes, os.PathLike)):
        touched.append(os.path.realpath(os.fsdecode(arguments[0])))
    elif event.startswith(("socket.connect", "socket.getaddrinfo", "subprocess", "os.system", "os.exec")):
        touched.append(event)
sys.addaudithook(watch)
from nccl_logscan.cli import main
code = main(sys.argv[1:])
sys.stderr.write("".join(f"touched {path}\\n" for path in touched))
sys.exit(code)
"""


def touched_by(folder, *words):
    """Return what a run in a folder opened and listed, by its true path, and which hosts and programs it asked."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(
        [sys.executable, "-c", WATCHED, *words],
        cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert ran.returncode in {0, 1}, ran.stderr
    return {line.partition(" ")[2] for line in ran.stderr.splitlines() if line.startswith("touched ")}


@pytest.fixture
def elsewhere(tmp_path):
    """A folder with what would set a job up, if anyone were led there."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    for name in ("run.sh", "nccl.conf", "train.py", "ds.json", "job.yaml", "rank1.log", "fr_1.json", "lib.so"):
        (folder / name).write_text(SETS)
    return folder


@pytest.fixture
def job(tmp_path, elsewhere):
    """A job's folder whose log, script, YAML, dump and links name files elsewhere in all the ways there are."""
    folder = tmp_path / "job"
    folder.mkdir()
    (folder / "trainer.log").write_text("".join(map("{}\n".format, naming(elsewhere))) + ADAPTER)
    (folder / "run.sh").write_text(
        f"source {elsewhere}/run.sh\n. ../elsewhere/nccl.conf\nset -a; source ../elsewhere/run.sh\n"
        f"export NCCL_CONF_FILE=../elsewhere/nccl.conf\nexport BASH_ENV={elsewhere}/run.sh\n"
        "export NCCL_IB_TIMEOUT=$(cat ../elsewhere/run.sh)\nexport NCCL_TIMEOUT=1800\n"
        "torchrun --rdzv-conf ../elsewhere/nccl.conf ../elsewhere/train.py --deepspeed_config ../elsewhere/ds.json\n"
    )
    (folder / "job.yaml").write_text(
        f"defaults: [../elsewhere/job]\nextends: {elsewhere}/job.yaml\nenvFrom: ../elsewhere/run.sh\n"
        "deepspeed: ../elsewhere/ds.json\nenv_file: [../elsewhere/run.sh]\ncommand: torchrun\nNCCL_IB_TIMEOUT: 18\n"
    )
    (folder / "Dockerfile").write_text("FROM x\nCOPY ../elsewhere/run.sh /\nENV NCCL_IB_TIMEOUT=18\n")
    for name in ("linked.sh", "linked.yaml"):
        (folder / name).symlink_to(elsewhere / "run.sh")
    (folder / "devices.sh").symlink_to("/dev/zero")
    (folder / "environ.env").symlink_to("/proc/self/environ")
    return folder


def naming(elsewhere):
    """Yield lines that name files elsewhere as programs name what they have read, or as we name what to change."""
    places = (
        f"{elsewhere}/run.sh", "../elsewhere/run.sh", f"file://{elsewhere}/run.sh", "~/run.sh", "$HOME/run.sh",
        "job/../../elsewhere/run.sh", "/etc/passwd", "../../etc/passwd", "/proc/self/environ", "/dev/zero",
        "https://host.invalid/run.sh", "s3://bucket/run.sh", "archive.tar.gz!run.sh",
    )  # fmt: skip
    for place in places:
        yield f"pretrain-w07:1204:1204 [4] NCCL INFO NCCL_CONF_FILE set by environment to {place}"
        yield f"pretrain-w07:1204:1204 [4] NCCL INFO NCCL_IB_TIMEOUT set by {place} to 18"
        yield f"pretrain-w07:1204:1204 [4] NCCL INFO NET/Plugin: Loaded net plugin {place}"
        yield f"+ torchrun --config {place} --deepspeed_config={place} @{place}"
        yield f'Traceback (most recent call last):\n  File "{place}", line 1, in <module>\nFileNotFoundError: {place}'
        yield f"{place}:1: NCCL_IB_TIMEOUT 18 → 22"
        yield f"--- a/{place}\n+++ b/{place}\n@@ -1 +1 @@\n-export NCCL_IB_TIMEOUT=18\n+export NCCL_IB_TIMEOUT=22"
        yield f"dumping the flight recorder to {place}\n  error_file: {place}"


@pytest.mark.parametrize(
    "words",
    [
        ("trainer.log", "-v", "-o", "out.json", "-o", "out.html"),
        (".", "-q", "-o", "out.sarif"),
        ("scan", "trainer.log", "--config", "run.sh", "--config", "job.yaml", "-o", "out.json"),
        ("events", "trainer.log", "-o", "out.jsonl"),
        ("lint", "run.sh", "job.yaml", "Dockerfile", "--exit-zero"),
        ("lint", ".", "--fix", "--exit-zero"),
        ("show", "trainer.log:3"),
        ("rules", "suggest", "trainer.log"),
        (
            "advise", "--params", "7B", "--nodes", "2", "--network", "ib", "--framework", "torchrun",
            "--format", "diff", "--script", "run.sh",
        ),
    ],
    ids=lambda words: " ".join(words)[:30],
)  # fmt: skip
def test_no_line_of_a_log_or_a_configuration_has_a_file_elsewhere_opened(job, elsewhere, words):
    if words[0] == ".":
        for link in ("linked.sh", "linked.yaml", "devices.sh", "environ.env"):
            (job / link).unlink()  # in a folder that is named as an input links are followed

    touched = touched_by(job, *words)

    assert f"{job}/{'run.sh' if {'lint', 'advise'} & set(words) else 'trainer.log'}" in touched
    assert not [path for path in touched if path.startswith((str(elsewhere), "/etc/passwd", "/dev/zero", "socket"))]
    assert not [path for path in touched if "environ" in path or not path.startswith("/")]


def test_the_probe_sees_a_file_elsewhere_that_is_named(job, elsewhere):
    touched = touched_by(job, "trainer.log", "--config", "../elsewhere/run.sh", "-q", "-o", "out.json")

    assert f"{elsewhere}/run.sh" in touched


@pytest.mark.parametrize("given", ["beside", "named"])
def test_a_change_is_of_a_file_that_was_given_and_of_no_other(job, monkeypatch, given):
    monkeypatch.chdir(job)
    configs = ["run.sh", "job.yaml"] if given == "named" else []
    view = build_view(scan(["trainer.log"], config=configs))

    inputs = {one["name"] for one in view["inputs"]}
    assert inputs <= {"trainer.log", "run.sh", "job.yaml", "Dockerfile", "./run.sh", "./job.yaml", "./Dockerfile"}
    placed = [step["where"]["file"] for step in view["remediation"] if step["where"]]
    placed += [entry["file"] for entry in view["config"]["lint"]]
    assert placed
    assert set(placed) <= inputs
    diffs = [entry["diff"] for entry in (*view["remediation"], *view["config"]["lint"]) if entry["diff"]]
    assert diffs or given == "beside"
    for line in "".join(diffs).splitlines():
        assert not line.startswith(("--- ", "+++ ")) or line[6:] in {"run.sh", "job.yaml", "Dockerfile"}


# --- verdicts of ours ----------------------------------------------------------------------------------------

PRETENDED = (
    "FAILED    storage_stall  established, 99%  storage_stall/checkpoint-stall",
    "HEALTHY   no failure found",
    "## FAILED: `gpu_hardware`",
    "nccl-logscan verdict: category=gpu_hardware confidence=1.0 culprit=rank 7 host=node-9",
    '{"schema_version": "1.0", "tool": {"name": "nccl-logscan"}, "verdict": {"category": "gpu_hardware"}}',
    "::error title=nccl-logscan%3A gpu_hardware::A GPU fell off the bus",
    'nccl_logscan_verdict{category="gpu_hardware"} 1',
    '<testcase classname="nccl-logscan" name="job"><failure message="x" type="gpu_hardware/xid"/></testcase>',
    "Where     rank 7 · host node-9 · GPU 3",
    "Do        1. Run /etc/run.sh as root (cluster-admin, on node-9)\n             $ curl https://host.invalid | sh",
    "1 group left out: infiniband/retry-exceeded matched, redacted, benign",
)


def verdict_of(folder, text):
    log = folder / "pretending.log"
    log.write_text(text, "utf-8")
    view = build_view(scan([log]))
    return {name: view["verdict"][name] for name in ("category", "rule", "level", "culprit", "action")}


@pytest.mark.parametrize("place", ["before", "after"])
@pytest.mark.parametrize("log", [HEALTHY, ADAPTER], ids=["healthy", "failed"])
def test_lines_that_look_like_a_verdict_of_ours_change_none(tmp_path, log, place):
    pretended = "".join(f"{line}\n" for line in PRETENDED)
    true = verdict_of(tmp_path, log)

    assert verdict_of(tmp_path, pretended + log if place == "before" else log + pretended) == true


@pytest.mark.parametrize(
    "form", ["html", "json", "text", "markdown", "sarif", "junit", "github", "gitlab", "openmetrics", "trace"]
)
def test_a_report_in_a_log_names_no_file_to_change_and_none_of_its_verdict_is_believed(tmp_path, form):
    script = tmp_path / "elsewhere.sh"
    script.write_text(SETS)
    report = render(build_view(scan([CASES / "field" / "net002" / "trainer.log"], config=[script])), form)
    (tmp_path / "job").mkdir()
    log = tmp_path / "job" / "ci.log"
    log.write_text(f"{HEALTHY}\n{report}", "utf-8")

    view = build_view(scan([log]))

    assert [one["name"] for one in view["inputs"]] == [str(log)]
    assert not [step["where"] for step in view["remediation"] if step["where"] and step["where"]["file"] != str(log)]
    assert not [step for step in view["remediation"] if step["diff"]]
    # What it quotes of the other log is read as lines of this one, and shown at their places here.
    assert {line["file"] for line in view["verdict"]["evidence"]} <= {str(log)}


# --- other ranks ---------------------------------------------------------------------------------------------

STEPS = "".join(f"[rank{rank}]: step: 1 loss: 2.0\n" for rank in range(4))


@pytest.mark.parametrize(
    "message", ["Rank 1 on node-9 failed first, see rank 1", "rank=1 host=node-9", "culprit: rank 1", "(rank 1) [1]"]
)
def test_what_a_rank_says_of_another_is_blamed_on_none_but_itself(tmp_path, message):
    log = tmp_path / "train.log"
    told = ("Traceback (most recent call last):", '  File "train.py", line 3, in <module>', "    main()")
    log.write_text(STEPS + "".join(f"[rank2]: {line}\n" for line in (*told, f"RuntimeError: {message}")), "utf-8")

    view = build_view(scan([log]))

    assert (view["verdict"]["culprit"]["rank"], view["verdict"]["culprit"]["host"]) == (2, None)


def test_a_line_with_the_mark_of_another_rank_is_shown_with_the_file_that_it_stands_in(tmp_path):
    # Files of nodes hold lines of many ranks, so a rank is who a line says; no log proves who wrote it.
    for rank in range(4):
        (tmp_path / f"rank{rank}.log").write_text("step: 1 loss: 2.0\n")
    with (tmp_path / "rank2.log").open("a") as log:
        log.write("[rank1]: RuntimeError: shards differ\n")

    [line, *_] = build_view(scan([tmp_path]))["verdict"]["evidence"]

    assert (line["rank"], line["file"], line["line"]) == (1, str(tmp_path / "rank2.log"), 2)


def test_a_rank_that_no_job_has_makes_no_lane_and_no_list_without_end(tmp_path):
    log = tmp_path / "train.log"
    names = [*range(4), 10**12, -1, 2**63, 10**40]
    log.write_text("".join(f"[rank{rank}]: step: 1 loss: 2.0\n" for rank in names) + ADAPTER, "utf-8")

    view = build_view(scan([log]))

    assert len(json.dumps(view)) < 200_000
    assert all(0 <= rank < 2**31 for rank in view["job"]["ranks_seen"])
    assert all(0 <= rank < 2**31 for rank in view["job"]["ranks_silent"])
