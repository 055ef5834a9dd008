"""The job's model: its groups, each rank's calls in a step, and who blocks where once a rank goes wrong.

Calls pair up as NCCL pairs them: the n-th call of a rank in a group with the n-th call of each other member. A call
completes once all members' devices have come to it with the same operation, size and type. A device runs its calls in
the order of the program; the program enqueues ahead of the device until it must read a result.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from tests.simulation.scenario import DEATHS, HANGS, Scenario

SETUP_CALLS = 3  # of the world: shapes verified, parameters broadcast


@dataclass(frozen=True, slots=True)
class Group:
    """A process group: `name` as PyTorch numbers groups over the job, `local` as a process numbers its own."""

    kind: str
    name: str
    desc: str
    local: int
    ranks: tuple[int, ...]
    comm: int


@dataclass(frozen=True, slots=True)
class Op:
    """A call of a program. `sync`: the program reads the result before it goes on. `peer`: 1 or -1 stages away."""

    kind: str
    name: str
    numel: int
    dtype: str = "Float"
    sync: bool = False
    peer: int = 0

    @property
    def signature(self) -> tuple[str, int, str]:
        """What must be the same at all members."""
        return ("p2p" if self.peer else self.name, self.numel, self.dtype)


@dataclass(slots=True)
class Call:
    """An issued call: `seq` counts within its group from 1 (point-to-point calls by a count of their own)."""

    op: Op
    group: Group
    seq: int
    enqueued: float
    arrived: float | None = None
    completed: float | None = None


@dataclass(slots=True)
class Blocked:
    """Where all ranks stood when nothing moved any more.

    `calls`: each rank's calls of the fault's step and the next. `contested`: the call that the fault broke.
    `differs`: its members disagree about it (else one never came). `halted`: when the culprit stopped.
    """

    calls: list[list[Call]]
    before: dict[tuple[int, str], int]
    contested: tuple[Group, int] | None = None
    differs: bool = False
    halted: float = 0.0


class Job:
    """The ranks of a scenario with their hosts, groups and programs."""

    def __init__(self, scenario: Scenario, rng: random.Random) -> None:
        self.scenario = scenario
        self.tensor, self.pipeline = scenario.tensor, scenario.pipeline
        self.data = scenario.ranks // (self.tensor * self.pipeline)
        stem, width = rng.choice((("node", 3), ("gpu-", 2), ("a3-h", 0), ("n", 4)))
        first = rng.randint(1, 40)
        self.host_names = [f"{stem}{first + host:0{width}d}" for host in range(scenario.hosts)]
        net = rng.randint(1, 200)
        self.addresses = [f"10.{net}.{host // 250}.{host % 250 + 2}" for host in range(scenario.hosts)]
        self.skews = [rng.uniform(-scenario.skew_s, scenario.skew_s) for _ in range(scenario.hosts)]
        base = rng.randint(2_000, 400_000)
        self.pids = [
            base + self.host(rank) * 977 + self.local(rank) * 3 + rng.randint(0, 2) for rank in range(scenario.ranks)
        ]
        self.bus = [0x10000 * (0x1B + 0x20 * local % 0xE0) >> 16 for local in range(8)]
        self._groups: dict[tuple[str, int], Group] = {}
        self._comm = rng.getrandbits(60)

    def host(self, rank: int) -> int:
        """The index of a rank's host."""
        return rank // self.scenario.gpus

    def local(self, rank: int) -> int:
        """The rank's number on its host."""
        return rank % self.scenario.gpus

    def on_host(self, host: int) -> range:
        """The ranks of a host."""
        return range(host * self.scenario.gpus, min((host + 1) * self.scenario.gpus, self.scenario.ranks))

    def place(self, rank: int) -> tuple[int, int, int]:
        """(pipeline stage, data index, tensor index) of a rank."""
        return rank // (self.data * self.tensor), rank // self.tensor % self.data, rank % self.tensor

    def group(self, kind: str, rank: int) -> Group:
        """The group of a kind that a rank is in; data parallelism over all ranks uses the world."""
        stage, data, tensor = self.place(rank)
        if kind == "dp" and self.tensor == self.pipeline == 1:
            kind = "world"
        index = {
            "world": 0,
            "tp": stage * self.data + data,
            "dp": stage * self.tensor + tensor,
            "pp": data * self.tensor + tensor,
        }[kind]
        found = self._groups.get((kind, index))
        if found is None:
            found = self._groups[kind, index] = self._make(kind, index)
        return found

    def _make(self, kind: str, index: int) -> Group:
        size, tensor, data = self.scenario.ranks, self.tensor, self.data
        tensor_groups, data_groups = size // tensor, self.pipeline * tensor
        if kind == "world":
            return Group(kind, "0", "default_pg", 0, tuple(range(size)), self._comm)
        if kind == "tp":
            ranks, name, local = range(index * tensor, (index + 1) * tensor), 1 + index, 1
        elif kind == "dp":
            stage, column = divmod(index, tensor)
            start = stage * data * tensor + column
            ranks, name, local = range(start, start + data * tensor, tensor), 1 + tensor_groups + index, 2
        else:
            ranks, name, local = range(index, size, data * tensor), 1 + tensor_groups + data_groups + index, 3
        desc = {
            "megatron": {
                "tp": "TENSOR_MODEL_PARALLEL_GROUP",
                "dp": "DATA_PARALLEL_GROUP",
                "pp": "PIPELINE_MODEL_PARALLEL_GROUP",
            }
        }.get(self.scenario.style, {"tp": "mesh_tp", "dp": "mesh_dp"}).get(kind)
        return Group(
            kind,
            str(name),
            desc or "undefined",
            local,
            tuple(ranks),
            self._comm ^ (name * 0x9E3779B97F4A7C15) & (2**60 - 1),
        )

    def kinds(self) -> tuple[str, ...]:
        """The kinds of groups that each rank has."""
        return (
            "world",
            *(("tp",) if self.tensor > 1 else ()),
            *(("dp",) if self.tensor * self.pipeline > 1 and self.data > 1 else ()),
            *(("pp",) if self.pipeline > 1 else ()),
        )

    def program(self, rank: int) -> list[Op]:
        """A rank's calls in one step."""
        stage = self.place(rank)[0]
        hidden = 1 << 22
        layers = [Op("tp", "all_reduce", hidden, "BFloat16") for _ in range(4)] if self.tensor > 1 else []
        send, recv = (Op("pp", name, hidden, "BFloat16", sync=True) for name in ("send", "recv"))
        program = [replace(recv, peer=-1)] if stage > 0 else []
        program += layers
        if stage + 1 < self.pipeline:
            program += [replace(send, peer=1), replace(recv, peer=1)]
        program += layers
        program += [replace(send, peer=-1)] if stage > 0 else []
        if self.data > 1:
            name = "_reduce_scatter_base" if self.tensor > 1 else "all_reduce"
            program += [Op("dp", name, numel) for numel in (25_557_032, 13_107_200, 4_194_304)]
        return [*program, Op("world", "all_reduce", 1, sync=True)]

    def counts(self, rank: int) -> dict[str, int]:
        """How many calls of each kind of group a step has (those of the pipeline are numbered apart)."""
        counted: dict[str, int] = defaultdict(int)
        for op in self.program(rank):
            counted[self.group(op.kind, rank).kind] += 1
        return counted


def break_program(job: Job, culprit: int, rng: random.Random) -> tuple[list[Op], int | None, str]:
    """Return the culprit's program of the fault's step, the call before which it stops (None: never), and in words."""
    fault, program = job.scenario.fault, job.program(culprit)
    wanted = "tp" if fault in {"late_subgroup", "swap"} else None
    own = [at for at, op in enumerate(program) if not op.peer and (op.kind == wanted if wanted else True)]
    at = rng.choice(own)
    op = program[at]
    if fault in {"late", "late_subgroup"} or fault in DEATHS or fault not in HANGS:
        if fault == "late":
            at = rng.choice([n for n in own if job.group(program[n].kind, culprit).kind == "world"])
        return program, at, f"stops before {program[at].name} of {program[at].kind}"
    if fault == "skip":
        del program[at]
    elif fault == "extra":
        program.insert(at, Op(op.kind, "broadcast" if rng.random() < 0.5 else "all_reduce", 7))
    elif fault == "other_op":
        program[at] = replace(op, name="broadcast" if op.name != "broadcast" else "all_reduce")
    elif fault == "other_shape":
        program[at] = replace(op, numel=op.numel + rng.choice((1, 96, 4096)))
    elif fault == "other_dtype":
        program[at] = replace(op, dtype="Half" if op.dtype != "Half" else "Float")
    elif fault == "swap":
        last = max(n for n, one in enumerate(program) if one.kind == "tp")
        program.append(program.pop(last))
        return program, None, "issues all_reduce of the world before all_reduce of tp"
    return program, None, f"{fault} at {op.name} of {op.kind}"


@dataclass(slots=True)
class _Meeting:
    """The arrivals at one call."""

    members: int
    came: list[tuple[int, Call]] = field(default_factory=list)
    agree: bool = True


class _Course:
    """Runs all ranks through two steps until nothing moves."""

    def __init__(self, job: Job, culprit: int, rng: random.Random) -> None:
        self.job, self.culprit, self.rng = job, culprit, rng
        program, stop, self.words = break_program(job, culprit, rng)
        self.stops = {} if stop is None or job.scenario.fault == "ib_down" else {culprit: stop}
        if job.scenario.fault == "peer_vanishes":
            self.stops = dict.fromkeys(job.on_host(job.host(culprit)), 0)
        self.severed = job.scenario.fault == "ib_down"
        size = job.scenario.ranks
        plain = {stage: job.program(stage * job.data * job.tensor) for stage in range(job.pipeline)}
        self.programs = [plain[job.place(rank)[0]] * 2 for rank in range(size)]
        self.programs[culprit] = program + plain[job.place(culprit)[0]]
        self.clock = [0.0] * size
        self.calls: list[list[Call]] = [[] for _ in range(size)]
        self.device = [0] * size
        self.ready = [0.0] * size
        done = job.scenario.fault_step - 1
        self.before: dict[tuple[int, str], int] = {}
        for rank in range(size):
            for kind, count in job.counts(rank).items():
                self.before[rank, kind] = count * done + (SETUP_CALLS if kind == "world" else 0)
        self.seqs = dict(self.before)
        self.pairs: dict[tuple[int, int, int], int] = defaultdict(int)
        self.meetings: dict[object, _Meeting] = {}

    def run(self, start: float) -> Blocked:
        """Return where all stand in the end."""
        self.clock = [start + self.rng.uniform(0, 0.2) for _ in self.clock]
        work = list(range(len(self.calls)))
        while work:
            work += self._advance(work.pop())
        blocked = Blocked(self.calls, self.before, halted=self.clock[self.culprit])
        self._contested(blocked)
        return blocked

    def _advance(self, rank: int) -> list[int]:
        self._enqueue(rank)
        at, calls = self.device[rank], self.calls[rank]
        if at >= len(calls) or calls[at].arrived is not None:
            return []
        call = calls[at]
        call.arrived = max(call.enqueued, self.ready[rank]) + self.rng.uniform(0.001, 0.02)
        key, members = self._key(rank, call)
        meeting = self.meetings.setdefault(key, _Meeting(members))
        meeting.agree &= not meeting.came or meeting.came[0][1].op.signature == call.op.signature
        meeting.came.append((rank, call))
        if len(meeting.came) < members or not meeting.agree or self._severed(meeting):
            return []
        end = max(one.arrived or 0.0 for _, one in meeting.came) + 0.004
        for member, one in meeting.came:
            one.completed = end
            self.device[member] += 1
            self.ready[member] = end
        del self.meetings[key]
        return [member for member, _ in meeting.came]

    def _severed(self, meeting: _Meeting) -> bool:
        """Whether the culprit's broken adapter keeps a call from completing."""
        if not self.severed or all(rank != self.culprit for rank, _ in meeting.came):
            return False
        return len({self.job.host(rank) for rank, _ in meeting.came}) > 1

    def _enqueue(self, rank: int) -> None:
        program, calls = self.programs[rank], self.calls[rank]
        while len(calls) < len(program):
            if len(calls) == self.stops.get(rank):
                return
            if calls and calls[-1].op.sync:
                if calls[-1].completed is None:
                    return
                self.clock[rank] = max(self.clock[rank], calls[-1].completed)
            self.clock[rank] += self.rng.uniform(0.001, 0.01)
            op = program[len(calls)]
            group = self.job.group(op.kind, rank)
            self.seqs[rank, group.kind] += 1
            calls.append(Call(op, group, self.seqs[rank, group.kind], self.clock[rank]))

    def _key(self, rank: int, call: Call) -> tuple[object, int]:
        if not call.op.peer:
            return (call.group.name, call.seq), len(call.group.ranks)
        other = rank + call.op.peer * self.job.data * self.job.tensor
        source, target = (rank, other) if call.op.name == "send" else (other, rank)
        self.pairs[rank, source, target] += 1
        return (source, target, self.pairs[rank, source, target]), 2

    def _contested(self, blocked: Blocked) -> None:
        """Find the call that the fault broke: one that is met with different calls, or that lacks the culprit alone."""
        broken: list[tuple[bool, float, Group, int]] = []
        for meeting in self.meetings.values():
            call = meeting.came[0][1]
            missing = set(call.group.ranks) - {rank for rank, _ in meeting.came}
            if not meeting.agree or (missing == {self.culprit} and not call.op.peer):
                broken.append((meeting.agree, call.arrived or 0.0, call.group, call.seq))
        if broken:
            agree, _, group, seq = min(broken, key=lambda one: one[:2])
            blocked.contested, blocked.differs = (group, seq), not agree


def run_to_the_end(job: Job, culprit: int, start: float, rng: random.Random) -> tuple[Blocked, str]:
    """Return where all ranks stand after the fault, and the fault in words."""
    course = _Course(job, culprit, rng)
    return course.run(start), course.words


def open_calls(calls: list[Call]) -> Iterator[Call]:
    """The first call of each group that is not complete, as each group's watchdog sees it."""
    seen: set[str] = set()
    for call in calls:
        if call.completed is None and call.group.name not in seen:
            seen.add(call.group.name)
            yield call
