"""Does the version in use read this variable? Deprecated, removed, not yet there."""

from __future__ import annotations

from collections.abc import Iterator

from nccl_logscan.catalogue.model import Reader, Variable
from nccl_logscan.catalogue.versions import version
from nccl_logscan.configs.edit import Edit
from nccl_logscan.lint.edits import removed
from nccl_logscan.lint.job import Job
from nccl_logscan.lint.made import Made
from nccl_logscan.lint.marking import remark
from nccl_logscan.lint.model import Check, Remark, Severity
from nccl_logscan.lint.renaming import renamed

_CALLED = {Reader.NCCL: "NCCL", Reader.TORCH: "PyTorch"}
_TELLS = {
    Reader.NCCL: "python -c 'import torch; print(torch.cuda.nccl.version())'",
    Reader.TORCH: "python -c 'import torch; print(torch.__version__)'",
}
# NCCL 2.18 came with PyTorch 2.1 (2023), and PyTorch 2.2 is of January 2024: what was removed or renamed by then is so
# for every job that anyone still starts.
_LONG_AGO = {Reader.NCCL: (2, 18), Reader.TORCH: (2, 2)}


def check_ages(job: Job) -> Iterator[Remark]:
    """Yield a remark for each variable that the version in use no longer reads, does not read yet, or deprecates."""
    for made in job.variables:
        variable = job.catalogue.variable(made.placed.name)
        if variable is None or not variable.verified or variable.reader not in _CALLED:
            continue
        found = _by_age(made, variable, _in_use(variable, job), job)
        if found:
            yield found


def _in_use(variable: Variable, job: Job) -> str | None:
    return job.versions.nccl if variable.reader is Reader.NCCL else job.versions.torch


def _by_age(made: Made, variable: Variable, in_use: str | None, job: Job) -> Remark | None:
    if variable.removed_in and _reaches(in_use, variable.removed_in):
        return _removed(made, variable, in_use, job)
    if in_use and variable.since and version(in_use) < version(variable.since):
        return _not_yet(made, variable, in_use)
    if variable.removed_in and not in_use:
        return _removed(made, variable, None, job)
    # A name with a successor is deprecated whatever the version, unless that is known to be an older one.
    if (variable.deprecated_in or variable.replaced_by) and not variable.removed_in:
        return _deprecated(made, variable, in_use, job)
    return None


def _reaches(in_use: str | None, bound: str) -> bool:
    return in_use is not None and version(in_use) >= version(bound)


def _removed(made: Made, variable: Variable, in_use: str | None, job: Job) -> Remark:
    who = _CALLED[variable.reader]
    is_long_ago = version(variable.removed_in or "") <= _LONG_AGO[variable.reader]
    problem = f"{who} {variable.removed_in} and later do not read {variable.name}"
    problem += f", and this job has {in_use}" if in_use else ""
    is_certain = in_use is not None or is_long_ago
    fix = _replacement(made, variable, job) or removed(made)
    return remark(
        made,
        Check.REMOVED,
        Severity.ERROR if in_use else Severity.WARNING if is_long_ago else Severity.NOTE,
        problem,
        _use_instead(variable, "remove it"),
        variable.source,
        fix=fix if is_certain else (),
        tells=None if is_certain else _TELLS[variable.reader],
    )


def _not_yet(made: Made, variable: Variable, in_use: str) -> Remark:
    who = _CALLED[variable.reader]
    problem = f"{who} reads {variable.name} from {variable.since} on, and this job has {in_use}: it does nothing"
    return remark(
        made, Check.NOT_YET, Severity.ERROR, problem, f"upgrade {who}, or remove the variable", variable.source
    )


def _deprecated(made: Made, variable: Variable, in_use: str | None, job: Job) -> Remark | None:
    since = variable.deprecated_in
    if in_use and since and version(in_use) < version(since):
        return None
    who = _CALLED[variable.reader]
    is_certain = bool(since) and (in_use is not None or version(since or "") <= _LONG_AGO[variable.reader])
    problem = f"{variable.name} is deprecated" + (f" since {who} {since}" if since else "") + ", though still read"
    return remark(
        made,
        Check.DEPRECATED,
        Severity.NOTE,
        problem,
        _use_instead(variable, "do without it"),
        variable.source,
        # NCCL's old names are aliases, which other builds of it know better than the new ones (RCCL).
        fix=_replacement(made, variable, job) if is_certain and variable.reader is Reader.TORCH else (),
        tells=None if is_certain else _TELLS[variable.reader],
    )


def _use_instead(variable: Variable, otherwise: str) -> str:
    return f"use {variable.replaced_by} instead" if variable.replaced_by else otherwise


def _replacement(made: Made, variable: Variable, job: Job) -> tuple[Edit, ...]:
    """Return the edits for a successor that takes the same values; () where it does not, or is set already."""
    name, _, value = (variable.replaced_by or "").partition("=")
    successor = job.catalogue.variable(name)
    if successor is None or not variable.keeps_value or value or name in job.by_name or job.uses(made):
        return ()
    return renamed(made, successor)
