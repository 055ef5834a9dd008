"""Which of the files that nobody named set a job up: beside a log lie notes, labels and records of runs as well.

A line of such a file changes nothing, so advice must not point to it. What a user names is taken at their word.
"""

from __future__ import annotations

import re
from collections import defaultdict

from nccl_logscan.catalogue.load import Catalogue
from nccl_logscan.configs.model import Config, Form
from nccl_logscan.diagnosis.verdict import Job
from nccl_logscan.expressions import deferred
from nccl_logscan.lint.gate import may_speak
from nccl_logscan.remedy.circumstances import frameworks_of

_MAPPINGS = frozenset({"yaml", "json", "toml"})
# Keys that say what to start, as SkyPilot, Determined, AzureML, dstack, MosaicML, Hydra, GitLab and GitHub write them.
_STARTS = deferred(
    rb'(?:^[ \t]*(?:-[ \t]+)?|[{,][ \t]*)"?'
    rb"(?:(?:run|commands?|cmd|args|entry_?point|scripts?|containers|containerDefinitions|launcher|program)"
    # A number there counts runs.
    rb'"?[ \t]*[:=](?![ \t"]*\d)|(?:hydra|--[a-z][-_a-z0-9]*)"?[ \t]*[:=])',
    re.MULTILINE,
)
# POSIX shells keep these themselves and export them: a file that gives them is the output of `env` or `export -p`.
_OF_THE_SHELL = frozenset({"SHLVL", "OLDPWD"})
_OF_THE_LOGIN = frozenset({"PWD", "HOME"})
_HANDED_ON = frozenset({"run(env=)", "Popen(env=)", "call(env=)", "check_call(env=)", "check_output(env=)"})


# The words by which programs that start processes are called (see configs/shell/launchers.py).
_LAUNCHERS = frozenset(
    {
        "torchrun", "distributed", "deepspeed", "accelerate", "horovodrun", "ray", "mpirun", "mpiexec", "orterun",
        "prterun", "prun", "mpirun_rsh", "srun", "sbatch", "salloc", "docker", "podman", "nerdctl", "nvidia_docker",
        "singularity", "apptainer", "enroot", "kubectl", "ssh", "pdsh", "clush", "pssh", "parallel_ssh",
    }
)  # fmt: skip
_LONG = 1 << 15
"""Bytes; no launch script or configuration that people write is much longer."""
_WORD = deferred(rb"[A-Za-z_]\w*(?:-\w+)*")


def may_set_a_job_up(data: bytes, catalogue: Catalogue) -> bool:
    """Return whether a file is worth parsing: it holds a word without which `sets_a_job_up` is False, and where it is
    long, and so mostly data, a name that lint knows.
    """
    if data[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        return True  # UTF-16 is for the parsers to judge
    if len(data) > _LONG and not may_speak(data):
        return False
    words = {word.decode().replace("-", "_") for word in _WORD.findall(data)}
    if not words.isdisjoint(_LAUNCHERS) or not words.isdisjoint(catalogue.option_words):
        return True
    return any(catalogue.variable(word) for word in words)


def sets_a_job_up(config: Config, catalogue: Catalogue) -> bool:
    """Return whether a file that nobody named makes a known setting, or starts processes, for a job."""
    return _concerns_training(config, catalogue) and not _is_dump(config) and _is_read_by_something(config)


def is_of_another_job(config: Config, job: Job) -> bool:
    """Return whether a file gives a variable another value than the log shows, so that it did not start this job."""
    made: dict[str, set[str | None]] = defaultdict(set)
    for placed in config.settings:
        made[placed.name].add(None if placed.fallback or placed.form is Form.UNSET else placed.value)
    logged: dict[str, set[str]] = defaultdict(set)
    for setting in job.settings:
        logged[setting.name].add(setting.value)
    return any(None not in made[name] and _differ(made[name], logged[name]) for name in made.keys() & logged.keys())


def _differ(made: set[str | None], logged: set[str]) -> bool:
    # NCCL prints numbers as it has read them: 0x10 as 16, 4M as 4.
    same_form = all(value.isdecimal() for value in logged) <= all((value or "").isdecimal() for value in made)
    return same_form and {str(value).casefold() for value in made}.isdisjoint(value.casefold() for value in logged)


def _concerns_training(config: Config, catalogue: Catalogue) -> bool:
    return bool(config.launches) or any(
        catalogue.variable(placed.name) or catalogue.options_called(placed.name) for placed in config.settings
    )


def _is_dump(config: Config) -> bool:
    """Whether a file shows a process's whole environment, as it was."""
    names = {placed.name for placed in config.settings}
    return not config.launches and (not names.isdisjoint(_OF_THE_SHELL) or names >= _OF_THE_LOGIN)


def _is_read_by_something(config: Config) -> bool:
    """Whether a launcher, a framework or the program itself takes the settings; a mapping alone may be a note."""
    if config.launches or any(frameworks_of(config)):
        return True
    if config.syntax == "python":
        return any(
            placed.form is not Form.ENV_MAPPING and _acts(placed.name, placed.form) for placed in config.settings
        )
    return config.syntax not in _MAPPINGS or _STARTS.search(config.data) is not None


def _acts(name: str, form: Form) -> bool:
    return form is not Form.PYTHON_KWARG or name in _HANDED_ON
