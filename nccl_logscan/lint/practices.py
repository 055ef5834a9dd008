"""Valid values that are wrong all the same: contradictory pairs, harmful copies, leftovers of debugging."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from nccl_logscan.catalogue.model import Practice
from nccl_logscan.catalogue.practice import spoken_of
from nccl_logscan.catalogue.versions import within
from nccl_logscan.configs.edit import Edit
from nccl_logscan.lint.job import Job, Made, changed, remark, removed
from nccl_logscan.lint.model import Check, Remark, Severity


def check_practices(job: Job) -> Iterator[Remark]:
    """Yield a remark for each practice that speaks of the job's settings, at the setting that it is about."""
    settings = _settings(job.made)
    for practice in job.catalogue.practices:
        about = job.by_name.get(practice.when[0].name, ())
        if not about or not _is_for(practice, job):
            continue
        for made in about:
            # A setting that is made twice is judged by each of its values.
            if made.is_given and spoken_of(practice, {**settings, made.placed.name: made.placed.value}):
                yield _remark(practice, made, job)


def _settings(all_made: Sequence[Made]) -> Mapping[str, str | None]:
    """Return the values by name; None for a name that is made with two of them."""
    found: dict[str, str | None] = {}
    for made in all_made:
        name, value = made.placed.name, made.placed.value
        if made.is_given:
            found[name] = value if found.get(name, value) == value else None
    return found


def _is_for(practice: Practice, job: Job) -> bool:
    """Whether the practice is for the versions in use; one for some of them is silent where they are not known."""
    for wanted, in_use in ((practice.nccl, job.versions.nccl), (practice.torch, job.versions.torch)):
        if wanted and (in_use is None or not within(in_use, wanted)):
            return False
    return True


def _remark(practice: Practice, made: Made, job: Job) -> Remark:
    severity = Severity(practice.severity)
    fix = tuple(edit for name, value in practice.fix.items() for edit in _fix(made, name, value, job))
    return remark(
        made,
        Check(practice.check),
        severity,
        practice.problem,
        practice.advice,
        practice.source,
        fix=fix,
        tells=practice.tells,
    )


def _fix(made: Made, name: str, value: str, job: Job) -> Iterator[Edit]:
    """Yield the edits for one setting of a practice's fix: of this very setting, or of those in its file."""
    for target in (made,) if name == made.placed.name else job.by_name.get(name, ()):
        if target.config is made.config and target.is_given:
            yield from changed(target, value) if value else removed(target)
