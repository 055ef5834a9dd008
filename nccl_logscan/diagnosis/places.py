"""Which file is which rank's, local rank's or host's: what names tell, held against what the lines in the files tell.

rank3.log, trainer.rank-03.err, rank_3/out.txt       a global rank, where no file of such a name says otherwise
job_4711_0.out ... job_4711_7.out                    Slurm's %j_%t: a number that counts the tasks
<run>/attempt_0/3/stderr.log, local_rank3.log        a local rank: global once the node's first rank is known
nccl.vm.1364.log, worker-6f0c...-01000000-4242.out   a process, if some line tells whose process it is
dmesg-n07.txt, n07/kern.log, train-n07.out           a host
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from nccl_logscan.diagnosis.host_names import by_lower_case, hosts_in_name, short_host, the_one
from nccl_logscan.expressions import deferred
from nccl_logscan.records import dataclass, field

_NAMES = 65_536
_NOTES = 5
_MOST_RANKS = 1_048_576

# torchelastic's attempt_0/3/stderr.log tells a local rank; so does local_rank3.log, which is not rank 3's.
_RANK = deferred(r"(?i)(?:^|[/_.\-!])(?<!local[_.\-])(?:global[_-]?)?rank[_\-=]?(\d{1,6})(?=[/_.\-]|$)")
_LOCAL_RANK = deferred(r"(?i)(?:^|[/_.\-!])local[_-]?rank[_\-=]?(\d{1,4})(?=[/_.\-]|$)")
_ELASTIC = deferred(r"(?P<run>(?:^|.*/))attempt_(?P<attempt>\d{1,6})/(?P<local>\d{1,4})/[^/]+$")
_ATTEMPT = deferred(r"(?i)(?:^|[/_.\-])(?:attempt|restart)[_\-]?(\d{1,6})(?=[/_.\-]|$)")
_NUMBER = deferred(r"(\d{1,18})")
_OTHERS = deferred(r"(?i)node|host|machine|pod|part|epoch|step|chunk|restart|attempt")
_TASK = deferred(r"(?:^|\D)\d{3,12}[_\-.]\d{1,6}(?:\.\w{1,6}){0,2}$")
# The kernel's log of a host: the host stands in the name, or as the folder's.
_KERNEL_OF = deferred(
    r"(?:^|/)(?:dmesg|kern(?:el)?|syslog|messages|journal(?:ctl)?(?:-k)?)[_.\-](?P<host>[A-Za-z0-9][\w\-]{0,62}?)"
    r"(?:\.(?:log|txt|out|gz|xz|zst))*$"
    r"|(?:^|/)(?P<before>[A-Za-z0-9][\w\-]{0,62}?)[_.\-](?:dmesg|kern(?:el)?|syslog|journal)(?:\.(?:log|txt|out|gz|xz))*$"
    r"|(?:^|/)(?P<folder>[A-Za-z0-9][\w.\-]{0,62})/(?:dmesg|kern|kernel|syslog|messages|journal)(?:\.(?:log|txt|out|gz|xz))*$"
)
_NO_HOSTS = frozenset(
    (
        *("log", "logs", "var", "kernel", "kern", "dmesg", "syslog", "messages", "journal", "k", "out", "output"),
        *("outputs", "tmp", "data", "node", "nodes", "host", "hosts", "err", "errors", "old", "all", "job", "system"),
        *("txt", "gz", "xz", "zst", "bz2", "json", "zip", "tmp", "bak", "boot", "latest", "tail", "grep"),
    )
)


# Ray's documentation, "Configuring Logging": worker-[worker_id]-[job_id]-[pid].[out|err].
_PID_IN_NAME = deferred(r"worker-[0-9a-f]{8,64}-[0-9a-f]{1,16}-(\d{1,9})\.(?:out|err)$", re.ASCII)


@lru_cache(65536)
def rank_in_name(name: str) -> int | None:
    """Return the global rank that a file's name tells, as in rank3.log; None if none or several."""
    found = {int(rank) for rank in _RANK.findall(name)}
    return found.pop() if len(found) == 1 else None


@lru_cache(65536)
def pid_in_name(name: str) -> int | None:
    """Return the process that the name of a Ray worker's file gives."""
    found = _PID_IN_NAME.search(name)
    return int(found[1]) if found else None


@lru_cache(65536)
def attempt_in_name(name: str) -> int | None:
    """Return which attempt of a job a file is of, as in torchelastic's `attempt_1/3/stderr.log`; None if not told."""
    found = {int(attempt) for attempt in _ATTEMPT.findall(name)}
    return found.pop() if len(found) == 1 else None


class LocalPlace(NamedTuple):
    """A local rank, and what all files of one node have in common in their names."""

    node: str
    local_rank: int


@lru_cache(65536)
def local_place_in_name(name: str) -> LocalPlace | None:
    """Return the local rank that a file's name tells; None if none."""
    if match := _ELASTIC.match(name):
        return LocalPlace(match["run"], int(match["local"]))
    found = list(_LOCAL_RANK.finditer(name))
    if len(found) != 1:
        return None
    return LocalPlace(f"{name[: found[0].start(1)]}*{name[found[0].end(1) :]}", int(found[0][1]))


def host_in_kernel_log_name(name: str) -> str | None:
    """Return the host in the name of a kernel's log: `dmesg-n07.txt`, `n07/kern.log`; None if none is told."""
    match = _KERNEL_OF.search(name)
    if match is None:
        return None
    host = match["host"] or match["before"] or match["folder"]
    return host if host.lower() not in _NO_HOSTS and any(letter.isalpha() for letter in host) else None


@dataclass(frozen=True, slots=True)
class Content:
    """What the lines of the inputs tell by themselves.

    `ranks`: the global ranks that wrote in each source; `hosts`: the hosts that wrote in it; `launchers`: sources in
    which a launcher speaks; `all_hosts`, `world`: the job's, 0 for an unknown number of ranks.
    """

    ranks: Mapping[str, Collection[int]]
    hosts: Mapping[str, Collection[str]]
    launchers: Collection[str]
    all_hosts: Collection[str]
    world: int

    def rank_of(self, source: str) -> int | None:
        """Return the one rank that wrote a source; None for none, several, or a launcher's log."""
        ranks = self.ranks.get(source, ())
        return next(iter(ranks)) if len(ranks) == 1 and source not in self.launchers else None

    def host_of(self, source: str) -> str | None:
        """Return the one host that wrote in a source; None for none or several."""
        hosts = self.hosts.get(source, ())
        return next(iter(hosts)) if len(hosts) == 1 else None


@dataclass(slots=True)
class Places:
    """Who wrote each input. `ranks` and `hosts` hold what names tell and no line contradicts; `first_ranks`, by what a
    node's names have in common, the global rank of its local rank 0; `notes`: contradictions, in sentences.
    """

    names: dict[str, None] = field(default_factory=dict)
    ranks: dict[str, int] = field(default_factory=dict)
    hosts: dict[str, str] = field(default_factory=dict)
    first_ranks: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def learn(self, name: str) -> None:
        """Learn of an input."""
        if len(self.names) < _NAMES:
            self.names[name] = None

    def settle(self, content: Content, rank_of_pid: Callable[[int], int | None]) -> None:
        """Hold all names against the content. To be called when all lines have been read."""
        marks = _Marks({name: rank for name in self.names if (rank := rank_in_name(name)) is not None}, content)
        self.first_ranks = dict(_first_ranks(self.names, content))
        self.hosts = dict(_hosts(self.names, content))
        told = dict(_by_count(self.names, content)) | dict(_by_pid(self.names, rank_of_pid)) | marks.ranks
        self.ranks = {name: rank for name, rank in told.items() if content.rank_of(name) in {None, rank}}
        self.notes = tuple(_shortened([*marks.notes, *_contradicted_hosts(self.hosts, content)]))

    def rank_of(self, name: str) -> int | None:
        """Return the global rank whose file it is by its name; None where the name does not tell."""
        return self.ranks.get(name)

    def global_rank(self, name: str, local_rank: int) -> int | None:
        """Return the global rank of a local rank in the node whose file it is; None where the node is not known."""
        place = local_place_in_name(name)
        first = self.first_ranks.get(place.node) if place is not None else None
        return None if first is None else first + local_rank


class _Marks:
    """Names with a rank in them. Where a name contradicts its lines, no name of its kind is believed: all of them may
    count from 1, or count something else. Two or more that are off by the same tell what the others mean.
    """

    def __init__(self, marks: Mapping[str, int], content: Content) -> None:
        off: dict[str, list[int]] = defaultdict(list)
        self.notes: list[str] = []
        for name, mark in marks.items():
            rank = content.rank_of(name)
            if rank is not None:
                off[_kind(name)].append(rank - mark)
                if rank != mark:
                    self.notes.append(
                        f"{name} is named after rank {mark}, but its lines are those of rank {rank}: the lines count"
                    )
        self.ranks: dict[str, int] = {}
        for name, mark in marks.items():
            shift = _shift(off.get(_kind(name), []))
            if shift is not None and mark + shift >= 0:
                self.ranks[name] = mark + shift


def _shift(off: list[int]) -> int | None:
    if not any(off):
        return 0
    return off[0] if len(off) > 1 and len(set(off)) == 1 else None


def _kind(name: str) -> str:
    return _NUMBER.sub("#", name)


def _first_ranks(names: Iterable[str], content: Content) -> Iterator[tuple[str, int]]:
    """Yield each node's first rank: from a file whose lines tell its global rank, or since there is one node only."""
    nodes: dict[str, dict[int, set[int]]] = defaultdict(dict)
    for name in names:
        place = local_place_in_name(name)
        if place is not None:
            firsts = nodes[place.node].setdefault(place.local_rank, set())
            rank = content.rank_of(name)
            if rank is not None:
                firsts.add(rank - place.local_rank)
    size = max((local + 1 for locals_ in nodes.values() for local in locals_), default=0)
    order = _order_of_nodes(list(nodes)) if len(nodes) * size == content.world else None
    for node, locals_ in nodes.items():
        told = set().union(*locals_.values())
        if len(told) == 1:
            yield node, max(0, told.pop())
        elif not told and order is not None:
            yield node, order[node] * size
        elif not told and len(nodes) == 1 and len(content.all_hosts) <= 1 and content.world < 2 * size:
            yield node, 0


def _order_of_nodes(nodes: list[str]) -> dict[str, int] | None:
    """Return the number of each node where their names are alike but for one that counts them from 0."""
    counted = [column for column in _columns(nodes) if sorted(column.values()) == list(range(len(nodes)))]
    return counted[0] if len(counted) == 1 and len(nodes) > 1 else None


def _columns(names: list[str]) -> list[dict[str, int]]:
    """Return the numbers that stand at the same places in names that are alike but for these."""
    parts = [_NUMBER.split(name) for name in names]
    if len({tuple(split[::2]) for split in parts}) != 1:
        return []
    return [
        {name: int(split[at]) for name, split in zip(names, parts, strict=True)} for at in range(1, len(parts[0]), 2)
    ]


def _by_count(names: Iterable[str], content: Content) -> Iterator[tuple[str, int]]:
    """Yield ranks for names that differ in a number that counts ranks: as some lines say, or all of them from 0."""
    alike: dict[str, list[str]] = defaultdict(list)
    for name in names:
        if local_place_in_name(name) is None and rank_in_name(name) is None:
            alike[_kind(name)].append(name)
    for group in alike.values():
        if len(group) < 2:
            continue
        counted = [column for column in _columns(group) if _counts_ranks(column, content)]
        if len(counted) == 1:
            yield from counted[0].items()


def _counts_ranks(column: Mapping[str, int], content: Content) -> bool:
    values = sorted(column.values())
    if len(set(values)) < len(values) or values[-1] >= (content.world or _MOST_RANKS):
        return False
    told = [(rank, value) for name, value in column.items() if (rank := content.rank_of(name)) is not None]
    if told:
        return all(rank == value for rank, value in told)
    if any(len(content.ranks.get(name, ())) > 1 for name in column):
        return False
    if values != list(range(len(values))) or len(content.all_hosts) >= len(values):
        return False
    name = next(iter(column))
    return not _OTHERS.search(name) and (
        content.world == len(values) or (not content.world and bool(_TASK.search(name)))
    )


def _by_pid(names: Iterable[str], rank_of_pid: Callable[[int], int | None]) -> Iterator[tuple[str, int]]:
    for name in names:
        if local_place_in_name(name) is not None:
            continue
        base = name.rpartition("/")[2]
        ranks = {rank for number in _NUMBER.findall(base) if (rank := rank_of_pid(int(number))) is not None}
        if len(ranks) == 1:
            yield name, ranks.pop()


def _hosts(names: Iterable[str], content: Content) -> Iterator[tuple[str, str]]:
    known = by_lower_case(content.all_hosts)
    for name in names:
        found = hosts_in_name(name, known)
        host = the_one(found) if found else host_in_kernel_log_name(name)
        if host is not None:
            yield name, host


def _contradicted_hosts(hosts: Mapping[str, str], content: Content) -> Iterator[str]:
    for name, host in hosts.items():
        wrote = content.host_of(name)
        if wrote is not None and short_host(wrote).lower() != short_host(host).lower():
            yield f"{name} is named after {host}, but its lines are those of {wrote}: the lines count"


def _shortened(notes: list[str]) -> Iterator[str]:
    yield from notes[:_NOTES]
    if len(notes) > _NOTES:
        yield f"{len(notes) - _NOTES} further files are named after other ranks or hosts than their lines are of"
