"""Evidence: the truth about a job, and whether the files that survived still tell it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.simulation.scenario import DEATHS, HANGS, STARTUP, Truth
from tests.simulation.scene import Scene
from tests.simulation.torch_words import local_time

if TYPE_CHECKING:
    from tests.simulation.failure import Failure

_CATEGORY = {
    **dict.fromkeys(("late", "late_subgroup"), "collective_timeout"),
    **dict.fromkeys(("skip", "extra", "other_op", "other_shape", "other_dtype", "swap"), "collective_mismatch"),
    "sigkill": "process_death",
    "sigsegv": "process_death",
    "exception": "user_code",
    "gpu_oom": "gpu_oom",
    "xid": "gpu_hardware",
    "host_oom": "host_oom",
    "ib_down": "infiniband",
    "peer_vanishes": "process_death",
    "mixed_driver": "heterogeneous_driver",
    "mixed_nccl": "version_mismatch",
    "overflow": "mixed_precision_overflow",
    "straggler": "none",
    "healthy": "none",
}
_ALSO = {
    **dict.fromkeys(("skip", "extra", "other_op", "other_shape", "other_dtype", "swap"), ("collective_timeout",)),
    "peer_vanishes": ("socket_bootstrap",),
    "mixed_driver": ("version_mismatch",),
    "mixed_nccl": ("heterogeneous_driver",),
    "sigkill": ("host_oom",),
}
_NO_RANK = ("ib_down", "peer_vanishes", "mixed_driver", "mixed_nccl")
_NOBODY = ("overflow", "straggler", "healthy")


def iso(at: float) -> str:
    """A moment as Slurm prints it."""
    return f"{local_time(at):%Y-%m-%dT%H:%M:%S}"


def truth_of(scene: Scene, left: set[str], failure: Failure | None) -> Truth:
    """The truth; `left`: the names of the files that survived."""
    job, scenario, fault = scene.job, scene.scenario, scene.scenario.fault
    marks: set[Any] = set().union(*(scene.folder.marks[name] for name in left if name in scene.folder.marks))
    who, what = _left(scene, marks, failure, left)
    also = _ALSO.get(fault, ("storage_stall",) if fault in {"late", "late_subgroup"} and scenario.hint else ())
    if fault in DEATHS and not what:
        also = (*also, "process_death", "collective_timeout", "infiniband", "socket_bootstrap")
    nobody = fault in _NOBODY
    no_rank = nobody or (fault in _NO_RANK and scenario.gpus > 1)
    host = job.host(scene.culprit)
    return Truth(
        fault=fault,
        layout=scenario.layout,
        category=_CATEGORY[fault],
        also=also,
        culprit=None if no_rank else scene.culprit,
        host=None if nobody else job.host_names[host],
        adapter=f"mlx5_{job.local(scene.culprit)}" if fault == "ib_down" else None,
        what=failure.words if failure is not None else fault,
        evidence_left=who,
        category_left=what,
        hosts_of_culprit=() if nobody else (job.host_names[host], job.addresses[host]),
        ranks_of_host=() if nobody else tuple(job.on_host(host)),
        lost_files=len(scene.folder.files) - len(left),
        files=len(scene.folder.files),
    )


def _left(scene: Scene, marks: set[Any], failure: Failure | None, left: set[str]) -> tuple[bool, bool]:
    """Whether the surviving files tell who, and what."""
    fault = scene.scenario.fault
    kinds = {mark[0] for mark in marks}
    if fault in HANGS:
        assert failure is not None
        return _hang(marks, failure), bool(kinds & {"voice", "anonymous", "dump", "detail"})
    if fault in DEATHS:
        return _death(scene, marks, scene.folder.file_of(scene.culprit, nccl=True) in left)
    if fault == "ib_down":
        by_peers = len({mark[1] for mark in marks if mark[0] == "peer"}) > 1
        by_itself = len({mark[1] for mark in marks if mark[0] == "self"}) > 1
        return "event" in kinds or by_peers or by_itself, bool(kinds & {"event", "peer", "self"})
    if fault == "peer_vanishes":
        known = bool(kinds & {"gone", "node_failure"})
        return known, known
    if fault in STARTUP:
        return _mixed(scene, marks, kinds)
    return True, fault != "overflow" or "nan" in kinds


def _hang(marks: set[Any], failure: Failure) -> bool:
    """Whether who held the others up can be told."""
    if failure.blocked.contested is None:
        return False
    group, culprit = failure.blocked.contested[0], failure.culprit
    others = set(group.ranks) - {culprit}
    dumps = {mark[1] for mark in marks if mark[0] == "dump"}
    voices = {(mark[1], mark[2]) for mark in marks if mark[0] == "voice"}
    if failure.blocked.differs:
        # With two members nobody can say which of them is the odd one.
        detail = {mark[1] for mark in marks if mark[0] == "detail"}
        speaking = {rank for rank, name in voices if name == group.name}
        seen = failure.job.scenario.fault != "other_dtype" and culprit in speaking and len(speaking) > 2
        return seen or len(detail & others) > 1 or (culprit in dumps and len(dumps & others) > 1)
    speaking = {rank for rank, _ in voices}
    reported = failure.job.scenario.desync and group.kind == "world" and bool({n for _, n in voices} & {group.name})
    if reported or (culprit in dumps and dumps & others) or (("lag",) in marks and speaking - {culprit}):
        return True
    everyone = set(range(failure.job.scenario.ranks)) - {culprit}
    return speaking == everyone or (others <= dumps and culprit not in dumps)


def _death(scene: Scene, marks: set[Any], nccl_left: bool) -> tuple[bool, bool]:
    """`nccl_left`: the culprit's file of NCCL's lines survived."""
    fault = scene.scenario.fault
    kinds = {mark[0] for mark in marks}
    named = scene.scenario.style == "logging" and scene.scenario.layout == "ray"
    by_pid = scene.tells_rank_of_pid() and (nccl_left or named)
    spoke = bool(marks & {("own", True), ("traceback", True)})
    by_itself = ("traceback", True) in marks and scene.torch.hooks
    in_own = spoke and (nccl_left or not scene.needs_nccl(by_itself))
    known = "launcher" in kinds or ("ray" in kinds and by_pid) or in_own
    if fault in {"sigkill", "sigsegv"}:
        return known, bool(kinds & {"launcher", "ray", "own"})
    if fault == "host_oom":
        named = known or ("kernel" in kinds and by_pid)
        return named, bool(kinds & {"kernel", "oom_kill"}) or ("launcher", "Out Of Memory") in marks
    if fault == "xid":
        return known or ("kernel" in kinds and by_pid), "kernel" in kinds
    return known, "traceback" in kinds


def _mixed(scene: Scene, marks: set[Any], kinds: set[str]) -> tuple[bool, bool]:
    scenario = scene.scenario
    hosts = {mark[1] for mark in marks if mark[0] == "fact"}
    odd = scene.job.host(scene.culprit)
    differ, compared = odd in hosts and len(hosts) > 1, odd in hosts and len(hosts) > 2
    if scenario.fault == "mixed_driver":
        # The exception says nothing of its host; the file, a prefix or the rank does.
        told = "odd" in kinds and (scenario.layout != "driver" or scene.tells_rank(scene.torch.hooks))
        return told or compared, "odd" in kinds or differ
    bare = scenario.nccl_version < (2, 22, 3) and scenario.layout in {"driver", "nccl_files"}
    return compared and not bare, "truncated" in kinds or differ
