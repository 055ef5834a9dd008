"""Which other settings hold beside a setting: those of its file, its command or container, and the job's files."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence

from nccl_logscan.configs.model import Form
from nccl_logscan.expressions import deferred
from nccl_logscan.lint.job import Job
from nccl_logscan.lint.made import Made
from nccl_logscan.lint.scopes import Scopes

Values = Mapping[str, str | None]
"""Values by name; None for one that is not told, or that is set to two values."""

# Between the variables in front of one command stand blanks and continued lines; between those of one container no
# other list; between the keywords of one call no other call of that function, which its name tells.
_PARTED = {Form.COMMAND_PREFIX: deferred(rb"[^\\\s]|(?<!\\)\r?\n"), Form.ENV_LIST: deferred(rb"\benv:")}
_GROUPED = frozenset({*_PARTED, Form.FLAG, Form.OVERRIDE, Form.PYTHON_KWARG})


_MANY = 64
"""Of a name that a file sets more often than so, the value is not told."""

_TURN = deferred(rb"(?m)^[ \t]*(?:elif|else)\b|;;")


class Surroundings:
    """What holds beside each setting of a job; made once, asked for single names."""

    def __init__(self, job: Job) -> None:
        self._own: dict[str | None, dict[str, str | None]] = {}
        self._given: dict[str | None, dict[str, list[Made]]] = {}
        self._scopes = {config.name: Scopes(config) for config in job.configs}
        self._groups: dict[int, dict[str, str | None]] = {}
        self._everywhere: dict[str, set[str | None]] = {}
        self._starts: dict[tuple[str | None, str], list[int]] = {}
        self._turns: dict[str | None, list[int]] = {
            config.name: [turn.start() for turn in _TURN.finditer(config.data)] for config in job.configs
        }
        for name in (*job.by_file, None):
            all_made = job.by_file[name] if name is not None else job.logged
            alone = [made for made in all_made if made.placed.form not in _GROUPED]
            self._own[name] = _values(alone)
            for made in alone:
                if made.is_given:
                    self._given.setdefault(name, {}).setdefault(made.key, []).append(made)
            for group in _groups([made for made in all_made if made.placed.form in _GROUPED]):
                values = _values(group)
                self._groups.update((id(made), values) for made in group)
        for made in job.made:
            if made.is_given:
                self._everywhere.setdefault(made.key, set()).add(made.placed.at.source)
                where = made.config.name if made.config else None
                self._starts.setdefault((where, made.key), []).append(made.placed.span.start)

    def beside(self, made: Made, names: Iterable[str]) -> dict[str, str | None]:
        """Return the values of these names that hold beside a setting; `FI_*` stands for all that begin so."""
        where = made.config.name if made.config else None
        group = self._groups.get(id(made), {})
        found: dict[str, str | None] = {}
        for wanted in names:
            for name in self._members(wanted, where, group):
                told = (group[name],) if name in group else self._told(made, name, where)
                if told and name != wanted:
                    found[wanted] = told[0]
                if told:
                    found[name] = None if self._is_alternative(made, name, where) else told[0]
                    break
        return found | {made.key: made.placed.value}

    def _members(self, wanted: str, where: str | None, group: Values) -> Iterator[str]:
        """Yield the names that are meant: one, or all that begin so."""
        if not wanted.endswith("*"):
            yield wanted
            return
        for values in (group, self._given.get(where, {})):
            yield from (name for name in values if name.startswith(wanted[:-1]))

    def _told(self, made: Made, name: str, where: str | None) -> tuple[str | None, ...]:
        """Return the value that a name has where a setting holds, None for one that is not told; () for no such name.

        What is set in another function, container or dict alone may hold here or not: it is not told.
        """
        given = self._given.get(where, {}).get(name, ())
        if len(given) > _MANY:
            return (None,)
        scopes = self._scopes[where] if where is not None else None
        values = {each.placed.value for each in given if scopes is None or not scopes.apart(made, each)}
        return (values.pop() if len(values) == 1 else None,) if given else ()

    def _is_alternative(self, made: Made, name: str, where: str | None) -> bool:
        """Whether an `else` or a further case stands between a setting and each one of that name: only one may run."""
        turns = self._turns.get(where)
        starts = self._starts.get((where, name), ())
        if not turns or not starts:
            return False
        at = made.placed.span.start
        near = bisect_left(starts, at)
        between = bisect_left(turns, at)
        # The nearest one before and the nearest one after: a farther one has the same turns between, and more.
        nearest = [start for start in (*starts[max(0, near - 1) : near], *starts[near : near + 1]) if start != at]
        return bool(nearest) and all(bisect_left(turns, start) != between for start in nearest)

    def elsewhere(self, made: Made, names: Iterable[str]) -> dict[str, str | None]:
        """Return the values of these names that the job's other files give."""
        found: dict[str, str | None] = {}
        here = made.config.name if made.config else None
        for name in names:
            for file, values in self._own.items() if name in self._everywhere else ():
                if file != here and name in values:
                    found[name] = values[name]
                    break
        return found


def _values(all_made: Iterable[Made]) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for made in all_made:
        if made.is_given:
            name, value = made.key, made.placed.value
            found[name] = value if found.get(name, value) == value else None
    return found


def _groups(all_made: Sequence[Made]) -> list[list[Made]]:
    """Part settings, which are in the file's order, into those of one command, one container or one call."""
    groups: list[list[Made]] = []
    latest: dict[object, list[Made]] = {}
    for made in all_made:
        # Flags and overrides are arguments of the same command.
        form = Form.FLAG if made.placed.form is Form.OVERRIDE else made.placed.form
        to_whom = (form, made.placed.program, made.placed.name.partition("(")[0] if form is Form.PYTHON_KWARG else None)
        group = latest.get(to_whom)
        if group is None or _is_parted(group[-1], made):
            group = []
            groups.append(group)
            latest[to_whom] = group
        group.append(made)
    return groups


def _is_parted(before: Made, made: Made) -> bool:
    if made.config is None:
        return False
    between = made.config.data[before.placed.span.end : made.placed.span.start]
    if made.placed.form is Form.PYTHON_KWARG:
        function = made.placed.name.partition("(")[0].rpartition(".")[2]
        return function.encode() + b"(" in between
    parts = _PARTED.get(made.placed.form)
    return parts is not None and parts.search(between) is not None
