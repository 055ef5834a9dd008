"""Patch: the edits of a launch script that make it as advised."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from nccl_logscan.advise.table import Advice, Mark, Place, Row
from nccl_logscan.advise.view import Advised
from nccl_logscan.catalogue.load import flag_form
from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.edit import Edit
from nccl_logscan.configs.model import Config, Form, Placed
from nccl_logscan.configs.read import syntax_named
from nccl_logscan.configs.rewriting import Rewriting
from nccl_logscan.configs.secrets import shown_diff
from nccl_logscan.lint.model import Check, Remark, Severity, Versions
from nccl_logscan.lint.run import lint
from nccl_logscan.records import dataclass

_DEAD = frozenset(
    {Check.READ_BY_NOTHING, Check.REMOVED, Check.HARMFUL_COPY, Check.LEFTOVER, Check.KEY_IGNORED, Check.KEY_ABORTS}
)
_IN_THE_SHELL = frozenset({Form.EXPORT, Form.ASSIGNMENT, Form.COMMAND_PREFIX})
_MOST_EDITS = 100


@dataclass(frozen=True, slots=True)
class Patch:
    """A unified diff, b"" for no change; what it does and why; and what it could not do."""

    diff: bytes
    reasons: tuple[str, ...]
    notes: tuple[str, ...]


def patch(advised: Advised, config: Config, may_show: Callable[[str], bool]) -> Patch:
    """Return the change of a launch script: what is dead or harmful taken out, what is needed put in.

    Only what is certain is changed; a needed setting that depends on something not said, or for which the script has no
    place, is a note. `may_show` says of a line whether it may be printed, and holds no secret: with fewer lines around
    the change, or none at all, such a line is not shown.
    """
    reasons: list[str] = []
    notes: list[str] = []
    draft = _with_needed(advised, _cleaned(advised, _Draft(config, Rewriting.of(config.data)), reasons), reasons, notes)
    if len(draft.now.faults) > len(config.faults):
        return Patch(b"", (), ("no safe change was found; --format shell has the settings",))
    diff = shown_diff(config, draft.rewriting.edits(), may_show)
    if diff is None:
        told = (
            "a secret, or what a terminal or a CI runner would obey, stands beside the change, so it is not shown; "
            "--format shell has the settings"
        )
        return Patch(b"", (), (told,))
    return Patch(diff, tuple(dict.fromkeys(reasons)), tuple(notes))


@dataclass(frozen=True, slots=True)
class _Draft:
    """A script in the course of its changes: as it is `now`, and what was done to it."""

    now: Config
    rewriting: Rewriting

    def edited(self, edits: Iterable[Edit]) -> _Draft:
        """Return the draft with edits of `now` made too."""
        rewriting = self.rewriting.with_edits(edits)
        return _Draft(syntax_named(self.now.syntax).read(self.now.name, rewriting.data), rewriting)


def _cleaned(advised: Advised, draft: _Draft, reasons: list[str]) -> _Draft:
    """Return the script without what is dead or harmful.

    One change after the other: each is proved by itself, and of two in one statement (`export A=1 B=2`) the second must
    be made in view of the first.
    """
    for _ in range(_MOST_EDITS):
        edits, reason = next(_edits(advised, draft.now), ((), ""))
        after = draft.edited(edits)
        if after.now.data == draft.now.data:
            break
        draft = after
        reasons.append(reason)
    return draft


def _edits(advised: Advised, config: Config) -> Iterator[tuple[tuple[Edit, ...], str]]:
    yield from _removals(advised, config)
    for remark in _remarks(advised, config):
        if remark.check in _DEAD and remark.fix and not _stays(advised, remark.name):
            yield remark.fix, f"{remark.name}: {remark.problem} ({remark.source})"
    yield from _corrections(advised, config)


def _removals(advised: Advised, config: Config) -> Iterator[tuple[tuple[Edit, ...], str]]:
    for placed in config.settings:
        reason = None if placed.form is Form.UNSET else _against(advised, placed)
        edit = syntax_named(config.syntax).remove(config, placed) if reason else None
        if edit is not None:
            yield (edit,), f"{placed.name}: {reason}"


def _against(advised: Advised, placed: Placed) -> str | None:
    """Return what speaks against a setting for certain."""
    for claim in advised.claims:
        if claim.dead and placed.name in claim.names:
            return f"{claim.fact} ({claim.source})"
    for advice in advised.advice:
        row = advice.row
        if not advice.provided and _is(row, placed) and _goes(row, placed):
            return f"{row.why} ({row.source})"
    return None


def _goes(row: Row, placed: Placed) -> bool:
    if row.mark in {Mark.HARMFUL, Mark.FOLKLORE}:
        return row.condemns(placed.value)
    return row.unexported and placed.form in _IN_THE_SHELL


def _stays(advised: Advised, name: str) -> bool:
    return any(advice.row.stays and advice.row.setting == name for advice in advised.advice)


def _corrections(advised: Advised, config: Config) -> Iterator[tuple[tuple[Edit, ...], str]]:
    for advice in advised.marked(Mark.NEEDED):
        row = advice.row
        if advice.provided or not row.bad:
            continue
        for placed in config.settings:
            if _is(row, placed) and row.condemns(placed.value):
                edit = syntax_named(config.syntax).change(config, placed, row.value)
                if edit is not None:
                    yield (edit,), f"{row.setting}={row.value}: {row.risk} ({row.source})"


def _remarks(advised: Advised, config: Config) -> tuple[Remark, ...]:
    run = advised.run
    own = {run.framework.name: run.framework_version} if run.framework_version else {}
    return lint((config,), Versions(run.nccl, run.torch, own))


def _with_needed(advised: Advised, draft: _Draft, reasons: list[str], notes: list[str]) -> _Draft:
    for advice in advised.marked(Mark.NEEDED):
        row = advice.row
        if _is_met(row, draft.now):
            continue
        after = None if advice.provided else _added(advised, row, draft)
        if after is None:
            notes.append(_note(advice))
        else:
            draft = after
            reasons.append(f"{row.setting}: {row.why} ({row.source})")
    return draft


def _added(advised: Advised, row: Row, draft: _Draft) -> _Draft | None:
    """Return the script with a setting; None where it has no place for it from which the workers would get it."""
    config = draft.now
    if not (row.adds or (row.kind is Kind.ENV and _may_stand_in(config, advised.place, row))):
        return None
    edit = syntax_named(config.syntax).add(config, row.kind, row.setting, row.value)
    if edit is None:
        return None
    after = draft.edited((edit,))
    made = [placed for placed in after.now.settings if _is(row, placed) and placed.form is not Form.UNSET]
    reaches = config.syntax != "shell" or row.kind is not Kind.ENV or advised.place.exports(row.setting)
    if not made or not (reaches or all(placed.form not in _IN_THE_SHELL for placed in made)):
        return None
    wrong = any(
        found.name == row.setting and found.severity is not Severity.NOTE for found in _remarks(advised, after.now)
    )
    return None if wrong else after


def _may_stand_in(config: Config, place: Place, row: Row) -> bool:
    return config.syntax != "shell" or place.form != "comment" or place.exports(row.setting)


def _note(advice: Advice) -> str:
    row = advice.row
    condition = f" if {', '.join(advice.provided)}" if advice.provided else ""
    where = f" ({advice.where})" if advice.where else ""
    return f"not in the patch: {row.setting} {row.value}{condition}{where}"


def _is_met(row: Row, config: Config) -> bool:
    others = {flag_form(name) for name in row.unless}
    return any(
        placed.form is not Form.UNSET and (_is(row, placed) or flag_form(placed.name) in others)
        for placed in config.settings
    )


def _is(row: Row, placed: Placed) -> bool:
    return flag_form(placed.name) == flag_form(row.setting)
