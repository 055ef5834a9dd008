"""Lint: from the files of a job to what is wrong with its settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from nccl_logscan.catalogue.load import catalogue
from nccl_logscan.configs.model import Config, Placed
from nccl_logscan.lint.ages import check_ages
from nccl_logscan.lint.duplicates import check_duplicates
from nccl_logscan.lint.job import Job, Made, job_of
from nccl_logscan.lint.keys import check_keys, check_types
from nccl_logscan.lint.model import Check, Remark, Versions
from nccl_logscan.lint.names import check_names
from nccl_logscan.lint.practices import check_practices
from nccl_logscan.lint.reach import check_reach
from nccl_logscan.lint.values import check_values

CHECKS: tuple[Callable[[Job], Iterator[Remark]], ...] = (
    check_names,
    check_ages,
    check_types,
    check_values,
    check_keys,
    check_practices,
    check_reach,
    check_duplicates,
)
"""Every check, what makes others pointless first: of two remarks on one setting that say the same the first stays."""

_HAS_NO_EFFECT = frozenset(
    {Check.MISSPELT, Check.READ_BY_NOTHING, Check.REMOVED, Check.NOT_YET, Check.KEY_IGNORED, Check.OUT_OF_REACH}
)


def lint(configs: Sequence[Config], versions: Versions, *, fixes: bool = True) -> tuple[Remark, ...]:
    """Return what is wrong with a job's settings, by file in the order given and by place in it.

    The files are of one job: a pair that contradicts itself may stand in two of them. A version that `versions` does
    not name is taken from the files, where one pins it. Without `fixes` most remarks have none: looking for them costs
    several times as much as all else, since each is proved by reading the file again.
    """
    order = {config.name: number for number, config in enumerate(configs)}
    remarks = _judged(job_of(configs, versions, fixes=fixes))
    return tuple(sorted(remarks, key=lambda found: (order[found.at.source], found.at.line, found.column, found.check)))


def lint_seen(placed: Sequence[Placed], versions: Versions) -> tuple[Remark, ...]:
    """Return what is wrong with variables that a log shows being read (Form.LOGGED), in their order in the log."""
    job = Job((), tuple(Made(setting, None) for setting in placed), versions, catalogue())
    return tuple(sorted(_judged(job), key=lambda found: (found.at, found.column, found.check)))


def _judged(job: Job) -> Iterator[Remark]:
    said: set[tuple[str, int, str, Check]] = set()
    idle: set[tuple[str, int, str]] = set()
    for check in CHECKS:
        for found in check(job):
            setting = (found.at.source, found.at.line, found.name)
            if (*setting, found.check) in said or setting in idle:
                continue
            said.add((*setting, found.check))
            if found.check in _HAS_NO_EFFECT:
                idle.add(setting)
            yield found
