"""The simulator's own statements: it is deterministic, its logs are ones that programs write, its truth is in them."""

from __future__ import annotations

import json
import pickle
import re
from pathlib import Path

import pytest

from nccl_logscan.events import Tokeniser
from nccl_logscan.lines import Peeler
from nccl_logscan.position import Position
from nccl_logscan.sources.raw import RawLine
from tests.simulation import FAULTS, LAYOUTS, draw, simulate
from tests.simulation.job import open_calls
from tests.simulation.scenario import DEATHS, HANGS
from tests.simulation.write import Simulation

_SMALL = {"ranks": 16, "gpus": 4, "tensor": 4, "pipeline": 1, "restarts": False, "torn": False}


def files_of(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def text_of(folder):
    logs = (path for path in sorted(folder.rglob("*")) if path.suffix in {".log", ".out", ".err", ".txt", ".json"})
    return "\n".join(path.read_text() for path in logs)


def dumps_of(folder):
    paths = (path for path in folder.rglob("*") if re.fullmatch(r"(fr|nccl_trace_rank)_\d+", path.name))
    return {int(path.name.rsplit("_", 1)[1]): loaded(path.read_bytes()) for path in paths}


def loaded(content):
    return json.loads(content) if content.startswith(b"{") else pickle.loads(content)  # noqa: S301 - our own


@pytest.mark.parametrize("seed", range(0, 42, 5))
def test_a_seed_gives_the_same_bytes_again(seed, tmp_path):
    first, second = simulate(seed, tmp_path / "a", ranks=16), simulate(seed, tmp_path / "b", ranks=16)
    assert first == second
    assert files_of(tmp_path / "a") == files_of(tmp_path / "b")


def test_seeds_differ(tmp_path):
    simulate(1, tmp_path / "a", fault="late")
    simulate(2, tmp_path / "b", fault="late")
    assert files_of(tmp_path / "a") != files_of(tmp_path / "b")


def test_a_field_that_no_scenario_has_is_refused():
    with pytest.raises(ValueError, match="colour"):
        draw(1, colour="red")


def test_seeds_spread_over_all_faults_and_layouts():
    drawn = [draw(seed) for seed in range(300)]
    assert {one.fault for one in drawn} == set(FAULTS)
    assert {one.layout for one in drawn} == set(LAYOUTS)
    assert min(one.ranks for one in drawn) == 2
    assert max(one.ranks for one in drawn) == 512


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_has_a_category_and_a_culprit_within_the_job(fault, tmp_path):
    truth = simulate(3, tmp_path, fault=fault, layout="node_files", lost=0.0, **_SMALL)
    assert truth.culprit is None or 0 <= truth.culprit < 16
    assert truth.culprit is None or truth.culprit in truth.ranks_of_host
    assert (truth.host is None) == (fault in {"overflow", "straggler", "healthy"})
    assert truth.category


@pytest.mark.parametrize("layout", LAYOUTS)
def test_no_file_of_a_healthy_job_is_empty_of_known_lines(layout, tmp_path):
    fault = "late" if layout == "dumps" else "healthy"
    simulate(
        4, tmp_path, fault=fault, layout=layout, torch="2.6", nccl_debug="INFO", style="logging", lost=0.0, **_SMALL
    )
    for path in tmp_path.rglob("*"):
        if path.is_file() and path.parent.name != "fr" and layout != "dumps":
            assert known_kinds(path), path


def known_kinds(path: Path) -> set[str]:
    peeler, tokeniser = Peeler(), Tokeniser()
    kinds = set()
    for number, text in enumerate(path.read_text().splitlines(), 1):
        for line in peeler.peel(RawLine(Position(path.name, number, 0), text)):
            kinds |= {event.kind for event in tokeniser.read(line)}
    return kinds - {"log.text"}


@pytest.mark.parametrize("fault", HANGS)
def test_a_hang_blocks_all_ranks_and_is_about_one_call(fault, tmp_path):
    simulation = Simulation(draw(5, fault=fault, layout="rank_files", lost=0.0, **_SMALL), tmp_path)
    simulation.run()
    blocked = simulation.failure.blocked
    group, number = blocked.contested
    culprit = simulation.scene.culprit
    assert culprit in group.ranks
    for rank in set(range(16)) - {culprit}:
        assert list(open_calls(blocked.calls[rank])), f"rank {rank} waits for nothing"
    arrived = {
        rank
        for rank in group.ranks
        for call in blocked.calls[rank]
        if call.group is group and call.seq == number and call.arrived
    }
    assert (culprit in arrived) == blocked.differs


def test_a_stall_in_a_subgroup_reaches_ranks_outside_it(tmp_path):
    simulation = Simulation(draw(6, fault="late_subgroup", layout="rank_files", **_SMALL), tmp_path)
    simulation.run()
    calls, culprit = simulation.failure.blocked.calls, simulation.scene.culprit
    own = simulation.scene.job.group("tp", culprit).ranks
    waiting = {
        rank: next(call for call in calls[rank] if call.completed is None).group.kind
        for rank in range(16)
        if rank != culprit
    }
    assert {waiting[rank] for rank in own if rank != culprit} == {"tp"}
    assert {kind for rank, kind in waiting.items() if rank not in own} <= {"dp", "world"}


def test_a_watchdog_fires_one_time_out_after_its_call_was_enqueued(tmp_path):
    simulate(7, tmp_path, fault="late", layout="rank_files", torch="2.6", timeout_s=600, lost=0.0, **_SMALL)
    ran = [int(ms) for ms in re.findall(r"ran for (\d+) milliseconds before", text_of(tmp_path))]
    assert ran
    assert all(600_000 <= ms < 600_200 for ms in ran)


@pytest.mark.parametrize("torch", ["1.13", "2.1", "2.3", "2.4", "2.5", "2.6", "2.7", "2.9", "2.11"])
def test_every_release_reports_the_time_out_in_its_own_words(torch, tmp_path):
    simulate(8, tmp_path, fault="late", layout="rank_files", torch=torch, lost=0.0, **_SMALL)
    text = text_of(tmp_path)
    assert "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=" in text
    assert ("TensorShape=[" in text) == (torch == "1.13")
    assert ("failure detected by watchdog at work sequence id" in text) == (torch in {"2.6", "2.7", "2.9", "2.11"})


@pytest.mark.parametrize("form", ["pickle", "json"])
@pytest.mark.parametrize("torch", ["2.4", "2.5", "2.6", "2.7", "2.9", "2.11"])
def test_dumps_load_and_show_who_is_behind(torch, form, tmp_path):
    truth = simulate(9, tmp_path, fault="late", layout="dumps", torch=torch, dumps=form, ring=200, lost=0.0, **_SMALL)
    dumps = dumps_of(tmp_path)
    assert set(dumps) == set(range(16))
    reached = {rank: int(dump["pg_status"]["0"]["last_enqueued_collective"]) for rank, dump in dumps.items()}
    assert min(reached, key=reached.get) == truth.culprit
    assert all(len(dump["entries"]) <= 200 for dump in dumps.values())


def test_a_dump_holds_the_end_of_the_ring_in_order(tmp_path):
    simulate(10, tmp_path, fault="late", layout="dumps", torch="2.9", dumps="pickle", ring=20, lost=0.0, **_SMALL)
    for dump in dumps_of(tmp_path).values():
        records = [entry["record_id"] for entry in dump["entries"]]
        assert records == list(range(records[0], records[0] + 20))
        states = [entry["state"] for entry in dump["entries"]]
        assert states == sorted(states, key=["completed", "started", "scheduled"].index)


@pytest.mark.parametrize("fault", DEATHS)
@pytest.mark.parametrize("layout", ["driver", "rank_files", "torchelastic", "slurm"])
def test_the_launcher_names_the_dead_rank(fault, layout, tmp_path):
    truth = simulate(11, tmp_path, fault=fault, layout=layout, prefix="none", torch="2.6", lost=0.0, **_SMALL)
    assert truth.evidence_left
    text = text_of(tmp_path)
    if layout == "slurm":
        assert f"{truth.host}: task {truth.culprit}: " in text
    else:
        root = text.index("Root Cause (first observed failure)")
        assert f"  rank      : {truth.culprit} (" in text[root:]


def test_a_vanished_host_says_nothing_more_and_its_peers_name_its_address(tmp_path):
    truth = simulate(12, tmp_path, fault="peer_vanishes", layout="node_files", lost=0.0, **_SMALL)
    name, address = truth.hosts_of_culprit
    assert "ProcessGroupNCCL" not in (tmp_path / f"{name}.log").read_text()
    others = "".join(path.read_text() for path in tmp_path.glob("*.log") if path.stem != name)
    assert re.search(rf"(closed by remote peer|Call to recv from) {re.escape(address)}<", others)


@pytest.mark.parametrize("nccl", ["2.14.3", "2.18.3", "2.21.5", "2.24.3", "2.28.9", "2.30.7"])
def test_the_peers_of_a_broken_adapter_complain_of_its_host(nccl, tmp_path):
    truth = simulate(13, tmp_path, fault="ib_down", layout="driver", nccl=nccl, event=False, **_SMALL)
    _, address = truth.hosts_of_culprit
    complaints = re.findall(r"NCCL WARN NET/IB ?: Got completion from peer ([\d.]+)<", text_of(tmp_path))
    assert complaints.count(address) == 2
    assert truth.evidence_left


def test_a_broken_adapter_between_two_hosts_is_nobodys_without_its_event(tmp_path):
    two = {**_SMALL, "ranks": 8}
    assert not simulate(14, tmp_path / "a", fault="ib_down", layout="driver", event=False, **two).evidence_left
    assert simulate(14, tmp_path / "b", fault="ib_down", layout="driver", event=True, **two).evidence_left


def test_lost_files_take_the_evidence_with_them(tmp_path):
    truths = [
        simulate(seed, tmp_path / str(seed), fault="exception", layout="rank_files", lost=0.6, **_SMALL)
        for seed in range(30)
    ]
    assert {truth.category_left for truth in truths} == {True, False}
    for seed, truth in enumerate(truths):
        assert truth.lost_files > 0
        told = 'Traceback (most recent call last):\n  File "/workspace' in text_of(tmp_path / str(seed)).replace(
            f"[rank{truth.culprit}]: ", ""
        )
        assert told == truth.category_left


def test_a_pair_that_disagrees_has_no_culprit_to_be_told(tmp_path):
    truth = simulate(15, tmp_path, fault="other_shape", layout="rank_files", ranks=2, gpus=2, torch="2.6", lost=0.0)
    assert not truth.evidence_left
    assert truth.category_left


def test_hosts_clocks_differ_by_no_more_than_the_skew(tmp_path):
    simulation = Simulation(draw(16, fault="late", layout="node_files", skew_s=30.0, **_SMALL), tmp_path)
    skews = simulation.scene.job.skews
    assert len(set(skews)) == len(skews) == 4
    assert all(abs(skew) <= 30 for skew in skews)


def test_a_job_that_was_preempted_begins_again(tmp_path):
    simulate(17, tmp_path, fault="late", layout="torchelastic", lost=0.0, **{**_SMALL, "restarts": True})
    attempts = {part for path in tmp_path.rglob("*.log") for part in path.parts if part.startswith("attempt_")}
    assert attempts == {"attempt_0", "attempt_1"}
    first = [path for path in tmp_path.rglob("*.log") if "attempt_0" in path.parts]
    assert not any("Watchdog caught" in path.read_text() for path in first)


def test_torn_lines_are_all_there_in_pieces(tmp_path):
    whole = {**_SMALL, "torn": False, "ranks": 64, "tensor": 1}
    simulate(18, tmp_path / "whole", fault="healthy", layout="driver", prefix="none", style="logging", **whole)
    simulate(
        18,
        tmp_path / "torn",
        fault="healthy",
        layout="driver",
        prefix="none",
        style="logging",
        **{**whole, "torn": True},
    )
    torn = (tmp_path / "torn" / "driver.log").read_text()
    assert len(re.findall(r"(?m)^(?!\d{4}-|gpu-|node|n\d|a3-|NCCL version).+", torn)) > 0
    assert torn.count("trainer:125") >= 64
