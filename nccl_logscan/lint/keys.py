"""Does this version of the framework take this key, and a value of this type?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from nccl_logscan.catalogue.model import Kind, Option
from nccl_logscan.catalogue.versions import version
from nccl_logscan.configs.edit import Edit
from nccl_logscan.configs.model import Form
from nccl_logscan.configs.pins import package_of
from nccl_logscan.lint.job import Job, Made, covers, remark, removed
from nccl_logscan.lint.model import Check, Remark, Severity
from nccl_logscan.lint.practices import is_lacking

_ABORTS = re.compile(r"(?i)abort|reject|unrecogni[sz]ed|not in struct|refus|\bstops\b|\braises\b|\bfails\b")
# Of a key that stays in the framework's configuration after its last reader has gone.
_UNREAD = re.compile(r"(?i)unread|\bDead since\b|still present")
_RUNTIME_ENV_KEY = "ray_kwargs.ray_init.runtime_env."
_RAY_SUBMIT = "ray job submit"
_RUNTIME_ENV = re.compile(rb"(?i)runtime.?env|(?m:^[ ]{0,8}(?:working_dir|py_modules|excludes|eager_install)[ ]*:)")
_BARE = re.compile(rb"-?\d+(?:\.\d+)?|true|false")
_QUOTABLE = re.compile(rb"[A-Za-z0-9_.,:^=/-]+")
_TIMEOUT = "process-group-timeout"
_RESERVED = "rank-environment"
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
        if placed.kind is not Kind.ENV or placed.value is None:
            continue
        is_text = placed.scalar in {"text", "null"}
        if placed.form is Form.RUNTIME_ENV and not (is_text and _is_in_quotes(made)) and _is_ray_s(made):
            yield _no_text(made, "Ray stops with a TypeError", _RAY_SOURCE)
        elif placed.form is Form.ENV_LIST and not is_text:
            yield _no_text(made, "Kubernetes refuses the manifest", _KUBERNETES_SOURCE)
        elif placed.form is Form.ENV_MAPPING and placed.scalar == "boolean" and _COMPOSE_NAME.search(placed.at.source):
            yield _no_text(made, "docker compose refuses the file", _COMPOSE_SOURCE)


def _is_ray_s(made: Made) -> bool:
    """Whether `env_vars` are those of a runtime_env: other launchers have a key of that name, and take numbers."""
    if made.config is None or _RUNTIME_ENV.search(made.config.data) is not None:
        return made.config is not None
    return made.placed.framework == "verl" or re.search(r"(?i)runtime.?env", made.config.name) is not None


def _is_in_quotes(made: Made) -> bool:
    """Whether a value of JSON on a command line is no bare number, true or false."""
    span = made.placed.value_span
    if made.config is None or span is None or made.placed.program != _RAY_SUBMIT:
        return True
    return _BARE.fullmatch(made.config.data, span.start, span.end) is None


def _of_option(made: Made, job: Job) -> Remark | None:
    options = job.options_for(made)
    frameworks = {option.framework for option in options}
    # A name that several frameworks have says nothing where the file does not tell whose it is.
    if len(frameworks) != 1:
        return None
    in_use = job.version_of(options[0].framework)
    covering = [option for option in options if covers(option, in_use)]
    dead = [option for option in covering if option.dead]
    if dead and len(dead) == len(covering):
        return _dead(made, dead[0], in_use)
    if dead and not in_use:
        return _dead_later(made, dead[0])
    if not covering and in_use:
        return _outside(made, options, in_use)
    return None


def _dead(made: Made, option: Option, in_use: str | None) -> Remark:
    aborts = _ABORTS.search(f"{option.effect} {option.risk}") is not None
    severity = Severity.ERROR if in_use or not option.since else Severity.WARNING
    which = f"{option.framework} {in_use}" if in_use else option.framework
    which += f" from {option.since} on" if option.since and not in_use else ""
    problem = f"{which} {'stops at' if aborts else 'ignores'} {made.placed.name}: {_sentence(option.effect)}"
    check = Check.KEY_ABORTS if aborts else Check.KEY_IGNORED
    advice = "take it out" if aborts else "take it out: it changes nothing"
    if option.concept == _TIMEOUT:
        advice += ". A longer time-out helps only where the late rank would arrive"
    return remark(made, check, severity, problem, advice, option.source, fix=removed(made))


def _dead_later(made: Made, option: Option) -> Remark:
    problem = f"{option.framework} {option.since} and later: {_sentence(option.effect)}"
    advice = f"find out which {option.framework} runs; take the key out if it is {option.since} or later"
    tells = f"pip show {package_of(option.framework)}"
    return remark(made, Check.KEY_IGNORED, Severity.NOTE, problem, advice, option.source, tells=tells)


def _outside(made: Made, options: Sequence[Option], in_use: str) -> Remark | None:
    """Say that the version in use does not have the key: argparse and Hydra stop at such a one."""
    option = options[0]
    is_early = all(version(other.since) > version(in_use) for other in options)
    if not is_early and _UNREAD.search(f"{option.note} {option.risk}"):
        return _unread(made, max(options, key=lambda other: version(other.until)), in_use)
    when = f"from {min((other.since for other in options), key=version)} on" if is_early else ""
    when = when or f"up to {max((other.until for other in options), key=version)}"
    check, severity, does = Check.KEY_ABORTS, Severity.ERROR, "stops at"
    if made.placed.form not in {Form.FLAG, Form.OVERRIDE}:
        check, severity, does = Check.NOT_YET if is_early else Check.REMOVED, Severity.WARNING, "does nothing with"
    elif made.placed.mark:
        return None
    problem = f"{option.framework} {in_use} {does} {made.placed.name}, which it has {when}"
    advice = "take it out, or use the setting that this version has"
    return remark(made, check, severity, problem, advice, option.source, fix=removed(made))


def _unread(made: Made, option: Option, in_use: str) -> Remark:
    problem = f"{option.framework} {in_use} takes {made.placed.name} and does nothing with it: it is read up to "
    problem += option.until
    return remark(
        made,
        Check.KEY_IGNORED,
        Severity.ERROR,
        problem,
        "take it out: it changes nothing",
        option.source,
        fix=removed(made),
    )


# --- Hydra's marks ---------------------------------------------------------------------------------------------


def _of_mark(made: Made, job: Job) -> Remark | None:
    """+key is for a key that the configuration lacks, key for one that it has, ++key for both (Hydra's grammar)."""
    placed = made.placed
    if made.config is None:
        return None
    if placed.form is Form.RUNTIME_ENV:
        return _reserved(made, job) or _lacks_plus(made) or _breaks_grammar(made)
    if placed.form is not Form.OVERRIDE or placed.mark != "+" or not (option := _existing(made, job)):
        return None
    if is_lacking(made, job):
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
        # A key that examples write with + is one that the shipped configuration lacks.
        if is_there and "+" + made.placed.name not in option.example and not _never_was(option):
            return option
    return None


def _reserved(made: Made, job: Job) -> Remark | None:
    """RANK, WORLD_SIZE and the like verl writes itself, and refuses them in an environment."""
    options = job.catalogue.options_called(made.placed.name, made.placed.framework)
    option = next((option for option in options if option.concept == _RESERVED and option.framework == "verl"), None)
    if option is None or not option.verified or made.placed.framework != "verl":
        return None
    if not covers(option, job.version_of("verl")):
        return None
    problem = f"verl sets {made.placed.name} for each worker itself and stops where an environment overrides it"
    return remark(made, Check.KEY_ABORTS, Severity.ERROR, problem, "take it out", option.source, fix=removed(made))


def _breaks_grammar(made: Made) -> Remark | None:
    """A value with a comma is a sweep to Hydra, and one that begins with ^ or = is none at all, unless it is quoted."""
    raw = _unquoted(made)
    if not made.written.lstrip(b"\"'+").startswith(_RUNTIME_ENV_KEY.encode()) or raw is None:
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
    return remark(made, Check.KEY_ABORTS, Severity.ERROR, problem, advice, _HYDRA_SOURCE, fix=fix, marks_value=True)


def _unquoted(made: Made) -> bytes | None:
    """Return a value as Hydra gets it, the shell's quotes taken off."""
    span = made.placed.value_span
    if made.config is None or span is None:
        return None
    raw = made.config.data[span.start : span.end]
    return raw[1:-1] if len(raw) > 1 and raw[:1] == raw[-1:] and raw[:1] in {b"'", b'"'} else raw


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
    is_override = made.config.syntax in {"shell", "dockerfile"} and made.placed.program != _RAY_SUBMIT
    quoted = b"\"'" + raw + b"'\"" if is_override else b'"' + raw + b'"'
    return quoted.decode(), (Edit(span.start, span.end, quoted),)


def _sentence(text: str) -> str:
    return text.strip().removeprefix("DEAD KEY: ").removesuffix(".")
