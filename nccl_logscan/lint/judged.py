"""What checks say of a job, each thing once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from nccl_logscan.lint.job import Job
from nccl_logscan.lint.model import Check, Remark

_HAS_NO_EFFECT = frozenset(
    {Check.MISSPELT, Check.READ_BY_NOTHING, Check.REMOVED, Check.NOT_YET, Check.KEY_IGNORED, Check.OUT_OF_REACH}
)


def judged(job: Job, checks: Iterable[Callable[[Job], Iterator[Remark]]]) -> Iterator[Remark]:
    """Yield what checks say, once a setting and check; of a setting that has no effect nothing more is said."""
    said: set[tuple[str, int, str, Check]] = set()
    idle: set[tuple[str, int, str]] = set()
    for check in checks:
        for found in check(job):
            setting = (found.at.source, found.at.line, found.name)
            if (*setting, found.check) in said or setting in idle:
                continue
            said.add((*setting, found.check))
            if found.check in _HAS_NO_EFFECT:
                idle.add(setting)
            yield found
