"""A step's setting in the user's own terms: the framework's own name for it, and the name in the version in use."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from nccl_logscan.catalogue.model import Kind, Option, Reader, Variable
from nccl_logscan.remedy.circumstances import Circumstances
from nccl_logscan.remedy.values import UNSET, at_least, converted, is_relative, seconds_in

# Whose setting is nearer to what the user writes: a trainer's before its library's, PyTorch's own call last.
_NEAREST_FIRST = (
    "verl",
    "openrlhf",
    "nemo-rl",
    "llama-factory",
    "axolotl",
    "ms-swift",
    "trl",
    "torchtitan",
    "lightning",
    "nemo",
    "transformers",
    "accelerate",
    "megatron-lm",
    "deepspeed",
    "colossal-ai",
    "vllm",
    "sglang",
    "jax/xla",
    "horovod",
    "slurm",
    "kubernetes",
    "docker",
    "openmpi",
    "ray",
    "pytorch",
)


# The concepts whose settings do the same in every framework, so that one may stand for the other. The rest of the
# catalogue's concepts join what belongs together and is not interchangeable: an interface's name and an address.
_INTERCHANGEABLE = {
    concept: concepts
    for concepts in (
        ("process-group-timeout",),
        ("bf16", "precision"),
        ("fp16",),
        ("initial-loss-scale",),
        ("minimum-loss-scale",),
        ("gradient-clipping",),
        ("micro-batch-size",),
        ("gradient-accumulation",),
        ("sequence-length",),
        ("activation-checkpointing",),
        ("optimizer-offload",),
        ("gpu-memory-fraction",),
        ("dataloader-workers",),
        ("unused-parameters",),
        ("static-graph",),
        ("nodes",),
        ("processes-per-node",),
        ("rendezvous-port",),
        ("node-rank",),
        ("save-interval",),
        ("checkpoints-kept",),
        ("flight-recorder-buffer",),
        ("per-rank-logs",),
    )
    for concept in concepts
}


@dataclass(frozen=True, slots=True)
class Named:
    """A setting under one name. `names` are all that it may have in a file; `option` is what the catalogue says."""

    name: str
    kind: Kind
    to: str | None
    names: tuple[str, ...]
    option: Option | None = None
    source: str | None = None
    own: bool = False

    @property
    def framework(self) -> str | None:
        """Whose setting it is."""
        return self.option.framework if self.option else None

    @property
    def unit(self) -> str | None:
        """What its value counts."""
        return self.option.domain.unit if self.option else None


def named(name: str, kind: Kind, to: str | None, around: Circumstances) -> Named | None:
    """Return the setting as the job's framework calls it; None where no version in use has it."""
    variable = around.catalogue.variable(name) if kind is Kind.ENV else None
    if variable is not None:
        read = _name_that_is_read(variable, around)
        if read is None:
            return None
        # An entry may stand for a family of names (`FI_*`).
        own = name if read is variable else read.name
        return Named(own, kind, to, (own,), source=read.source)
    options = around.catalogue.options_called(name)
    concepts = dict.fromkeys(alike for option in options for alike in _INTERCHANGEABLE.get(option.concept or "", ()))
    if own := _own(concepts, around):
        return _as_called(own, name, to, options)
    fitting = [option for option in options if around.takes(option)]
    if options and not fitting and any(option.verified and not option.dead for option in options):
        return None
    option = next((option for option in fitting if option.kind is kind), next(iter(fitting), None))
    return Named(name, kind, to, (name, *(option.names if option else ())), option)


def _name_that_is_read(variable: Variable, around: Circumstances) -> Variable | None:
    """Return the variable, or the one that had its place before it or has it now, whichever is read."""
    if variable.reader is Reader.NOBODY or around.reads(variable):
        return variable
    known = around.catalogue.variables
    earlier = (other for other in known.values() if other.replaced_by == variable.name)
    later = known.get(variable.replaced_by or "")
    return next((other for other in (*earlier, later) if other is not None and around.reads(other)), None)


def _own(concepts: Iterable[str], around: Circumstances) -> Option | None:
    """Return the option of the same concept that the user's files make, else of the framework that the log shows."""
    alike = [
        option
        for concept in concepts
        for option in around.catalogue.of_concept(concept)
        if around.takes(option) and option.kind is not Kind.HOST_COMMAND
    ]
    made = [option for option in alike if _is_made(option, around)]
    if made:
        return min(made, key=_nearness)
    used = [option for option in alike if option.framework in around.frameworks]
    return min(used, key=_nearness, default=None)


def _is_made(option: Option, around: Circumstances) -> bool:
    return any(
        standing.placed.framework in {None, option.framework}
        for name in option.names
        for standing in around.standings(name)
    )


def _nearness(option: Option) -> int:
    return _NEAREST_FIRST.index(option.framework) if option.framework in _NEAREST_FIRST else len(_NEAREST_FIRST)


def _as_called(own: Option, name: str, to: str | None, options: tuple[Option, ...]) -> Named:
    if own in options:
        return Named(name, own.kind, to, own.names, own, own.source)
    named_by = next(iter(options), None)
    seconds = seconds_in(to, named_by.domain.unit if named_by else None)
    value = _in_units_of(own, to, seconds)
    return Named(own.names[0], own.kind, value, own.names, own, own.source, own=True)


def _in_units_of(own: Option, to: str | None, seconds: float | None) -> str | None:
    """Return a value as another option takes it: a duration in its unit, else what the catalogue's example shows."""
    if seconds is not None:
        return at_least(converted(seconds, own)) if is_relative(to or "") else converted(seconds, own)
    return to if to is None or to == UNSET or is_relative(to) else value_in_example(own) or to


_VALUE = r"[\"']?(?:\s*[=:]\s*|\s+)[\"']?([^\s\"',)}]+)"


def value_in_example(option: Option) -> str | None:
    """Return the value that an option's example sets: `--bf16` gives true, `a.b=c` and `--a c` give c."""
    for name in option.names:
        keyword = name.partition("(")[2].rstrip("=)") or name
        for written in (keyword, keyword.rpartition(".")[2]):
            if match := re.search(rf"(?<![\w.-]){re.escape(written)}{_VALUE}", option.example):
                return match[1]
        if name.startswith("--") and name in option.example:
            return "true"
    return None
