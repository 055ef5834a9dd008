"""A verdict to a plan: the rules' steps in the user's own terms, repeats dropped, the likeliest fix first."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

from nccl_logscan.catalogue.frameworks import RIVALS
from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.pins import package_of
from nccl_logscan.diagnosis.diagnose import facts_of, fill
from nccl_logscan.diagnosis.findings import Finding
from nccl_logscan.diagnosis.verdict import Diagnosis, PlannedStep
from nccl_logscan.expressions import deferred
from nccl_logscan.records import dataclass, replace
from nccl_logscan.remedy.along import changed_along
from nccl_logscan.remedy.change import Change, change_of
from nccl_logscan.remedy.circumstances import Circumstances, takes_options_of
from nccl_logscan.remedy.naming import Named, named
from nccl_logscan.remedy.values import UNSET, depends_on_site, is_at_least, is_exclusion, is_relative
from nccl_logscan.rulebook.rule import Step
from nccl_logscan.taxonomy import Action

_STEPS = 24
_CONSEQUENCES = 3
_EFFECTS = {"fix": 0, "workaround": 1, "inspect": 2}
_VERSION_OF = deferred(r"(?:(vllm|ray|torch|pytorch|nccl)\s+)?v?(\d.*)", re.IGNORECASE)
_SUBJECT = {"torch": "pytorch"}


def make_plan(diagnosis: Diagnosis, around: Circumstances | None = None) -> tuple[PlannedStep, ...]:
    """Return what to do: fixes and workarounds of the cause, what to look at, and last what not to do.

    A step that corrects a setting which the user's files or the log show to be made comes before one that would add a
    setting. Of the consequences only the warnings (`do_not`) are taken over: mending an echo mends nothing.
    """
    if diagnosis.finding is None:
        return ()
    around = around or Circumstances()
    steps = list(_steps_of(diagnosis.finding, diagnosis, around, only_warnings=False))
    for finding in diagnosis.consequences[:_CONSEQUENCES]:
        steps += _steps_of(finding, diagnosis, around, only_warnings=True)
    said_first: dict[tuple[str | bool | None, ...], _Ranked] = {}
    for step in steps:
        said_first.setdefault(_gist(step.planned), step)
    return tuple(_each_change_once(sorted(said_first.values(), key=lambda step: step.rank)))[:_STEPS]


def _each_change_once(steps: Sequence[_Ranked]) -> Iterator[PlannedStep]:
    """Yield the steps without the diffs of what the diff of a step before them has changed along with its own."""
    done: set[tuple[str, str | None]] = set()
    for step in steps:
        planned = step.planned
        if planned.diff and (planned.because, step.source.setting) in done:
            yield replace(planned, diff=None)
            continue
        if planned.diff:
            done |= {(planned.because, name) for name, _ in step.source.along}
        yield planned


def _gist(step: PlannedStep) -> tuple[str | bool | None, ...]:
    """What a step comes to: two that give one setting the same value are one, whatever their words."""
    if step.setting and step.to is not None:
        return step.setting, step.to, step.do_not
    return step.title, step.command, step.setting


@dataclass(frozen=True, slots=True)
class _Ranked:
    planned: PlannedStep
    source: Step
    rank: tuple[int, ...]


def _steps_of(
    finding: Finding, diagnosis: Diagnosis, around: Circumstances, *, only_warnings: bool
) -> Iterator[_Ranked]:
    values = facts_of(finding, diagnosis.culprit)
    steps = (*finding.rule.remediation, *finding.rule.confirm)
    for number, step in enumerate(steps, start=1):
        if (only_warnings and not step.do_not) or not _concerns(step, around):
            continue
        for planned, change in _planned(step, number, finding, values, around):
            yield _Ranked(planned, step, _rank(planned, step, change, diagnosis, around))


def _concerns(step: Step, around: Circumstances) -> bool:
    """Whether the job is seen to use what the step is for."""
    return not step.given or any(takes_options_of(seen, name) for seen in around.seen for name in step.given)


def _rank(
    step: PlannedStep, source: Step, change: Change, diagnosis: Diagnosis, around: Circumstances
) -> tuple[int, ...]:
    """What is wrong where we can see it goes first, then what carries out the verdict's action, fixes, workarounds."""
    mends = step.effect in {"fix", "workaround"}
    leaves_out = step.setting == "--exclude" and diagnosis.action is Action.RESTART_WITHOUT_NODE
    elsewhere = step.framework is not None and step.framework not in around.frameworks
    is_so_already = step.present is not None and step.present == step.to
    nothing_to_do = is_so_already or (step.to == UNSET and not change.is_wrong)
    return (
        step.do_not,
        not (mends and change.is_wrong),
        not leaves_out,
        _EFFECTS["inspect" if _only_waits_longer(source) else step.effect],
        _is_rivalled(step, around) if elsewhere else False,
        nothing_to_do,
    )


def _only_waits_longer(step: Step) -> bool:
    """Whether a step makes up for a failure by a larger limit: what used the old one up comes first."""
    return step.effect == "workaround" and step.to is not None and is_at_least(step.to)


def _is_rivalled(step: PlannedStep, around: Circumstances) -> bool:
    """Whether the job is seen to run under something else that has the place of this step's framework."""
    return any(step.framework in rivals and rivals & around.frameworks for rivals in RIVALS)


# --- One step ------------------------------------------------------------------------------------------------


def _planned(
    step: Step, number: int, finding: Finding, values: dict[str, str], around: Circumstances
) -> Iterator[tuple[PlannedStep, Change]]:
    plain = _filled(step, number, finding, values)
    if step.setting is None:
        if _in_use(step, "nccl", around):
            yield plain, Change()
        return
    kind = Kind(plain.kind)
    names = step.settings
    known = [(name, wanted) for name in names for wanted in named(name, kind, plain.to, around)]
    fitting = [(name, wanted) for name, wanted in known if _suits(step, name, wanted, around)]
    changes = [(name, wanted, _change(step, wanted, around)) for name, wanted in fitting]
    # Of several settings that one step names, those that are made; where none is, the step as a whole.
    shown = [entry for entry in changes if entry[2].where is not None] or changes[:1]
    for name, wanted, change in shown:
        whole = len(names) > 1 and change.where is None
        yield _in_own_terms(plain, step.setting if whole else name, wanted, change, whole=whole), change


def _suits(step: Step, name: str, wanted: Named, around: Circumstances) -> bool:
    """Whether a version in use takes the step; another name for the setting comes with versions of its own."""
    return wanted.name != name or _in_use(step, _subject_of(name, wanted, around), around)


def _subject_of(name: str, wanted: Named, around: Circumstances) -> str:
    variable = around.catalogue.variable(name)
    if variable is not None:
        return {"torch": "pytorch"}.get(variable.reader.value, variable.reader.value)
    return wanted.framework or "nccl"


def _in_use(step: Step, subject: str, around: Circumstances) -> bool:
    for bound in (step.since, step.until):
        if bound is not None and (match := _VERSION_OF.fullmatch(bound)) and match[1]:
            subject = _SUBJECT.get(match[1].lower(), match[1].lower())
    return around.in_use(subject, _number(step.since), _number(step.until))


def _number(bound: str | None) -> str | None:
    match = _VERSION_OF.fullmatch(bound) if bound else None
    return match[2] if match else None


def _change(step: Step, wanted: Named, around: Circumstances) -> Change:
    to = wanted.to
    told_by_log = step.to is not None and "{" in step.to
    known = not step.do_not and to is not None and (told_by_log or not depends_on_site(wanted.name, to))
    known = known and wanted.doubt is None
    change = change_of(wanted, around, changes=known, adds=not step.do_not)
    if step.along and change.changed:
        change = changed_along(change, step.along, around)
    if step.effect == "workaround" and step.to is not None and is_relative(step.to):
        # What might be larger is not at fault for being as it is.
        return replace(change, is_wrong=False)
    if to is not None and not told_by_log and is_exclusion(to) and not is_exclusion(change.present or "^"):
        # The user names what to use: which of the site's own is right instead, the log does not tell.
        return replace(change, diff=None, changed=())
    return change


def _in_own_terms(plain: PlannedStep, name: str, wanted: Named, change: Change, *, whole: bool) -> PlannedStep:
    shown = name if whole else _shown_name(name, wanted, change)
    renamed = not whole and not change.instead and shown != name
    return replace(
        plain,
        title=_renamed(plain.title, name, shown) if renamed else plain.title,
        command=_command(plain, name, shown, wanted) if renamed else plain.command,
        kind=wanted.kind.value,
        setting=shown,
        to=_shown_to(wanted, change),
        risk=_risk(plain, wanted),
        source=wanted.source or plain.source if wanted.own else plain.source or wanted.source,
        present=change.present,
        where=change.where,
        diff=change.diff,
        framework=wanted.framework,
        unit=wanted.unit,
    )


def _risk(plain: PlannedStep, wanted: Named) -> str | None:
    """Return the rule's risk, and what is to be known of the version before the setting can be trusted."""
    if wanted.doubt is None:
        return plain.risk
    known = f"From {wanted.doubt.framework} {wanted.doubt.since} on nothing reads this setting: see the version first."
    return f"{known} {plain.risk or ''}".strip()


def _shown_to(wanted: Named, change: Change) -> str | None:
    """Return the value to show; a share of an unknown value is told by the step's title."""
    if change.to is not None or change.instead or wanted.to is None:
        return change.to
    return None if is_relative(wanted.to) else wanted.to


def _shown_name(name: str, wanted: Named, change: Change) -> str:
    """Return the setting as the file writes it; of a key far down in a manifest only its end, as it is known by."""
    if change.name is not None:
        written = re.sub(r"\[\d+\]", "[]", change.name)
        return next((known for known in wanted.names if written.endswith(f".{known}")), change.name)
    return wanted.name if wanted.own or wanted.name != name else name


def _renamed(title: str, name: str, shown: str) -> str:
    return re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", lambda _: shown, title)


def _command(plain: PlannedStep, name: str, shown: str, wanted: Named) -> str | None:
    """Return the rule's command under the other name; none where that is another framework's, or no command's."""
    if wanted.doubt is not None:
        return f"pip show {package_of(wanted.doubt.framework)}"
    if wanted.own or plain.command is None or name.startswith("-") is not shown.startswith("-"):
        return None
    return _renamed(plain.command, name, shown)


def _filled(step: Step, number: int, finding: Finding, values: dict[str, str]) -> PlannedStep:
    return PlannedStep(
        id=f"{finding.rule.id}#{number}",
        title=step.do,
        kind=step.kind or Kind.HOST_COMMAND.value,
        setting=step.setting,
        to=fill(step.to, values) if step.to else None,
        command=fill_command(step.run, values) if step.run else None,
        owner=step.owner,
        effect=step.effect,
        on=fill(step.on, values) if step.on else None,
        why=step.why or "",
        risk=step.risk,
        do_not=step.do_not,
        since=step.since,
        until=step.until,
        source=step.source,
        because=finding.rule.id,
    )


def fill_command(command: str, values: dict[str, str]) -> str | None:
    """Fill a command's placeholders, quoted for a shell; None if the log did not say one of them."""
    return fill(command, {name: shlex.quote(value) for name, value in values.items()})
