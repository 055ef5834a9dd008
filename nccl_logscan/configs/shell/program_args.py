"""The arguments of a training program: flags, and Hydra's overrides."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.frameworks import HYDRA, RAY, framework_of
from nccl_logscan.configs.model import Form, Forwards
from nccl_logscan.configs.shell.launcher_options import Option, beside, number, switch, take_flag, unquoted
from nccl_logscan.configs.shell.script import Script
from nccl_logscan.configs.shell.words import HOLE, Word, unicode
from nccl_logscan.expressions import deferred

_OVERRIDE = deferred(r"(\+\+|\+|~|)([A-Za-z_][\w.@/\[\]$-]*)(?:=|\Z)", re.ASCII)
_ENV_VAR = deferred(r"(?:^|\.)env_vars\.([A-Za-z_]\w*)", re.ASCII)
_INTEGER = deferred(r"[+-]?\d[\d_]*")
_REAL = deferred(r"[+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_NUMERIC = frozenset("+-.0123456789")
_CONSTANTS = {"true": "boolean", "false": "boolean", "null": "null"}
_NODES = frozenset({"trainer.nnodes", "trainer.num_nodes"})


def take_program(script: Script, program: str | None, words: Sequence[Word], launch: Sequence[Word]) -> None:
    """Take the arguments of a training program; `launch` are the words of the whole command that starts it."""
    name = unicode(program) if program and HOLE not in program else None
    framework = framework_of(name or "", (word.text for word in words if word.text[:2] == "--"))
    if framework is None and name is None:
        framework = script.framework
    script.framework = framework or script.framework
    if script.command is not None:
        script.programs.append((name, framework, script.command))
    before = len(script.settings)
    take_arguments(script, words, name, framework)
    if framework in RAY and launch:
        _take_ray_driver(script, before, name or framework, framework, launch)


def _take_ray_driver(script: Script, before: int, program: str, framework: str, launch: Sequence[Word]) -> None:
    """Add the launch of a program whose workers Ray starts: they get the environment of `ray start` on their node."""
    own = script.settings[before:]
    names = {placed.name for placed in own if placed.form is Form.RUNTIME_ENV}
    nodes = next((number(placed.value) for placed in own if placed.name in _NODES), None)
    elsewhere = nodes is not None and nodes > 1
    script.launch(
        program,
        Forwards.NAMED if elsewhere else Forwards.ALL,
        launch,
        names=names,
        remote=elsewhere,
        nodes=nodes,
        framework=framework,
    )


def take_arguments(script: Script, words: Sequence[Word], program: str | None, framework: str | None) -> None:
    """Take flags and overrides. A flag's value are the words up to the next flag or override, joined by blanks."""
    hydra = framework in HYDRA
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        text = word.text
        if text[:1] == "-" and text[1:2] not in "0123456789.":
            option, at = _argument(script, words, at, hydra)
            take_flag(script, option, program, framework)
        elif "=" in text or text[:1] == "~":
            _take_override(script, word, program, framework, hydra)


def _argument(script: Script, words: Sequence[Word], at: int, hydra: bool) -> tuple[Option, int]:
    """Return the flag before `words[at]` with its values, and where the next argument stands."""
    word = words[at - 1]
    name, equals, value = word.text.partition("=")
    if equals:
        return Option(name, value, word.start, word.end, *script.value_bounds(word), word.fallback), at
    first = at
    if at < len(words) and not beside(script, word, words[at]) and not _begins_argument(words[at], hydra):
        return Option(name, HOLE, word.start, word.end, word.end, word.end), at + 1
    while at < len(words) and not _begins_argument(words[at], hydra) and beside(script, words[at - 1], words[at]):
        at += 1
        if hydra:
            break
    if at == first:
        return switch(word), at
    values = words[first:at]
    return (
        Option(
            word.text,
            " ".join(value.text for value in values),
            word.start,
            values[-1].end,
            values[0].start,
            values[-1].end,
            any(value.fallback for value in values),
        ),
        at,
    )


def _begins_argument(word: Word, hydra: bool) -> bool:
    text = word.text
    if text[:1] == "-":
        return len(text) > 1 and text[1] not in "0123456789."
    if word.ref is not None:
        # An expansion may be a value, or further arguments: a name in capitals that says so is the latter.
        return word.ref == "@" or "ARG" in word.ref.upper() or "OPT" in word.ref.upper()
    if "=" not in text:
        return False
    found = _OVERRIDE.match(text)
    return bool(found and (hydra or found[1] or "." in found[2]))


def _take_override(script: Script, word: Word, program: str | None, framework: str | None, hydra: bool) -> None:
    found = _OVERRIDE.match(word.text)
    if not found or not (hydra or found[1] or "." in found[2]):
        return
    mark, key = found[1], found[2]
    deleted = mark == "~"
    raw = word.text[found.end() :]
    value, scalar = hydra_value(raw)
    equals = word.text[found.end() - 1] == "="
    start, end = script.value_bounds(word) if equals else (None, word.end)
    given = None if deleted and not raw else value
    variable = _ENV_VAR.search(key) if "env_vars." in key and not deleted else None
    settings = [(key, Kind.YAML_KEY, Form.OVERRIDE)]
    if variable:
        settings.append((variable[1], Kind.ENV, Form.RUNTIME_ENV))
    for name, kind, form in settings:
        script.place(
            name,
            given,
            kind,
            form,
            word.start,
            word.end,
            start,
            end,
            program=program,
            framework=framework,
            fallback=word.fallback,
            scalar=scalar,
            mark=mark,
        )


def hydra_value(raw: str) -> tuple[str, str]:
    """Return what Hydra makes of an override's value, and its type: text in quotes is text, 1 an integer."""
    first = raw[:1]
    if first in {'"', "'"} and len(raw) > 1 and raw[-1] == first:
        return raw[1:-1].replace("\\" + first, first), "text"
    if first not in _NUMERIC:
        return raw, _CONSTANTS.get(raw.lower(), "text") if len(raw) < 6 else "text"
    if _INTEGER.fullmatch(raw):
        return raw, "integer"
    if _REAL.fullmatch(raw):
        return raw, "number"
    return raw, "text"


def take_json_env(script: Script, option: Option, program: str) -> list[str]:
    """Add the variables of a runtime_env given as JSON; return their names."""
    start, end = unquoted(script, option.value_start, option.value_end)
    names: list[str] = []
    opening = _ENV_VARS.search(script.text, start, end)
    if not opening:
        return names
    at = opening.end()
    while found := _JSON_PAIR.match(script.text, at, end):
        name = found[1]
        names.append(name)
        value = found[2].strip("\\").strip('"').removesuffix("\\")
        quote = found.start(1) - 1
        script.place(
            name,
            None if "$" in value and script.text[start - 1] == '"' else value,
            Kind.ENV,
            Form.RUNTIME_ENV,
            quote - (script.text[quote - 1] == "\\"),
            found.end(2),
            found.start(2),
            found.end(2),
            program=program,
            framework="ray",
        )
        at = found.end()
    return names


_ENV_VARS = deferred(r"""\\?"env_vars\\?"\s*:\s*\{""")
_JSON_PAIR = deferred(
    r"""[\s,\\]*+\\?"([A-Za-z_]\w*+)\\?"\s*+:\s*+(\\?"[^"\\]*+\\?"|[\w.+-]++)""",
    re.ASCII,
)
