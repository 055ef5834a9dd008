"""Commands that set up a host, and those that say which versions a script installs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.model import Form
from nccl_logscan.configs.shell.launcher_options import statement
from nccl_logscan.configs.shell.script import Script
from nccl_logscan.configs.shell.words import HOLE, Command, Word, unicode
from nccl_logscan.expressions import deferred

Rest = Sequence[Word]

_PIN = deferred(r"([A-Za-z][\w.-]*)(?:\[[^\]]*\])?(?:==|===|~=)v?(\d[\w.+!-]*)", re.ASCII)
_CONDA_PIN = deferred(r"([a-z][\w.-]*)={1,2}(\d[\w.+]*)(?:=\S*)?", re.ASCII)
_MODULE = deferred(r"(nccl|cuda|pytorch|torch)/v?(\d[\w.+-]*)", re.IGNORECASE | re.ASCII)
_NAMES = {"megatron-core": "megatron-lm", "pytorch": "torch", "pytorch-lightning": "lightning", "nccl2": "nccl"}
_NCCL_PACKAGE = deferred(r"nvidia[-_.]nccl[-_.]cu\d+|nccl")


def pinned(package: str, version: str) -> tuple[str, str]:
    """Return a package's name as Config.pins has it, and its version."""
    name = package.lower().replace("_", "-").replace(".", "-")
    if _NCCL_PACKAGE.fullmatch(name):
        return "nccl", version
    return _NAMES.get(name, name), version


def _pip(script: Script, rest: Rest, command: Command) -> Rest:  # noqa: ARG001 - a Handler
    verb = next((at for at, word in enumerate(rest[:4]) if word.text == "install"), None)
    if verb is None:
        return ()
    pattern = _PIN if rest[0].text.startswith(("pip", "uv")) else _CONDA_PIN
    for word in rest[verb + 1 :]:
        found = pattern.fullmatch(unicode(word.text).partition(";")[0].strip())
        if found:
            name, version = pinned(found[1], found[2])
            script.pins.setdefault(name, version)
    return ()


def _module_load(script: Script, rest: Rest, command: Command) -> Rest:  # noqa: ARG001 - a Handler
    for word in rest[1:]:
        for part in word.text.split():
            found = _MODULE.fullmatch(part)
            if found:
                name, version = pinned(found[1], found[2].partition("-")[0])
                script.pins.setdefault(name, version)
    return ()


def _ulimit(script: Script, rest: Rest, command: Command) -> Rest:  # noqa: ARG001 - a Handler
    """Take `ulimit -n 1024`, also `-Sn 1024` and several in one."""
    at = 1 if statement(script, rest) else len(rest)
    while at + 1 < len(rest):
        letters = rest[at].text.lstrip("-").replace("S", "").replace("H", "")
        value = rest[at + 1]
        if rest[at].text[:1] != "-" or len(letters) != 1 or value.text[:1] == "-":
            at += 1
            continue
        first = rest[0] if len(rest) == at + 2 else rest[at]
        _place(script, f"ulimit -{letters}", value, first.start)
        at += 2
    return ()


def _sysctl(script: Script, rest: Rest, command: Command) -> Rest:  # noqa: ARG001 - a Handler
    assigned = [word for word in rest[1:] if "=" in word.text and word.text[:1] != "-"]
    for word in assigned:
        name, _, value = word.text.partition("=")
        if HOLE in name:
            continue
        start, end = script.value_bounds(word)
        script.place(
            name.strip(),
            value.strip(),
            Kind.HOST_COMMAND,
            Form.HOST_COMMAND,
            rest[0].start if len(assigned) == 1 and statement(script, rest) else word.start,
            word.end,
            start,
            end,
            program="sysctl",
        )
    return ()


def _nvidia_smi(script: Script, rest: Rest, command: Command) -> Rest:  # noqa: ARG001 - a Handler
    for at, word in enumerate(rest[:-1] if statement(script, rest) else ()):
        if word.text in {"-pm", "--persistence-mode", "-c", "--compute-mode", "-mig"}:
            short = {"--persistence-mode": "-pm", "--compute-mode": "-c"}.get(word.text, word.text)
            _place(script, f"nvidia-smi {short}", rest[at + 1], rest[0].start)
    return ()


def _modprobe(script: Script, rest: Rest, command: Command) -> Rest:  # noqa: ARG001 - a Handler
    modules = [word for word in rest[1:] if word.text[:1] != "-"]
    if (
        modules
        and statement(script, rest)
        and HOLE not in modules[0].text
        and not any(word.text in {"-r", "--remove"} for word in rest)
    ):
        name = modules[0].text.replace("_", "-")
        script.place(
            f"modprobe {name}",
            None,
            Kind.HOST_COMMAND,
            Form.HOST_COMMAND,
            rest[0].start,
            rest[-1].end,
            program="modprobe",
        )
    return ()


def _place(script: Script, name: str, value: Word, start: int) -> None:
    script.place(
        name,
        value.text,
        Kind.HOST_COMMAND,
        Form.HOST_COMMAND,
        start,
        value.end,
        value.start,
        value.end,
        program=name.partition(" ")[0],
        fallback=value.fallback,
    )


def _echo(script: Script, rest: Rest, command: Command) -> Rest:
    """Take `echo NAME=VALUE >> /etc/nccl.conf`, and so for environment files."""
    target = next((word.text for word in command.targets), "")
    form = (
        Form.NCCL_CONF if target.endswith("nccl.conf") else Form.ENV_FILE if target.endswith((".env", "_env")) else None
    )
    words = [word for word in rest[1:] if word.text[:1] != "-"]
    if form and len(words) == 1:
        script.assign(words[0], form)
    return ()


HOST_HANDLERS: dict[str, Callable[[Script, Rest, Command], Rest]] = {
    **dict.fromkeys(("pip", "pip3"), _pip),
    **dict.fromkeys(("module", "ml"), _module_load),
    "ulimit": _ulimit,
    "sysctl": _sysctl,
    "nvidia-smi": _nvidia_smi,
    "modprobe": _modprobe,
    "echo": _echo,
}
