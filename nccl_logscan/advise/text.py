"""The settings table for a terminal: lines of its width, the marks as headings."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from nccl_logscan.advise.memory import FAILURE_SOURCE, GPU_HOURS_PER_FAILURE, INTERVAL_SOURCE, Memory
from nccl_logscan.advise.run import Run
from nccl_logscan.advise.table import Advice, Mark
from nccl_logscan.advise.view import SIZE_DECIDES, Advised
from nccl_logscan.catalogue.model import Kind

_HEADINGS = {
    Mark.NEEDED: "NEEDED",
    Mark.DEPENDS: "DEPENDS: the command tells",
    Mark.DEFAULT: "DEFAULT ALREADY RIGHT: leave unset",
    Mark.FOLKLORE: "FOLKLORE: does nothing here",
    Mark.HARMFUL: "HARMFUL: take out",
}
_INDENT = "  "
_LABEL = 10


def render(advised: Advised, width: int) -> str:
    """Return the whole table; no line is longer than `width` columns but for a word that is (an address, a name)."""
    return "\n".join(line.rstrip() for line in _lines(advised, width)) + "\n"


def _lines(advised: Advised, width: int) -> Iterator[str]:
    run = advised.run
    yield from _wrapped(described(run), width, "")
    yield from _wrapped(_unsaid(run), width, "")
    yield from _wrapped(_summary(advised), width, "")
    yield ""
    yield from _field("variables", advised.place.where, width, "")
    if advised.place_provided:
        yield from _field("if", ", ".join(advised.place_provided), width, "")
    yield from _field("because", advised.place.why, width, "")
    for mark, heading in _HEADINGS.items():
        chosen = advised.marked(mark)
        if chosen:
            yield ""
            yield heading
            for advice in chosen:
                yield from _advice(advice, advised.place.where, width)
    yield from _size(advised.memory, run, width)
    yield ""
    yield "WIDELY COPIED, AND WHAT IS TRUE"
    for claim in advised.claims:
        yield from _wrapped(f"{claim.claim}: {claim.verdict.upper()}", width, _INDENT)
        yield from _field("", claim.fact, width, _INDENT)
        yield from _field("source", claim.source, width, _INDENT)


def described(run: Run) -> str:
    """Return a run in one sentence, with the versions that are known."""
    gpu = f" {run.gpu.name.upper()}" if run.gpu else ""
    own = f" {run.framework_version}" if run.framework_version else ""
    others = "".join(f", {name} {used}" for name, used in (("NCCL", run.nccl), ("PyTorch", run.torch)) if used)
    return (
        f"{run.framework.name}{own}, {_count(run.params)} parameters in {run.precision}, {run.nodes} x "
        f"{run.gpus_per_node}{gpu} GPUs over {run.network}, started by {run.launcher}{others}"
    )


def _summary(advised: Advised) -> str:
    certain, conditional = (
        sum(1 for advice in advised.marked(Mark.NEEDED) if bool(advice.provided) is open_question)
        for open_question in (False, True)
    )
    maybe = f", {conditional} more if a condition holds" if conditional else ""
    counts = {mark: len(advised.marked(mark)) for mark in Mark}
    return (
        f"{_settings(certain)} needed{maybe}; {counts[Mark.DEPENDS]} depend on what a command tells; leave "
        f"{counts[Mark.DEFAULT]} as they are; {counts[Mark.FOLKLORE]} do nothing here and {counts[Mark.HARMFUL]} harm."
    )


def _settings(count: int) -> str:
    return "1 setting is" if count == 1 else f"{count} settings are"


def _unsaid(run: Run) -> str:
    said = {
        "--gpu": run.gpu,
        "--nccl": run.nccl,
        "--torch": run.torch,
        "--framework-version": run.framework_version,
    }
    missing = [option for option, value in said.items() if value is None]
    return f'Not said, so rows that depend on it say "if": {" ".join(missing)}' if missing else ""


def _count(params: int) -> str:
    for unit, scale in (("T", 10**12), ("B", 10**9), ("M", 10**6)):
        if params >= scale:
            return f"{params / scale:.4g}{unit}"
    return str(params)


def _advice(advice: Advice, usual_where: str, width: int) -> Iterator[str]:
    row = advice.row
    value = " or ".join(row.bad) if row.mark is Mark.HARMFUL else row.value
    joint = "=" if row.kind is Kind.ENV and " " not in value else " "
    yield from _wrapped(f"{row.setting}{joint}{value}" if value else row.setting, width, _INDENT)
    if advice.provided:
        yield from _field("if", ", ".join(advice.provided), width, _INDENT)
    yield from _field("why", row.why, width, _INDENT)
    if advice.where and advice.where != usual_where and row.mark in {Mark.NEEDED, Mark.DEPENDS}:
        yield from _field("where", advice.where, width, _INDENT)
    if row.tells:
        yield from _field("tells", row.tells, width, _INDENT)
    if row.risk != "none":
        yield from _field("risk", row.risk, width, _INDENT)
    yield from _field("source", row.source, width, _INDENT)


def _size(memory: Memory, run: Run, width: int) -> Iterator[str]:
    yield ""
    yield "WHAT THE SIZE DECIDES"
    yield from _wrapped(SIZE_DECIDES, width, _INDENT)
    yield from _wrapped(
        f"Per GPU, in GB, without activations and buffers (P = {_count(run.params)}, N = {run.ranks} GPUs):",
        width,
        _INDENT,
    )
    for state in memory.states:
        fits = {None: "", True: "", False: f" more than the GPU's {run.gpu.memory}" if run.gpu else ""}[state.fits]
        star = "*" if state.usual else " "
        yield from _field(f"{star} {state.gigabytes:,.1f}", f"{state.title} ({state.formula}){fits}", width, _INDENT)
    yield from _field("source", memory.states[-1].source, width, _INDENT)
    if run.framework.rollout:
        yield from _wrapped(
            f"The rollout's own weights come on top: 2 P = {memory.weights:,.0f} GB over its tensor-parallel ranks; a "
            "weight sync moves as much.",
            width,
            _INDENT,
        )
    if memory.savings:
        yield from _estimate(memory, width)


def _estimate(memory: Memory, width: int) -> Iterator[str]:
    yield from _wrapped(
        f"Estimate: a checkpoint with optimizer is 14 P = {memory.checkpoint:,.0f} GB. At one failure in "
        f"{GPU_HOURS_PER_FAILURE:,} GPU hours this many GPUs fail every {_duration(memory.hours_to_failure * 3600)}.",
        width,
        _INDENT,
    )
    for saving in memory.savings:
        yield from _field(
            f"{saving.bandwidth:g} GB/s",
            f"{_duration(saving.seconds)} a save, one every {_duration(saving.interval)}; measure your own",
            width,
            _INDENT,
        )
    yield from _wrapped(
        "A save that all ranks wait for is the longest legal gap of many runs: the timeout must exceed it.",
        width,
        _INDENT,
    )
    yield from _field("source", FAILURE_SOURCE, width, _INDENT)
    yield from _field("", INTERVAL_SOURCE, width, _INDENT)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.0f} h" if seconds < 48 * 3600 else f"{seconds / 86400:.0f} days"


def _field(label: str, text: str, width: int, indent: str) -> Iterator[str]:
    head = f"{indent}{indent}{label:<{_LABEL}}"
    return _filled(text, width, head, " " * len(head))


def _wrapped(text: str, width: int, indent: str) -> Iterator[str]:
    return _filled(text, width, indent, indent * 2)


def _filled(text: str, width: int, first: str, then: str) -> Iterator[str]:
    yield from textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent=then, break_long_words=False, break_on_hyphens=False
    )
