"""Does this version of the framework take this key?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nccl_logscan.catalogue.model import Fate, Kind, Option
from nccl_logscan.catalogue.versions import version
from nccl_logscan.configs.model import Form
from nccl_logscan.configs.pins import package_of
from nccl_logscan.lint.edits import removed
from nccl_logscan.lint.hydra import of_override
from nccl_logscan.lint.job import Job, covers
from nccl_logscan.lint.made import Made
from nccl_logscan.lint.marking import remark
from nccl_logscan.lint.model import Check, Remark, Severity

_TIMEOUT = "process-group-timeout"


def check_keys(job: Job) -> Iterator[Remark]:
    """Yield a remark for each key of a framework that its version ignores, or at which it aborts."""
    for made in job.made:
        of_option = _of_option(made, job) if made.placed.kind is not Kind.ENV else None
        if found := of_option or of_override(made, job):
            yield found


def _of_option(made: Made, job: Job) -> Remark | None:
    options = job.options_for(made)
    frameworks = {option.framework for option in options}
    # A name that several frameworks have says nothing where the file does not tell whose it is.
    if len(frameworks) != 1:
        return None
    in_use = job.version_of(options[0].framework)
    covering = [option for option in options if covers(option, in_use)]
    dead = [option for option in covering if option.dead]
    if dead and len(dead) == len(covering):
        return _dead(made, dead[0], in_use)
    if dead and not in_use:
        return _dead_later(made, dead[0])
    if not covering and in_use:
        return _outside(made, options, in_use)
    return None


def _dead(made: Made, option: Option, in_use: str | None) -> Remark:
    aborts = option.fate is Fate.ABORTS
    severity = Severity.ERROR if in_use or not option.since else Severity.WARNING
    which = f"{option.framework} {in_use}" if in_use else option.framework
    which += f" from {option.since} on" if option.since and not in_use else ""
    problem = f"{which} {'stops at' if aborts else 'ignores'} {made.placed.name}: {_sentence(option.effect)}"
    check = Check.KEY_ABORTS if aborts else Check.KEY_IGNORED
    advice = "take it out" if aborts else "take it out: it changes nothing"
    if option.concept == _TIMEOUT:
        advice += ". A longer time-out helps only where the late rank would arrive"
    return remark(made, check, severity, problem, advice, option.source, fix=removed(made))


def _dead_later(made: Made, option: Option) -> Remark:
    problem = f"{option.framework} {option.since} and later: {_sentence(option.effect)}"
    advice = f"find out which {option.framework} runs; take the key out if it is {option.since} or later"
    tells = f"pip show {package_of(option.framework)}"
    return remark(made, Check.KEY_IGNORED, Severity.NOTE, problem, advice, option.source, tells=tells)


def _outside(made: Made, options: Sequence[Option], in_use: str) -> Remark | None:
    """Say that the version in use does not have the key: argparse and Hydra stop at such a one."""
    option = options[0]
    is_early = all(version(other.since) > version(in_use) for other in options)
    last = max(options, key=lambda other: version(other.until))
    if not is_early and last.afterwards is Fate.IGNORED:
        return _unread(made, last, in_use)
    when = f"from {min((other.since for other in options), key=version)} on" if is_early else ""
    when = when or f"up to {last.until}"
    check, severity, does = Check.KEY_ABORTS, Severity.ERROR, "stops at"
    if made.placed.form not in {Form.FLAG, Form.OVERRIDE}:
        check, severity, does = Check.NOT_YET if is_early else Check.REMOVED, Severity.WARNING, "does nothing with"
    elif made.placed.mark:
        return None
    problem = f"{option.framework} {in_use} {does} {made.placed.name}, which it has {when}"
    advice = "take it out, or use the setting that this version has"
    return remark(made, check, severity, problem, advice, option.source, fix=removed(made))


def _unread(made: Made, option: Option, in_use: str) -> Remark:
    problem = f"{option.framework} {in_use} takes {made.placed.name} and does nothing with it: it is read up to "
    problem += option.until
    return remark(
        made,
        Check.KEY_IGNORED,
        Severity.ERROR,
        problem,
        "take it out: it changes nothing",
        option.source,
        fix=removed(made),
    )


def _sentence(text: str) -> str:
    return text.strip().removesuffix(".")
