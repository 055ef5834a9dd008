"""Python programs that set a variable after it has been read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from nccl_logscan.catalogue.model import Reader
from nccl_logscan.configs.model import Config, Form
from nccl_logscan.lint.job import Job, Made, remark
from nccl_logscan.lint.model import Check, Remark, Severity

# At the beginning of its line, so that it runs with the module: what a function does may come later or never.
_INIT = re.compile(rb"(?m)^(?:[\w.]+[ \t]*=[ \t]*)?(?:[\w.]{0,100}\.)?init_process_group[ \t]*\(")
_COLLECTIVE = re.compile(
    rb"(?m)^(?:[\w.]+[ \t]*=[ \t]*)?(?:[\w.]{0,100}\.)?"
    rb"(?:barrier|all_reduce|broadcast|all_gather\w*|reduce_scatter\w*|DistributedDataParallel|DDP|FullyShardedDataParallel"
    rb"|FSDP)[ \t]*\("
)
_SOURCE = "https://docs.pytorch.org/docs/stable/distributed.html"


def in_program(config: Config, variables: Sequence[Made], job: Job) -> Iterator[Remark]:
    """Yield a remark for each variable that the module sets after the process group has read it."""
    init = _INIT.search(config.data)
    if init is None:
        return
    for made in variables:
        span = made.placed.span
        if (
            made.placed.form is not Form.PYTHON_ENVIRON
            or span.start < init.end()
            or made.placed.at.offset != span.start
        ):
            continue
        variable = job.catalogue.variable(made.placed.name)
        if variable is None:
            continue
        if variable.reader is Reader.TORCH:
            when = "init_process_group, which reads it,"
            severity = Severity.ERROR
        elif _COLLECTIVE.search(config.data, init.end(), span.start):
            when = "the first collective, at which NCCL reads it,"
            severity = Severity.ERROR
        else:
            # Without device_id NCCL starts at the first collective, which may still be to come.
            when = "init_process_group, which may have read it,"
            severity = Severity.NOTE
        problem = f"{made.placed.name} is set after {when} has run"
        advice = "set it before, best before torch is imported or in the launch script"
        yield remark(made, Check.OUT_OF_REACH, severity, problem, advice, _SOURCE)
