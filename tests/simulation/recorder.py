"""Flight recorder dumps: what a rank's ring holds, written as a release writes it (pickle protocol 2, or JSON)."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

from tests.simulation.job import SETUP_CALLS, Blocked, Call, Job, Op
from tests.simulation.torch_words import op_frames

# PyTorch release: the dump's version.
_VERSIONS = {"2.4": "2.2", "2.5": "2.4", "2.6": "2.5", "2.7": "2.9", "2.9": "2.10", "2.11": "2.10"}


class Recorder:
    """Writes the dumps of one job."""

    def __init__(self, job: Job, blocked: Blocked, start: float) -> None:
        self.job, self.calls, self.before, self.start = job, blocked.calls, blocked.before, start
        self.version = _VERSIONS[job.scenario.torch]
        self.as_json = job.scenario.dumps == "json"

    def write(self, rank: int, path: Path) -> None:
        """Write a rank's dump."""
        scenario, dump = self.job.scenario, {"version": self.version}
        if self.version >= "2.9" or self.version == "2.10":
            dump["comm_lib_version" if self.version == "2.10" else "nccl_version"] = scenario.nccl
        content: dict[str, Any] = dump | {
            "pg_config": self._groups(rank),
            "pg_status": self._status(rank),
            "entries": self._entries(rank),
        }
        if self.as_json:
            content["entries"] = [self._as_json(entry) for entry in content["entries"]]
            content["pg_status"] = {
                group: {key: str(value) for key, value in status.items()}
                for group, status in content["pg_status"].items()
            }
            path.write_text(json.dumps(content))
        else:
            path.write_bytes(pickle.dumps(content, protocol=2))

    def _groups(self, rank: int) -> dict[str, Any]:
        groups = [self.job.group(kind, rank) for kind in self.job.kinds()]
        return {
            group.name: {"name": group.name, "desc": group.desc, "ranks": str(list(group.ranks))} for group in groups
        }

    def _status(self, rank: int) -> dict[str, dict[str, int]]:
        status = {}
        for kind in self.job.kinds():
            group = self.job.group(kind, rank)
            own = [call for call in self.calls[rank] if call.group is group and not call.op.peer]
            before = self.before.get((rank, kind), 0) if kind != "pp" else -1
            status[str(group.local)] = {
                "last_enqueued_collective": own[-1].seq if own else before,
                "last_started_collective": -1,
                "last_completed_collective": max([before, *(call.seq for call in own if call.completed)]),
            }
        return status

    def _entries(self, rank: int) -> list[dict[str, Any]]:
        past, ring = self._past(rank), self.job.scenario.ring
        calls = self.calls[rank]
        total = SETUP_CALLS + len(self.job.program(rank)) * (self.job.scenario.fault_step - 1) + len(calls)
        entries = [*past, *calls][-ring:]
        first = total - len(entries)
        return [self._entry(first + number, rank, call) for number, call in enumerate(entries)]

    def _past(self, rank: int) -> list[Call]:
        """The calls of the steps before the fault's, as many as the ring holds."""
        scenario, program = self.job.scenario, self.job.program(rank)
        steps = min(scenario.fault_step - 1, scenario.ring // max(1, len(program)) + 1)
        calls: list[Call] = []
        seqs = dict(self.before)
        for back in range(1, steps + 1):
            at = self.start - back
            for number, op in reversed(list(enumerate(program))):
                group = self.job.group(op.kind, rank)
                when = at + number * 0.01
                calls.append(Call(op, group, seqs[rank, group.kind], when, when + 0.002, when + 0.006))
                seqs[rank, group.kind] -= 1
        calls.reverse()
        if steps == scenario.fault_step - 1:
            world = self.job.group("world", rank)
            setup = [
                Call(
                    Op("world", "broadcast", 4096),
                    world,
                    n + 1,
                    self.start - steps - 2 + n * 0.1,
                    0.0,
                    self.start - steps - 2 + n * 0.1,
                )
                for n in range(SETUP_CALLS)
            ]
            calls = [*setup, *calls]
        return calls

    def _entry(self, record: int, rank: int, call: Call) -> dict[str, Any]:
        scenario, op = self.job.scenario, call.op
        skew = self.job.skews[self.job.host(rank)]
        size = len(call.group.ranks)
        wide = [[op.numel * size]] if op.name == "_reduce_scatter_base" else [[op.numel]]
        entry: dict[str, Any] = {}
        if scenario.frames:
            entry["frames"] = [{"name": name, "filename": file, "line": line} for name, file, line in op_frames(op)]
        name = op.name
        if op.peer:
            inner = call.group.ranks.index(rank)
            name = f"send {inner}->{inner + op.peer}" if op.name == "send" else f"recv {inner}<-{inner + op.peer}"
        completed = call.completed is not None
        entry |= {
            "record_id": record,
            "pg_id": call.group.local,
            "process_group": (call.group.name, call.group.desc),
        }
        if self.version in {"2.9", "2.10"}:
            entry |= {"thread_name": "python3", "thread_id": "140274141274112"}
        entry |= {
            "collective_seq_id": 0 if op.peer else call.seq,
            "p2p_seq_id": call.seq if op.peer else 0,
            "op_id": call.seq,
            "profiling_name": f"nccl:{name}",
            "time_created_ns": _ns(call.enqueued + skew),
            "input_sizes": wide,
            "input_dtypes": [op.dtype],
            "output_sizes": [[op.numel]],
            "output_dtypes": [op.dtype],
            "state": "completed" if completed else "started" if self._timed(call) else "scheduled",
            "time_discovered_started_ns": None,
            "time_discovered_completed_ns": _ns((call.completed or 0) + skew) if completed else None,
            "retired": completed,
            "timeout_ms": scenario.timeout_s * 1000,
            "is_p2p": bool(op.peer),
        }
        return entry

    def _timed(self, call: Call) -> bool:
        return call.arrived is not None and self.job.scenario.seed % 3 == 0  # TORCH_NCCL_ENABLE_TIMING

    @staticmethod
    def _as_json(entry: dict[str, Any]) -> dict[str, Any]:
        """JSON knows no tuples and this writer no frames."""
        return {
            key: list(value) if isinstance(value, tuple) else value for key, value in entry.items() if key != "frames"
        }


def _ns(seconds: float) -> int:
    return round(seconds * 1_000) * 1_000_000
