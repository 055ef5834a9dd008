"""Valid values that are wrong all the same: contradictory pairs, harmful copies, leftovers of debugging."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from nccl_logscan.catalogue.load import catalogue
from nccl_logscan.catalogue.model import Practice
from nccl_logscan.catalogue.practice import holds, spoken_of
from nccl_logscan.catalogue.versions import within
from nccl_logscan.configs.edit import Edit
from nccl_logscan.configs.model import Form
from nccl_logscan.lint.edits import changed, removed
from nccl_logscan.lint.guards import is_asked_for
from nccl_logscan.lint.hosts import is_on_one_host
from nccl_logscan.lint.job import Job
from nccl_logscan.lint.made import SHORT, Made
from nccl_logscan.lint.marking import remark
from nccl_logscan.lint.model import Check, Remark, Severity
from nccl_logscan.lint.surroundings import Surroundings
from nccl_logscan.records import dataclass

_BETWEEN_HOSTS = ("NCCL_IB_", "NCCL_NET")
_ORDER = {Check.BAD_VALUE: 0, Check.CONTRADICTION: 1, Check.HARMFUL_COPY: 2, Check.LEFTOVER: 3}


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A practice, when it is asked, the names that it looks at, and those that must be set for it to speak."""

    order: tuple[int, int]
    check: Check
    practice: Practice
    names: tuple[str, ...]
    needed: frozenset[str]


def check_practices(job: Job) -> Iterator[Remark]:
    """Yield a remark for each practice that speaks of the job's settings, at the setting that it is about.

    Of what is said of one setting the weightiest is: that it contradicts another one before that it is left over.
    """
    relevant = {
        prepared.order: prepared
        for name, all_made in job.by_name.items()
        for made in all_made
        for prepared in _about(name, made.placed.value)
        if job.by_name.keys() >= prepared.needed
    }
    surroundings: Surroundings | None = None
    said: set[tuple[str, str]] = set()
    for _, prepared in sorted(relevant.items()):
        if not _is_for(prepared.practice, job):
            continue
        if len(prepared.names) > 1:
            surroundings = surroundings or Surroundings(job)
        for made, severity in _spoken_of(prepared, job, surroundings):
            if (made.placed.at.source, made.key) in said and prepared.check is not Check.CONTRADICTION:
                continue
            yield _remark(prepared.practice, severity, made, job)
            if severity is not Severity.NOTE:
                said |= {(made.placed.at.source, condition.name) for condition in prepared.practice.when}


def _about(name: str, value: str | None) -> tuple[_Prepared, ...]:
    """Return the practices about a setting that may speak of it where it has this value, whatever stands beside it."""
    return _asked(name, value) if value is None or len(value) <= SHORT else _speaking(name, value)


def _speaking(name: str, value: str | None) -> tuple[_Prepared, ...]:
    return tuple(prepared for prepared in _all_about(name) if _may_speak(prepared.practice, name, value))


_asked = lru_cache(16_384)(_speaking)


def _may_speak(practice: Practice, name: str, value: str | None) -> bool:
    first = practice.when[0]
    compares = first.above_setting or first.below_setting or first.times
    return bool(compares) or holds(first, {name: value})


def is_lacking(made: Made, job: Job) -> bool:
    """Return whether a practice says that the configuration in use has no such key."""
    prepared = [each for each in _all_about(made.key) if each.check is Check.KEY_ABORTS]
    surroundings = Surroundings(job) if prepared else None
    return surroundings is not None and any(
        _is_for(each.practice, job) and spoken_of(each.practice, surroundings.beside(made, each.names))
        for each in prepared
    )


@cache
def _all_about(name: str) -> tuple[_Prepared, ...]:
    return tuple(_prepared(number, practice) for number, practice in catalogue().practices_about(name))


def _prepared(number: int, practice: Practice) -> _Prepared:
    check = Check(practice.check)
    names = {
        name
        for condition in practice.when
        for name in (condition.name, condition.above_setting, condition.below_setting, condition.times)
        if name is not None
    }
    needed = {condition.name for condition in practice.when if not condition.missing and condition.name[-1] != "*"}
    return _Prepared((_ORDER.get(check, 0), number), check, practice, tuple(sorted(names)), frozenset(needed))


def _spoken_of(prepared: _Prepared, job: Job, surroundings: Surroundings | None) -> Iterator[tuple[Made, Severity]]:
    """Yield the settings that a practice speaks of; without surroundings those whose own value says all."""
    practice, names = prepared.practice, prepared.names
    for made in job.by_name[practice.when[0].name]:
        if not made.is_given or all(one is not prepared for one in _about(made.key, made.placed.value)):
            continue
        if len(practice.when) == 1 and _is_meant(practice, made, job):
            continue
        if prepared.check is Check.KEY_ABORTS and not _must_exist(made):
            continue
        beside = surroundings.beside(made, names) if surroundings else {made.key: made.placed.value}
        elsewhere = surroundings.elsewhere(made, names) if surroundings and len(names) > 1 else {}
        if spoken_of(practice, {**dict.fromkeys(elsewhere), **beside}):
            yield made, Severity.NOTE if _is_said(practice, made) else Severity(practice.severity)
        elif elsewhere and spoken_of(practice, {**elsewhere, **beside}):
            # That the files are used together is likely, not sure.
            yield made, Severity.NOTE


def _is_meant(practice: Practice, made: Made, job: Job) -> bool:
    """Whether what looks left over is made for one command, is taken back, or does no harm where it is made."""
    if Check(practice.check) is not Check.LEFTOVER:
        return False
    if made.placed.form is Form.COMMAND_PREFIX or (made.placed.at.source, made.key) in job.taken_back:
        return True
    if is_asked_for(made):
        return True
    name = made.key
    return made.config is not None and name.startswith(_BETWEEN_HOSTS) and is_on_one_host(made.config)


def _must_exist(made: Made) -> bool:
    """Whether the program stops where it does not know the key: a flag, or an override without Hydra's plus."""
    return made.placed.form is Form.FLAG or (made.placed.form is Form.OVERRIDE and not made.placed.mark)


def _is_said(practice: Practice, made: Made) -> bool:
    """Whether the setting's file says that the value belongs to its site."""
    if practice.unless_said is None or made.config is None:
        return False
    text = f"{made.config.name}\n{made.config.data.decode('utf-8', 'replace')}"
    return re.search(practice.unless_said, text) is not None


def _is_for(practice: Practice, job: Job) -> bool:
    """Whether the practice is for the versions in use; one for some of them is silent where they are not known."""
    of_frameworks = ((wanted, job.version_of(name)) for name, wanted in practice.frameworks.items())
    for wanted, in_use in (
        (practice.nccl, job.versions.nccl),
        (practice.torch, job.versions.torch),
        *of_frameworks,
    ):
        if wanted and (in_use is None or not within(in_use, wanted)):
            return False
    return True


def _remark(practice: Practice, severity: Severity, made: Made, job: Job) -> Remark:
    fix: tuple[Edit, ...] = ()
    if severity is not Severity.NOTE:
        fix = tuple(edit for name, value in practice.fix.items() for edit in _fix(made, name, value, job))
    return remark(
        made,
        Check(practice.check),
        severity,
        practice.problem.removesuffix("."),
        practice.advice.removesuffix("."),
        practice.source,
        fix=fix,
        tells=practice.tells,
    )


def _fix(made: Made, name: str, value: str, job: Job) -> Iterator[Edit]:
    """Yield the edits for one setting of a practice's fix: of this very setting, or of those in its file."""
    for target in (made,) if name == made.key else job.by_name.get(name, ()):
        if target.config is made.config and target.is_given:
            yield from changed(target, value) if value else removed(target)
