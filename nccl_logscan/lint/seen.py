"""Lint of the variables that a log shows."""

from __future__ import annotations

from collections.abc import Sequence

from nccl_logscan.catalogue.load import catalogue
from nccl_logscan.configs.model import Placed
from nccl_logscan.lint.ages import check_ages
from nccl_logscan.lint.duplicates import check_duplicates
from nccl_logscan.lint.job import Job, Made
from nccl_logscan.lint.judged import judged
from nccl_logscan.lint.model import Remark, Versions
from nccl_logscan.lint.practices import check_practices
from nccl_logscan.lint.values import check_values

# Who reads a name, of what type a value is written and where it arrives are questions to a file.
_CHECKS = (check_ages, check_values, check_practices, check_duplicates)


def lint_seen(placed: Sequence[Placed], versions: Versions) -> tuple[Remark, ...]:
    """Return what is wrong with variables that a log shows being read (Form.LOGGED), in their order in the log."""
    job = Job((), tuple(Made(setting, None) for setting in placed), versions, catalogue())
    return tuple(sorted(judged(job, _CHECKS), key=lambda found: (found.at, found.column, found.check)))
