"""Python programs that set a variable after it has been read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nccl_logscan.catalogue.model import Reader, Variable
from nccl_logscan.configs.model import Config, Form
from nccl_logscan.expressions import deferred
from nccl_logscan.lint.job import Job
from nccl_logscan.lint.made import Made
from nccl_logscan.lint.marking import remark
from nccl_logscan.lint.model import Check, Remark, Severity
from nccl_logscan.lint.scopes import Scopes

# At the beginning of its line, so that it runs with the module: what a function does may come later or never.
_INIT = deferred(rb"(?m)^(?:[\w.]+[ \t]*=[ \t]*)?(?:[\w.]{0,100}\.)?init_process_group[ \t]*\(")
_COLLECTIVE = deferred(
    rb"(?m)^(?:[\w.]+[ \t]*=[ \t]*)?(?:[\w.]{0,100}\.)?"
    rb"(?:barrier|all_reduce|broadcast|all_gather\w*|reduce_scatter\w*|DistributedDataParallel|DDP|FullyShardedDataParallel"
    rb"|FSDP)[ \t]*\("
)
# With an address ray.init joins a Ray that runs already, and whose workers have the environment of `ray start`.
_RAY_CLUSTER = deferred(rb"\bray\.init[ \t]*\((?:[^()]|\([^()]{0,500}\)){0,2000}?\baddress[ \t]*=")
_RAY_SOURCE = "https://docs.ray.io/en/latest/ray-observability/user-guides/debug-apps/general-debugging.html"
_SOURCE = "https://docs.pytorch.org/docs/stable/distributed.html"


def in_program(config: Config, variables: Sequence[Made], job: Job) -> Iterator[Remark]:
    """Yield a remark for each variable that the module sets too late, or in a process that hands it to nobody."""
    if joins := _RAY_CLUSTER.search(config.data):
        yield from _in_driver(config, variables, joins.start())
        return
    init = _INIT.search(config.data)
    if init is not None:
        yield from _too_late(config.data, init.end(), variables, job)


def _too_late(data: bytes, started: int, variables: Sequence[Made], job: Job) -> Iterator[Remark]:
    """Judge what the module sets behind init_process_group, which ends at the byte `started`."""
    collective = _COLLECTIVE.search(data, started)
    for made in variables:
        variable = job.catalogue.variable(made.placed.name)
        if variable is None or not _is_set_behind(made, started):
            continue
        has_run = collective is not None and collective.end() <= made.placed.span.start
        when, severity = _read_by(variable, a_collective_has_run=has_run)
        problem = f"{made.placed.name} is set after {when} has run"
        advice = "set it before, best before torch is imported or in the launch script"
        yield remark(made, Check.OUT_OF_REACH, severity, problem, advice, _SOURCE)


def _is_set_behind(made: Made, started: int) -> bool:
    """Whether the module itself, and no function of it, sets the variable behind a byte."""
    begin = made.placed.span.start
    return made.placed.form is Form.PYTHON_ENVIRON and begin >= started and made.placed.at.offset == begin


def _read_by(variable: Variable, *, a_collective_has_run: bool) -> tuple[str, Severity]:
    """Return what has read the variable by then, and how sure that is."""
    if variable.reader is Reader.TORCH:
        return "init_process_group, which reads it,", Severity.WARNING
    if a_collective_has_run:
        return "the first collective, at which NCCL reads it,", Severity.WARNING
    # Without device_id NCCL starts at the first collective, which may still be to come.
    return "init_process_group, which may have read it,", Severity.NOTE


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
