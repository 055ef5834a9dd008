"""Lint: from the files of a job to what is wrong with its settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from nccl_logscan.configs.model import Config
from nccl_logscan.lint.ages import check_ages
from nccl_logscan.lint.duplicates import check_duplicates
from nccl_logscan.lint.job import Job, job_of
from nccl_logscan.lint.judged import judged
from nccl_logscan.lint.keys import check_keys, check_types
from nccl_logscan.lint.model import Remark, Versions
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


def lint(configs: Sequence[Config], versions: Versions, *, fixes: bool = True) -> tuple[Remark, ...]:
    """Return what is wrong with a job's settings, by file in the order given and by place in it.

    The files are of one job: a pair that contradicts itself may stand in two of them. A version that `versions` does
    not name is taken from the files, where one pins it. Without `fixes` most remarks have none: looking for them costs
    several times as much as all else, since each is proved by reading the file again.
    """
    order = {config.name: number for number, config in enumerate(configs)}
    remarks = judged(job_of(configs, versions, fixes=fixes), CHECKS)
    return tuple(sorted(remarks, key=lambda found: (order[found.at.source], found.at.line, found.column, found.check)))
