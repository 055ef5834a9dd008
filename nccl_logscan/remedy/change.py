"""Where a setting stands in the user's files, and the diff that gives it another value, adds it or takes it out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.edit import Edit, applied
from nccl_logscan.configs.model import Config
from nccl_logscan.configs.rewriting import Rewriting
from nccl_logscan.configs.secrets import shown_diff
from nccl_logscan.expressions import deferred
from nccl_logscan.position import Position
from nccl_logscan.records import dataclass, replace
from nccl_logscan.remedy.circumstances import Circumstances, Standing, frameworks_of, takes_options_of
from nccl_logscan.remedy.naming import Named
from nccl_logscan.remedy.values import UNSET, corrects, is_relative, is_value, target, unmade

_LONGEST_DIFF = 16_384


@dataclass(frozen=True, slots=True)
class Change:
    """`where`, `present`, `to` and `diff` as in PlannedStep; `name` is the setting's as it is written there.

    `is_wrong`: the setting is made, and otherwise than it should be. `instead`: what is shown is another setting that
    has this one's place. `changed` are the files that the diff changes, each with its change.
    """

    where: Position | None = None
    present: str | None = None
    to: str | None = None
    diff: str | None = None
    is_wrong: bool = False
    name: str | None = None
    instead: bool = False
    changed: tuple[tuple[Config, Rewriting], ...] = ()


def change_of(wanted: Named, around: Circumstances, *, changes: bool, adds: bool) -> Change:
    """Return where the setting is made, else with `adds` where it would go, and with `changes` the diff of it."""
    if made := _made(wanted, around):
        return _of_files(made, wanted, around, diff=changes)
    if rival := _rival(wanted, around):
        return Change(rival.placed.at, present_in(rival), is_wrong=True, name=rival.placed.name, instead=True)
    change = _of_log(wanted, around)
    if change is not None and not change.is_wrong:
        return change
    to = change.to if change else unmade(wanted.to, _default(wanted, around))
    if to == UNSET or not adds:
        return change or Change(to=to)
    added = _added(replace(wanted, to=to), around, diff=changes)
    if change is not None:
        return replace(change, diff=added.diff, changed=added.changed) if added else change
    return added or Change(to=to)


_EXCLUSIVE = (frozenset({"--mem", "--mem-per-cpu", "--mem-per-gpu"}),)
"""Slurm takes one of these: https://slurm.schedmd.com/sbatch.html#OPT_mem."""


def _rival(wanted: Named, around: Circumstances) -> Standing | None:
    """Return where the files make a setting that excludes this one, which may then not be added beside it."""
    others = (name for names in _EXCLUSIVE if wanted.name in names for name in sorted(names - {wanted.name}))
    return next((standing for name in others for standing in around.standings(name, wanted.framework)), None)


def _default(wanted: Named, around: Circumstances) -> str | None:
    """Return the value that holds where nobody makes the setting, if the job is seen to run what has it."""
    return wanted.option.default if wanted.option and around.uses(wanted.option) else None


def _of_log(wanted: Named, around: Circumstances) -> Change | None:
    """Return the setting as the log shows it to be made."""
    logged = next((setting for setting in around.job.settings if setting.name in wanted.names), None)
    if logged is None:
        return None
    to = _due(wanted, logged.value)
    is_wrong = corrects(wanted.to) and (wanted.to is None or to is not None)
    return Change(logged.at, logged.value, to or _kept(wanted), None, is_wrong, logged.name)


def _kept(wanted: Named) -> str | None:
    """What to show for a setting that may stay: a value to have, never a change to make."""
    return None if wanted.to is None or is_relative(wanted.to) else wanted.to


def _made(wanted: Named, around: Circumstances) -> tuple[Standing, ...]:
    """Return where the files make the setting, those of its own framework alone where several could be meant."""
    found = [standing for name in dict.fromkeys(wanted.names) for standing in around.standings(name, wanted.framework)]
    if wanted.framework is not None:
        found = [one for one in found if takes_options_of(one.placed.framework, wanted.framework)]
    unique = {(one.config.name, one.placed.span.start, one.placed.name): one for one in found}
    order = {id(config): number for number, config in enumerate(around.configs)}
    return tuple(sorted(unique.values(), key=lambda one: (order[id(one.config)], one.placed.span.start)))


def _of_files(made: Sequence[Standing], wanted: Named, around: Circumstances, *, diff: bool) -> Change:
    wrong = [one for one in made if wanted.to is None or _target(one, wanted) is not None]
    first = (wrong or made)[0]
    to = _target(first, wanted) or _kept(wanted)
    if to == UNSET and first.placed.scalar == "boolean":
        to = "false"
    changed = _changed(wrong, wanted, around) if diff and wanted.to is not None else ()
    return Change(
        first.placed.at,
        present_in(first),
        to,
        "".join(diff_text(config, one.edits(), around.may_show) or "" for config, one in changed) or None,
        bool(wrong) and corrects(wanted.to),
        first.placed.name,
        changed=changed,
    )


def present_in(standing: Standing) -> str | None:
    """Return a setting's value now: what the program would get, else, of an expression, how it is written."""
    placed = standing.placed
    if placed.value is not None or placed.value_span is None:
        return placed.value
    written = standing.config.data[placed.value_span.start : placed.value_span.end]
    return written.decode("utf-8", "replace") if len(written) <= 200 and b"\n" not in written else None


def _target(standing: Standing, wanted: Named) -> str | None:
    return _due(wanted, present_in(standing))


def _due(wanted: Named, present: str | None) -> str | None:
    """Return the value due in place of the present one; a log that says more than is asked for may stay as it is."""
    if wanted.name == "NCCL_DEBUG" and (present or "").upper() in _SAYS_MORE:
        return None
    return target(wanted.to, present, wanted.unit)


_SAYS_MORE = frozenset({"INFO", "TRACE"})


def _changed(wrong: Sequence[Standing], wanted: Named, around: Circumstances) -> tuple[tuple[Config, Rewriting], ...]:
    """Return the files that make the setting otherwise than it should be, each with its change."""
    parts = []
    for _, group in groupby(wrong, key=lambda one: one.config.name):
        standings = tuple(group)
        config = standings[0].config
        edits = [_edit(one, wanted, around) for one in standings]
        made = [edit for edit in edits if edit is not None]
        rewriting = Rewriting.of(config.data).with_edits(made)
        if len(made) == len(edits) and _keeps_the_rest(config, rewriting.data, wanted, around):
            parts.append((config, rewriting))
    return tuple(parts)


def _edit(standing: Standing, wanted: Named, around: Circumstances) -> Edit | None:
    config, placed = standing.config, standing.placed
    syntax, to = around.syntaxes.get(config.syntax), _target(standing, wanted)
    if syntax is None or to is None:
        return None
    if to == UNSET:
        return syntax.change(config, placed, "false") if placed.scalar == "boolean" else syntax.remove(config, placed)
    value = fitted(to, config)
    return syntax.change(config, placed, value) if value is not None and is_value(wanted.kind, value) else None


_SOMETHING = "VALUE"
"""Stands for a value that only the site knows, where it is asked in which line the setting would go."""


def _added(wanted: Named, around: Circumstances, *, diff: bool) -> Change | None:
    """Return the change that makes the setting in the first file that has a place for it."""
    is_known = diff and wanted.to is not None and is_value(wanted.kind, wanted.to)
    for config in _places_for(wanted, around):
        syntax = around.syntaxes.get(config.syntax)
        value = fitted(wanted.to or "", config) if is_known else _SOMETHING
        if syntax is None or value is None:
            continue
        for kind, name in _forms(wanted, config):
            edit = syntax.add(config, kind, name, value)
            if edit is None:
                continue
            if not is_known:
                return Change(_first_line(config, edit), to=wanted.to, name=name)
            after = applied(config.data, [edit])
            if _keeps_the_rest(config, after, wanted, around) and _is_in_place(config, after, name, wanted, around):
                return Change(
                    _first_line(config, edit),
                    None,
                    wanted.to,
                    diff_text(config, (edit,), around.may_show),
                    name=name,
                    changed=((config, Rewriting.of(config.data).with_edits([edit])),),
                )
    return None


_DEEP = frozenset({"kubernetes", "docker"})
"""In manifests and compose files a setting belongs to a container or a pod; at the file's root it means nothing."""


def _is_in_place(config: Config, after: bytes, name: str, wanted: Named, around: Circumstances) -> bool:
    """Whether what was added lies below the keys that it belongs to."""
    if wanted.framework not in _DEEP or config.syntax not in {"yaml", "json"}:
        return True
    made = _mine(around.syntaxes[config.syntax].read(config.name, after), wanted, around)
    return all(len(one.placed.name) > len(name) for one in made)


def _places_for(wanted: Named, around: Circumstances) -> Iterator[Config]:
    """Yield the files that may make the setting: any that starts the job for a variable, else its framework's own."""
    if wanted.kind is Kind.ENV:
        yield from sorted(around.changeable, key=lambda config: not config.launches)
        return
    for config in around.changeable:
        own = frozenset(frameworks_of(config))
        if wanted.framework is not None and any(takes_options_of(framework, wanted.framework) for framework in own):
            yield config


def _forms(wanted: Named, config: Config) -> Iterator[tuple[Kind, str]]:
    """Yield the ways in which a file of this syntax may write the setting, the rule's own name first."""
    for name in dict.fromkeys((wanted.name, *wanted.names)):
        if wanted.kind in {Kind.ENV, Kind.K8S_FIELD, Kind.HOST_COMMAND}:
            yield wanted.kind, name
        elif name.startswith("-"):
            yield Kind.CLI_FLAG, name
        elif "(" in name:
            yield Kind.PYTHON_KWARG, name
        else:
            yield Kind.JSON_KEY if config.syntax == "json" else Kind.YAML_KEY, name


def _first_line(config: Config, edit: Edit) -> Position:
    """Return the line that an insertion begins in: the one after, where it begins with the end of a line."""
    start = edit.start + (edit.text.startswith(b"\n") and edit.start < len(config.data))
    return config.lines.position(config.name, start)


def _keeps_the_rest(config: Config, after: bytes, wanted: Named, around: Circumstances) -> bool:
    """Whether the changed file, read again, makes the setting as wanted and all other settings as before."""
    again = around.syntaxes[config.syntax].read(config.name, after)
    now, before = _mine(again, wanted, around), _mine(config, wanted, around)
    right = (bool(now) or wanted.to == UNSET) and not any(_still_wrong(one, wanted, config) for one in now)
    return right and len(again.faults) <= len(config.faults) and _others(config, before) == _others(again, now)


def _mine(config: Config, wanted: Named, around: Circumstances) -> tuple[Standing, ...]:
    alone = Circumstances(around.job, (config,), around.syntaxes, around.catalogue)
    names = dict.fromkeys((wanted.name, *wanted.names))
    return tuple(one for name in names for one in alone.standings(name, wanted.framework))


def _still_wrong(now: Standing, wanted: Named, before: Config) -> bool:
    to = wanted.to or ""
    if is_relative(to):
        return present_in(now) is None
    return target(fitted(to, before), present_in(now), wanted.unit) is not None


def _others(config: Config, mine: Sequence[Standing]) -> list[tuple[str, str | None]]:
    own = {id(one.placed) for one in mine}
    return [(placed.name, placed.value) for placed in config.settings if id(placed) not in own]


def diff_text(config: Config, edits: Sequence[Edit], may_show: Callable[[str], bool]) -> str | None:
    """Return what edits do to a file as text, with as many lines around it as hold no secret.

    None for no change, and where the text could not be shown as it is: bytes that are no UTF-8, a secret beside it.
    """
    # A carriage return would be lost in a report.
    diff = shown_diff(config, edits, lambda line: "\r" not in line and may_show(line))
    if not diff or len(diff) > _LONGEST_DIFF:
        return None
    try:
        return diff.decode("utf-8")
    except UnicodeDecodeError:
        return None


_TIMEDELTA_CALL = deferred(r"\bdatetime\.timedelta\(")
_IMPORTS_MODULE = deferred(rb"^[ \t]*import datetime\b(?! as)", re.MULTILINE)
_IMPORTS_NAME = deferred(rb"^[ \t]*from datetime import [^\n]*\btimedelta\b(?! as)", re.MULTILINE)


def fitted(to: str, config: Config) -> str | None:
    """Return a value as a file can hold it: in Python with names that it imports; None where it imports none."""
    if config.syntax != "python" or not _TIMEDELTA_CALL.search(to):
        return to
    if _IMPORTS_MODULE.search(config.data):
        return to
    return _TIMEDELTA_CALL.sub("timedelta(", to) if _IMPORTS_NAME.search(config.data) else None
