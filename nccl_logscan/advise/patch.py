"""Patch: the edits of a launch script that make it as advised."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from nccl_logscan.advise.table import Advice, Mark, Place, Row
from nccl_logscan.advise.view import Advised
from nccl_logscan.catalogue.load import flag_form
from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.edit import Edit, applied, unified_diff
from nccl_logscan.configs.model import Config, Form, Placed
from nccl_logscan.configs.read import syntax_named
from nccl_logscan.lint.model import Check, Versions
from nccl_logscan.lint.run import lint

_DEAD = frozenset(
    {Check.READ_BY_NOTHING, Check.REMOVED, Check.HARMFUL_COPY, Check.LEFTOVER, Check.KEY_IGNORED, Check.KEY_ABORTS}
)
_PATCHED = frozenset({Kind.ENV, Kind.CLI_FLAG})
_ROUNDS = 8
_CONTEXTS = (3, 2, 1)
"""Lines around a change: `git apply` takes no hunk without any."""


@dataclass(frozen=True, slots=True)
class Patch:
    """A unified diff, b"" for no change, and sentences on what it could not do and why."""

    diff: bytes
    notes: tuple[str, ...]


def patch(advised: Advised, config: Config, may_show: Callable[[str], bool]) -> Patch:
    """Return the change of a launch script: what is dead or harmful taken out, what is needed put in.

    Only what is certain is changed; a needed setting that depends on something not said, or for which the script has no
    place, is a note. `may_show` says of a line whether it holds no secret: with fewer lines around the change, or none
    at all, such a line is not shown.
    """
    changed, notes = _with_needed(advised, _cleaned(advised, config))
    if len(changed.faults) > len(config.faults):
        return Patch(b"", ("no safe change was found; --format shell has the settings",))
    diff = _shown(config, changed.data, may_show)
    if diff is None:
        return Patch(b"", ("a secret stands beside the change, so it is not shown; --format shell has the settings",))
    return Patch(diff, tuple(notes))


def _cleaned(advised: Advised, config: Config) -> Config:
    """Return the script without what is dead or harmful; in rounds, since edits of settings in one place overlap."""
    for _ in range(_ROUNDS):
        edits = (*_dead(advised, config), *_corrected(advised, config))
        after = _read_again(config, applied(config.data, edits))
        if after is config:
            break
        config = after
    return config


def _shown(config: Config, after: bytes, may_show: Callable[[str], bool]) -> bytes | None:
    for context in _CONTEXTS:
        diff = unified_diff(config.name, config.data, after, context)
        if all(may_show(line) for line in diff.decode("utf-8", "replace").split("\n")):
            return diff
    return None


def _dead(advised: Advised, config: Config) -> Iterator[Edit]:
    run = advised.run
    own = {run.framework.name: run.framework_version} if run.framework_version else {}
    for remark in lint((config,), Versions(run.nccl, run.torch, own)):
        if remark.check in _DEAD:
            yield from remark.fix
    condemned = [
        advice.row for advice in (*advised.marked(Mark.HARMFUL), *advised.marked(Mark.FOLKLORE)) if not advice.provided
    ]
    for placed in config.settings:
        if placed.form is not Form.UNSET and any(_is(row, placed) and row.condemns(placed.value) for row in condemned):
            edit = syntax_named(config.syntax).remove(config, placed)
            if edit is not None:
                yield edit


def _corrected(advised: Advised, config: Config) -> Iterator[Edit]:
    for row in _certain(advised):
        for placed in config.settings:
            if _is(row, placed) and row.bad and row.condemns(placed.value):
                edit = syntax_named(config.syntax).change(config, placed, row.value)
                if edit is not None:
                    yield edit


def _with_needed(advised: Advised, config: Config) -> tuple[Config, list[str]]:
    notes = []
    for advice in advised.marked(Mark.NEEDED):
        row = advice.row
        if any(_is(row, placed) and placed.form is not Form.UNSET for placed in config.settings):
            continue
        edit = None if advice.provided else _added(row, advised.place, config)
        if edit is None:
            notes.append(_note(advice))
        else:
            # One after the other: each is placed in view of those before it.
            config = _read_again(config, applied(config.data, (edit,)))
    return config, notes


def _added(row: Row, place: Place, config: Config) -> Edit | None:
    if row.kind is Kind.ENV and (config.syntax != "shell" or place.takes_from_shell(row.setting)):
        return syntax_named(config.syntax).add(config, row.kind, row.setting, row.value)
    return syntax_named(config.syntax).add(config, row.kind, row.setting, row.value) if row.adds else None


def _certain(advised: Advised) -> Iterator[Row]:
    return (advice.row for advice in advised.marked(Mark.NEEDED) if not advice.provided and advice.row.kind in _PATCHED)


def _note(advice: Advice) -> str:
    row = advice.row
    condition = f" if {', '.join(advice.provided)}" if advice.provided else ""
    where = f" ({advice.where})" if advice.where else ""
    return f"not in the patch: {row.setting} {row.value}{condition}{where}"


def _is(row: Row, placed: Placed) -> bool:
    return flag_form(placed.name) == flag_form(row.setting)


def _read_again(config: Config, data: bytes) -> Config:
    return config if data == config.data else syntax_named(config.syntax).read(config.name, data)
