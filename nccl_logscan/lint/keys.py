"""Does this version of the framework take this key, and a value of this type?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from nccl_logscan.catalogue.model import Kind, Option
from nccl_logscan.catalogue.versions import version
from nccl_logscan.configs.edit import Edit
from nccl_logscan.configs.model import Form
from nccl_logscan.lint.job import Job, Made, remark, removed
from nccl_logscan.lint.model import Check, Remark, Severity

_ABORTS = re.compile(r"(?i)abort|reject|unrecogni[sz]ed|not in struct|refus|\bstops\b|\braises\b|\bfails\b")
_RUNTIME_ENV_KEY = "ray_kwargs.ray_init.runtime_env."
_PLAIN = re.compile(rb"[A-Za-z0-9.+-]+")
_HYDRA_SOURCE = "https://hydra.cc/docs/advanced/override_grammar/basic/"
_RAY_SOURCE = "https://github.com/ray-project/ray/blob/master/python/ray/_private/runtime_env/validation.py"
_KUBERNETES_SOURCE = "https://kubernetes.io/docs/tasks/inject-data-application/define-environment-variable-container/"
_COMPOSE_SOURCE = "https://docs.docker.com/reference/compose-file/services/#environment"
_COMPOSE_NAME = re.compile(r"(?:^|/)(?:docker-)?compose[^/]*\.ya?ml$")


def check_keys(job: Job) -> Iterator[Remark]:
    """Yield a remark for each key of a framework that its version ignores, or at which it aborts."""
    for made in job.made:
        of_option = _of_option(made, job) if made.placed.kind is not Kind.ENV else None
        if found := of_option or _of_mark(made, job):
            yield found


def check_types(job: Job) -> Iterator[Remark]:
    """Yield a remark for each value of an environment that must be a text and is none."""
    for made in job.made:
        placed = made.placed
        if placed.kind is not Kind.ENV or placed.scalar in {"text", "null"} or placed.value is None:
            continue
        if placed.form is Form.ENV_LIST:
            yield _no_text(made, "Kubernetes refuses the manifest", _KUBERNETES_SOURCE)
        elif placed.form is Form.RUNTIME_ENV:
            yield _no_text(made, "Ray stops with a TypeError", _RAY_SOURCE)
        elif placed.form is Form.ENV_MAPPING and placed.scalar == "boolean" and _COMPOSE_NAME.search(placed.at.source):
            yield _no_text(made, "docker compose refuses the file", _COMPOSE_SOURCE)


def _of_option(made: Made, job: Job) -> Remark | None:
    options = [option for option in _options(made, job) if option.verified]
    frameworks = {option.framework for option in options}
    # A name that several frameworks have says nothing where the file does not tell whose it is.
    if len(frameworks) != 1:
        return None
    in_use = job.versions.frameworks.get(options[0].framework)
    covering = [option for option in options if _covers(option, in_use)]
    dead = [option for option in covering if option.dead]
    if dead and len(dead) == len(covering):
        return _dead(made, dead[0], in_use)
    if dead and not in_use:
        return _dead_later(made, dead[0])
    if not covering and in_use:
        return _outside(made, options, in_use)
    return None


def _options(made: Made, job: Job) -> Sequence[Option]:
    return job.catalogue.options_called(made.placed.name, made.placed.framework)


def _covers(option: Option, in_use: str | None) -> bool:
    if in_use is None:
        return True
    have, since, until = version(in_use), version(option.since), version(option.until)
    return have >= since and (not until or have[: len(until)] <= until)


def _dead(made: Made, option: Option, in_use: str | None) -> Remark:
    aborts = _ABORTS.search(f"{option.effect} {option.risk}") is not None
    severity = Severity.ERROR if in_use or not option.since else Severity.WARNING
    which = f"{option.framework} {in_use}" if in_use else option.framework
    which += f" from {option.since} on" if option.since and not in_use else ""
    problem = f"{which} {'stops at' if aborts else 'ignores'} {made.placed.name}: {_sentence(option.effect)}"
    check = Check.KEY_ABORTS if aborts else Check.KEY_IGNORED
    advice = option.note or ("take it out" if aborts else "take it out: it changes nothing")
    return remark(made, check, severity, problem, _sentence(advice), option.source, fix=removed(made))


def _dead_later(made: Made, option: Option) -> Remark:
    problem = f"{option.framework} {option.since} and later: {_sentence(option.effect)}"
    advice = f"find out which {option.framework} runs; take the key out if it is {option.since} or later"
    tells = f"pip show {_PACKAGES.get(option.framework, option.framework)}"
    return remark(made, Check.KEY_IGNORED, Severity.NOTE, problem, advice, option.source, tells=tells)


_PACKAGES = {
    "pytorch": "torch",
    "megatron-lm": "megatron-core",
    "nemo": "nemo-toolkit",
    "llama-factory": "llamafactory",
}


def _outside(made: Made, options: Sequence[Option], in_use: str) -> Remark | None:
    """Say that the version in use does not have the key: argparse and Hydra stop at such a one."""
    if made.placed.form not in {Form.FLAG, Form.OVERRIDE} or made.placed.mark in {"+", "++", "~"}:
        return None
    option = options[0]
    have = version(in_use)
    if all(version(option.since) > have for option in options):
        when = f"has it from {min((option.since for option in options), key=version)} on"
    else:
        when = f"has it up to {max((option.until for option in options), key=version)}"
    problem = f"{option.framework} {in_use} stops at {made.placed.name}, which it does not know: it {when}"
    advice = "take it out, or use the setting that this version has"
    return remark(made, Check.KEY_ABORTS, Severity.ERROR, problem, advice, option.source, fix=removed(made))


# --- Hydra's marks ---------------------------------------------------------------------------------------------


def _of_mark(made: Made, job: Job) -> Remark | None:
    """+key is for a key that the configuration lacks, key for one that it has, ++key for both (Hydra's grammar)."""
    placed = made.placed
    if placed.form not in {Form.OVERRIDE, Form.RUNTIME_ENV} or made.config is None:
        return None
    if placed.form is Form.RUNTIME_ENV:
        return _lacks_plus(made)
    if placed.mark != "+" or not (option := _existing(made, job)):
        return None
    in_use = job.versions.frameworks.get(option.framework)
    since = option.since
    which = f"{option.framework} {in_use}" if in_use else f"{option.framework}{f' {since} and later' if since else ''}"
    return remark(
        made,
        Check.KEY_ABORTS,
        Severity.ERROR if in_use else Severity.WARNING,
        f"{which} has {placed.name}, and Hydra stops where + is to add a key that is there already",
        "write it without the plus, or with ++, which adds or overrides",
        option.source,
        fix=_with_mark(made, b"++"),
    )


def _existing(made: Made, job: Job) -> Option | None:
    """Return the option whose key is in the framework's own configuration in the version in use."""
    for option in _options(made, job):
        in_use = job.versions.frameworks.get(option.framework)
        is_there = option.kind is Kind.YAML_KEY and option.verified and _covers(option, in_use)
        # A key that examples write with + is one that the shipped configuration lacks.
        if is_there and "+" + made.placed.name not in option.example and not _never_was(option):
            return option
    return None


def _never_was(option: Option) -> bool:
    return option.dead and not option.since


def _lacks_plus(made: Made) -> Remark | None:
    written = made.written.lstrip(b"\"'")
    if not written.startswith(_RUNTIME_ENV_KEY.encode()):
        return None
    return remark(
        made,
        Check.KEY_ABORTS,
        Severity.ERROR,
        f"Hydra stops at {_RUNTIME_ENV_KEY}env_vars.{made.placed.name}: verl's configuration has no such key",
        "write it with a leading +",
        _HYDRA_SOURCE,
        fix=_with_mark(made, b"+"),
    )


def _with_mark(made: Made, mark: bytes) -> tuple[Edit, ...]:
    quotes = len(made.written) - len(made.written.lstrip(b"\"'"))
    start = made.placed.span.start + quotes
    return (Edit(start, start + len(made.placed.mark), mark),)


# --- types -----------------------------------------------------------------------------------------------------


def _no_text(made: Made, who: str, source: str) -> Remark:
    value = made.placed.value or ""
    kind = {"integer": "a number", "number": "a number", "boolean": "true or false"}.get(made.placed.scalar, "no text")
    problem = f"the value of {made.placed.name} is {kind}, and an environment takes text: {who}"
    quoted, fix = _quoted(made)
    advice = f"write it as {quoted or chr(34) + value + chr(34)}"
    return remark(made, Check.KEY_ABORTS, Severity.ERROR, problem, advice, source, fix=fix, marks_value=True)


def _quoted(made: Made) -> tuple[str | None, tuple[Edit, ...]]:
    """Return the value in quotes as the file's syntax wants them, and the edit."""
    span = made.placed.value_span
    if made.config is None or span is None:
        return None, ()
    raw = made.config.data[span.start : span.end]
    if not _PLAIN.fullmatch(raw):
        return None, ()
    # A shell takes one pair of quotes away, Hydra the other.
    quoted = b"\"'" + raw + b"'\"" if made.config.syntax in {"shell", "dockerfile"} else b'"' + raw + b'"'
    return quoted.decode(), (Edit(span.start, span.end, quoted),)


def _sentence(text: str) -> str:
    return text.strip().removesuffix(".")
