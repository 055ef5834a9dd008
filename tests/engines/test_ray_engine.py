"""Logs read by the workers of a Ray that runs on this machine."""

import bz2
import gzip
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from engine_logs import FAILED, as_json, write_training

from nccl_logscan.engines import cluster, worker
from nccl_logscan.engines.cluster import Cluster, connected
from nccl_logscan.engines.queue import LostError, Queue
from nccl_logscan.engines.scan import scan_on_ray
from nccl_logscan.engines.shards import File, Shard, Work, digest_of
from nccl_logscan.errors import InputError
from nccl_logscan.pipeline import Options, scan
from nccl_logscan.rulebook.load import builtin_rulebook, load_rulebook
from nccl_logscan.rulebook.where import builtin_rules
from nccl_logscan.sources.limits import Limits
from nccl_logscan.version import __version__

ray = pytest.importorskip("ray")
ROOT = Path(__file__).parents[2]
FAULT = (
    b"node-1:2311:2401 [3] transport/net_ib.cc:1298 NCCL WARN NET/SITE : Got completion from peer 10.0.0.3<40211> with "
    b"error 12, opcode 0, len 0, vendor err 129"
)


@pytest.fixture(scope="module")
def running():
    """Two workers of Ray."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ["RAY_TQDM_PATCH_PRINT"] = "0"
    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A job's folder: a log of many segments, large and small ones, a packed one, and a script."""
    place = tmp_path_factory.mktemp("job")
    write_training(place / "rank0.log", megabytes=40)
    write_training(place / "rank1.log", megabytes=1)
    shutil.copy(FAILED, place / "driver.log")
    (place / "rank2.log.gz").write_bytes(gzip.compress((place / "rank1.log").read_bytes()))
    (place / "rank3.log.bz2").write_bytes(bz2.compress((place / "rank1.log").read_bytes()))
    (place / "train.sh").write_text("export NCCL_DEBUG=INFO\ntorchrun train.py\n")
    return place


@pytest.mark.usefixtures("running")
def test_the_json_is_that_of_a_scan_without_ray(folder):
    assert as_json(scan_on_ray([str(folder)], builtin_rulebook(), Options())) == as_json(scan([folder]))


@pytest.mark.usefixtures("running")
def test_rules_of_ones_own_travel(tmp_path):
    site = tmp_path / "site" / "infiniband"
    site.mkdir(parents=True)
    text = (ROOT / "fixtures/broken-rules/sound.yaml").read_text("utf-8")
    (site / "broken.yaml").write_text(text.replace("NET/IB", "NET/SITE"), "utf-8")
    rulebook = load_rulebook([builtin_rules(), site.parent])
    log = write_training(tmp_path / "x.log", megabytes=3)
    lines = log.read_bytes().split(b"\n")
    lines.insert(9_000, FAULT)
    log.write_bytes(b"\n".join(lines))

    result = scan_on_ray([str(log)], rulebook, Options())

    assert "infiniband/broken" in {finding.rule.id for finding in result.findings}
    assert as_json(result) == as_json(scan([log], rulebook))


@pytest.mark.usefixtures("running")
def test_a_file_that_no_worker_can_read_is_read_here(tmp_path, monkeypatch):
    log = write_training(tmp_path / "x.log", megabytes=1)
    file = File("x.log", str(log), log.stat().st_size, digest_of(log.read_bytes()))
    queue = Queue(Cluster(ray, is_own=True, slots=2), work(version="0.0.1"))
    monkeypatch.setattr(worker, "__version__", "0.0.1")
    queue.plan([(Shard(file, 0, 1), ())])

    (told,) = queue.take(file, 0)
    assert sum(told.line_counts.values()) == log.read_bytes()[: 1 << 21].count(b"\n")


@pytest.mark.usefixtures("running")
def test_what_nobody_can_read_is_lost_with_its_reason():
    file = File("x.log", "/nowhere/x.log", 1 << 21, b"")
    queue = Queue(Cluster(ray, is_own=True, slots=2), work())
    queue.plan([(Shard(file, 0, 1), ())])

    with pytest.raises(LostError, match="it is not there"):
        queue.take(file, 0)


@pytest.mark.usefixtures("running")
def test_workers_that_are_another_program_are_told():
    queue = Queue(Cluster(ray, is_own=False, slots=2), work(version="0.0.1"))

    with pytest.raises(InputError, match=f"it has nccl-logscan {__version__}, and not 0.0.1") as told:
        queue.must_understand()
    assert "install nccl-logscan 0.0.1" in told.value.hint


def work(version=__version__):
    return Work("a scan", version, builtin_rulebook().digest, None, Limits())


# --- the command line -------------------------------------------------------------------------------------------


def logscan(*words, cwd, **environment):
    kept = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"}
    return subprocess.run(
        [sys.executable, "-m", "nccl_logscan", *words],
        cwd=cwd,
        env={**kept, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_command_says_nothing_of_ray(folder, tmp_path):
    told = logscan("scan", str(folder), "--engine", "ray", "--workers", "1", "-q", "-o", "x.json", cwd=tmp_path)

    assert (told.returncode, told.stderr, told.stdout) == (1, "", "")


def test_where_nothing_listens_that_is_said(tmp_path):
    told = logscan("scan", str(FAILED), "--engine", "ray", "--ray-address", "127.0.0.1:1", cwd=tmp_path)

    assert told.returncode == 3
    assert told.stderr.startswith(
        "error: no Ray cluster answers at 127.0.0.1:1\n help: start one with `ray start --head`"
    )


def test_the_address_of_the_environment_is_taken(tmp_path):
    told = logscan("scan", str(FAILED), "--engine", "ray", cwd=tmp_path, RAY_ADDRESS="127.0.0.1:1")

    assert "no Ray cluster answers at 127.0.0.1:1" in told.stderr


def test_options_of_ray_without_it_are_refused(tmp_path):
    told = logscan("scan", str(FAILED), "--workers", "2", cwd=tmp_path)

    assert told.returncode == 2
    assert "--workers is of use with --engine ray only" in told.stderr


def test_a_watch_is_not_for_ray(tmp_path):
    assert "--follow reads where it runs" in logscan("--follow", "x.log", "--engine", "ray", cwd=tmp_path).stderr


def test_a_scan_without_ray_does_not_import_it(tmp_path):
    code = (
        f"import sys; from nccl_logscan.cli import main; main([{str(FAILED)!r}, '-q', '--jobs', '1']); "
        "print('ray' in sys.modules)"
    )
    told = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )

    assert told.stdout.strip() == "False"


# --- what a person is told --------------------------------------------------------------------------------------


def test_where_ray_is_not_installed_the_extra_is_named(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(f"No module named {name!r}")

    monkeypatch.setattr(cluster, "import_module", missing)
    with pytest.raises(InputError, match="Ray is not installed") as told, connected(None, None):
        pass
    assert "pip install 'nccl-logscan[ray]'" in told.value.hint


@pytest.mark.parametrize("address", ["ray://head:10001", "head", "head:", ":6379x"])
def test_what_is_no_address_is_refused_before_ray_is_asked(address, monkeypatch):
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    with pytest.raises(InputError, match="is no address of a Ray cluster"), connected(address, None):
        pass


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (RuntimeError("Version mismatch: The cluster was started with: Ray: 2.9.0"), "is of another version"),
        (ConnectionError("Could not find any running Ray instance"), "no Ray cluster answers at auto"),
        (RuntimeError("something else"), "cannot be used: something else"),
    ],
)
def test_what_ray_refuses_is_told_in_our_words(error, told, monkeypatch):
    def refusing(**_):
        raise error

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", refusing)
    monkeypatch.setattr(ray, "shutdown", lambda: None)
    with pytest.raises(InputError, match=told), connected("auto", None):
        pass
