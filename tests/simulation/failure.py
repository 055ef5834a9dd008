"""Failure: what ranks, launchers and kernels say once the fault has happened, in the order of time."""

from __future__ import annotations

import heapq
import json
import random
from collections import defaultdict
from collections.abc import Iterable

from tests.simulation import mismatch
from tests.simulation.death import death_of
from tests.simulation.folder import Folder
from tests.simulation.job import Call, Job, open_calls, run_to_the_end
from tests.simulation.launchers import Launchers
from tests.simulation.nccl_words import NcclWords
from tests.simulation.recorder import Recorder
from tests.simulation.scenario import DEATHS
from tests.simulation.torch_words import TorchWords, local_time, op_frames

_HINTS = (
    "loading shard data-00012.parquet",
    "saving checkpoint to /mnt/nfs/ckpt/step_12",
    "running evaluation on 4,096 samples",
    "rebuilding index cache",
)


class Failure:
    """Everything after the last good step."""

    def __init__(
        self, job: Job, culprit: int, folder: Folder, torch: TorchWords, nccl: NcclWords, at: float, rng: random.Random
    ) -> None:
        self.job, self.culprit, self.folder, self.torch, self.nccl, self.rng = job, culprit, folder, torch, nccl, rng
        self.blocked, self.words = run_to_the_end(job, culprit, at, rng)
        self.recorder = (
            Recorder(job, self.blocked.calls, self.blocked.before, at) if (job.scenario.dumps != "none") else None
        )
        self.begin = self.blocked.halted + rng.uniform(0.05, 0.5)
        self.said: list[tuple[float, int, str, int, str, object, bool]] = []
        self.natural: dict[int, tuple[float, int]] = {}  # rank: when it would end by itself, and its exit code
        self.ends: dict[int, tuple[float, int]] = {}
        self.silent: set[int] = set()
        self.dumping: list[int] = []
        self.error_files: dict[int, str] = {}

    def write(self) -> None:
        """Work out who says and does what, then write it."""
        scenario = self.job.scenario
        fault = scenario.fault
        if scenario.hint and fault in {"late", "late_subgroup"}:
            self._hint()
        if fault in DEATHS:
            death_of(self)
        elif fault == "ib_down":
            self._adapter_down()
        elif fault == "peer_vanishes":
            self._host_vanishes()
        if self.blocked.differs and scenario.detail:
            mismatch.detected(self)
        else:
            self._time_outs()
        Launchers(self).write()
        self._write()

    # What others use too.

    def say(self, rank: int, at: float, lines: str | Iterable[str], mark: object = None, nccl: bool = False) -> None:
        """Let a rank print lines, unless it has vanished."""
        if rank in self.silent:
            return
        if nccl and self.job.scenario.nccl_debug == "NONE":
            return
        for line in [lines] if isinstance(lines, str) else lines:
            self.said.append((at, len(self.said), "rank", rank, line, mark, nccl))

    def launch(self, host: int, at: float, line: str, mark: object = None) -> None:
        """Let a host's launcher print a line."""
        self.said.append((at, len(self.said), "launcher", host, line, mark, False))

    def kernel(self, host: int, at: float, line: str, mark: object = None) -> None:
        """Let a host's kernel print a line."""
        when = local_time(self.shown(at, host))
        stamp = f"{when:%b} {when.day:2d} {when:%H:%M:%S} {self.job.host_names[host]} kernel: "
        self.said.append((at, len(self.said), "kernel", host, stamp + line, mark, False))

    def shown(self, at: float, host: int) -> float:
        """A moment by a host's clock."""
        return at + self.job.skews[host]

    def mine(self, at: float, rank: int) -> float:
        """A moment by the clock of a rank's host."""
        return self.shown(at, self.job.host(rank))

    def neighbours(self, rank: int) -> list[int]:
        """The ranks of other hosts that a rank's adapter speaks with: those of its rail before and after it."""
        scenario = self.job.scenario
        around = {(rank + scenario.gpus) % scenario.ranks, (rank - scenario.gpus) % scenario.ranks}
        return sorted(one for one in around if self.job.host(one) != self.job.host(rank))

    def address(self, rank: int) -> str:
        """A rank's socket."""
        return f"{self.job.addresses[self.job.host(rank)]}<{self.rng.randint(32_768, 60_999)}>"

    def waiting_call(self, rank: int) -> Call | None:
        """The call that a rank's device is at."""
        return next((call for call in self.blocked.calls[rank] if call.completed is None), None)

    # Hangs.

    def _hint(self) -> None:
        text = self.rng.choice(_HINTS)
        at = self.mine(self.blocked.halted, self.culprit)
        when = local_time(at)
        self.say(
            self.culprit,
            self.blocked.halted,
            f"{when:%Y-%m-%d %H:%M:%S},{when.microsecond // 1000:03d} | rank{self.culprit} | INFO | trainer:49 - {text}"
            if self.job.scenario.style == "logging"
            else f"[rank {self.culprit}] {text}",
        )

    def _time_outs(self) -> None:
        """Each rank's watchdogs fire one time-out after they enqueued the call that never came back."""
        limit = self.job.scenario.timeout_s
        fires: dict[int, list[tuple[float, Call]]] = {}
        for rank, calls in enumerate(self.blocked.calls):
            if rank in self.silent or self.natural.get(rank, (float("inf"), 0))[0] < self.begin + limit / 2:
                continue
            mine = sorted(
                ((call.enqueued + limit + self.rng.uniform(0.0, 0.1), call) for call in open_calls(calls)),
                key=lambda fire: fire[0],
            )
            if mine:
                fires[rank] = mine
                wait = self.rng.uniform(4, 20) if self.torch.dumps else self.rng.uniform(0.05, 0.6)
                self.natural.setdefault(rank, (mine[0][0] + wait, -6))
        self._settle()
        first = min(((mine[0][0], rank) for rank, mine in fires.items() if self._alive(rank, mine[0][0])), default=None)
        for rank, mine in fires.items():
            self._fire(rank, mine)
        if first is not None and self.torch.dumps:
            self._notify(*first, fires)

    def _alive(self, rank: int, at: float) -> bool:
        return rank not in self.silent and self.ends.get(rank, (float("inf"), 0))[0] > at

    def _fire(self, rank: int, mine: list[tuple[float, Call]]) -> None:
        said = False
        for at, call in mine:
            if not self._alive(rank, at):
                break
            frames = (
                [f"#{n} {name} from {file}:{line}" for n, (name, file, line) in enumerate(op_frames(call.op))]
                if (self.job.scenario.frames and self.job.scenario.dumps != "none")
                else []
            )
            self.say(
                rank,
                at,
                self.torch.timeout(
                    rank, call, self.mine(at, rank), self.job.scenario.timeout_s, self.status(rank, call), frames
                ),
                ("voice", rank, call.group.name),
            )
            if not said and self.torch.dumps:
                self._signals(rank, at)
            said = True
        end, code = self.ends.get(rank, (0.0, 0))
        if said and code == -6:
            self.say(rank, end, list(self.torch.abort(rank, mine[0][1].group, self.mine(end, rank), self.torch.dumps)))

    def _signals(self, rank: int, at: float) -> None:
        later = at + self.rng.uniform(0.05, 1.0)
        if self._alive(rank, later):
            self.dumping.append(rank)
            self.say(
                rank,
                later,
                self.torch.signal(
                    rank, self.job.group("world", 0), self.mine(later, rank), self.world_status(rank), None
                ),
            )

    def status(self, rank: int, call: Call) -> tuple[int, int]:
        """(last enqueued, last completed) of a call's group at a rank."""
        own = [one for one in self.blocked.calls[rank] if one.group is call.group and not one.op.peer]
        before = self.blocked.before.get((rank, call.group.kind), 0)
        return own[-1].seq if own else before, max([before, *(one.seq for one in own if one.completed)])

    def world_status(self, rank: int) -> tuple[int, int]:
        """(last enqueued, last completed) of the world at a rank."""
        own = [one for one in self.blocked.calls[rank] if one.group.kind == "world"]
        before = self.blocked.before[rank, "world"]
        return own[-1].seq if own else before, max([before, *(one.seq for one in own if one.completed)])

    def _notify(self, first: float, by: int, fires: dict[int, list[tuple[float, Call]]]) -> None:
        """Ranks that have not timed out themselves see the signal in the store and dump as well."""
        world = self.job.group("world", 0)
        for rank in range(self.job.scenario.ranks):
            at = first + self.rng.uniform(0.1, 1.2)
            own = fires.get(rank)
            if not self._alive(rank, at) or rank in self.dumping or (own and own[0][0] < at):
                continue
            status = self.world_status(rank)
            others = (self.world_status(other)[0] for other in (0, 1, self.job.scenario.ranks - 1) if other != rank)
            lags = rank == self.culprit and status[0] < min(others)
            self.say(
                rank, at, self.torch.notified(rank, world, self.mine(at, rank), status, by), ("lag",) if lags else None
            )
            self.dumping.append(rank)

    # Networks.

    def _adapter_down(self) -> None:
        job, culprit = self.job, self.culprit
        adapter = f"mlx5_{job.local(culprit)}"
        if job.scenario.event:
            self.say(
                culprit,
                self.begin,
                self.nccl.port_error(culprit, self.mine(self.begin, culprit), adapter),
                ("event",),
                nccl=True,
            )
        for peer in self.neighbours(culprit):
            for speaker, other in ((culprit, peer), (peer, culprit)):
                at = self.begin + self.rng.uniform(8, 15)
                lines, text = self.nccl.completion(
                    speaker, self.mine(at, speaker), self.address(other), f"mlx5_{job.local(speaker)}"
                )
                mark = ("self", job.host(peer)) if speaker == culprit else ("peer", job.host(peer))
                self.say(speaker, at, lines, mark, nccl=True)
                if speaker not in self.natural:
                    self._fails(speaker, at + self.rng.uniform(0.1, 1.0), text)

    def _host_vanishes(self) -> None:
        job = self.job
        host = job.host(self.culprit)
        for rank in job.on_host(host):
            self.silent.add(rank)
            self.ends[rank] = (self.begin, 0)
        for rank in job.on_host(host):
            for peer in self.neighbours(rank):
                self.peer_gone(peer, rank, self.begin + self.rng.uniform(0.2, 2.0), ("gone",))

    def peer_gone(self, speaker: int, other: int, at: float, mark: object = None) -> None:
        """Let a rank find that the socket to another one is closed, and fail by it."""
        if speaker in self.natural or speaker in self.silent:
            return
        lines, text = self.nccl.peer_gone(speaker, self.mine(at, speaker), self.address(other))
        self.say(speaker, at, lines, mark, nccl=True)
        self._fails(speaker, at + self.rng.uniform(0.1, 1.0), text, mark)

    def transfer_fails(self, speaker: int, other: int, at: float) -> None:
        """Let a rank's transfer to a rank that has ended fail."""
        if speaker in self.natural or speaker in self.silent:
            return
        lines, text = self.nccl.completion(
            speaker, self.mine(at, speaker), self.address(other), f"mlx5_{self.job.local(speaker)}"
        )
        self.say(speaker, at, lines, None, nccl=True)
        self._fails(speaker, at + self.rng.uniform(0.1, 1.0), text)

    def _fails(self, rank: int, at: float, text: str, mark: object = None) -> None:
        call = self.waiting_call(rank)
        if call is None:
            return
        self.natural[rank] = (at + self.rng.uniform(0.5, 2.0), -6)
        self.say(
            rank,
            at,
            list(
                self.torch.async_error(
                    rank, call, self.mine(at, rank), self.job.scenario.timeout_s, self.job.scenario.nccl, text
                )
            ),
            mark,
        )

    # Ends.

    def _settle(self) -> None:
        """Let launchers end the ranks that outlive another one: of the same host, or, with srun, of the job."""
        by = self.folder.launched_by
        if by == "ray":
            self.ends.update({rank: end for rank, end in self.natural.items() if rank not in self.ends})
            return
        spread = self.rng.uniform(0.5, 3.0) if by == "srun" else self.rng.uniform(0.1, 1.0)
        first: dict[int, float] = {}
        for rank, (at, _) in self.natural.items():
            key = 0 if by == "srun" else self.job.host(rank)
            first[key] = min(first.get(key, at), at)
        for rank in range(self.job.scenario.ranks):
            key = 0 if by == "srun" else self.job.host(rank)
            kill = first.get(key, float("inf")) + spread
            natural = self.natural.get(rank, (float("inf"), -15))
            end = natural if natural[0] <= kill else (kill + self.rng.uniform(0, 0.1), -15)
            if rank not in self.ends and end[0] != float("inf"):
                self.ends[rank] = end

    def settle(self) -> None:
        """Work out the ends of all ranks."""
        self._settle()

    def _write(self) -> None:
        heapq.heapify(self.said)
        while self.said:
            at, _, who, number, text, mark, nccl = heapq.heappop(self.said)
            if who == "rank":
                if self._gone_before(number, at):
                    continue
                self.folder.rank(number, text, mark, nccl)
            elif who == "launcher":
                self.folder.launcher(number, text, mark)
            else:
                self.folder.kernel(number, text, mark)
        for rank, message in self.error_files.items():
            if self.folder.layout == "torchelastic":
                self.folder.write(f"{self.folder.elastic_folder(rank)}/error.json", message, ("traceback",))
        if self.recorder is not None:
            for rank in self.dumping:
                path = self.folder.dump_path(rank)
                self.recorder.write(rank, path)
                self.folder.marks[str(path.relative_to(self.folder.root))].add(("dump", rank))

    def _gone_before(self, rank: int, at: float) -> bool:
        end = self.ends.get(rank)
        return end is not None and at > end[0] + 0.001

    def by_host(self) -> dict[int, list[tuple[float, int, int]]]:
        """The ends of each host's ranks in order of time: (when, rank, exit code)."""
        hosts: dict[int, list[tuple[float, int, int]]] = defaultdict(list)
        for rank, (at, code) in self.ends.items():
            if rank not in self.silent:
                hosts[self.job.host(rank)].append((at, rank, code))
        return {host: sorted(ends) for host, ends in hosts.items()}


def error_json(message: str, at: float) -> str:
    """torchelastic's error file."""
    return json.dumps(
        {
            "message": {
                "message": message,
                "extraInfo": {
                    "py_callstack": f'Traceback (most recent call last):\n  File "/workspace/train/train.py", line 77, in main\n{message}\n',
                    "timestamp": str(int(at)),
                },
            }
        }
    )
