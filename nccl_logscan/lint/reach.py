"""Does the setting arrive at the processes that are to read it?"""

from __future__ import annotations

from collections.abc import Iterator

from nccl_logscan.catalogue.model import Kind, Reader
from nccl_logscan.configs.edit import Edit
from nccl_logscan.configs.model import Form, Forwards, Launch
from nccl_logscan.expressions import deferred
from nccl_logscan.lint.edits import added, removed
from nccl_logscan.lint.job import Job
from nccl_logscan.lint.made import Made
from nccl_logscan.lint.marking import remark
from nccl_logscan.lint.model import Check, Remark, Severity
from nccl_logscan.lint.reach_python import in_program
from nccl_logscan.lint.script import SLURM, Script
from nccl_logscan.lint.spelling import is_own

RAY_SOURCE = "https://docs.ray.io/en/latest/ray-observability/user-guides/debug-apps/general-debugging.html"
_DOCKER_SOURCE = "https://docs.docker.com/reference/cli/docker/container/run/#env"
_MPI_SOURCE = "https://docs.open-mpi.org/en/main/man-openmpi/man1/mpirun.1.html"
_SLURM_SOURCE = "https://slurm.schedmd.com/srun.html#OPT_export"
_DEEPSPEED_SOURCE = "https://github.com/deepspeedai/DeepSpeed/blob/edaa7221/deepspeed/launcher/runner.py#L37"
_SSH_SOURCE = "https://man.openbsd.org/ssh"
_BASH_SOURCE = "https://www.gnu.org/software/bash/manual/bash.html#Environment"
_DOCKERFILE_SOURCE = "https://docs.docker.com/reference/dockerfile/#run"

_READ_BY_A_JOB = deferred(r"(?:FI|UCX|GLOO|OFI)_[A-Z0-9_]+|DEEPSPEED_TIMEOUT")
_BEGINS_COMMAND = deferred(rb"(?:^|[;&|{(]|\b(?:then|do|else))[ \t]*\Z")
_CONF_SOURCE = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html"


def check_reach(job: Job) -> Iterator[Remark]:
    """Yield a remark for each variable that is set where the job's processes do not get it."""
    for config in job.configs:
        own = [made for made in job.by_file[config.name] if made.placed.kind is Kind.ENV and is_for_the_job(made, job)]
        if not own:
            continue
        if config.syntax == "shell":
            script = Script(config, job.by_file[config.name])
            for part in (script, *script.fed):
                asked = (made for made in own if part.makes(made)) if script.fed else own
                yield from filter(None, (_in_script(part, made) for made in asked))
        elif config.syntax == "dockerfile":
            kept = {made.placed.name for made in own if _is_kept(made)}
            # What a build hands on (ENV X=$X) or uses is meant for it.
            lost = (made for made in own if made.placed.name not in kept and not job.uses(made))
            yield from filter(None, map(_in_dockerfile, lost))
        elif config.syntax == "nccl-conf":
            yield from filter(None, (_in_nccl_conf(made, job) for made in own))
        elif config.syntax == "python":
            yield from in_program(config, own, job)


def is_for_the_job(made: Made, job: Job) -> bool:
    """Return whether the job's processes are those that read the variable."""
    variable = job.catalogue.variable(made.placed.name)
    if variable is None or variable.reader is Reader.OTHER:
        name = made.placed.name
        return made.is_given and _READ_BY_A_JOB.fullmatch(name) is not None and not is_own(name)
    return made.is_given and variable.reader is not Reader.NOBODY


# --- shell -----------------------------------------------------------------------------------------------------


def _in_script(script: Script, made: Made) -> Remark | None:
    form, name = made.placed.form, made.placed.name
    if script.is_elsewhere(made):
        return None
    if form is Form.ASSIGNMENT:
        return _not_exported(script, made)
    if form not in {Form.EXPORT, Form.COMMAND_PREFIX} or name in script.handed_over:
        return None
    if form is Form.COMMAND_PREFIX:
        launch = script.launch_of(made)
        return _missed(made, launch) if launch and script.misses(launch, name) else None
    return _export(script, made)


def _export(script: Script, made: Made) -> Remark | None:
    name, at = made.placed.name, made.placed.span.end
    if ray := _under_ray(script, made):
        return ray
    later = script.launches_after(at)
    if script.runs_here_after(at):
        return None
    if later:
        return None if script.reaches_after(name, at) else _missed(made, later[0])
    return _after_the_launch(script, made)


def _not_exported(script: Script, made: Made) -> Remark | None:
    """NCCL_DEBUG=INFO on a line of its own, and a command later that should get it."""
    name, span = made.placed.name, made.placed.span
    if script.uses(name) or name in script.handed_over or name in script.exported or not script.runs_after(span.end):
        return None
    assert made.config is not None
    fix: tuple[Edit, ...] = ()
    if _BEGINS_COMMAND.search(made.config.data[made.placed.at.offset : span.start]):
        fix = (Edit(span.start, span.start, b"export "),)
    return remark(
        made,
        Check.OUT_OF_REACH,
        Severity.WARNING,
        f"{name} is assigned and never exported, so no command that the script starts gets it",
        f"write export {name}=...",
        _BASH_SOURCE,
        fix=fix,
    )


def _after_the_launch(script: Script, made: Made) -> Remark | None:
    """An export after the last command that runs anything; a script without any is there to be sourced."""
    at = made.placed.span.start
    if (
        not script.launches
        or script.launches[0].span.start >= at
        or script.runs_after(at)
        or script.uses(made.placed.name)
    ):
        return None
    return remark(
        made,
        Check.OUT_OF_REACH,
        Severity.WARNING,
        f"{made.placed.name} is exported after the command that should get it has run",
        "move the line before the launch",
        _BASH_SOURCE,
    )


# --- launchers that hand over only what they are told to ---------------------------------------------------------


def _missed(made: Made, launch: Launch) -> Remark:
    problem, advice, source = _told(launch, made.placed.name)
    fix: tuple[Edit, ...] = ()
    if launch.program not in SLURM:
        # What only adds another export would not reach them either.
        fix = tuple(edit for edit in added(made) if b"export" not in edit.text)
    return remark(made, Check.OUT_OF_REACH, Severity.WARNING, problem, advice, source, fix=fix)


def _told(launch: Launch, name: str) -> tuple[str, str, str]:
    """Say why a launch does not hand the variable over, what to write, and where that is said."""
    program, line = launch.program, launch.at.line
    if program in SLURM:
        problem = f"--export of {program} in line {line} hands over only what it names, and {name} is not among that"
        if launch.forwards is Forwards.NOTHING:
            problem = f"--export=NONE of {program} in line {line} hands over nothing of the script's environment"
        return problem, f"write --export=ALL, or name {name} in it", _SLURM_SOURCE
    if program in {"mpirun", "mpiexec", "orterun", "prterun"}:
        problem = (
            f"{program} in line {line} starts processes on other hosts, which do not get {name}: it has no -x for it"
        )
        return problem, f"add -x {name} to {program}", _MPI_SOURCE
    if program in {"docker", "podman", "nerdctl"}:
        problem = f"an export outside does not enter the container that line {line} starts"
        return problem, f"add -e {name} to {program} run", _DOCKER_SOURCE
    if program == "deepspeed":
        problem = f"deepspeed in line {line} hands over names that begin with NCCL, PYTHON, MV2 or UCX to other hosts, "
        return problem + f"and {name} does not", f"write {name}=... into .deepspeed_env", _DEEPSPEED_SOURCE
    if program.startswith("ray") or launch.framework in {"ray", "verl", "openrlhf"}:
        problem = f"Ray's workers get the environment of `ray start` on their own host, not that of line {line}"
        return problem, f"put {name} into env_vars of the runtime_env", RAY_SOURCE
    problem = f"{program} in line {line} starts commands on other hosts, which do not get what is exported here"
    return problem, f"set {name} in the command that {program} runs", _SSH_SOURCE


def _under_ray(script: Script, made: Made) -> Remark | None:
    """An export on one host, when Ray's workers on others (or a Ray that runs already) are to get it."""
    if not script.is_under_ray:
        return None
    at, name = made.placed.span.start, made.placed.name
    starts = script.ray_starts
    run_together = [start for start in starts if script.may_follow(at, start.at)]
    before = [start for start in run_together if start.at < at]
    if before and len(before) == len(run_together):
        problem = f"Ray is started before {name} is exported, and its workers have the environment of `ray start`"
        advice = "export it before `ray start` on every host, or put it into env_vars of the runtime_env"
    elif script.ray_nodes > 1 and not any(start.joins for start in starts):
        problem = f"{name} is exported on this host only, and Ray does not hand it to the workers of the other "
        problem += f"{script.ray_nodes - 1} nodes"
        advice = "put it into env_vars of the runtime_env, or export it before `ray start` on every host"
    else:
        return None
    if script.is_verl:
        advice += f": +ray_kwargs.ray_init.runtime_env.env_vars.{name}=..."
    return remark(made, Check.OUT_OF_REACH, Severity.WARNING, problem, advice, RAY_SOURCE)


# --- Dockerfile ------------------------------------------------------------------------------------------------


def _is_kept(made: Made) -> bool:
    """Whether ENV makes the setting, which containers of the image then have."""
    return made.placed.form is Form.DOCKER_ENV and made.placed.program != "build"


def _in_dockerfile(made: Made) -> Remark | None:
    """RUN export X=Y, or ARG X=Y: neither outlives the build."""
    name, form = made.placed.name, made.placed.form
    if form in {Form.EXPORT, Form.ASSIGNMENT}:
        problem = f"an export in RUN ends with that step of the build: containers of the image do not have {name}"
    elif form is Form.DOCKER_ENV and made.placed.program == "build":
        problem = f"ARG is for the build alone: containers of the image do not have {name}"
    else:
        return None
    advice = f"write ENV {name}=..."
    return remark(made, Check.OUT_OF_REACH, Severity.WARNING, problem, advice, _DOCKERFILE_SOURCE)


def _in_nccl_conf(made: Made, job: Job) -> Remark | None:
    """NCCL's own file sets variables for NCCL alone, when its first communicator is made."""
    variable = job.catalogue.variable(made.placed.name)
    if variable is None or variable.reader is not Reader.TORCH:
        return None
    problem = (
        f"NCCL reads this file when it starts, and PyTorch has read {made.placed.name} by then, or looks elsewhere"
    )
    advice = "set it in the environment of the job"
    return remark(made, Check.OUT_OF_REACH, Severity.WARNING, problem, advice, _CONF_SOURCE, fix=removed(made))
