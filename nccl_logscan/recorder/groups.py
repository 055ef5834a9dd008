"""pg_config → Groups, pg_status → Statuses, in every shape that versions and writers have given them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice

from nccl_logscan.expressions import deferred
from nccl_logscan.recorder.model import Group, Status
from nccl_logscan.recorder.plain_pickle import Plain
from nccl_logscan.recorder.values import LARGEST_WORLD, Malformed, Problems, text, whole

_GROUPS = 65_536
_MEMBERS = 4_000_000
# A list of so many characters is parsed once for all dumps; a longer one is of more ranks than should be kept.
_MANY, _LONG = 256, 65_536
_RANGE = deferred(r"([0-9]{1,9})(?:[ ]?-[ ]?([0-9]{1,9}))?")
_PYTHON_RANGE = deferred(r"range\(([0-9]{1,9}), ?([0-9]{1,9})(?:, ?([0-9]{1,9}))?\)\Z")
_RANKS = frozenset("0123456789, -[](){}\t\n")


class GroupReader:
    """Reads a dump's `pg_config`. What cannot be read goes to `problems`."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._members = _MEMBERS
        self._known: dict[str, tuple[int, ...]] = {}

    def read(self, config: Plain) -> dict[str, Group]:
        """Return the groups by their names.

        Version 2 has a dict for each name, with name, desc and ranks, the latter as the text `[0, 1]`; 1.4 has a list
        of ranks for each number of a group. Other writers put groups into dicts of dicts, or into a list.
        """
        groups: dict[str, Group] = {}
        for key, entry in self._entries(config):
            if len(groups) == _GROUPS:
                self._problems.add(f"has more than {_GROUPS} groups, of which the others were left out")
                break
            name = text(key)
            try:
                group = self._group(name, entry)
            except Malformed as malformed:
                self._problems.add(f"the group {name} {malformed}")
                continue
            groups[name if name is not None else group.name] = group
        return groups

    def _entries(self, config: Plain) -> Iterator[tuple[Plain, Plain]]:
        if type(config) is list:
            yield from ((None, entry) for entry in config)
        elif type(config) is dict:
            for key, entry in config.items():
                if type(entry) is dict and "ranks" not in entry and _all_dicts(entry):
                    yield from entry.items()
                else:
                    yield key, entry
        elif config is not None:
            self._problems.add("its pg_config is no dict")

    def _group(self, key: str | None, entry: Plain) -> Group:
        if type(entry) is not dict:
            if key is None:
                raise Malformed("has no name")
            return Group(key, ranks=self.ranks(entry))
        name = _first(entry, "name", "pg_name", "group_name", "uid")
        if name is None:
            name = key
        if name is None:
            raise Malformed("has no name")
        description = _first(entry, "desc", "pg_desc", "description")
        return Group(name, description or "", self.ranks(entry.get("ranks")))

    def ranks(self, value: Plain) -> tuple[int, ...]:
        """Return a group's ranks from a list, or from a text such as `[0, 1]`, `[0,1]`, `0-7` and `range(0, 8)`."""
        if value is None or value == "":
            return ()
        if type(value) is str:
            if value not in self._known:
                repeats = _MANY < len(value) < _LONG and "-" not in value
                self._known[value] = self._bounded(_spelt_once(value) if repeats else self._listed(value))
            return self._known[value]
        if type(value) is list or type(value) is tuple:
            numbers = [whole(rank) for rank in value]
            return self._bounded([rank for rank in numbers if rank is not None and rank >= 0], len(numbers))
        raise Malformed("has ranks that are no list")

    def _bounded(self, ranks: Sequence[int], expected: int | None = None) -> tuple[int, ...]:
        if expected is not None and len(ranks) != expected:
            raise Malformed("has ranks that are no numbers")
        if len(ranks) > self._members:
            raise Malformed("has more ranks than are read")
        if ranks and max(ranks) >= LARGEST_WORLD:
            raise Malformed("has ranks that no job has")
        self._members -= len(ranks)
        return tuple(ranks)

    def _listed(self, value: str) -> Sequence[int]:
        return [*islice(_spelt(value), self._members + 1)]


def _all_dicts(entry: dict[Plain, Plain]) -> bool:
    return bool(entry) and all(type(inner) is dict for inner in entry.values())


def _first(entry: dict[Plain, Plain], *keys: str) -> str | None:
    return next((found for key in keys if (found := text(entry.get(key))) is not None), None)


@lru_cache(maxsize=64)
def _spelt_once(value: str) -> tuple[int, ...]:
    """Return the ranks of a long list: the dumps of a job repeat those of the world, each anew."""
    return tuple(_spelt(value))


def _spelt(value: str) -> Iterator[int]:
    """Yield the ranks that a text lists."""
    if python_range := _PYTHON_RANGE.match(value.strip()):
        start, stop, step = (int(part) if part else 1 for part in python_range.groups())
        yield from _range(start, stop, step)
        return
    if not _RANKS.issuperset(value):
        raise Malformed("has ranks that are no numbers")
    for spelt in _RANGE.finditer(value):
        first, last = spelt.groups()
        if last:
            yield from _range(int(first), int(last) + 1, 1)
        else:
            yield int(first)


def _range(start: int, stop: int, step: int) -> range:
    ranks = range(start, stop, max(1, step))
    if len(ranks) > LARGEST_WORLD:
        raise Malformed("has more ranks than are read")
    return ranks


def read_statuses(
    value: Plain, groups: Mapping[str, Group], names: Mapping[str, str | None], problems: Problems
) -> dict[str, Status]:
    """Return the progress in each group, by the key of `groups`.

    A status is kept under the number that this process gave to the group (`pg_id`), which is not the group's name:
    only an entry tells which group has which number (`names`; None: several). The first group is the default one.
    Numbers are texts in JSON, and -1 where nothing has happened (ProcessGroupNCCL, ProcessGroupStatus).
    """
    if value is None:
        return {}
    if type(value) is not dict:
        problems.add("its pg_status is no dict")
        return {}
    statuses: dict[str, Status] = {}
    for key, entry in list(value.items())[:_GROUPS]:
        number = text(key)
        if number is None or type(entry) is not dict:
            problems.add(f"the status {number} is no dict")
            continue
        group = names[number] if number in names else _group_of(number, groups, alone=len(value) == 1)
        if group is None:
            problems.add(f"does not say which group its status {number} is of")
            continue
        statuses[group] = Status(_reached(entry, "enqueued"), _reached(entry, "started"), _reached(entry, "completed"))
    return statuses


def _group_of(number: str, groups: Mapping[str, Group], *, alone: bool) -> str | None:
    """Return the group of a number that no entry has: the only one, or the default one if it is the first."""
    if alone and len(groups) == 1:
        return next(iter(groups))
    default = [key for key, group in groups.items() if group.description == "default_pg"]
    return default[0] if number == "0" and len(default) == 1 else None


def _reached(entry: dict[Plain, Plain], step: str) -> int | None:
    number = whole(entry.get(f"last_{step}_collective"))
    return number if number is not None and number >= 0 else None
