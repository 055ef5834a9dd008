"""The manifests of integrations/kubernetes, and the sidecar's script as a kubelet runs it."""

from __future__ import annotations

import shutil
import signal
import subprocess
import time

import kubernetes_validate
import pytest
from integration_places import INTEGRATIONS, ROOT, documents_of

FOLDER = INTEGRATIONS / "kubernetes"
MANIFESTS = {path.name: documents_of(path) for path in sorted(FOLDER.glob("*.yaml"))}
FIRST_WITH_SIDECARS = "1.29"


def pods():
    for name, documents in MANIFESTS.items():
        for document in documents:
            if document["kind"] == "Job":
                yield pytest.param(document["spec"]["template"]["spec"], id=name)


def ours(pod):
    [container] = [
        entry for entry in [*pod.get("initContainers", ()), *pod["containers"]] if entry["name"] == "verdict"
    ]
    return container


SIDECAR = ours(MANIFESTS["sidecar.yaml"][1]["spec"]["template"]["spec"])


@pytest.mark.parametrize("version", [FIRST_WITH_SIDECARS, "1.37"])
@pytest.mark.parametrize("name", MANIFESTS)
def test_the_manifests_follow_the_schemas_of_kubernetes(name, version):
    for document in MANIFESTS[name]:
        kubernetes_validate.validate(document, version, strict=True)


@pytest.mark.parametrize("pod", list(pods()))
def test_the_container_has_no_more_rights_and_takes_no_more_than_it_needs(pod):
    security = {**pod["securityContext"], **ours(pod)["securityContext"]}
    assert security["runAsNonRoot"]
    assert security["runAsUser"] == 65532
    assert security["readOnlyRootFilesystem"]
    assert not security["allowPrivilegeEscalation"]
    assert security["capabilities"] == {"drop": ["ALL"]}
    assert security["seccompProfile"] == {"type": "RuntimeDefault"}
    assert set(ours(pod)["resources"]["limits"]) == {"cpu", "memory"}
    mounts = {mount["name"]: mount.get("readOnly", False) for mount in ours(pod)["volumeMounts"]}
    assert mounts == {"logs": True, "reports": False}


def test_a_variable_stands_behind_those_that_it_is_made_of():
    names = [entry["name"] for entry in SIDECAR["env"]]
    assert names.index("POD") < names.index("REPORT")


def test_the_image_runs_as_the_user_of_the_manifests():
    assert "\nUSER 65532:65532\n" in (FOLDER / "Dockerfile").read_text("utf-8")


# --- the sidecar's script ------------------------------------------------------------------------------------


@pytest.fixture
def sidecar(tmp_path, work, program_on_path):
    """Start the sidecar as the manifest has it, with other folders."""
    (work / "logs").mkdir()
    started = []

    def sidecar(**environment):
        given = {"PATH": program_on_path, "PYTHONPATH": str(ROOT), "LOGS": str(work / "logs"), "STALLED": "45m"}
        given |= {"REPORT": str(work / "report.html"), **environment}
        with (tmp_path / "printed").open("wb") as printed:
            process = subprocess.Popen(
                [*SIDECAR["command"], *SIDECAR["args"]],
                env=given,
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        started.append(process)
        return process

    yield sidecar
    for process in started:
        if process.poll() is None:
            process.kill()
        process.wait()


def wait_until(holds):
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def printed(tmp_path):
    return (tmp_path / "printed").read_text("utf-8")


def test_when_the_trainer_has_ended_the_log_is_judged(sidecar, tmp_path, work, failed):
    process = sidecar()
    wait_until(lambda: "following" in printed(tmp_path))
    shutil.copy(failed, work / "logs" / "train 0.log")
    wait_until(lambda: "a sign of failure" in printed(tmp_path))
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=30) == 1
    assert "FAILED    collective_timeout" in printed(tmp_path)
    assert (work / "report.html").exists()


def test_a_healthy_job_ends_it_well(sidecar, tmp_path, work, healthy):
    shutil.copy(healthy, work / "logs" / "train.log")
    process = sidecar()
    wait_until(lambda: "following" in printed(tmp_path))
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=30) == 0
    assert (work / "report.html").exists()
    assert "FAILED" not in printed(tmp_path)


def test_it_stays_with_its_verdict_until_the_trainer_has_ended(sidecar, tmp_path, work, commands):
    path = commands("nccl-logscan", 'echo a verdict; touch "$REPORT"; exit 1')
    process = sidecar(PATH=f"{path}:/usr/bin:/bin")
    wait_until((work / "report.html").exists)
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=5) == 1
    assert printed(tmp_path) == "a verdict\n"


def test_a_trainer_that_wrote_no_log_is_told(sidecar, tmp_path):
    process = sidecar()
    wait_until(lambda: "following" in printed(tmp_path))
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=30) == 3


def test_an_image_without_the_program_does_not_restart_in_a_circle(sidecar, tmp_path):
    process = sidecar(PATH="/usr/bin:/bin")
    wait_until(lambda: "not found" in printed(tmp_path))
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=5) == 127
