"""What the nodes of a cluster have, read where it lies: several nodes of Ray's own for tests, on this machine."""

import gzip
import os
import shutil

import pytest
from engine_logs import FAILED, as_json, write_training

from nccl_logscan.engines import scan as engine
from nccl_logscan.engines.scan import scan_on_ray
from nccl_logscan.errors import InputError
from nccl_logscan.pipeline import Options, scan
from nccl_logscan.rulebook.load import builtin_rulebook

pytest.importorskip("ray")
from ray.cluster_utils import Cluster

NAMES = ("n1", "n2", "n10")


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A folder for each node, and one that all share."""
    place = tmp_path_factory.mktemp("disks")
    write_training(place / "n1/logs/rank0.log", megabytes=5, host="n1")
    write_training(place / "n2/logs/rank10.log", megabytes=1, host="n2")
    shutil.copy(FAILED, place / "n2/logs/rank9.log")
    (place / "n2/logs/old.log.gz").write_bytes(gzip.compress((place / "n2/logs/rank10.log").read_bytes()))
    shutil.make_archive(str(place / "n10/logs/all"), "zip", place / "n2/logs")
    shutil.make_archive(str(place / "n10/logs/all"), "tar", place / "n2/logs")
    (place / "n10/logs/job.sh").write_text("export NCCL_DEBUG=INFO\ntorchrun train.py\n")
    write_training(place / "shared/rank0.log", megabytes=2)
    return place


def started(root, names=NAMES):
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"

    def node(name):
        return {"num_cpus": 1, "node_name": name, "env_vars": {"LOGS": str(root / name / "logs"), "ALL": str(root)}}

    cluster = Cluster(initialize_head=True, head_node_args=node(names[0]))
    for name in names[1:]:
        cluster.add_node(**node(name))
    cluster.wait_for_nodes()
    return cluster


@pytest.fixture(scope="module")
def cluster(root):
    """Three nodes that stay."""
    cluster = started(root)
    yield cluster
    cluster.shutdown()


def scanned(cluster, path, **options):
    return scan_on_ray([], builtin_rulebook(), Options(), address=cluster.address, on_every_node=path, **options)


def inputs(result):
    return {scanned.name: scanned for scanned in result.inputs}


def test_the_verdict_and_all_else_is_that_of_the_same_files_scanned_here(cluster, root):
    told = as_json(scanned(cluster, "$LOGS"))

    for name in NAMES:
        assert f"{name}:{root}/{name}/logs/" in told
        told = told.replace(f"{name}:{root}", str(root))
    told = told.replace("--- a//", "--- a/").replace("+++ b//", "+++ b/")  # no path of ours in a diff begins with /
    assert told == as_json(scan([root / name / "logs" for name in NAMES]))


def test_any_number_of_workers_gives_the_same_json(cluster):
    assert as_json(scanned(cluster, "$LOGS", workers=1)) == as_json(scanned(cluster, "$LOGS", workers=5))


def test_sources_are_in_the_order_of_nodes_and_then_of_files(cluster):
    names = [one.name.removeprefix(f"{one.name.partition(':')[0]}:") for one in scanned(cluster, "$LOGS").inputs]
    nodes = [one.name.partition(":")[0] for one in scanned(cluster, "$LOGS").inputs]

    assert list(dict.fromkeys(nodes)) == ["n1", "n2", "n10"]
    assert [name.rpartition("/")[2] for name in names][:4] == ["rank0.log", "old.log.gz", "rank9.log", "rank10.log"]


def test_a_file_that_all_nodes_share_counts_once(cluster, root):
    assert list(inputs(scanned(cluster, str(root / "shared")))) == [f"n1:{root}/shared/rank0.log"]


def test_a_node_without_the_folder_is_named(cluster, root):
    result = scanned(cluster, "$LOGS/rank0.log")

    assert list(inputs(result)) == ["node n2", "node n10", f"n1:{root}/n1/logs/rank0.log"]
    assert "node n2 was not read: $LOGS/rank0.log does not exist" not in result.notes
    assert f"node n2 was not read: {root}/n2/logs/rank0.log does not exist" in result.notes


def test_where_no_node_has_a_file_that_is_said(cluster):
    with pytest.raises(InputError, match="no node has a file below /nowhere: node n1 was not read: /nowhere does not"):
        scanned(cluster, "/nowhere")


def test_a_file_that_never_answers_is_given_up(cluster, root, monkeypatch):
    stuck = root / "n2/logs/rank10.log"
    text = stuck.read_bytes()

    def clogged():
        stuck.unlink()
        os.mkfifo(stuck)  # whoever opens it waits for a writer, as on a disk that hangs

    try:
        result = after_listing(monkeypatch, clogged, cluster, "$LOGS", patience=8)
    finally:
        stuck.unlink()
        stuck.write_bytes(text)

    note = inputs(result)[f"n2:{stuck}"].note
    assert note == "could not be read to its end: node n2 did not answer for 8 s"
    assert f"n2:{stuck} {note}" in result.notes
    assert inputs(result)[f"n1:{root}/n1/logs/rank0.log"].note is None


def after_listing(monkeypatch, then, cluster, path, *, patience):
    """Scan; once the nodes have said what they have, for which their workers start, something happens."""
    found_on_nodes = engine.found_on_nodes

    def found(queue, *others):
        found = found_on_nodes(queue, *others)
        queue._patience = patience
        then()
        return found

    monkeypatch.setattr(engine, "found_on_nodes", found)
    return scanned(cluster, path)


# --- nodes that die ---------------------------------------------------------------------------------------------


@pytest.fixture
def mortal(root):
    """Two nodes, the second of which dies when it is told to; and what to call for that."""
    cluster = started(root, NAMES[:2])
    yield cluster, lambda: cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)
    cluster.shutdown()


def test_a_node_that_dies_is_named_and_the_others_are_read(mortal, root, monkeypatch):
    cluster, die = mortal

    result = after_listing(monkeypatch, die, cluster, "$LOGS", patience=60)

    assert inputs(result)[f"n2:{root}/n2/logs/rank10.log"].note == "could not be read to its end: node n2 died"
    whole = inputs(result)[f"n1:{root}/n1/logs/rank0.log"]
    assert (whole.note, whole.bytes) == (None, (root / "n1/logs/rank0.log").stat().st_size)


def test_what_another_node_has_too_is_read_there(mortal, root, monkeypatch):
    cluster, _ = mortal
    node = next(iter(cluster.worker_nodes))

    def die():
        cluster.remove_node(node, allow_graceful=False)

    monkeypatch.setattr(engine, "found_on_nodes", backwards(engine.found_on_nodes))
    result = after_listing(monkeypatch, die, cluster, "$ALL/shared", patience=60)

    assert {name: one.note for name, one in inputs(result).items()} == {f"n2:{root}/shared/rank0.log": None}


def backwards(found_on_nodes):
    """Let the last node be asked first."""
    return lambda queue, nodes, *others: found_on_nodes(queue, nodes[::-1], *others)
