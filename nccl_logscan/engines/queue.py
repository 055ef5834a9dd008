"""Shards as tasks of a cluster: submitted ahead of who needs them, tried again elsewhere, never waited for without end.

Results are taken in the order in which the shards were planned; they wait where they were made until then.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

from nccl_logscan.engines import worker
from nccl_logscan.engines.cluster import Cluster, Node
from nccl_logscan.engines.shards import Failed, File, Shard, Telling, Work
from nccl_logscan.engines.worker import Worker
from nccl_logscan.errors import InputError
from nccl_logscan.records import dataclass, field

PATIENCE = 120.0
"""Seconds after which a task that nothing is heard of is taken for lost."""
_TASK_BYTES = 1 << 25
_TASK_FILES = 128
_TRIES_OF_RAY = 1
_RUNNING_ON_A_NODE = 2
_AHEAD = 32
"""Tasks of one node, or of a slot of this machine's, whose results wait to be taken."""
_SAID = 300
_PAUSE = 1.0

_Told: TypeAlias = list[Telling] | bytes
_Answer: TypeAlias = _Told | Failed


class LostError(OSError):
    """A part of a file that nobody could read; the text is a clause that says why."""


@dataclass(slots=True)
class _Task:
    """Shards that are read together, by one of `nodes` (none: by any, or by this process)."""

    number: int
    nodes: tuple[Node, ...]
    shards: list[Shard] = field(default_factory=list)
    size: int = 0
    ref: Any = None
    is_begun: bool = False
    is_done: bool = False

    def has_room(self, size: int) -> bool:
        """Whether a shard of so many bytes may go with the others."""
        return not self.shards or (self.size + size <= _TASK_BYTES and len(self.shards) < _TASK_FILES)


class _Lane(NamedTuple):
    """The tasks of one node, or of any: those that wait and those that were submitted and not taken."""

    waiting: deque[_Task]
    begun: dict[int, _Task]
    running: int
    ahead: int


class _Asked(NamedTuple):
    """What Ray was asked and with what outcome: answers, or why there is none; `again`: the same may yet work."""

    answers: Sequence[_Answer]
    reason: str | None
    again: bool = False


class Queue:
    """The tasks of one scan. `patience`: see `PATIENCE`; `close` before the cluster is left."""

    def __init__(self, cluster: Cluster, work: Work, patience: float = PATIENCE) -> None:
        self._cluster = cluster
        self._ray = cluster.ray
        self._work = work
        self._patience = patience
        self._sent = self._ray.put(tuple(work))
        self._here: Worker | None = None
        self._lanes: dict[str, _Lane] = {}
        self._task_of: dict[tuple[str, int], _Task] = {}
        self._got: dict[tuple[str, int], _Answer] = {}
        self.lost: dict[Node, str] = {}
        """Nodes that are read no more, and why."""
        options = {"num_cpus": 1 if cluster.is_own else 0, "max_retries": _TRIES_OF_RAY}
        self._read = self._ray.remote(**options)(worker.read_shards)
        self._list = self._ray.remote(**options)(worker.list_files)

    def must_understand(self) -> None:
        """Raise InputError where the cluster's workers are not this program."""
        ref = self._submit(self._ray.remote(num_cpus=0)(worker.greet), None)
        problem, reason, _ = self._outcome(ref, None)
        if problem or reason:
            raise InputError(
                f"the workers of the Ray cluster cannot read logs: {problem or reason}",
                hint=f"install nccl-logscan {self._work.version} for the Python that runs Ray on every node",
            )

    def plan(self, shards: Iterable[tuple[Shard, tuple[Node, ...]]]) -> None:
        """Submit shards, now or soon; each with the nodes that have its file, the first to be asked first."""
        tasks: list[_Task] = []
        for shard, nodes in shards:
            size = _size(shard)
            if not tasks or tasks[-1].nodes != nodes or not tasks[-1].has_room(size):
                tasks.append(_Task(len(tasks), nodes))
            tasks[-1].shards.append(shard)
            tasks[-1].size += size
            self._task_of[shard.file.name, shard.first] = tasks[-1]
        for task in tasks:
            self._lane(task.nodes).waiting.append(task)
        self._fill()

    def _lane(self, nodes: tuple[Node, ...]) -> _Lane:
        name = nodes[0].id if nodes else ""
        if name not in self._lanes:
            slots = self._cluster.slots
            running = min(slots, _RUNNING_ON_A_NODE) if nodes else slots
            self._lanes[name] = _Lane(deque(), {}, running, _AHEAD if nodes else max(4, 2 * slots))
        return self._lanes[name]

    def listed(self, nodes: Sequence[Node], pattern: str) -> Iterator[tuple[Node, tuple[str, Any]]]:
        """Yield what each node says of a path, or ("lost", why) of one that says nothing."""
        asked = [(node, self._submit(self._list, node, pattern)) for node in nodes]
        for node, ref in asked:
            told, reason, again = self._outcome(ref, node)
            if again:
                told, reason, _ = self._outcome(self._submit(self._list, node, pattern), node)
            if reason is not None:
                self.lost.setdefault(node, reason)
            yield node, ("lost", reason) if reason is not None else told

    def take(self, file: File, first: int) -> _Told:
        """Return what was told of a planned shard, once. Raises `LostError`."""
        key = file.name, first
        if key not in self._got:
            task = self._task_of[key]
            self._drop_before(task)
            lane = self._lane(task.nodes)
            while not task.is_begun:
                self._begin(lane, lane.waiting.popleft())
            self._await(task)
            lane.begun.pop(task.number, None)
            for shard, answer in zip(task.shards, self._answers(task.shards, task.nodes, task.ref), strict=True):
                self._got[shard.file.name, shard.first] = answer
            task.ref = None
            self._fill()
        return _or_lost(self._got.pop(key))

    def fetch(self, file: File, nodes: tuple[Node, ...], first: int, end: int) -> bytes:
        """Return bytes of a file that were not planned. Raises `LostError`."""
        (answer,) = self._answers([Shard(file, first, end, is_raw=True)], nodes, None)
        told = _or_lost(answer)
        assert isinstance(told, bytes)
        return told

    def take_finely(self, file: File, nodes: tuple[Node, ...], first: int, end: int) -> list[Telling]:
        """Return a tale of each batch of a shard. Raises `LostError`."""
        (answer,) = self._answers([Shard(file, first, end, is_fine=True)], nodes, None)
        told = _or_lost(answer)
        assert isinstance(told, list)
        return told

    def close(self) -> None:
        """Give up what nobody will take."""
        for task in chain.from_iterable((*lane.begun.values(), *lane.waiting) for lane in self._lanes.values()):
            self._give_up(task)
        self._lanes.clear()

    # --- ahead ------------------------------------------------------------------------------------------------

    def _drop_before(self, task: _Task) -> None:
        """Forget what was read ahead for nothing: of a dump, or of a file that ended early."""
        lane = self._lane(task.nodes)
        for number in [number for number in lane.begun if number < task.number]:
            self._give_up(lane.begun.pop(number))
        self._got.clear()

    def _give_up(self, task: _Task) -> None:
        if task.ref is not None and not task.is_done:
            self._cancel(task.ref)
        task.ref = None

    def _cancel(self, ref: Any) -> None:
        with suppress(Exception):  # a task that has ended by itself, or whose node is gone
            self._ray.cancel(ref, force=True)

    def _fill(self) -> None:
        for lane in self._lanes.values():
            running = sum(not task.is_done for task in lane.begun.values())
            while lane.waiting and running < lane.running and len(lane.begun) < lane.ahead:
                self._begin(lane, lane.waiting.popleft())
                running += 1

    def _begin(self, lane: _Lane, task: _Task) -> None:
        lane.begun[task.number] = task
        task.is_begun = True
        node = next((node for node in task.nodes if node not in self.lost), None)
        if node is not None or not task.nodes:
            task.ref = self._submit(self._read, node, _plain(task.shards))

    def _await(self, task: _Task) -> None:
        """Wait until a task is done, or for as long as patience lasts, and keep all nodes busy meanwhile."""
        until = time.monotonic() + self._patience
        while task.ref is not None and not task.is_done and time.monotonic() < until:
            running = {
                other.ref: other
                for lane in self._lanes.values()
                for other in lane.begun.values()
                if other.ref is not None and not other.is_done
            }
            done, _ = self._ray.wait([*running], num_returns=1, timeout=_PAUSE, fetch_local=False)
            for ref in done:
                running[ref].is_done = True
            self._fill()

    # --- asking -----------------------------------------------------------------------------------------------

    def _submit(self, function: Any, node: Node | None, *given: Any) -> Any:
        strategy: Any = "SPREAD"
        if node is not None:
            affinity = self._ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
            strategy = affinity(node_id=node.id, soft=False)
        return function.options(scheduling_strategy=strategy).remote(self._sent, *given)

    def _answers(self, shards: Sequence[Shard], nodes: tuple[Node, ...], ref: Any) -> list[_Answer]:
        """Return an answer for each shard, from whoever can read it first."""
        answers: dict[int, _Answer] = {}
        missing = dict(enumerate(shards))
        for node in _places(nodes):
            if not missing or (node is not None and node in self.lost):
                ref = None
                continue
            if ref is None:
                ref = self._submit(self._read, node, _plain([*missing.values()]))
            asked = self._asked(ref, node, len(missing))
            ref = None
            for number, answer in zip(list(missing), asked.answers, strict=True):
                answers[number] = answer
                if not (isinstance(answer, Failed) and answer.is_elsewhere):
                    del missing[number]
            if node is None and not asked.again:
                break
        if not nodes:
            answers.update((number, self._read_here(shard)) for number, shard in missing.items())
        reason = next((self.lost[node] for node in nodes if node in self.lost), "it could not be read")
        return [answers.get(number, Failed(reason)) for number in range(len(shards))]

    def _read_here(self, shard: Shard) -> _Answer:
        if self._here is None:
            self._here = Worker(self._work)
        told = self._here.read(shard)
        return [Telling(*one) for one in told] if isinstance(told, list) else told

    def _asked(self, ref: Any, node: Node | None, count: int) -> _Asked:
        told, reason, again = self._outcome(ref, node)
        if reason is None:
            return _Asked([_answer(*one) for one in told], None)
        return _Asked([Failed(reason, is_elsewhere=True)] * count, reason, again)

    def _outcome(self, ref: Any, node: Node | None) -> tuple[Any, str | None, bool]:
        """Return what a task told; else why it told nothing, and whether it may when it is tried again."""
        errors = self._ray.exceptions
        try:
            return self._ray.get(ref, timeout=self._patience), None, False
        except errors.GetTimeoutError:
            self._cancel(ref)
            return None, self._mark(node, f"did not answer for {self._patience:.0f} s"), node is None
        except (errors.RayError, RuntimeError) as error:
            said = " ".join(str(error).split())
            if "failed to import" in said or "No module named" in said:
                return None, self._mark(node, f"has no nccl-logscan {self._work.version} for Ray's Python"), False
            if node is not None and not any(node.id == other.id for other in self._cluster.nodes()):
                return None, self._mark(node, "died"), False
            return None, said[:_SAID], True

    def _mark(self, node: Node | None, reason: str) -> str:
        if node is None:
            return f"a worker {reason}"
        return self.lost.setdefault(node, f"node {node.name} {reason}")


def _size(shard: Shard) -> int:
    return shard.file.size if shard.is_raw else (shard.end - shard.first) << 21


def _places(nodes: tuple[Node, ...]) -> Sequence[Node | None]:
    """Return who is to be asked in turn: whoever is there, twice; of several nodes each, of one it twice."""
    if not nodes:
        return (None, None)
    return nodes if len(nodes) > 1 else (*nodes, *nodes)


def _plain(shards: Sequence[Shard]) -> list[tuple[Any, ...]]:
    return [(tuple(file), *rest) for file, *rest in shards]


def _answer(form: str, told: Any) -> _Answer:
    if form == "failed":
        return Failed(*told)
    return bytes(told) if form == "raw" else [Telling(*one) for one in told]


def _or_lost(answer: _Answer) -> _Told:
    if isinstance(answer, Failed):
        raise LostError(answer.reason)
    return answer
