"""Evidence: the truth about a job, and whether the files that survived still tell it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.simulation.folder import Folder
from tests.simulation.job import Job
from tests.simulation.scenario import DEATHS, HANGS, Truth
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
    "late": ("storage_stall",),
    "late_subgroup": ("storage_stall",),
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


def truth_of(job: Job, culprit: int, folder: Folder, left: set[str], failure: Failure | None) -> Truth:
    """The truth; `left`: the names of the files that survived."""
    scenario, fault = job.scenario, job.scenario.fault
    marks: set[Any] = set().union(*(folder.marks[name] for name in left if name in folder.marks))
    who, what = _left(job, culprit, marks, failure)
    host = job.host(culprit)
    also = _ALSO.get(fault, ())
    if fault in {"host_oom", "xid", "exception", "gpu_oom"} and not what:
        also = (*also, "process_death")
    return Truth(
        fault=fault,
        layout=scenario.layout,
        category=_CATEGORY[fault],
        also=also,
        culprit=None if fault in (*_NO_RANK, *_NOBODY) and scenario.gpus > 1 or fault in _NOBODY else culprit,
        host=None if fault in _NOBODY else job.host_names[host],
        adapter=f"mlx5_{job.local(culprit)}" if fault == "ib_down" else None,
        what=failure.words if failure is not None else fault,
        evidence_left=who,
        category_left=what,
        hosts_of_culprit=() if fault in _NOBODY else (job.host_names[host], job.addresses[host]),
        ranks_of_host=() if fault in _NOBODY else tuple(job.on_host(host)),
        lost_files=len(folder.files) - len(left),
        files=len(folder.files),
    )


def _left(job: Job, culprit: int, marks: set[Any], failure: Failure | None) -> tuple[bool, bool]:
    """Whether the surviving files tell who, and what."""
    fault = job.scenario.fault
    kinds = {mark[0] for mark in marks}
    if fault in HANGS:
        assert failure is not None
        return _hang(culprit, marks, failure), bool(kinds & {"voice", "dump", "detail"})
    if fault in DEATHS:
        return _death(fault, marks, kinds)
    if fault == "ib_down":
        by_peers = len({mark[1] for mark in marks if mark[0] == "peer"}) > 1
        by_itself = len({mark[1] for mark in marks if mark[0] == "self"}) > 1
        return "event" in kinds or by_peers or by_itself, bool(kinds & {"event", "peer", "self"})
    if fault == "peer_vanishes":
        known = bool(kinds & {"gone", "node_failure"})
        return known, known
    if fault in {"mixed_driver", "mixed_nccl"}:
        return _mixed(job, culprit, marks, kinds)
    return True, fault != "overflow" or "nan" in kinds


def _hang(culprit: int, marks: set[Any], failure: Failure) -> bool:
    """Whether who held the others up can be told."""
    if failure.blocked.contested is None:
        return False
    group = failure.blocked.contested[0]
    others = set(group.ranks) - {culprit}
    dumps = {mark[1] for mark in marks if mark[0] == "dump"}
    voices = {(mark[1], mark[2]) for mark in marks if mark[0] == "voice"}
    if failure.blocked.differs:
        detail = {mark[1] for mark in marks if mark[0] == "detail"}
        in_group = {rank for rank, name in voices if name == group.name}
        seen = failure.job.scenario.fault != "other_dtype" and culprit in in_group and len(in_group) > 2
        return seen or len(detail & others) > 1 or (culprit in dumps and len(dumps & others) > 1)
    speaking = {rank for rank, _ in voices}
    if culprit in dumps and dumps & others:
        return True
    if ("lag",) in marks and speaking:
        return True
    everyone = set(range(failure.job.scenario.ranks)) - {culprit}
    return speaking == everyone or (others <= dumps and culprit not in dumps)


def _death(fault: str, marks: set[Any], kinds: set[str]) -> tuple[bool, bool]:
    by_launcher = bool(kinds & {"launcher", "ray"})
    if fault in {"sigkill", "sigsegv"}:
        known = by_launcher or "own" in kinds
        return known, known
    if fault == "host_oom":
        return by_launcher or "kernel" in kinds, bool(kinds & {"kernel", "oom_kill"}) or (
            "launcher",
            "Out Of Memory",
        ) in marks
    if fault == "xid":
        return by_launcher or bool(kinds & {"traceback", "kernel"}), "kernel" in kinds
    return by_launcher or "traceback" in kinds, "traceback" in kinds


def _mixed(job: Job, culprit: int, marks: set[Any], kinds: set[str]) -> tuple[bool, bool]:
    hosts = {mark[1] for mark in marks if mark[0] == "fact"}
    odd = job.host(culprit)
    compared = odd in hosts and len(hosts) > 2
    if job.scenario.fault == "mixed_driver":
        return "odd" in kinds or compared, "odd" in kinds or (odd in hosts and len(hosts) > 1)
    bare = job.scenario.nccl_version < (2, 22, 3) and job.scenario.layout in {"driver", "nccl_files"}
    return compared and not bare, "truncated" in kinds or (odd in hosts and len(hosts) > 1)
