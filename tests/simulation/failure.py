"""Failure: what ranks, launchers and kernels say once the fault has happened, in the order of time."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable

from tests.simulation import mismatch
from tests.simulation.death import die
from tests.simulation.job import Call, open_calls, run_to_the_end
from tests.simulation.launchers import Launchers
from tests.simulation.recorder import Recorder
from tests.simulation.scenario import DEATHS
from tests.simulation.scene import Scene
from tests.simulation.torch_words import Status, desync_report, local_time, op_frames

_HINTS = (
    "loading shard data-00012.parquet",
    "saving checkpoint to /mnt/nfs/ckpt/step_12",
    "running evaluation on 4,096 samples",
    "rebuilding index cache",
)
_NEVER = float("inf")

Fires = dict[int, list[tuple[float, Call]]]


class Failure:
    """Everything after the last good step.

    `natural`: when a rank would end by itself, and with which code. `ends`: when it really does. `silent`: ranks whose
    host is gone. `dumping`: ranks that write what they recorded.
    """

    def __init__(self, scene: Scene, at: float) -> None:
        self.scene, self.job, self.rng = scene, scene.job, scene.rng
        self.culprit, self.torch = scene.culprit, scene.torch
        self.blocked, self.words = run_to_the_end(scene.job, scene.culprit, at, scene.rng)
        self.recorder = Recorder(scene.job, self.blocked, at) if scene.scenario.dumps != "none" else None
        self.begin = self.blocked.halted + self.rng.uniform(0.05, 0.5)
        self.natural: dict[int, tuple[float, int]] = {}
        self.ends: dict[int, tuple[float, int]] = {}
        self.silent: set[int] = set()
        self.dumping: list[int] = []
        self.error_files: dict[int, str] = {}
        self._hung: set[int] = set()
        self._said: list[tuple[float, int, str, int, str, object, bool]] = []

    def write(self) -> None:
        """Work out who says and does what, then write it."""
        scenario = self.scene.scenario
        if scenario.hint and scenario.fault in {"late", "late_subgroup"}:
            self._hint()
        if scenario.fault in DEATHS:
            die(self)
        elif scenario.fault == "ib_down":
            self._adapter_down()
        elif scenario.fault == "peer_vanishes":
            self._host_vanishes()
        if self.blocked.differs and scenario.detail:
            mismatch.detect(self)
        else:
            self._time_out()
        Launchers(self).write()
        self._write()

    def say(self, rank: int, at: float, lines: str | Iterable[str], mark: object = None, nccl: bool = False) -> None:
        """Let a rank print lines, unless it has vanished."""
        if rank in self.silent or (nccl and self.scene.scenario.nccl_debug == "NONE"):
            return
        for line in [lines] if isinstance(lines, str) else lines:
            self._said.append((at, len(self._said), "rank", rank, line, mark, nccl))

    def launch(self, host: int, at: float, line: str, mark: object = None) -> None:
        """Let a host's launcher print a line."""
        self._said.append((at, len(self._said), "launcher", host, line, mark, False))

    def kernel(self, host: int, at: float, line: str, mark: object = None) -> None:
        """Let a host's kernel print a line."""
        when = local_time(self.scene.shown(at, host))
        stamp = f"{when:%b} {when.day:2d} {when:%H:%M:%S} {self.job.host_names[host]} kernel: "
        self._said.append((at, len(self._said), "kernel", host, stamp + line, mark, False))

    def neighbours(self, rank: int) -> list[int]:
        """The ranks of other hosts that a rank's adapter speaks with: those of its rail before and after it."""
        gpus, ranks = self.job.scenario.gpus, self.job.scenario.ranks
        around = {(rank + gpus) % ranks, (rank - gpus) % ranks}
        return sorted(one for one in around if self.job.host(one) != self.job.host(rank))

    def _hint(self) -> None:
        text = self.rng.choice(_HINTS)
        when = local_time(self.scene.speaker(self.culprit, self.blocked.halted).at)
        head = f"[rank {self.culprit}]"
        if self.scene.scenario.style == "logging":
            stamp = f"{when:%Y-%m-%d %H:%M:%S},{when.microsecond // 1000:03d}"
            head = f"{stamp} | rank{self.culprit} | INFO | trainer:49 -"
        self.say(self.culprit, self.blocked.halted, f"{head} {text}")

    # Watchdogs.

    def _time_out(self) -> None:
        """Each rank's watchdogs fire one time-out after they enqueued the call that never came back."""
        limit = self.job.scenario.timeout_s
        fires: Fires = {}
        for rank, calls in enumerate(self.blocked.calls):
            if rank in self.silent or self.natural.get(rank, (_NEVER, 0))[0] < self.begin + limit / 2:
                continue
            mine = [(call.enqueued + limit + self.rng.uniform(0.0, 0.1), call) for call in open_calls(calls)]
            if mine:
                fires[rank] = sorted(mine, key=lambda fire: fire[0])
                self.natural.setdefault(rank, (fires[rank][0][0] + self._wait(rank), -6))
        self.settle()
        alive = [(mine[0][0], rank) for rank, mine in fires.items() if self._alive(rank, mine[0][0])]
        for rank, mine in fires.items():
            self._fire(rank, mine)
        if alive and self.torch.dumps:
            self._notify(*min(alive), fires)

    def _wait(self, rank: int) -> float:
        """How long a rank lives after its time-out: it dumps first, and now and then hangs in aborting."""
        if self.torch.release >= (2, 3) and self.rng.random() < 0.1:
            self._hung.add(rank)
            return 480 + self.rng.uniform(0, 30)
        return self.rng.uniform(4, 20) if self.torch.dumps else self.rng.uniform(0.05, 0.6)

    def _alive(self, rank: int, at: float) -> bool:
        return rank not in self.silent and self.ends.get(rank, (_NEVER, 0))[0] > at

    def _fire(self, rank: int, mine: list[tuple[float, Call]]) -> None:
        said = False
        for at, call in mine:
            if not self._alive(rank, at):
                break
            known = self.scene.tells_rank(self.torch.names_ranks or call.group.kind == "world")
            words = self.torch.timeout(
                self.scene.speaker(rank, at), call, self.status(rank, call), self._frames(call), self._desync(call)
            )
            self.say(rank, at, words, ("voice", rank, call.group.name) if known else ("anonymous",))
            if not said and self.torch.dumps:
                self._signals(rank, at)
            said = True
        end, code = self.ends.get(rank, (0.0, 0))
        if not said or code != -6:
            return
        who = self.scene.speaker(rank, end)
        if rank in self._hung:
            self.say(rank, end, self.torch.stuck(who, self.job.group("world", 0)))
        else:
            self.say(rank, end, self.torch.abort(who, mine[0][1].group, self.torch.dumps))

    def _frames(self, call: Call) -> list[str]:
        if not self.job.scenario.frames or self.recorder is None:
            return []
        return [f"#{n} {name} from {file}:{line}" for n, (name, file, line) in enumerate(op_frames(call.op))]

    def _desync(self, call: Call) -> str:
        """PyTorch's own report, where it is asked for and the call is the one that the culprit did not join."""
        if not self.job.scenario.desync or self.blocked.differs:
            return ""
        if self.blocked.contested is None or self.blocked.contested != (call.group, call.seq):
            return ""
        return desync_report(call.group, self.culprit, call.seq, call.op)

    def _signals(self, rank: int, at: float) -> None:
        """A rank's own monitor dumps after its watchdog has fired."""
        later = at + self.rng.uniform(0.05, 1.0)
        if not self._alive(rank, later):
            return
        self.dumping.append(rank)
        who = self.scene.speaker(rank, later)
        self.say(
            rank, later, self.torch.signal(who, self.job.group("world", 0), self._world(rank), None), self._lag(rank)
        )

    def status(self, rank: int, call: Call) -> Status:
        """How far a rank came in a call's group."""
        own = [one for one in self.blocked.calls[rank] if one.group is call.group and not one.op.peer]
        before = self.blocked.before.get((rank, call.group.kind), 0)
        return Status(own[-1].seq if own else before, max([before, *(one.seq for one in own if one.completed)]))

    def _world(self, rank: int) -> Status:
        own = [one for one in self.blocked.calls[rank] if one.group.kind == "world"]
        before = self.blocked.before[rank, "world"]
        return Status(own[-1].seq if own else before, max([before, *(one.seq for one in own if one.completed)]))

    def _lag(self, rank: int) -> object:
        """The mark of a line by which the culprit is seen to be behind in the world."""
        others = [one for one in (0, 1, self.job.scenario.ranks - 1) if one != rank]
        behind = rank == self.culprit and self._world(rank).enqueued < min(self._world(one).enqueued for one in others)
        return ("lag",) if behind else None

    def _notify(self, first: float, by: int, fires: Fires) -> None:
        """Ranks that have not timed out themselves see the signal in the store and dump as well."""
        world = self.job.group("world", 0)
        done = set(self.dumping)
        for rank in range(self.job.scenario.ranks):
            at = first + self.rng.uniform(0.1, 1.2)
            own = fires.get(rank)
            if not self._alive(rank, at) or rank in done or (own and own[0][0] < at):
                continue
            self.say(
                rank, at, self.torch.signal(self.scene.speaker(rank, at), world, self._world(rank), by), self._lag(rank)
            )
            self.dumping.append(rank)

    # Networks.

    def _adapter_down(self) -> None:
        job, culprit, nccl = self.job, self.culprit, self.scene.nccl
        if job.scenario.event:
            who = self.scene.speaker(culprit, self.begin)
            self.say(culprit, self.begin, nccl.port_error(who, f"mlx5_{job.local(culprit)}"), ("event",), nccl=True)
        for peer in self.neighbours(culprit):
            self.transfer_fails(culprit, peer, self.begin + self.rng.uniform(8, 15), ("self", job.host(peer)))
            self.transfer_fails(peer, culprit, self.begin + self.rng.uniform(8, 15), ("peer", job.host(peer)))

    def _host_vanishes(self) -> None:
        job = self.job
        gone = list(job.on_host(job.host(self.culprit)))
        self.silent.update(gone)
        self.ends.update(dict.fromkeys(gone, (self.begin, 0)))
        for rank in gone:
            for peer in self.neighbours(rank):
                self.peer_gone(peer, rank, self.begin + self.rng.uniform(0.2, 2.0), ("gone",))

    def peer_gone(self, rank: int, other: int, at: float, mark: object = None) -> None:
        """Let a rank find that the socket to another one is closed, and fail by it."""
        if rank in self.natural or rank in self.silent:
            return
        lines, text = self.scene.nccl.peer_gone(self.scene.speaker(rank, at), self._address(other))
        self.say(rank, at, lines, mark, nccl=True)
        self._fails(rank, at, text, mark)

    def transfer_fails(self, rank: int, other: int, at: float, mark: object = None) -> None:
        """Let a rank's transfer to or from another one fail; only its first failure ends it."""
        if rank in self.silent:
            return
        lines, text = self.scene.nccl.completion(self.scene.speaker(rank, at), self._address(other))
        self.say(rank, at, lines, mark, nccl=True)
        if rank not in self.natural:
            self._fails(rank, at, text, mark)

    def _fails(self, rank: int, at: float, text: str, mark: object) -> None:
        call = next((call for call in self.blocked.calls[rank] if call.completed is None), None)
        if call is None:
            return
        seen = at + self.rng.uniform(0.1, 1.0)
        self.natural[rank] = (seen + self.rng.uniform(0.5, 2.0), -6)
        self.say(rank, seen, self.torch.async_error(self.scene.speaker(rank, seen), call, text), mark)

    def _address(self, rank: int) -> str:
        return f"{self.job.addresses[self.job.host(rank)]}<{self.rng.randint(32_768, 60_999)}>"

    # Ends.

    def settle(self) -> None:
        """Let launchers end the ranks that outlive another one: of the same host, or, with srun, of the job."""
        by = self.scene.folder.launched_by
        if by == "ray":
            self.ends.update({rank: end for rank, end in self.natural.items() if rank not in self.silent})
            return
        spread = self.rng.uniform(0.5, 3.0) if by == "srun" else self.rng.uniform(0.1, 1.0)
        first: dict[int, float] = defaultdict(lambda: _NEVER)
        for rank, (at, _) in self.natural.items():
            together = 0 if by == "srun" else self.job.host(rank)
            first[together] = min(first[together], at)
        for rank in range(self.job.scenario.ranks):
            kill = first[0 if by == "srun" else self.job.host(rank)] + spread
            natural = self.natural.get(rank, (_NEVER, -15))
            end = natural if natural[0] <= kill else (kill + self.rng.uniform(0, 0.1), -15)
            if end[0] != _NEVER and rank not in self.silent:
                self.ends[rank] = end

    def by_host(self) -> dict[int, list[tuple[float, int, int]]]:
        """The ends of each host's ranks in order of time: (when, rank, exit code)."""
        hosts: dict[int, list[tuple[float, int, int]]] = defaultdict(list)
        for rank, (at, code) in self.ends.items():
            if rank not in self.silent:
                hosts[self.job.host(rank)].append((at, rank, code))
        return {host: sorted(ends) for host, ends in hosts.items()}

    # Files.

    def _write(self) -> None:
        folder = self.scene.folder
        heapq.heapify(self._said)
        while self._said:
            at, _, who, number, text, mark, nccl = heapq.heappop(self._said)
            folder.now = at
            if who == "launcher":
                folder.launcher(number, text, mark)
            elif who == "kernel":
                folder.kernel(number, text, mark)
            elif at <= self.ends.get(number, (_NEVER, 0))[0] + 0.001:
                folder.rank(number, text, mark, nccl)
        for rank, message in self.error_files.items():
            if folder.layout == "torchelastic":
                folder.append(f"{folder.elastic_folder(rank)}/error.json", message, ("traceback",))
        if self.recorder is None:
            return
        for rank in self.dumping:
            path = folder.dump_path(rank)
            self.recorder.write(rank, path)
            folder.marks[str(path.relative_to(folder.root))].add(("dump", rank))
