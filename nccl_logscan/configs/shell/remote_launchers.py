"""Containers, remote shells and Ray: launchers whose processes get a new environment.

docker -e, Ray: reference/remediation_facts.yaml (docker.env, ray.driver_env_not_forwarded).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from nccl_logscan.configs.model import Form, Forwards
from nccl_logscan.configs.shell import launcher_options as known
from nccl_logscan.configs.shell.launcher_options import options, take_flag, take_keyed, take_variable, take_variables
from nccl_logscan.configs.shell.program_args import take_json_env
from nccl_logscan.configs.shell.script import Script
from nccl_logscan.configs.shell.words import Command, Word
from nccl_logscan.expressions import deferred

Rest = Sequence[Word]

_HELD = deferred(r'"?\$\{?(\w+)\}?"?', re.ASCII)
_DEFINITIONS_LIMIT = 100


def _docker(script: Script, rest: Rest, command: Command) -> Rest:  # noqa: ARG001 - a Handler
    program = rest[0].text.rpartition("/")[2]
    at = next((at for at, word in enumerate(rest[1:4], 1) if word.text in {"run", "exec", "create"}), 0)
    if not at:
        return ()
    found, at = options(script, rest, at + 1, known.DOCKER)
    names: set[str] = set()
    for option in found:
        if option.name in {"-e", "--env"}:
            names.add(take_variable(script, option, program) or "")
        elif option.name in {"--ulimit", "--sysctl"}:
            take_keyed(script, option, known.DOCKER)
        else:
            take_flag(script, option, program, "docker")
    passes_all = any(option.name == "--env-host" for option in found)
    script.launch(
        program,
        Forwards.ALL if passes_all else Forwards.NAMED,
        rest,
        names=names - {""},
        remote=True,
        framework="docker",
    )
    return rest[at + 1 :]


def _apptainer(script: Script, rest: Rest, command: Command) -> Rest:  # noqa: ARG001 - a Handler
    program = rest[0].text.rpartition("/")[2]
    if len(rest) < 2 or rest[1].text not in {"exec", "run", "shell", "instance"}:
        return ()
    found, at = options(script, rest, 2, known.APPTAINER)
    names: set[str] = set()
    for option in found:
        if option.name == "--env":
            names.update(take_variables(script, option, program))
        else:
            take_flag(script, option, program, "apptainer")
    clean = {option.name for option in found} & {"-e", "--cleanenv", "-C", "--containall"}
    script.launch(program, Forwards.NAMED if clean else Forwards.ALL, rest, names=names, remote=True)
    return rest[at + 1 :]


def _enroot(script: Script, rest: Rest, command: Command) -> Rest:  # noqa: ARG001 - a Handler
    if len(rest) < 2 or rest[1].text not in {"start", "exec"}:
        return ()
    found, at = options(script, rest, 2, known.ENROOT)
    for option in found:
        if option.name in {"-e", "--env"}:
            take_variable(script, option, "enroot")
    return rest[at + 1 :]


def _kubectl(script: Script, rest: Rest, command: Command) -> Rest:  # noqa: ARG001 - a Handler
    verb = next((word.text for word in rest[1:4] if word.text in {"exec", "run"}), None)
    if verb is None:
        return ()
    found, _ = options(script, rest, 2, known.KUBECTL)
    for option in found:
        if option.name == "--env":
            take_variable(script, option, "kubectl")
    script.launch(f"kubectl {verb}", Forwards.NOTHING, rest, remote=True, framework="kubernetes")
    following = next((at for at, word in enumerate(rest) if word.text == "--"), None)
    return rest[following + 1 :] if following else ()


def _ssh(script: Script, rest: Rest, command: Command) -> Rest:
    """Take what a remote shell is told to run: its arguments joined are a command line there."""
    program = rest[0].text.rpartition("/")[2]
    launcher = known.SSH if program == "ssh" else known.FANOUT
    found, at = options(script, rest, 1, launcher)
    sent = [
        name
        for option in found
        if option.name == "-o" and (option.value or "").startswith("SendEnv")
        for name in re.split(r"[=\s]+", option.value or "")[1:]
    ]
    script.launch(program, Forwards.NAMED if sent else Forwards.NOTHING, rest, names=sent, remote=True)
    rest = rest[at + 1 :] if program == "ssh" else rest[at:]
    if len(rest) == 1:
        script.nested(rest[0], command.unit)
        return () if " " in rest[0].text or rest[0].ref else rest
    at = 0
    while at < len(rest) and script.assigns(rest[at]):
        script.assign(rest[at], Form.COMMAND_PREFIX)
        at += 1
    return rest[at:]


def _horovodrun(script: Script, rest: Rest, command: Command) -> Rest:  # noqa: ARG001 - a Handler
    found, at = options(script, rest, 1, known.HOROVOD)
    for option in found:
        if option.name == "-x":
            take_variable(script, option, "horovodrun")
        else:
            take_flag(script, option, "horovodrun", "horovod")
    return rest[at:]


# Ray


def _ray(script: Script, rest: Rest, command: Command) -> Rest:
    verbs = [word.text for word in rest[1:3]]
    if verbs[:1] == ["start"]:
        found, _ = options(script, rest, 2, known.RAY_START)
        for option in found:
            take_flag(script, option, "ray start", "ray")
        script.launch("ray start", Forwards.ALL, rest, framework="ray")
        return ()
    if verbs == ["job", "submit"]:
        return _ray_submit(script, rest, command)
    return ()


def _ray_submit(script: Script, rest: Rest, command: Command) -> Rest:  # noqa: ARG001 - as the others
    found, at = options(script, rest, 3, known.RAY_SUBMIT)
    names: list[str] = []
    for option in found:
        take_flag(script, option, "ray job submit", "ray")
        if option.name == "--runtime-env-json" and option.value:
            names += _runtime_env(script, option)
    script.launch("ray job submit", Forwards.NAMED, rest, names=names, remote=True, framework="ray")
    return rest[at:]


def _runtime_env(script: Script, option: known.Option) -> list[str]:
    """Take the variables of a JSON, where it stands or in the variable that holds it; return their names."""
    held = _HELD.fullmatch(script.text, option.value_start, option.value_end)
    if not held:
        return take_json_env(script, option, "ray job submit")
    names: list[str] = []
    for word, _ in script.values.get(held[1], ())[:_DEFINITIONS_LIMIT]:
        start, end = script.value_bounds(word)
        held_option = option._replace(value_start=start, value_end=end)
        names += take_json_env(script, held_option, "ray job submit")
    return names


REMOTE_HANDLERS: dict[str, Callable[[Script, Rest, Command], Rest]] = {
    **dict.fromkeys(("docker", "podman", "nerdctl", "nvidia-docker"), _docker),
    **dict.fromkeys(("singularity", "apptainer"), _apptainer),
    "enroot": _enroot,
    "kubectl": _kubectl,
    **dict.fromkeys(("ssh", "pdsh", "clush", "pssh", "parallel-ssh"), _ssh),
    "horovodrun": _horovodrun,
    "ray": _ray,
}
