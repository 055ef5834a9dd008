"""Python programs that set a variable after it has been read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from nccl_logscan.catalogue.model import Reader
from nccl_logscan.configs.model import Config, Form
from nccl_logscan.lint.job import Job, Made, remark
from nccl_logscan.lint.model import Check, Remark, Severity
from nccl_logscan.lint.scopes import Scopes

# At the beginning of its line, so that it runs with the module: what a function does may come later or never.
_INIT = re.compile(rb"(?m)^(?:[\w.]+[ \t]*=[ \t]*)?(?:[\w.]{0,100}\.)?init_process_group[ \t]*\(")
_COLLECTIVE = re.compile(
    rb"(?m)^(?:[\w.]+[ \t]*=[ \t]*)?(?:[\w.]{0,100}\.)?"
    rb"(?:barrier|all_reduce|broadcast|all_gather\w*|reduce_scatter\w*|DistributedDataParallel|DDP|FullyShardedDataParallel"
    rb"|FSDP)[ \t]*\("
)
# With an address ray.init joins a Ray that runs already, and whose workers have the environment of `ray start`.
_RAY_CLUSTER = re.compile(rb"\bray\.init[ \t]*\((?:[^()]|\([^()]{0,500}\)){0,2000}?\baddress[ \t]*=")
_RAY_SOURCE = "https://docs.ray.io/en/latest/ray-observability/user-guides/debug-apps/general-debugging.html"
_SOURCE = "https://docs.pytorch.org/docs/stable/distributed.html"


def in_program(config: Config, variables: Sequence[Made], job: Job) -> Iterator[Remark]:
    """Yield a remark for each variable that the module sets too late, or in a process that hands it to nobody."""
    if joins := _RAY_CLUSTER.search(config.data):
        yield from _in_driver(config, variables, joins.start())
        return
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
            severity = Severity.WARNING
        elif _COLLECTIVE.search(config.data, init.end(), span.start):
            when = "the first collective, at which NCCL reads it,"
            severity = Severity.WARNING
        else:
            # Without device_id NCCL starts at the first collective, which may still be to come.
            when = "init_process_group, which may have read it,"
            severity = Severity.NOTE
        problem = f"{made.placed.name} is set after {when} has run"
        advice = "set it before, best before torch is imported or in the launch script"
        yield remark(made, Check.OUT_OF_REACH, severity, problem, advice, _SOURCE)


def _in_driver(config: Config, variables: Sequence[Made], joins: int) -> Iterator[Remark]:
    """Judge what is set for the driver: another function than that which joins Ray may run in a worker."""
    scopes = Scopes(config)
    handed = {placed.name for placed in config.settings if placed.form is Form.RUNTIME_ENV}
    for made in variables:
        if made.placed.form is not Form.PYTHON_ENVIRON or made.placed.name in handed:
            continue
        if not scopes.holds_at(made, joins):
            continue
        problem = f"{made.placed.name} is set in Ray's driver alone: workers have the environment of `ray start`"
        advice = f"put {made.placed.name} into env_vars of the runtime_env"
        yield remark(made, Check.OUT_OF_REACH, Severity.WARNING, problem, advice, _RAY_SOURCE)
