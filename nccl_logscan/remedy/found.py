"""Which of the files that nobody named set a job up: beside a log lie notes, labels and records of runs as well.

A line of such a file changes nothing, so advice must not point to it. What a user names is taken at their word.
"""

from __future__ import annotations

import re

from nccl_logscan.catalogue.load import Catalogue
from nccl_logscan.configs.model import Config, Form
from nccl_logscan.remedy.circumstances import frameworks_of

_MAPPINGS = frozenset({"yaml", "json", "toml"})
# Keys that say what to start, as SkyPilot, Determined, AzureML, dstack, MosaicML, Hydra, GitLab and GitHub write them.
_STARTS = re.compile(
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


def sets_a_job_up(config: Config, catalogue: Catalogue) -> bool:
    """Return whether a file that nobody named makes a known setting, or starts processes, for a job."""
    return _concerns_training(config, catalogue) and not _is_dump(config) and _is_read_by_something(config)


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
