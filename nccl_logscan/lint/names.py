"""Who reads this name? Misspelt, read by nothing, read by another than its name says."""

from __future__ import annotations

from collections.abc import Iterator

from nccl_logscan.catalogue.model import Reader, Variable
from nccl_logscan.catalogue.versions import version
from nccl_logscan.configs.model import Form
from nccl_logscan.expressions import deferred
from nccl_logscan.lint.edits import removed
from nccl_logscan.lint.job import Job
from nccl_logscan.lint.made import Made
from nccl_logscan.lint.marking import remark
from nccl_logscan.lint.model import Check, Remark, Severity
from nccl_logscan.lint.renaming import renamed
from nccl_logscan.lint.spelling import is_own, meant

ENVIRONMENT_SOURCE = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html"
# The catalogue says so of names that nothing reads; here it is said before.
_NOT_READ = deferred(r"^Not read[^.;:]*[.;:]?\s*")
_OWNERS = {Reader.NCCL: "NCCL", Reader.TORCH: "PyTorch"}
_WHO = {Reader.TORCH: "PyTorch", Reader.PLUGIN: "a network plugin"}


def check_names(job: Job) -> Iterator[Remark]:
    """Yield a remark for each variable that is not read, or not by the one that its name speaks of."""
    for made in job.variables:
        if made.placed.form is Form.LOGGED:
            continue
        variable = job.catalogue.variable(made.placed.name)
        found = _known(made, variable, job) if variable else _unknown(made, job)
        if found:
            yield found


def _known(made: Made, variable: Variable, job: Job) -> Remark | None:
    if variable.reader is Reader.NOBODY:
        # What a script or program itself uses is its own, whatever it is called.
        return None if job.uses(made) else _read_by_nothing(made, variable, job)
    if variable.reader in _WHO and variable.name.startswith("NCCL_") and variable.verified and not variable.replaced_by:
        return _read_by_another(made, variable, _WHO[variable.reader])
    return None


def _read_by_nothing(made: Made, variable: Variable, job: Job) -> Remark:
    meaning = _NOT_READ.sub("", _sentence(variable.meaning or ""))
    name = made.placed.name
    told = f": {meaning}" if meaning else ""
    problem = f"no version of NCCL or PyTorch reads {name}{told}"
    if name != variable.name:
        problem = f"nothing reads {name}, and nothing {variable.name} either{told}"
    elif variable.removed_in:
        problem = f"NCCL {variable.removed_in} and later do not read {name}{told}"
    successor = job.catalogue.variable(variable.replaced_by) if variable.replaced_by else None
    advice = f"remove it; what does exist is {variable.replaced_by}" if variable.replaced_by else "remove it"
    fix = removed(made)
    if successor and variable.keeps_value:
        advice = f"write {successor.name}"
        fix = () if _is_beside(made, successor.name, job) else renamed(made, successor)
    return remark(made, Check.READ_BY_NOTHING, Severity.ERROR, problem, advice, variable.source, fix=fix)


def _read_by_another(made: Made, variable: Variable, who: str) -> Remark:
    meaning = f" ({_sentence(variable.meaning)})" if variable.meaning else ""
    problem = f"{variable.name} is read by {who}, not by NCCL itself{meaning}"
    advice = f"keep it only where the job uses {who}; NCCL alone ignores it"
    return remark(made, Check.READ_BY_ANOTHER, Severity.NOTE, problem, advice, variable.source)


def _unknown(made: Made, job: Job) -> Remark | None:
    name = made.placed.name
    if job.catalogue.options_called(name) or job.uses(made):
        return None
    real = meant(name)
    variable = job.catalogue.variable(real) if real else None
    if variable and variable.reader is Reader.NOBODY:
        return _read_by_nothing(made, variable, job)
    if variable and variable.verified:
        return _misspelt(made, variable, job)
    if name.startswith("NCCL_") and not is_own(name) and made.placed.form is not Form.ASSIGNMENT:
        problem = f"nothing that is known reads {name}: not NCCL, PyTorch or a network plugin"
        advice = "check the name against NCCL's list of variables, or remove it"
        return remark(made, Check.READ_BY_NOTHING, Severity.WARNING, problem, advice, ENVIRONMENT_SOURCE)
    return None


def _misspelt(made: Made, variable: Variable, job: Job) -> Remark:
    severity = Severity.WARNING if made.placed.form is Form.ASSIGNMENT else Severity.ERROR
    problem = f"{made.placed.name} is read by nothing; the variable is called {variable.name}"
    unread = _unread_by(variable, job) if variable.reader in _OWNERS else None
    if unread:
        successor = (
            f"; what does exist is {variable.replaced_by}" if variable.removed_in and variable.replaced_by else ""
        )
        problem += f", and {_OWNERS[variable.reader]} {unread}"
        return remark(made, Check.MISSPELT, severity, problem, f"remove it{successor}", variable.source)
    # Where the right name is set as well, which of the two values counts is not for us to say.
    fix = () if job.uses(made) or _is_beside(made, variable.name, job) else renamed(made, variable)
    return remark(made, Check.MISSPELT, severity, problem, f"write {variable.name}", variable.source, fix=fix)


def _unread_by(variable: Variable, job: Job) -> str | None:
    """Say which versions do not read a variable by its right name either; None where the one in use may."""
    in_use = job.versions.torch if variable.reader is Reader.TORCH else job.versions.nccl
    if variable.removed_in and not (in_use and version(in_use) < version(variable.removed_in)):
        return f"{variable.removed_in} and later do not read that either"
    if in_use and variable.since and version(in_use) < version(variable.since):
        return f"reads that from {variable.since} on, and this job has {in_use}"
    return None


def _is_beside(made: Made, name: str, job: Job) -> bool:
    """Whether the file sets the name as well, and for the same processes: containers have an environment each."""
    for other in job.by_name.get(name, ()):
        if other.config is not made.config or made.config is None:
            continue
        first, last = sorted((made.placed.span.start, other.placed.span.start))
        if made.placed.form is not Form.ENV_LIST or b"env:" not in made.config.data[first:last]:
            return True
    return False


def _sentence(text: str) -> str:
    """Return a text as the end of a sentence of ours."""
    return text.strip().removesuffix(".")
