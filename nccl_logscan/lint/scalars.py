"""Is what an environment is given a text, where it must be one?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.edit import Edit
from nccl_logscan.configs.frameworks import RAY
from nccl_logscan.configs.model import Form
from nccl_logscan.expressions import deferred
from nccl_logscan.lint.job import Job
from nccl_logscan.lint.made import Made
from nccl_logscan.lint.marking import remark
from nccl_logscan.lint.model import Check, Remark, Severity

_RAY_SUBMIT = "ray job submit"
_RUNTIME_ENV = deferred(rb"(?i)runtime.?env|(?m:^[ ]{0,8}(?:working_dir|py_modules|excludes|eager_install)[ ]*:)")
_BARE = deferred(rb"-?\d+(?:\.\d+)?|true|false")
_PLAIN = deferred(rb"[A-Za-z0-9.+-]+")
_RAY_SOURCE = "https://github.com/ray-project/ray/blob/master/python/ray/_private/runtime_env/validation.py"
_KUBERNETES_SOURCE = "https://kubernetes.io/docs/tasks/inject-data-application/define-environment-variable-container/"
_COMPOSE_SOURCE = "https://docs.docker.com/reference/compose-file/services/#environment"
_COMPOSE_NAME = deferred(r"(?:^|/)(?:docker-)?compose[^/]*\.ya?ml$")


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
    return made.placed.framework in RAY or re.search(r"(?i)runtime.?env", made.config.name) is not None


def _is_in_quotes(made: Made) -> bool:
    """Whether a value of JSON on a command line is no bare number, true or false."""
    span = made.placed.value_span
    if made.config is None or span is None or made.placed.program != _RAY_SUBMIT:
        return True
    return _BARE.fullmatch(made.config.data, span.start, span.end) is None


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
