"""Are the overrides of a Hydra command line ones that Hydra takes?"""

from __future__ import annotations

from nccl_logscan.catalogue.model import Kind, Option
from nccl_logscan.configs.edit import Edit
from nccl_logscan.configs.model import Form
from nccl_logscan.expressions import deferred
from nccl_logscan.lint.edits import removed
from nccl_logscan.lint.job import Job, covers
from nccl_logscan.lint.made import Made
from nccl_logscan.lint.marking import remark
from nccl_logscan.lint.model import Check, Remark, Severity
from nccl_logscan.lint.practices import is_lacking

_QUOTABLE = deferred(rb"[A-Za-z0-9_.,:^=/-]+")
_MERGED = ("{", "[")
"""What a mapping or a list begins with: with a + Hydra merges it into what is there."""
_SOURCE = "https://hydra.cc/docs/advanced/override_grammar/basic/"


def of_override(made: Made, job: Job) -> Remark | None:
    """Return what is wrong with the marks, the place or the quotes of an override, or of a worker's variable.

    +key is for a key that the configuration lacks, key for one that it has, ++key for both (Hydra's grammar).
    """
    placed = made.placed
    if made.config is None:
        return None
    if placed.form is Form.RUNTIME_ENV:
        return _reserved(made, job) or _lacks_plus(made, job) or _breaks_grammar(made, job)
    if placed.form is not Form.OVERRIDE or placed.mark != "+" or not (option := _existing(made, job)):
        return None
    if is_lacking(made, job) or (placed.value or "").startswith(_MERGED):
        return None
    in_use = job.version_of(option.framework)
    which = f"{option.framework} {in_use or f'{option.since} and later' if option.since else ''}".strip()
    return remark(
        made,
        Check.KEY_ABORTS,
        Severity.ERROR if in_use else Severity.WARNING,
        f"{which} has {placed.name}, and Hydra stops where + is to add a key that is there already",
        "write it without the plus" if in_use else "write ++, which overrides a key or adds it",
        option.source,
        fix=_with_mark(made, b"" if in_use else b"++"),
    )


def _existing(made: Made, job: Job) -> Option | None:
    """Return the option whose key is in the framework's own configuration in the version in use."""
    for option in job.options_for(made):
        in_use = job.version_of(option.framework)
        is_there = option.kind is Kind.YAML_KEY and covers(option, in_use) and not (option.until and in_use is None)
        # Over a null Hydra takes a + like over nothing (hydra/_internal/config_loader_impl.py).
        if is_there and option.default is not None and not option.unshipped and not _never_was(option):
            return option
    return None


def _reserved(made: Made, job: Job) -> Remark | None:
    """RANK, WORLD_SIZE and the like a framework may write itself, and refuse in an environment."""
    framework = made.placed.framework
    if framework is None:
        return None
    options = job.catalogue.options_called(made.placed.name, framework)
    in_use = job.version_of(framework)
    option = next((one for one in options if one.reserved and one.verified and covers(one, in_use)), None)
    if option is None:
        return None
    problem = f"{framework} sets {made.placed.name} for each worker itself and stops where an environment overrides it"
    return remark(made, Check.KEY_ABORTS, Severity.ERROR, problem, "take it out", option.source, fix=removed(made))


def _breaks_grammar(made: Made, job: Job) -> Remark | None:
    """A value with a comma is a sweep to Hydra, and one that begins with ^ or = is none at all, unless it is quoted."""
    raw = _unquoted(made)
    if raw is None or _unshipped(made, job) is None:
        return None
    if raw[:1] in {b"", b"'", b'"', b"[", b"{", b"("} or not (raw[:1] in {b"^", b"="} or b"," in raw):
        return None
    span = made.placed.value_span
    assert span is not None
    quoted = b"\"'" + raw + b"'\""
    fix = (Edit(span.start, span.end, quoted),) if _QUOTABLE.fullmatch(raw) else ()
    problem = f"Hydra does not take {raw.decode('utf-8', 'replace')} for a value: a comma parts a sweep, and ^ or = "
    problem += "begins nothing that it knows"
    advice = f"quote it for Hydra: {quoted.decode('utf-8', 'replace')}"
    return remark(made, Check.KEY_ABORTS, Severity.ERROR, problem, advice, _SOURCE, fix=fix, marks_value=True)


def _unquoted(made: Made) -> bytes | None:
    """Return a value as Hydra gets it, the shell's quotes taken off."""
    span = made.placed.value_span
    if made.config is None or span is None:
        return None
    raw = made.config.data[span.start : span.end]
    return raw[1:-1] if len(raw) > 1 and raw[:1] == raw[-1:] and raw[:1] in {b"'", b'"'} else raw


def _never_was(option: Option) -> bool:
    return option.dead and not option.since


def _lacks_plus(made: Made, job: Job) -> Remark | None:
    option = _unshipped(made, job)
    if option is None or made.placed.mark:
        return None
    return remark(
        made,
        Check.KEY_ABORTS,
        Severity.ERROR,
        f"Hydra stops at {option.names[0]}.{made.placed.name}: {option.framework}'s configuration has no such key",
        "write it with a leading +",
        _SOURCE,
        fix=_with_mark(made, b"+"),
    )


def _with_mark(made: Made, mark: bytes) -> tuple[Edit, ...]:
    quotes = len(made.written) - len(made.written.lstrip(b"\"'"))
    start = made.placed.span.start + quotes
    return (Edit(start, start + len(made.placed.mark), mark),)


def _unshipped(made: Made, job: Job) -> Option | None:
    """Return the option under whose key a worker's variable is written, where the framework ships no such key."""
    written = made.written.lstrip(b"\"'+")
    key, _, name = written.partition(b"=")[0].rpartition(b".")
    if name != made.placed.name.encode("utf-8", "surrogatepass"):
        return None
    options = job.catalogue.options_called(key.decode("utf-8", "replace"))
    return next((option for option in options if option.unshipped), None)
