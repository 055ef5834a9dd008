"""Who is who: from what the log says of processes to global ranks and hosts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, NamedTuple

from nccl_logscan.diagnosis.excerpts import Site
from nccl_logscan.diagnosis.groups import GROUP_EVENTS, ProcessGroups, global_rank_in
from nccl_logscan.diagnosis.heed import Heed
from nccl_logscan.diagnosis.host_names import short_host
from nccl_logscan.diagnosis.last_words import LastSeen, LastWord, LastWords, Spoke
from nccl_logscan.diagnosis.places import Content, Places, local_place_in_name, pid_in_name, rank_in_name
from nccl_logscan.diagnosis.processes import Processes, ProcessId
from nccl_logscan.diagnosis.sayer import Who, key_of, who
from nccl_logscan.events.model import Event, NcclInit
from nccl_logscan.expressions import deferred
from nccl_logscan.position import Origin
from nccl_logscan.sources.raw import RawLine

_Label = tuple[str, int | None, int | None]
_MET = 16_384
_FEW = 16
_ID_IN_NAME = deferred(r"[0-9a-f]*[0-9][0-9a-f]*")
# Lines in which a launcher speaks of a process: they are not that process's own words.
_ABOUT_OTHERS = frozenset({"elastic.exit", "process.exit", "process.signal"})
_TELLING = frozenset({NcclInit.kind, *(type_.kind for type_ in GROUP_EVENTS)})
# More ranks than any job has: a larger number in a log is no world size.
LARGEST_WORLD = 1_048_576


def _shape(name: str) -> str:
    """A name without what tells one of a set of inputs from another: numbers and hexadecimal ids."""
    return _ID_IN_NAME.sub("#", name)


class _Met(NamedTuple):
    """An origin that has been learnt from, with where its lines stand and its sayer's last word."""

    origin: Origin
    source: str
    last: LastWord


class Identity:
    """Learns, event by event, which process is which global rank; answers once the scan is over.

    The communicator with the most ranks is taken for the world: its rank is the global one. Bounded: at most
    `limit` processes are remembered.
    """

    kinds: ClassVar[frozenset[str]] = frozenset()
    """All: any line may tell who wrote it."""

    def __init__(self, limit: int = 65_536) -> None:
        self._limit = limit
        self._met: dict[int, _Met] = {}
        self._last_words = LastWords(limit)
        self._last_of_rank: dict[int, LastSeen] | None = None
        self._groups: ProcessGroups[Who] = ProcessGroups()
        self._tasks: set[int] = set()
        self._task_is_node = False
        self._processes = Processes(limit)
        self._rank_of_pid: dict[int, set[int]] = {}
        self._hosts: dict[str, None] = {}
        self._hosts_of_pid: dict[int, set[str]] = {}
        self._hosts_of_label: dict[_Label, set[str]] = {}
        self._host_of_task: dict[int, str] = {}
        self._hosts_of_source: dict[str, set[str]] = {}
        self._places = Places()
        self._settled: tuple[Places, Content] | None = None
        self._launchers: set[str] = set()
        self._own: dict[str, set[int]] = {}
        self._sources: dict[str, set[int]] = {}
        self._host_of_rank: dict[int, str] = {}
        self._pid_of_rank: dict[int, int] = {}
        self._ranks: set[int] = set()
        self._labelled: dict[_Label, dict[int, int]] = {}
        self._world = 0

    def heeds(self, event: Event) -> Heed:  # noqa: ARG002 - of bulk kinds alike
        """See `Heed`: who speaks, and what they say last."""
        return Heed.SAYER

    def feed(self, event: Event, site: Site) -> None:
        """Learn from an event. The layers below share one origin among a process's lines, so that most are known."""
        met = self._met.get(id(event.origin))
        if met is not None and met.origin is event.origin and met.source == event.at.source:
            met.last.note(event, site.order)
        else:
            self._meet(event, site.order)
        if event.kind in _TELLING:
            self._learn_from(event)

    def _meet(self, event: Event, order: int) -> None:
        origin = event.origin
        if event.kind in _ABOUT_OTHERS:
            if len(self._launchers) < self._limit:
                self._launchers.add(event.at.source)
            self._learn(event, origin)
            return
        key = key_of(event.at.source, origin)
        last = self._last_words.known(key)
        if last is None:
            last = self._last_words.begin(key, event, order)
            self._learn(event, origin)
        last.note(event, order)
        if len(self._met) >= _MET:
            self._met.clear()
        self._met[id(origin)] = _Met(origin, event.at.source, last)

    def _learn(self, event: Event, origin: Origin) -> None:
        """Learn what an origin says. Another one of the same key says no more: it differs in its thread alone."""
        self._last_of_rank = None
        self._settled = None
        if origin.host is not None:
            self._learn_host(event.at.source, origin.host)
            if origin.pid is not None and len(self._hosts_of_pid) < self._limit:
                self._hosts_of_pid.setdefault(origin.pid, set()).add(short_host(origin.host))
            self._learn_label(event, origin, origin.host)
        if origin.task is not None:
            self._learn_task(origin, origin.task)
        if origin.rank is not None and len(self._ranks) < self._limit:
            self._learn_rank(event, origin.rank)

    def _learn_label(self, event: Event, origin: Origin, host: str) -> None:
        """A launcher's label stands before lines with and without a host's name; srun tells a task's host by name."""
        if event.kind in _ABOUT_OTHERS:
            if origin.task is not None and len(self._host_of_task) < self._limit:
                self._host_of_task.setdefault(origin.task, host)
        elif origin.local_rank is not None or origin.task is not None:
            label = (event.at.source, origin.local_rank, origin.task)
            if label in self._hosts_of_label or len(self._hosts_of_label) < self._limit:
                hosts = self._hosts_of_label.setdefault(label, set())
                if len(hosts) < _FEW:
                    hosts.add(short_host(host))

    def _learn_host(self, source: str, host: str) -> None:
        if host not in self._hosts and len(self._hosts) < self._limit:
            self._hosts[host] = None
        known = self._hosts_of_source.get(source)
        if known is None:
            if len(self._hosts_of_source) >= self._limit:
                return
            known = self._hosts_of_source[source] = set()
        if len(known) < _FEW:
            known.add(short_host(host))

    def _learn_from(self, event: Event) -> None:
        if isinstance(event, NcclInit):
            self._learn_communicator(event)
        elif isinstance(event, GROUP_EVENTS) and event.process_group is not None and event.group_rank is not None:
            told = global_rank_in(event.message)
            self._groups.learn(event.process_group, event.group_rank, who(event) if told is None else told)

    def saw_again(self, event: Event, raw: RawLine, order: int) -> None:
        """Learn that the line of an event came again, word by word, at `raw` for the last time."""
        self._last_words.saw_again(key_of(event.at.source, event.origin), event, raw, order)

    def _learn_task(self, origin: Origin, task: int) -> None:
        """A launcher's number is the rank where it starts one process a GPU; inside of torchrun it is the node's."""
        if len(self._tasks) < self._limit:
            self._tasks.add(task)
        if origin.local_rank is not None or (origin.rank is not None and origin.rank != task):
            self._task_is_node = True

    def _learn_communicator(self, event: NcclInit) -> None:
        origin = event.origin
        if event.rank is None or origin.pid is None or not 0 < (event.nranks or 0) <= LARGEST_WORLD:
            return
        assert event.nranks is not None
        label = (event.at.source, origin.local_rank, origin.task)
        if label in self._labelled or len(self._labelled) < self._limit:
            ranks = self._labelled.setdefault(label, {})
            if len(ranks) < _FEW or event.rank in ranks:
                ranks[event.rank] = max(event.nranks, ranks.get(event.rank, 0))
        self._processes.learn(event)
        self._world = max(self._world, event.nranks)
        self._settled = None

    def _learn_rank(self, event: Event, rank: int) -> None:
        origin = event.origin
        if rank >= LARGEST_WORLD:
            return
        self._ranks.add(rank)
        source = event.at.source
        if source in self._sources or len(self._sources) < self._limit:
            self._sources.setdefault(source, set()).add(rank)
            if event.kind not in _ABOUT_OTHERS:
                self._own.setdefault(source, set()).add(rank)
        if origin.pid is not None:
            if origin.pid in self._rank_of_pid or len(self._rank_of_pid) < self._limit:
                self._rank_of_pid.setdefault(origin.pid, set()).add(rank)
            self._pid_of_rank.setdefault(rank, origin.pid)
        if origin.host is not None:
            self._host_of_rank.setdefault(rank, origin.host)

    def learn_world(self, size: int) -> None:
        """Learn a world size that the log states."""
        if size <= LARGEST_WORLD:
            self._world = max(self._world, size)

    def learn_rank(self, rank: int) -> None:
        """Learn that a rank left something of its own among the inputs."""
        if 0 <= rank < LARGEST_WORLD:
            self._ranks.add(rank)

    def learn_source(self, name: str) -> None:
        """Learn from a file's name which rank wrote it."""
        self._places.learn(name)
        self._settled = None
        if (rank := rank_in_name(name)) is not None:
            self._ranks.add(rank)

    @property
    def stated_world(self) -> int | None:
        """The world size that the log states; None if it states none."""
        return self._world or None

    @property
    def world_size(self) -> int | None:
        """The stated world size, or what the highest rank that is named makes of it at least; None without either."""
        return max(self._world, max(self.ranks, default=-1) + 1) or None

    @property
    def hosts(self) -> tuple[str, ...]:
        """Hosts in the order of their first line."""
        return tuple(self._hosts)

    @property
    def ranks(self) -> tuple[int, ...]:
        """Every global rank that spoke or was spoken of by name."""
        ranks = set(self._ranks)
        if self._processes.world == self._world:
            ranks |= self._processes.ranks
        return tuple(sorted(ranks))

    def rank_of(self, sayer: Who) -> int | None:
        """Return the global rank of who said a line; None where the log does not tell."""
        if sayer.rank is not None:
            return sayer.rank
        rank = None if sayer.pid is None else self._rank_by_process(sayer, sayer.pid)
        if rank is None:
            rank = self._rank_by_label(sayer)
        return self._rank_by_place(sayer) if rank is None else rank

    def _rank_by_label(self, sayer: Who) -> int | None:
        """The one rank that NCCL names behind a launcher's label, or in a source that has no labels."""
        known = self._labelled.get((sayer.source, sayer.local_rank, sayer.task), {})
        ranks = [rank for rank, nranks in known.items() if nranks == self._world]
        if len(ranks) != 1:
            return None
        labelled = sayer.local_rank is not None or sayer.task is not None
        return ranks[0] if labelled or any(source != sayer.source for source, *_ in self._labelled) else None

    def _rank_by_process(self, sayer: Who, pid: int) -> int | None:
        if self._processes.world == self._world:
            rank = self._processes.rank_of(sayer.host, pid, sayer.device)
            if rank is not None:
                return rank
        return self._told_of_pid(pid)

    def _told_of_pid(self, pid: int) -> int | None:
        told = self._rank_of_pid.get(pid, set())
        return next(iter(told)) if len(told) == 1 else None

    def _rank_by_place(self, sayer: Who) -> int | None:
        """By what else stands in the file, then by the file's name: where they contradict each other, content counts.

        A line with a launcher's label need not be of who wrote the rest of the file.
        """
        places, content = self._settle()
        source = sayer.source
        wrote = content.rank_of(source) if len(content.ranks) > 1 else None
        if wrote is not None and sayer.local_rank is None and sayer.task is None:
            return wrote
        named = places.rank_of(source)
        if named is not None:
            return named
        place = local_place_in_name(source)
        local = place.local_rank if sayer.local_rank is None and place is not None else sayer.local_rank
        if local is not None:
            on_node = places.global_rank(source, local)
            return local if on_node is None and place is None and len(self._hosts) <= 1 else on_node
        if sayer.task is not None and self._tasks_are_ranks(sayer.task):
            return sayer.task
        return wrote

    def _settle(self) -> tuple[Places, Content]:
        """Hold the files' names against what stands in them, once all has been read."""
        if self._settled is None:
            ranks = {source: set(own) for source, own in self._own.items()}
            for (source, *_), known in self._labelled.items():
                world = [rank for rank, nranks in known.items() if nranks == self._world]
                ranks.setdefault(source, set()).update(world)
            content = Content(ranks, self._hosts_of_source, self._launchers, tuple(self._hosts), self._world)
            self._places.settle(content, self._rank_of_any)
            self._settled = (self._places, content)
        return self._settled

    def rank_of_process(self, host: str | None, pid: int) -> int | None:
        """Return the global rank of a process of a host by its number; None where the log does not tell."""
        if self._processes.world == self._world and host is not None:
            rank = self._processes.rank_of(short_host(host), pid)
            if rank is not None:
                return rank
        rank = self._told_of_pid(pid)
        known = None if rank is None or host is None else self.host_of(rank)
        return rank if known is None or host is None or short_host(known) == short_host(host) else None

    def _rank_of_any(self, pid: int) -> int | None:
        rank = self._processes.rank_of(None, pid) if self._processes.world == self._world else None
        return self._told_of_pid(pid) if rank is None else rank

    @property
    def contradictions(self) -> tuple[str, ...]:
        """Sentences on files that are named after another rank or host than their lines are of."""
        return self._settle()[0].notes

    def _tasks_are_ranks(self, task: int) -> bool:
        lone = len(self._tasks) == 1 and self._world > 1
        return not self._task_is_node and not lone and (self._world == 0 or task < self._world)

    def hears(self, rank: int, told_in: Collection[str]) -> bool:
        """Whether a rank would have been read, had it said what others say in the inputs `told_in`.

        It would if it speaks in one of those, if one is the log of the whole job or of ranks on both sides of it, or if
        the rank's own input of that kind (named alike but for the numbers) is there, or as many as the world has ranks.
        """
        several = [source for source in told_in if len(self._sources.get(source, ())) > 1]
        if len(told_in) == 1 and (several or len(self._sources) <= 1) and self._rank_of_input(*told_in) is None:
            return True
        speakers = [self._sources.get(source, set()) for source in told_in]
        if any(rank in ranks for ranks in speakers):
            return True
        if any(min(self._sources[source]) < rank < max(self._sources[source]) for source in several):
            return True
        shapes = {_shape(source) for source in told_in}
        places, _ = self._settle()
        alike = [name for name in places.names if _shape(name) in shapes]
        if 0 < self._world <= len(alike):
            return True
        return any(self._rank_of_input(name) == rank for name in alike)

    def _rank_of_input(self, name: str) -> int | None:
        """The rank of which an input holds the lines, as its name or what stands in it tells."""
        return self._rank_by_place(Who(name, None, None, None, None, None, None))

    def host_of(self, rank: int) -> str | None:
        """Return the host of a global rank."""
        process = self._process_of(rank)
        if process:
            return process[0] or None
        host = self._host_of_rank.get(rank)
        return self._host_of_task.get(rank) if host is None and self._tasks_are_ranks(rank) else host

    def only_rank_on(self, host: str) -> int | None:
        """Return the rank of a host of a job that has as many hosts as ranks; None where its hosts have several."""
        if len({short_host(name) for name in self._hosts}) != self.world_size:
            return None
        there = [rank for rank in self.ranks if (known := self.host_of(rank)) and short_host(known) == short_host(host)]
        return there[0] if len(there) == 1 else None

    def pid_of(self, rank: int) -> int | None:
        """Return the process of a global rank."""
        process = self._process_of(rank)
        return process[1] if process else self._pid_of_rank.get(rank)

    def communicator(self, comm_id: str) -> Mapping[int, int]:
        """Return rank within a communicator → global rank, as far as its set-up lines tell."""
        return self._processes.members(comm_id) if self._processes.world == self._world else {}

    def communicators_of(self, rank: int) -> Mapping[str, int]:
        """Return the communicators that a global rank set up, by id, with its rank in each."""
        return self._processes.joined_by(rank) if self._processes.world == self._world else {}

    def _process_of(self, rank: int) -> ProcessId | None:
        return self._processes.process_of(rank) if self._processes.world == self._world else None

    def host_of_sayer(self, sayer: Who) -> str | None:
        """Return the host of who said a line: as the line says, or as the rest of its file or the file's name does."""
        if sayer.host is not None:
            return sayer.host
        labelled = self._hosts_of_label.get((sayer.source, sayer.local_rank, sayer.task), set())
        if len(labelled) == 1:
            return next(iter(labelled))
        places, content = self._settle()
        source = sayer.source
        if content.host_of(source) is not None:
            return content.host_of(source) if len(content.ranks.get(source, ())) <= 1 else None
        if content.hosts.get(source):
            return None
        return places.hosts.get(source) or self._host_by_pid_in_name(source)

    def _host_by_pid_in_name(self, source: str) -> str | None:
        """The host of the process whose number ends a file's name, as in Ray's `worker-ID-JOB-PID.err`."""
        pid = pid_in_name(source)
        hosts = self._hosts_of_pid.get(pid, set()) if pid is not None else set()
        return next(iter(hosts)) if len(hosts) == 1 else None

    def place_of(self, name: str) -> str | None:
        """Return the host whose clock the times of a source, or of a host, are by.

        A source without a host's name stands for itself; None where lines of several hosts or ranks may be mixed in it.
        """
        places, content = self._settle()
        if name not in places.names:
            return short_host(name)
        ranks = content.ranks.get(name, ())
        hosts: set[str | None] = set(content.hosts.get(name, ()))
        for rank in ranks:
            host = self.host_of(rank)
            hosts.add(None if host is None else short_host(host))
        if len(hosts) > 1 or name in content.launchers or (len(ranks) > 1 and None in hosts):
            return None
        host = hosts.pop() if hosts else None
        return host or places.hosts.get(name, name)

    def members(self, process_group: str) -> Mapping[int, int]:
        """Return group rank → global rank of a process group, as far as the logs tell; `12(tp)` or its GUID, `12`.

        Of the default group, `0(default_pg)`: all ranks of the world.
        """
        return self._groups.members(process_group, self.rank_of, self.world_size or 0)

    def global_of(self, process_group: str, group_rank: int) -> int | None:
        """Return the global rank of a rank of a process group; None where the logs do not tell."""
        return self.members(process_group).get(group_rank)

    def learn_group(self, process_group: str, ranks: Sequence[int]) -> None:
        """Learn all global ranks of a process group, in the order of their ranks in it, from whoever lists them."""
        self._groups.learn_ranks(process_group, ranks)

    def last_seen(self, rank: int) -> LastSeen | None:
        """Return the last line that a global rank wrote; None if it wrote none. To be asked once the scan is over."""
        if self._last_of_rank is None:
            self._last_of_rank = self._last_words.by_rank(self.rank_of)
        return self._last_of_rank.get(rank)

    def spoke(self) -> Iterator[tuple[int, str, Spoke]]:
        """Yield rank, source and times of each process of a known rank. To be asked once the scan is over."""
        for sayer, spoke in self._last_words.spoke():
            rank = self.rank_of(sayer)
            if rank is not None:
                yield rank, sayer.source, spoke

    def absent(self, present: Iterable[int]) -> tuple[int, ...]:
        """Return the ranks of the world that are not in `present`."""
        present = set(present)
        return tuple(rank for rank in range(self.world_size or 0) if rank not in present)
